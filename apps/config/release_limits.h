// What no source of this release gives a policy, whatever the configuration: the configuration is
// refused for it, and `trueup policy check` and `policy test`, which have none, warn of it.
// Thread-safe: keeps no state.
#pragma once

#include "engine/core/plan.h"
#include "engine/model/rule.h"

#include <string>
#include <vector>

namespace trueup::config {

/// What the role needs and no source has; empty: nothing.
std::string lack(const policy::Role& role);

/// Why no source can tell the role's objects apart by its key; empty: they can.
std::string flaw_of_key(const policy::Role& role);

/// The field as it is declared, if it stands at a path in an object; nullptr: it does not.
const policy::Field* by_path(const policy::Role& role, const std::string& field);

/// What is read of the role and no source says; empty: they do.
std::string lack(const policy::Role& role, const std::string& field);

/// All of that, of a policy and what this build makes of it: a sentence each.
std::vector<std::string> beyond_release(const policy::Policy& policy, const core::Plan& plan);

}  // namespace trueup::config
