// A policy as a person reads it: who claims what, and each rule as lines of a truth table, with
// what its words leave out. For `trueup policy show`.
#pragma once

#include "engine/model/rule.h"

#include <string>

namespace trueup::config {

/// Many lines; the last one ends with a line feed. Pure.
std::string policy_table(const policy::Policy& policy);

}  // namespace trueup::config
