// What a rule makes of a subject, as JSON. docs/operations/why.md says what its words mean.
#pragma once

#include "api/subject_view.h"

#include <nlohmann/json.hpp>

namespace trueup::api {

nlohmann::ordered_json json_of(const RuleWhyView& rule);
nlohmann::ordered_json json_of(const WhyView& why);

}  // namespace trueup::api
