// Policies drawn for the simulator's world: over its pods and its table, with any rules that a
// reader of texts would take. They are written down as YAML and read as every policy is, checks and
// all.
#pragma once

#include "engine/model/rule.h"

#include <cstdint>
#include <string>
#include <vector>

namespace trueup::simulation {

struct DrawnPolicy {
    std::string yaml;
    policy::Policy policy;
};

/// So many, of the same roles; their rules share names. Equal seeds draw equal ones.
std::vector<DrawnPolicy> draw_policies(std::uint64_t seed, std::size_t count);

}  // namespace trueup::simulation
