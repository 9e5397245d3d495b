// What the policy in force makes of one object: an answer to each of its tests and conditions. It
// follows from the object and the policy (core/seen.h), so it is worked out again whenever either
// differs, stands in no row, and says nothing in a comparison.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace trueup {

/// One bit for each condition that a pattern, a claim or a count asks of one object.
class Bits {
  public:
    static constexpr std::size_t kMost = 128;

    void set(std::size_t bit) { words_[bit / 64] |= std::uint64_t{1} << bit % 64; }
    bool has(std::size_t bit) const { return (words_[bit / 64] >> bit % 64 & 1U) != 0; }
    bool has_all(const Bits& other) const {
        return ((other.words_[0] & ~words_[0]) | (other.words_[1] & ~words_[1])) == 0;
    }
    bool has_any(const Bits& other) const {
        return ((other.words_[0] & words_[0]) | (other.words_[1] & words_[1])) != 0;
    }
    Bits& operator|=(const Bits& other) {
        words_[0] |= other.words_[0];
        words_[1] |= other.words_[1];
        return *this;
    }
    Bits operator&(const Bits& other) const {
        Bits both;
        both.words_ = {words_[0] & other.words_[0], words_[1] & other.words_[1]};
        return both;
    }
    bool operator==(const Bits&) const = default;

  private:
    std::array<std::uint64_t, 2> words_{};
};

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
