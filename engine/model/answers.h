// What the policy in force makes of one object: an answer to each of its tests and conditions. It
// follows from the object and the policy (core/seen.h), so it is worked out again whenever either
// differs, stands in no row, and says nothing in a comparison.
#pragma once

#include "engine/model/bits.h"

#include <cstdint>

namespace trueup {

/// Three values: `can` and `may` have a bit where something is not false, `is` and `sure` where it
/// is true.
struct Answers {
    std::uint32_t plan = 0;  ///< which plan's, by its number; 0: they are still to be worked out
    // What stands of an object whatever its role declares (core/seen.h).
    bool vetoed = false;
    bool deleting = false;
    bool out_of_scope = false;
    std::uint64_t can = 0;  ///< tests, by their index in the role
    std::uint64_t is = 0;
    Bits may;  ///< conditions, by their bits
    Bits sure;
    /// Of the values that a pattern, a claim or the key mentions. Another one: the object says
    /// something else about what the rules compare.
    std::uint64_t said = 0;
    bool operator==(const Answers&) const { return true; }
};

}  // namespace trueup
