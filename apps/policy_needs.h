// What a policy takes from its sources, and which rights it needs there: for `trueup policy show`
// and `policy check`, which ask nobody. What the accounts of a configuration lack, `config check`
// says (apps/survey.h).
#pragma once

#include "engine/base/result.h"
#include "engine/core/plan.h"
#include "engine/model/rule.h"

#include <string>
#include <vector>

namespace trueup::apps {

/// What this build makes of it: the error says what cannot be carried out, or compiled at all.
Result<core::Plan> compiled(const policy::Policy& policy);

/// All of the below, as lines behind the table of `trueup policy show`: `publishes …`, `needs …`,
/// and by which SQL an executor finds a row before it writes.
std::string needs_text(const policy::Policy& policy);

/// One line for each role, as `rows: SELECT; UPDATE (status)`: first what reading it takes, then
/// what the steps of the policy take, those of rules that are off included.
std::vector<std::string> rights_of(const policy::Policy& policy);

/// One line for each role, as `rows: pod_name, status`: the fields that its sources publish into
/// the log, from where they get into findings and commands.
std::vector<std::string> published_of(const policy::Policy& policy, const core::Plan& plan);

}  // namespace trueup::apps
