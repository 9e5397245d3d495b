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

/// What the texts of a run may ask for beyond what all of them do.
struct DrawnKinds {
    bool creates = false;  ///< each has a pod created from a template, and none deleted
};

/// So many, of the same roles; their rules share names. Equal seeds draw equal ones.
std::vector<DrawnPolicy> draw_policies(std::uint64_t seed, std::size_t count,
                                       const DrawnKinds& kinds = {});

}  // namespace trueup::simulation
