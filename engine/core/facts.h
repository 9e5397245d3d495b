// What a subject's objects make of a plan's tests: one walk over an object's bytes answers all that
// is asked of its role, a bit for each test.
//
// Three values: `can` has a bit where the test is not false, `is` where it is true. Not thread-safe
// to build; const access is.
#pragma once

#include "engine/core/plan.h"
#include "engine/model/subject.h"

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

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

/// The value of one field, as far as it is known.
struct PlanValue {
    enum class Kind : std::uint8_t { kText, kNull, kNotThere, kUnsent };
    Kind kind = Kind::kNotThere;
    std::string_view text;  ///< of the object's bytes, or constant
    bool operator==(const PlanValue&) const = default;
};
/// Nothing but white space: a row that names its pod so names none.
bool blank(std::string_view text);
/// A whole number of 64 bits, and nothing else.
std::optional<std::int64_t> number_in(std::string_view text);
PlanValue value_of(const PlanRole& role, std::uint16_t field, const Facet& object);

/// One present object.
struct Seen {
    const Facet* facet = nullptr;
    Role role = kNoRole;
    std::uint64_t can = 0;
    std::uint64_t is = 0;
    std::uint64_t unreadable = 0;  ///< of those that can be and are not: because of its text

    Truth test(std::uint16_t index) const {
        const std::uint64_t bit = std::uint64_t{1} << index;
        if ((can & bit) == 0) return Truth::of(false);
        if ((is & bit) != 0) return Truth::of(true);
        return Truth::unknown((unreadable & bit) != 0 ? Reason::kUnreadable : Reason::kIncomplete);
    }
};
Seen look_at(const PlanRole& role, Role number, const Facet& object);

/// The present objects of a subject that play a role, in the order of its facets.
std::vector<Seen> facts_of(const Plan& plan, const Subject& subject, const Settings& settings);

}  // namespace trueup::core
