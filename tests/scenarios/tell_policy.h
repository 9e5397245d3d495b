// A random policy and a world of it in words, for whoever has to find out who of two readers errs.
#pragma once

#include "engine/model/rule.h"
#include "tests/scenarios/random_world.h"

#include <string>

namespace trueup::testing {

std::string told(const policy::Condition& condition);
std::string told(const policy::Pattern& pattern);
std::string told(const policy::Policy& policy, const Settings& settings, const RandomWorld& world);

}  // namespace trueup::testing
