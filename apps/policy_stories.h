// Which rules of a policy file no story beside it tells of. A rule that acts without one is known
// by its words only.
#pragma once

#include "engine/core/plan.h"
#include "engine/model/rule.h"

#include <string>
#include <vector>

namespace trueup::apps {

/// The rules that act, that this build can carry out, and of which no story in the folder has a
/// command; `acknowledge: [no_story]` leaves one out. In the order of the policy.
std::vector<std::string> rules_without_story(const policy::Policy& policy, const core::Plan& plan,
                                             const std::string& folder);

}  // namespace trueup::apps
