// The policies that the binary carries, by name.
//
// Thread-safe.
#pragma once

#include "engine/model/exports.h"
#include "engine/model/settings.h"

#include <string>
#include <string_view>
#include <vector>

namespace trueup::policies {

/// Ascending.
const std::vector<std::string>& shipped_names();

/// Empty: none of that name is shipped.
Shared<policy::Policy> shipped(std::string_view name);

/// What it calls what it finds and counts; nothing where none of that name is shipped.
policy::Exports shipped_exports(std::string_view name);

/// The shipped policy of that name as it is usually set, with one source for each role that it
/// cannot do without, under the role's name. Rules are in `mode`, but for those that their file
/// says are off.
Settings usual_settings(std::string_view name, Mode mode);

/// The same of any policy.
Settings usual_settings(Shared<policy::Policy> text, Mode mode);

/// The settings of the rule of that name, which is one of them.
RuleSettings& rule_settings(Settings& settings, std::string_view rule);

/// Where the objects of such a role come from.
Topic topic_of(policy::Kind kind);

/// The role of that name; kNoRole: there is none.
Role role_number(const policy::Policy& policy, std::string_view name);

}  // namespace trueup::policies
