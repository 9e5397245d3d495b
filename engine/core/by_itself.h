// What one object decides by itself (core/seen.h), for the sources that share it. Not for other
// users.
#pragma once

#include "engine/base/id.h"
#include "engine/core/seen.h"
#include "engine/core/truth.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace trueup::core {

/// A word that nobody listed may mean anything.
inline bool unlisted(const PlanField& field, const PlanValue& value) {
    const auto& words = field.words;
    return value.kind == PlanValue::Kind::kText && !words.empty() &&
           !std::binary_search(words.begin(), words.end(), value.text);
}

/// What a field is that was not sent.
PlanValue missing(const PlanRole& role, const PlanField& field, const Seen& object);

/// Is it said by something else than the object's bytes?
inline bool derived(const PlanField& field) {
    using From = PlanField::From;
    return field.from != From::kSent && field.from != From::kFalseUnlessSent &&
           field.from != From::kTrueUnlessSent;
}

/// Another value of a field, another digest. `value` is a number of it.
inline std::uint64_t digest(std::uint64_t before, std::uint64_t field, std::uint64_t value) {
    constexpr std::uint64_t kPrime = 0x9e3779b97f4a7c15;
    return (before ^ value ^ field * kPrime) * kPrime + 1;
}
inline std::uint64_t digest(std::uint64_t before, std::size_t field, const PlanValue& value) {
    return digest(before, field * 4 + static_cast<std::uint64_t>(value.kind), hash64(value.text));
}

inline void fill(Seen& seen, const Facet& object, const Settings& settings, const Ledger* ledger) {
    const SourceSettings& source = settings.sources[object.source];
    seen.facet = &object;
    seen.ledger = ledger;
    seen.scope = source.scope;
    seen.role = source.role;
    seen.answers = &object.answers;
}

/// Are its answers of this plan with the object?
inline bool kept(const Plan& plan, const Facet& object) {
    return plan.number != 0 && object.answers.plan == plan.number;
}
/// Works them out and leaves them there; what there is no room for is left with `seen` alone.
void keep_answers(const Plan& plan, const Facet& object, Seen& seen);

/// As far as the object decides it by itself, or with another one beside it.
inline Truth by_itself(const Plan& plan, const PlanNode& node, const Seen& object,
                       const Seen* beside = nullptr) {
    return truth_of(node, [&](const PlanNode& leaf) {
        if (leaf.kind == PlanNode::Kind::kTest) return object.test(leaf.index);
        if (leaf.kind == PlanNode::Kind::kJoin) {
            const PlanJoin& join = plan.roles[object.role].joins[leaf.index];
            if (join.other.role == object.role) return compared(plan, join, object, object);
            const bool known = beside != nullptr && join.other.role == beside->role;
            return known ? compared(plan, join, object, *beside)
                         : Truth::unknown(Reason::kIncomplete);
        }
        return truth_of(plan.conditions[leaf.index], [&](const PlanPattern& pattern) {
            return pattern.role == object.role ? by_itself(plan, pattern.condition, object)
                                               : Truth::unknown(Reason::kIncomplete);
        });
    });
}

}  // namespace trueup::core
