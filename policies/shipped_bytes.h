// What the files of this folder mean, encoded (engine/codec/policy_codec.h). Made at build time.
#pragma once

#include "engine/model/exports.h"

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace trueup::policies {

const std::vector<std::string_view>& shipped_bytes();
/// What they call it, by the name of the policy.
const std::map<std::string, policy::Exports, std::less<>>& all_shipped_exports();

}  // namespace trueup::policies
