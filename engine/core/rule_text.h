// What a rule of a policy means, as one number: a person enables exactly this (docs/adr/0034).
//
//   T1  All that decides whether something is done, and what, is in it: the rule; of each role that
//       it mentions what it is and where its sources look; the conditions, counts, ledger and
//       requests that it uses.
//   T2  What an operator sets is not: mode, grace, create window, budget. Nor is what is said to
//       people (`finds`), nor a source's name or credentials.
//   T3  It is the same in every build: what has its default adds nothing, so that a word that a
//       later build knows changes no rule that does not use it.
//
// Pure; thread-safe.
#pragma once

#include "engine/base/id.h"
#include "engine/model/rule.h"
#include "engine/model/settings.h"

#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace trueup::core {

struct RuleText {
    Hash128 text;             ///< none: the policy has no rule of that name
    std::vector<Role> roles;  ///< that it mentions, ascending
};
RuleText rule_text(const policy::Policy& policy, const std::vector<SourceSettings>& sources,
                   std::string_view rule);

/// The rules of which nothing is to be done any more that was ordered before, once `now` is in
/// force in place of `before`: those that do not act, left the policy, or mean something else.
std::set<std::string> stopped_rules(const Settings& before, const Settings& now);

}  // namespace trueup::core
