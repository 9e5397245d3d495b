// Whether rules go round in a circle: from some state of the world their own steps lead back to it,
// so that they would act for ever. Pure.
#pragma once

#include "engine/model/rule.h"

#include <cstddef>
#include <functional>
#include <vector>

namespace trueup::config {

/// One step round it, by its places in the policy.
struct CaseAt {
    std::size_t rule = 0;
    std::size_t index = 0;  ///< of the case
    bool operator==(const CaseAt&) const = default;
};
/// One: the case finds again what it did. It begins with its first case by the order of the policy.
using Cycle = std::vector<CaseAt>;

/// Calls `visit` for each circle that is certain, of those with the same cases once, and of no more
/// than 20. A request breaks one, and so does a deadline: of a case alone one that its own steps
/// put off. A `backoff` says that going round is meant. What several cases make of references, of a
/// surplus and of fields that are compared with each other is not gone into. False: there are too
/// many states, and only each case alone and each two of them, as far as that goes, were looked at.
bool each_cycle(const policy::Policy& policy, const std::function<void(const Cycle&)>& visit);

}  // namespace trueup::config
