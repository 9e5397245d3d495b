// What each rule makes of one subject now, and what the fold holds of that: one answer to what
// holds it, or why it is healthy.
//
// The evaluator is observed (core/witness.h), and the fold is asked what it would ask itself
// (Brakes::brake_on). Changes nothing. Not thread-safe, as the state.
#pragma once

#include "engine/core/fold.h"
#include "engine/model/trace.h"

#include <vector>

namespace trueup::core {

/// Of each rule of the plan that is in the policy in force, in their order. `facts` are of the
/// subject; there is a plan.
std::vector<RuleTrace> trace(State& state, const Subject& subject, const Facts& facts,
                             const References& references);

}  // namespace trueup::core
