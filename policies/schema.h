// The JSON Schema of policy files, for editors: schemas/policy.schema.json.
#pragma once

#include <string_view>

namespace trueup::policies {

/// Ends with a line feed; valid for ever.
std::string_view policy_schema();

}  // namespace trueup::policies
