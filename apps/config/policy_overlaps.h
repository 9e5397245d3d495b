// Which rules may find something in one subject at once. They are judged apart, so the first
// command wins. Pure.
#pragma once

#include "engine/model/rule.h"

#include <cstddef>
#include <string>
#include <vector>

namespace trueup::config {

struct Overlap {
    std::size_t rule = 0;   ///< by its place in the policy
    std::size_t index = 0;  ///< of its case
    std::size_t other = 0;  ///< a later rule
    std::size_t other_index = 0;
    /// That both change first, each in its own way; empty: they begin with different roles, or
    /// alike.
    std::string role;
};

/// Of each two rules that act one overlap, if there is a world in which both are certain to find
/// something, deadlines aside; one with a `role` before others. Requests are an operator's, so
/// rules that wait for one are left out. Of policies with very many states not all are told.
std::vector<Overlap> overlaps(const policy::Policy& policy);

}  // namespace trueup::config
