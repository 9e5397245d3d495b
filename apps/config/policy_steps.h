// The steps of a policy file: what is to be done about what a rule finds.
#pragma once

#include "apps/config/policy_terms.h"
#include "apps/config/tree.h"
#include "engine/model/rule.h"

#include <string>
#include <vector>

namespace trueup::config {

/// `report`, `{VERB: ROLE, …}` or a list of such. Notes what is wrong, and leaves out a step that
/// has no verb or no role.
std::vector<policy::Step> read_steps(const Tree& tree, const std::string& path, PolicyTerms& terms);

/// Does the case write because something is not there, without looking first whether it is?
bool writes_unseen(const policy::Case& found);

}  // namespace trueup::config
