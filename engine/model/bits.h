// A set of small numbers: which conditions of a policy hold of one object. A plain value.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace trueup {

/// One bit for each condition that a pattern, a claim or a count asks of one object.
class Bits {
  public:
    static constexpr std::size_t kMost = 128;

    /// False: leaves it as it is.
    void set(std::size_t bit, bool is = true) {
        words_[bit / 64] |= std::uint64_t{is ? 1U : 0U} << bit % 64;
    }
    bool has(std::size_t bit) const { return (words_[bit / 64] >> bit % 64 & 1U) != 0; }
    bool has_all(const Bits& other) const {
        return (other.words_[0] & ~words_[0]) == 0 && (other.words_[1] & ~words_[1]) == 0;
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
    Bits without(const Bits& other) const {
        Bits left;
        left.words_ = {words_[0] & ~other.words_[0], words_[1] & ~other.words_[1]};
        return left;
    }
    bool operator==(const Bits&) const = default;

  private:
    std::array<std::uint64_t, 2> words_{};
};

}  // namespace trueup
