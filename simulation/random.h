// The only source of chance in a simulation: equal seeds draw equally on every platform and with
// every compiler (the distributions of <random> do not promise that).
#pragma once

#include "engine/base/splitmix.h"
#include "engine/base/time.h"

#include <cstdint>

namespace trueup::simulation {

/// Not thread-safe.
class Random {
  public:
    explicit Random(std::uint64_t seed) : bits_(seed) {}

    std::uint64_t next() { return bits_.next(); }
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
    SplitMix64 bits_;
};

}  // namespace trueup::simulation
