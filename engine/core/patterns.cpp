// What the patterns of a case come to, one behind the other, and what they bind.
#include "engine/core/evaluation_asked.h"

#include <algorithm>
#include <memory>

namespace trueup::core {

namespace {

using policy::Quantifier;

/// Which of two unknown things is told: a side that is not known first, then two claims.
Truth first_told(const Truth& a, const Truth& b) {
    const auto rank = [](const Truth& each) {
        if (each.is != Truth::Is::kUnknown) return 3;
        if (each.why == Reason::kNotSynced) return 0;
        return each.why == Reason::kDuplicateClaim ? 1 : 2;
    };
    return rank(b) < rank(a) ? b : a;
}

}  // namespace

Truth Evaluation::none(const PlanPattern& pattern, const Found& bound) const {
    const Shown objects = objects_of(pattern, bound);
    if (objects.all.empty()) return nobody(pattern, objects, true);
    const std::size_t from = watch_.mark();
    Truth sum = Truth::of(true);
    for (const Seen* each : objects.all) {
        const std::size_t own = watch_.mark();
        const Truth one = wanted(pattern, *each, bound).negated();
        say_of(*each, own, one, true);
        sum = sum && one;
    }
    watch_.keep(from, sum);
    return sum;
}

/// A pattern of a named condition: what it binds is asked for by nobody else.
Truth Evaluation::alone(const PlanPattern& pattern, const Found& bound) const {
    if (pattern.quantifier != Quantifier::kSome) return one_of(pattern, bound).truth;
    const std::size_t from = watch_.mark();
    const Truth seen = watched(pattern, bound);
    const std::size_t behind = watch_.mark();
    const Shown objects = objects_of(pattern, bound);
    const std::size_t first = watch_.mark();
    Truth sum = Truth::of(false);
    if (objects.all.empty()) sum = nobody(pattern, objects, false);
    for (const Seen* each : objects.all) {
        const std::size_t own = watch_.mark();
        const Truth truth = wanted(pattern, *each, bound);
        say_of(*each, own, truth, false);
        sum = sum || truth;
    }
    watch_.keep(first, sum);
    return both(from, seen, behind, sum);
}

/// `a`, of which facts are told from `from` on, and `b`, of which those from `behind` on are.
Truth Evaluation::both(std::size_t from, const Truth& a, std::size_t behind, const Truth& b) const {
    const Truth sum = a && b;
    watch_.say(behind, b);
    watch_.keep(from, sum);
    return sum;
}

/// Nearly all of them: of none or one object of the role, whose bit says what it comes to. nullopt:
/// it needs a closer look. What is unknown does, as that says why.
std::optional<Evaluation::One> Evaluation::plainly(const PlanPattern& pattern) const {
    const bool none = pattern.quantifier == Quantifier::kNone;
    const bool simple = pattern.by_bit && pattern.in.role == kNoRole &&
                        (none || pattern.quantifier == Quantifier::kOne) &&
                        !role(pattern.role).reference && !on_.subject.reference();
    if (!simple) return std::nullopt;
    const Seen* only = nullptr;
    for (const Seen& seen : facts_) {
        if (seen.role != pattern.role) continue;
        if (only != nullptr) return std::nullopt;
        only = &seen;
    }
    if (only == nullptr) {
        if (!all_known(pattern.role)) return std::nullopt;
        return One{Truth::of(none)};
    }
    const bool may = only->answers->may.has(pattern.bit);
    if (may != only->answers->sure.has(pattern.bit)) return std::nullopt;
    if (none) return One{Truth::of(!may)};
    return One{Truth::of(may), may ? only : nullptr};
}

/// All of these patterns, under what is bound before.
Evaluation::Match Evaluation::match(Patterns patterns, const Found& bound) const {
    Match matched{Truth::of(true), bound};
    // Nearly always that is all. What a witness is told takes a closer look.
    while (!patterns.empty() && !watch_) {
        const std::optional<One> one = plainly(patterns.front());
        if (!one) break;
        if (one->truth.no()) return {one->truth, matched.bound};
        if (one->object != nullptr) matched.bound[patterns.front().role] = one->object;
        patterns = patterns.subspan(1);
    }
    if (patterns.empty()) return matched;
    const bool elsewhere = on_.subject.reference() && !shows(patterns.front().role);
    if (elsewhere) return match(patterns.subspan(1), matched.bound);  // only its own is asked
    return match_first(patterns, matched.bound);
}

Evaluation::Match Evaluation::match_first(Patterns patterns, const Found& bound) const {
    const PlanPattern& pattern = patterns.front();
    if (pattern.quantifier == Quantifier::kSome) return some(patterns, bound);
    const std::size_t before = watch_ ? watch_->patterns() : 0;
    const One one = one_of(pattern, bound);
    Found with = bound;
    if (one.object != nullptr) with[pattern.role] = one.object;
    Match matched = also(one.truth, patterns, with);
    const bool open = one.object != nullptr && one.truth.is == Truth::Is::kUnknown;
    if (!open || !matched.truth.no()) return matched;
    return of_others(patterns, bound, one, matched, before);
}

/// The object that was bound does not do, and it is not known that it is the one that is meant: of
/// another one the rest need not be false. It is never more than unknown: nobody knows that it is
/// meant. Patterns from `before` on were told of the first.
Evaluation::Match Evaluation::of_others(Patterns patterns, const Found& bound, const One& chosen,
                                        const Match& first, std::size_t before) const {
    const PlanPattern& pattern = patterns.front();
    const std::size_t from = watch_.mark();
    const Shown objects = objects_of(pattern, bound);
    const Objects fit = fit_of(pattern, objects, bound);
    watch_.forget(from);
    bool meant = false;  // of those before one is known to fit
    for (const Seen* each : fit) {
        if (meant && pattern.quantifier == Quantifier::kOne) break;
        const std::size_t own = watch_.mark();
        meant = wanted(pattern, *each, bound).yes();
        watch_.forget(own);
        if (each->facet == chosen.object->facet) continue;
        const std::size_t tried = watch_ ? watch_->patterns() : 0;
        const Truth truth = doubt(pattern, objects, bound, chosen, *each);
        Found with = bound;
        with[pattern.role] = keep(each);
        Match match = also(truth, patterns, with);
        if (match.truth.no()) continue;
        if (watch_) watch_->forget_patterns(before, tried);
        return match;
    }
    return first;
}

/// Why it is not known whether that other one is meant.
Truth Evaluation::doubt(const PlanPattern& pattern, const Shown& objects, const Found& bound,
                        const One& chosen, const Seen& other) const {
    if (watch_) {  // what was told of the first is told of this one, too
        static_cast<void>(watched(pattern, bound));
        static_cast<void>(objects_of(pattern, bound));
    }
    const std::size_t from = watch_.mark();
    if (pattern.quantifier == Quantifier::kOne) {
        const Truth alone = single(pattern, objects.all, bound);
        return bind(pattern, other, bound, from, alone).truth;
    }
    if (!watch_) return chosen.truth;
    const Objects fit = fit_of(pattern, objects, bound);
    const Seen* least = fit.front();  // one of them is the one that was chosen
    for (const Seen* each : fit) {
        if (each->facet == chosen.object->facet) least = each;
    }
    const Truth sure = surely_least(pattern, *least, fit, bound, from);
    return bind(pattern, *least, bound, from, sure).truth;
}

Evaluation::One Evaluation::one_of(const PlanPattern& pattern, const Found& bound) const {
    const std::size_t from = watch_.mark();
    const Truth seen = watched(pattern, bound);
    const std::size_t behind = watch_.mark();
    if (pattern.quantifier == Quantifier::kNone) {
        return {both(from, seen, behind, none(pattern, bound))};
    }
    const Shown objects = objects_of(pattern, bound);
    const std::size_t first = watch_.mark();
    const Objects fit = fit_of(pattern, objects, bound);
    if (fit.empty()) return {both(from, seen, behind, nobody_fits(pattern, objects))};
    const bool surplus = pattern.quantifier == Quantifier::kSurplus;
    if (surplus && fit.size() < 2) {
        const Truth truth = Truth::of(false);
        if (watch_) watch_->claims(pattern.role, fit.size(), "2 or more", truth);
        watch_.keep(from, truth);
        return {truth};
    }
    if (!seen.yes()) {
        watch_.forget(behind);
        return {seen};
    }
    if (surplus) return least_of(pattern, fit, bound, first);
    watch_.forget(first);
    const Truth alone = single(pattern, objects.all, bound);
    return bind(pattern, *fit.front(), bound, first, alone);
}

/// Those that are not known to be other.
Objects Evaluation::fit_of(const PlanPattern& pattern, const Shown& objects,
                           const Found& bound) const {
    Objects fit;
    for (const Seen* each : objects.all) {
        const std::size_t own = watch_.mark();
        const Truth truth = wanted(pattern, *each, bound);
        say_of(*each, own, truth, false);
        if (!truth.no()) fit.push_back(each);
    }
    return fit;
}

Truth Evaluation::nobody_fits(const PlanPattern& pattern, const Shown& objects) const {
    return objects.all.empty() ? nobody(pattern, objects, false) : Truth::of(false);
}

/// What is looked up lives as long as this judgement.
const Seen* Evaluation::keep(const Seen* seen) const {
    const bool own =
        std::any_of(facts_.begin(), facts_.end(), [&](const Seen& each) { return &each == seen; });
    if (own) return seen;
    kept_.push_back(std::make_unique<Seen>(*seen));
    return kept_.back().get();
}

/// The first one is so; and the others.
Evaluation::Match Evaluation::also(const Truth& truth, Patterns patterns,
                                   const Found& bound) const {
    if (watch_) watch_->pattern(patterns.front(), truth);
    if (truth.no()) return {truth, bound};
    Match rest = match(patterns.subspan(1), bound);
    if (!rest.truth.no()) rest.truth = first_told(truth, rest.truth);
    return rest;
}

/// The pattern's object is this one, if `alone` is so. Facts about that are told from `from` on.
Evaluation::One Evaluation::bind(const PlanPattern& pattern, const Seen& object, const Found& bound,
                                 std::size_t from, const Truth& alone) const {
    const std::size_t own = watch_.mark();
    const Truth fits = wanted(pattern, object, bound);
    say_of(object, own, fits, false);
    const Truth truth = alone && fits;
    watch_.keep(from, truth);
    return {truth, keep(&object)};
}

/// The first by id for which the rest is not false.
Evaluation::Match Evaluation::some(Patterns patterns, const Found& bound) const {
    const PlanPattern& pattern = patterns.front();
    const std::size_t from = watch_.mark();
    const Truth seen = watched(pattern, bound);
    const std::size_t behind = watch_.mark();
    const Shown objects = objects_of(pattern, bound);
    const std::size_t first = watch_.mark();
    const Objects fit = fit_of(pattern, objects, bound);
    if (fit.empty()) {
        return also(both(from, seen, behind, nobody_fits(pattern, objects)), patterns, bound);
    }
    if (!seen.yes()) {
        watch_.forget(behind);
        return also(seen, patterns, bound);
    }
    watch_.forget(first);  // of those that fit it is told as they are bound
    const std::size_t before = watch_ ? watch_->patterns() : 0;
    for (const Seen* each : fit) {
        const std::size_t tried = watch_ ? watch_->patterns() : 0;
        const One one = bind(pattern, *each, bound, watch_.mark(), Truth::of(true));
        Found with = bound;
        with[pattern.role] = one.object;
        Match match = also(one.truth, patterns, with);
        if (match.truth.no()) continue;
        if (watch_) watch_->forget_patterns(before, tried);
        return match;
    }
    return {Truth::of(false), bound};
}

/// Is there only one that claims the subject, or matches? Of a role that has several, a second
/// one that may be none leaves it open.
Truth Evaluation::single(const PlanPattern& pattern, const Objects& all, const Found& bound) const {
    if (all.size() < 2) return Truth::of(true);
    const std::size_t from = watch_.mark();
    Objects may;
    Objects is;
    for (const Seen* each : all) {
        const std::size_t own = watch_.mark();
        const Truth claims =
            wanted(pattern, *each, bound) || holds(role(pattern.role).live, *each, {});
        watch_.keep(own, claims);
        if (!claims.no()) may.push_back(each);
        if (claims.yes()) is.push_back(each);
    }
    if (may.size() < 2) {
        watch_.forget(from);
        return Truth::of(true);
    }
    if (!role(pattern.role).several) {
        return several(pattern, may, Truth::unknown(Reason::kDuplicateClaim), from);
    }
    if (is.size() > 1) return several(pattern, is, Truth::of(false), from);
    // Each that may be none would have to be told.
    const Truth open = Truth::unknown(Reason::kIncomplete);
    watch_.keep(from, open);
    // A condition that says of itself that nobody knows rests on no fact: how many there are is
    // one.
    if (watch_ && watch_.mark() == from) return several(pattern, may, open, from);
    return open;
}

/// More than one of them: that says it, whatever they are.
Truth Evaluation::several(const PlanPattern& pattern, const Objects& claim, const Truth& truth,
                          std::size_t from) const {
    watch_.forget(from);
    if (!watch_) return truth;
    watch_->claims(pattern.role, claim.size(), "1", truth);
    for (const Seen* each : claim) watch_->object(*each, "the only one", truth);
    return truth;
}

}  // namespace trueup::core
