// What a plan asks, in words for people (core/witness.h tells them).
//
// Thread-safe: keeps no state.
#pragma once

#include "engine/base/time.h"
#include "engine/core/evaluate.h"

#include <string>

namespace trueup::core {

/// `[running, starting]`, `not set`, `over 5`: what a test asks, without the field.
std::string words_of(const PlanTest& test, bool negated);
/// `same as rows.node`.
std::string words_of_join(const Plan& plan, const PlanJoin& join, bool negated);
/// `pods: none`, `rows: one`, with the words of its own condition.
std::string words_of(const Judgement& on, const PlanPattern& pattern);
/// Whole seconds, as `90s`.
std::string words_of(Millis lasts);

}  // namespace trueup::core
