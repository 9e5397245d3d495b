// Rules by their numbers, ascending.
#pragma once

#include "engine/model/rule.h"

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace trueup::core {

class RuleSet {
  public:
    class Iterator {
      public:
        explicit Iterator(const RuleSet& set) : left_(set.words_) { next(); }
        RuleNumber operator*() const { return RuleNumber(static_cast<std::uint8_t>(at_)); }
        Iterator& operator++() {
            left_[at_ / 64] &= left_[at_ / 64] - 1;
            next();
            return *this;
        }
        bool operator!=(std::size_t end) const { return at_ != end; }

      private:
        void next() {
            std::size_t word = at_ / 64;
            while (word < kWords && left_[word] == 0) ++word;
            at_ = word * 64;
            if (word < kWords) at_ += static_cast<std::size_t>(std::countr_zero(left_[word]));
        }
        std::array<std::uint64_t, 4> left_;
        std::size_t at_ = 0;
    };

    void add(RuleNumber rule) { words_[rule.value() / 64U] |= bit(rule); }
    bool has(RuleNumber rule) const { return (words_[rule.value() / 64U] & bit(rule)) != 0; }
    Iterator begin() const { return Iterator(*this); }
    static std::size_t end() { return kWords * 64; }

  private:
    static constexpr std::size_t kWords = 4;  // a number is one byte
    static std::uint64_t bit(RuleNumber rule) { return std::uint64_t{1} << rule.value() % 64U; }
    std::array<std::uint64_t, kWords> words_{};
};

}  // namespace trueup::core
