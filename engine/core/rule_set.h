// Rules by their numbers, ascending.
#pragma once

#include "engine/model/ids.h"

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace trueup::core {

class RuleSet {
  public:
    void add(RuleNumber rule) { words_[rule.value() / 64U] |= bit(rule); }
    bool has(RuleNumber rule) const { return (words_[rule.value() / 64U] & bit(rule)) != 0; }

    /// Calls `visit(RuleNumber)` for each until it says false.
    template <typename Visitor>
    void each(Visitor&& visit) const {
        for (std::size_t word = 0; word < words_.size(); ++word) {
            for (std::uint64_t left = words_[word]; left != 0; left &= left - 1) {
                const auto at = word * 64 + static_cast<std::size_t>(std::countr_zero(left));
                if (!visit(RuleNumber(static_cast<std::uint8_t>(at)))) return;
            }
        }
    }

  private:
    static std::uint64_t bit(RuleNumber rule) { return std::uint64_t{1} << rule.value() % 64U; }
    std::array<std::uint64_t, 4> words_{};  // a number is one byte
};

}  // namespace trueup::core
