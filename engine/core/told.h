// What the values of a field make of the tests that ask for it. Of those that the tests tell apart
// it is worked out once, with the plan; another text is asked by hand. Not for other users than the
// sources of plan and objects.
#pragma once

#include "engine/base/prefix.h"
#include "engine/core/seen.h"

#include <cstddef>
#include <cstdint>

namespace trueup::core {

/// Fills in what the values of the role's fields make of its tests, once it has all of them, and
/// which of its conditions are plain.
void tell_apart(PlanRole& role);

/// What the value makes of those of the field's tests that are in `which`.
void add_tests(const PlanRole& role, const PlanField& field, std::uint64_t which,
               const PlanValue& value, Told& told);

/// The place in the field's `told` of what this value makes of its tests; of a text that is not
/// listed it says what all such texts have in common.
inline std::size_t place_in(const PlanField& field, const PlanValue& value) {
    using Kind = PlanValue::Kind;
    const std::size_t values = field.values.size();
    if (value.kind != Kind::kText) {
        return values + (value.kind == Kind::kNull ? 1 : value.kind == Kind::kNotThere ? 2 : 3);
    }
    // They are few, and as a rule differ in the first letters.
    const std::uint64_t prefix = prefix_of(value.text);
    for (std::size_t i = 0; i < values; ++i) {
        if (field.prefixes[i] != prefix || field.values[i].size() != value.text.size()) continue;
        if (value.text.size() <= 8 || field.values[i] == value.text) return i;
    }
    return values;
}

/// Adds what `value`, whose place that is, makes of the field's tests.
inline void tell(const PlanRole& role, const PlanField& field, const PlanValue& value,
                 std::size_t place, Told& told) {
    told |= field.told[place];
    if (place == field.values.size() && field.by_hand != 0) {
        add_tests(role, field, field.by_hand, value, told);
    }
}
inline void tell(const PlanRole& role, const PlanField& field, const PlanValue& value, Told& told) {
    tell(role, field, value, place_in(field, value), told);
}

}  // namespace trueup::core
