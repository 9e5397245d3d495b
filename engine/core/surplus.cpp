// Which of two or more objects is worth least, and whether that can be told.
#include "engine/core/evaluation_asked.h"

#include <algorithm>

namespace trueup::core {

namespace {

constexpr std::string_view kRanked = "what it is ranked by";

}  // namespace

/// The least worth one of two or more. Of those that fit facts are told from `from` on.
Evaluation::One Evaluation::least_of(const PlanPattern& pattern, const Objects& fit,
                                     const Found& bound, std::size_t from) const {
    const Seen* least = fit.front();
    const std::size_t asked = watch_.mark();
    for (const Seen* each : fit) {
        if (better(pattern, *least, *each, bound)) least = each;
    }
    watch_.forget(asked);
    return bind(pattern, *least, bound, from, surely_least(pattern, *least, fit, bound, from));
}

/// Are there two whatever is not known, and does this one rank below each other one?
Truth Evaluation::surely_least(const PlanPattern& pattern, const Seen& least, const Objects& fit,
                               const Found& bound, std::size_t from) const {
    std::size_t sure = 0;
    Truth two = Truth::of(true);
    const std::size_t asked = watch_.mark();
    for (const Seen* each : fit) {
        const Truth truth = wanted(pattern, *each, bound);
        if (truth.yes()) ++sure;
        if (two.yes()) two = truth;
    }
    watch_.forget(asked);
    // Where the others may be none at all, it may be the only one.
    if (sure > 1) two = Truth::of(true);
    if (two.yes()) {
        watch_.forget(from);
    } else {
        watch_.keep(from, two);
    }
    for (const Seen* each : fit) {
        if (each == &least) continue;
        const Truth ranks = below(pattern, least, *each, bound);
        if (!ranks.yes()) return ranks.no() ? Truth::unknown(Reason::kIncomplete) : ranks;
    }
    return two;
}

/// Does `a` rank below `b`? The first rank in which they differ says so; one before it that is not
/// known of either leaves it open: by a guess the one that should stay would go.
Truth Evaluation::below(const PlanPattern& pattern, const Seen& a, const Seen& b,
                        const Found& bound) const {
    const PlanRole& of = role(pattern.role);
    for (const PlanRanking& rank : pattern.keep) {
        const Truth known = ranked(pattern, rank, a, bound) && ranked(pattern, rank, b, bound);
        if (!known.yes()) return known;
        if (rank.latest) {
            const int order = order_of(of.fields[*rank.latest], value_of(of, *rank.latest, a),
                                       value_of(of, *rank.latest, b));
            if (order != 0) return Truth::of(order < 0);
            continue;
        }
        const std::size_t own = watch_.mark();
        const bool left = holds(rank.condition, a, bound).yes();
        const bool right = holds(rank.condition, b, bound).yes();
        watch_.forget(own);
        if (left != right) return Truth::of(right);
    }
    return Truth::of(seen_before(a, b));
}

/// Is known of it what it is ranked by? A time or number that is not there ranks below all, unless
/// each object has one; a text that is none cannot be read.
Truth Evaluation::ranked(const PlanPattern& pattern, const PlanRanking& rank, const Seen& object,
                         const Found& bound) const {
    if (!rank.latest) {
        const std::size_t own = watch_.mark();
        const Truth mark = holds(rank.condition, object, bound);
        if (mark.yes() || mark.no()) {
            watch_.forget(own);
            return Truth::of(true);
        }
        say_of(object, own, mark, false);
        return mark;
    }
    const PlanField& field = role(pattern.role).fields[*rank.latest];
    const PlanValue value = value_of(role(pattern.role), *rank.latest, object);
    const bool lacks = value.kind == PlanValue::Kind::kNotThere && field.required;
    Truth truth = Truth::of(true);
    if (value.kind == PlanValue::Kind::kUnsent || lacks) {
        truth = Truth::unknown(Reason::kIncomplete);
    } else if (value.kind == PlanValue::Kind::kText && order_of(field, value, PlanValue{}) == 0) {
        truth = Truth::unknown(Reason::kUnreadable);
    }
    if (!truth.yes() && watch_) {
        watch_->field(object, *rank.latest, std::string(kRanked), truth);
    }
    return truth;
}

/// Of two that rank the same the one that was seen first goes, then the last by id.
bool Evaluation::seen_before(const Seen& a, const Seen& b) {
    if (a.facet->first_seen != b.facet->first_seen) {
        return a.facet->first_seen < b.facet->first_seen;
    }
    return a.facet->object_id > b.facet->object_id;
}

/// What is not known is a bad mark here: `surely_least` says whether that decides.
bool Evaluation::better(const PlanPattern& pattern, const Seen& a, const Seen& b,
                        const Found& bound) const {
    for (const PlanRanking& rank : pattern.keep) {
        if (rank.latest) {
            const PlanRole& of = role(pattern.role);
            const int order = order_of(of.fields[*rank.latest], value_of(of, *rank.latest, a),
                                       value_of(of, *rank.latest, b));
            if (order != 0) return order > 0;
            continue;
        }
        const bool left = holds(rank.condition, a, bound).yes();
        const bool right = holds(rank.condition, b, bound).yes();
        if (left != right) return left;
    }
    return seen_before(b, a);
}

}  // namespace trueup::core
