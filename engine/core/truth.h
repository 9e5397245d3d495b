// What is known of a condition: that it is so, that it is not, or not even that; and what the tests
// of one condition come to, taken together.
//
// Thread-safe: keeps no state.
#pragma once

#include "engine/core/plan.h"
#include "engine/model/verdict.h"

#include <cstddef>
#include <cstdint>

namespace trueup::core {

/// Kleene's, with the reason of the first thing that was not known.
struct Truth {
    enum class Is : std::uint8_t { kFalse, kUnknown, kTrue };
    Is is = Is::kTrue;
    Reason why = Reason::kNone;  ///< of kUnknown

    static Truth of(bool value) { return {value ? Is::kTrue : Is::kFalse, Reason::kNone}; }
    static Truth unknown(Reason why) { return {Is::kUnknown, why}; }
    bool no() const { return is == Is::kFalse; }
    bool yes() const { return is == Is::kTrue; }
    Truth negated() const { return is == Is::kUnknown ? *this : of(no()); }
    Truth operator&&(const Truth& other) const {
        if (no() || other.no()) return of(false);
        return is == Is::kUnknown ? *this : other;
    }
    Truth operator||(const Truth& other) const { return (negated() && other.negated()).negated(); }
};

/// Nobody who looks on as a condition is asked (core/witness.h).
struct Unwatched {
    std::size_t mark() const { return 0; }
    void say(std::size_t, const Truth&) const {}
    void keep(std::size_t, const Truth&) const {}
};

/// A condition of one object; `leaf` says what a test, a join or a named condition is of it, before
/// that is negated. `watch` is told what came of what.
template <typename Leaf, typename Watching = Unwatched>
Truth truth_of(const PlanNode& node, const Leaf& leaf, const Watching& watch = {}) {
    const std::size_t from = watch.mark();
    const bool all = node.kind == PlanNode::Kind::kAll;
    if (!all && node.kind != PlanNode::Kind::kAny) {
        const Truth said = leaf(node);
        const Truth truth = node.negated ? said.negated() : said;
        watch.say(from, truth);
        return truth;
    }
    Truth sum = Truth::of(all);
    for (const PlanNode& part : node.parts) {
        const Truth one = truth_of(part, leaf, watch);
        sum = all ? sum && one : sum || one;
    }
    watch.keep(from, sum);
    return sum;
}

/// The first line that fits decides; one that may fit ends it as unknown. `fits` says it of a
/// line's pattern.
template <typename Fits, typename Watching = Unwatched>
Truth truth_of(const PlanCondition& condition, const Fits& fits, const Watching& watch = {}) {
    using Then = policy::NamedCondition::Line::Then;
    const std::size_t first = watch.mark();
    for (const PlanCondition::Line& line : condition.lines) {
        const std::size_t from = watch.mark();
        Truth sum = Truth::of(true);
        for (const PlanPattern& pattern : line.when) {
            const std::size_t own = watch.mark();
            const Truth one = fits(pattern);
            watch.say(own, one);
            sum = sum && one;
        }
        watch.keep(from, sum);
        if (sum.no()) continue;
        // Where it stays unknown, the lines before it decide nothing.
        if (!sum.yes() || line.then == Then::kUnknown) watch.keep(first, sum);
        if (!sum.yes()) return sum;
        if (line.then == Then::kUnknown) return Truth::unknown(Reason::kTransition);
        return Truth::of(line.then == Then::kTrue);
    }
    return Truth::of(false);
}

}  // namespace trueup::core
