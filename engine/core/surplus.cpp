// Which of two or more objects is worth least, and whether that can be told.
#include "engine/core/evaluation.h"

#include <algorithm>

namespace trueup::core {

namespace {

constexpr std::string_view kRanked = "what they are ranked against";

}  // namespace

/// The least worth one of two or more. Of those that fit facts are told from `from` on.
Evaluation::One Evaluation::least_of(const PlanPattern& pattern,
                                     const std::vector<const Seen*>& fit, const Found& bound,
                                     std::size_t from) const {
    const Seen* least = fit.front();
    const std::size_t asked = watch_.mark();
    for (const Seen* each : fit) {
        if (better(pattern, *least, *each, bound)) least = each;
    }
    watch_.forget(asked);
    return bind(pattern, *least, bound, from, surely_two(pattern, fit, bound, from));
}

/// Are there two whatever is not known, and is known what they are ranked by?
Truth Evaluation::surely_two(const PlanPattern& pattern, const std::vector<const Seen*>& fit,
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
    return rankable(pattern, fit, bound) && two;
}

/// Is known of each what it is ranked by? By a guess the one that should stay would go.
Truth Evaluation::rankable(const PlanPattern& pattern, const std::vector<const Seen*>& fit,
                           const Found& bound) const {
    Truth all = Truth::of(true);
    for (const PlanRanking& rank : pattern.keep) {
        all = all && (rank.latest ? by_latest(pattern, rank, fit) : by_mark(rank, fit, bound));
    }
    return all;
}

/// Of each a condition that it is kept by.
Truth Evaluation::by_mark(const PlanRanking& rank, const std::vector<const Seen*>& fit,
                          const Found& bound) const {
    Truth all = Truth::of(true);
    for (const Seen* each : fit) {
        const std::size_t own = watch_.mark();
        const Truth mark = holds(rank.condition, *each, bound);
        const bool known = mark.yes() || mark.no();
        if (known) {
            watch_.forget(own);
            continue;
        }
        say_of(*each, own, mark, false);
        all = all && mark;
    }
    return all;
}

/// Of each when it is of, or how much. What has no such value ranks below all, and a text that
/// ranks as low cannot be read.
Truth Evaluation::by_latest(const PlanPattern& pattern, const PlanRanking& rank,
                            const std::vector<const Seen*>& fit) const {
    Truth all = Truth::of(true);
    const PlanField& field = role(pattern.role).fields[*rank.latest];
    for (const Seen* each : fit) {
        const PlanValue value = value_of(role(pattern.role), *rank.latest, *each);
        const bool text = value.kind == PlanValue::Kind::kText;
        Truth one = Truth::of(true);
        if (value.kind == PlanValue::Kind::kUnsent) {
            one = Truth::unknown(Reason::kIncomplete);
        } else if (text && order_of(field, value, PlanValue{}) == 0) {
            one = Truth::unknown(Reason::kUnreadable);
        }
        if (one.yes()) continue;
        if (watch_) watch_->field(*each, *rank.latest, std::string(kRanked), one);
        all = all && one;
    }
    return all;
}

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
    if (a.facet->first_seen != b.facet->first_seen) {
        return a.facet->first_seen > b.facet->first_seen;
    }
    return a.facet->object_id < b.facet->object_id;
}

}  // namespace trueup::core
