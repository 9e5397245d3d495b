// How long to wait before the next try: doubling, bounded, jittered. Deterministic: the jitter
// comes from a seed, so that a simulated run waits the same each time.
#pragma once

#include "engine/base/splitmix.h"
#include "engine/base/time.h"

#include <algorithm>
#include <cstdint>

namespace trueup {

/// A server that asks for a longer rest is asked again after this.
constexpr Millis kMostAsked{60'000};

class Backoff {
  public:
    Backoff(Millis min, Millis max, std::uint64_t seed) : min_(min), max_(max), random_(seed) {}

    /// The wait after one more failure: half to all of min * 2^failures, at most `max`; never less
    /// than `at_least` (a Retry-After), of which at most kMostAsked is believed.
    Millis next(Millis at_least = Millis(0)) {
        const std::int64_t doubled = min_.count() << std::min(failures_, 20U);
        const std::int64_t whole = std::max<std::int64_t>(std::min(doubled, max_.count()), 1);
        ++failures_;
        const auto spread = static_cast<std::uint64_t>(whole / 2 + 1);
        const auto jittered = whole - static_cast<std::int64_t>(random_.next() % spread);
        return std::max(Millis(jittered), std::min(at_least, kMostAsked));
    }

    void reset() { failures_ = 0; }
    std::uint32_t failures() const { return failures_; }

  private:
    Millis min_;
    Millis max_;
    SplitMix64 random_;
    std::uint32_t failures_ = 0;
};

}  // namespace trueup
