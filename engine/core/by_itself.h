// What one object decides by itself (core/facts.h), for the sources that share it. Not for other
// users.
#pragma once

#include "engine/core/facts.h"

#include <algorithm>

namespace trueup::core {

/// A word that nobody listed may mean anything.
inline bool unlisted(const PlanField& field, const PlanValue& value) {
    const auto& words = field.words;
    return value.kind == PlanValue::Kind::kText && !words.empty() &&
           !std::binary_search(words.begin(), words.end(), value.text);
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
