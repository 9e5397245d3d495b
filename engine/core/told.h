// What the values of a field make of the tests that ask for it. Of those that the tests tell apart
// it is worked out once, with the plan; another text is asked by hand. Not for other users than the
// sources of plan and objects.
#pragma once

#include "engine/core/seen.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace trueup::core {

/// Fills in what the values of the role's fields make of its tests, once it has all of them.
void tell_apart(PlanRole& role);

/// What the value makes of those of the field's tests that are in `which`.
void add_tests(const PlanRole& role, const PlanField& field, std::uint64_t which,
               const PlanValue& value, Told& told);

/// What `value` makes of the field's tests.
inline Told told_of(const PlanRole& role, const PlanField& field, const PlanValue& value) {
    using Kind = PlanValue::Kind;
    const std::size_t values = field.values.size();
    switch (value.kind) {
        case Kind::kNull:
            return field.told[values + 1];
        case Kind::kNotThere:
            return field.told[values + 2];
        case Kind::kUnsent:
            return field.told[values + 3];
        case Kind::kText:
            break;
    }
    // They are few, and as a rule of several lengths.
    const auto place = std::find(field.values.begin(), field.values.end(), value.text);
    if (place != field.values.end()) {
        return field.told[static_cast<std::size_t>(place - field.values.begin())];
    }
    Told told = field.told[values];
    add_tests(role, field, field.by_hand, value, told);
    return told;
}

}  // namespace trueup::core
