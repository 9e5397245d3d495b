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

/// Calls `visit` for each circle, of those with the same cases once. What rules wait for (a
/// request, an operator, a deadline that their own steps put off) breaks a circle; a `backoff` says
/// that going round is meant. False: there are too many states, and only each rule alone and each
/// two of them, as far as that goes, were looked at.
bool each_cycle(const policy::Policy& policy, const std::function<void(const Cycle&)>& visit);

}  // namespace trueup::config
