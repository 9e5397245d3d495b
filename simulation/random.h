// The only source of chance in a simulation: equal seeds draw equally on every platform and with
// every compiler (the distributions of <random> do not promise that).
#pragma once

#include "engine/base/time.h"

#include <cstdint>

namespace trueup::simulation {

/// splitmix64. Not thread-safe.
class Random {
  public:
    explicit Random(std::uint64_t seed) : state_(seed) {}

    std::uint64_t next() {
        std::uint64_t z = state_ += 0x9e3779b97f4a7c15U;
        z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9U;
        z = (z ^ (z >> 27U)) * 0x94d049bb133111ebU;
        return z ^ (z >> 31U);
    }
    /// In [0, bound); bound > 0.
    std::uint64_t below(std::uint64_t bound) { return next() % bound; }
    /// True in `permille` of 1000 cases.
    bool chance(unsigned permille) { return permille > 0 && below(1'000) < permille; }
    /// In [from, to].
    Millis between(Millis from, Millis to) {
        return from + Millis(static_cast<std::int64_t>(
                          below(static_cast<std::uint64_t>((to - from).count()) + 1)));
    }
    /// Mostly short, seldom up to `longest`: in [1 ms, longest].
    Millis delay(Millis longest) {
        const Millis most = below(8) == 0 ? longest : longest / 8;
        return between(Millis{1}, most > Millis{1} ? most : Millis{1});
    }

  private:
    std::uint64_t state_;
};

}  // namespace trueup::simulation
