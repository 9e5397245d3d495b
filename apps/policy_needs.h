// What a policy takes from its sources, and which rights it needs there: for `trueup policy show`
// and `policy check`, which ask nobody. What the accounts of a configuration lack, `config check`
// says (apps/survey.h).
#pragma once

#include "engine/core/plan.h"
#include "engine/model/rule.h"

#include <string>
#include <vector>

namespace trueup::apps {

/// One line for each role, as `rows: SELECT; UPDATE (status)`: first what reading it takes, then
/// what the steps of the policy take, those of rules that are off included.
std::vector<std::string> rights_of(const policy::Policy& policy);

/// One line for each role, as `rows: pod_name, status`: the fields that its sources publish into
/// the log, from where they get into findings and commands.
std::vector<std::string> published_of(const policy::Policy& policy, const core::Plan& plan);

}  // namespace trueup::apps
