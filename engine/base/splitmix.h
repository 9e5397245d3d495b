// A small generator of pseudo-random numbers (splitmix64, Steele and others 2014): for jitter, the
// simulation and the demo, where a run must repeat by its seed on every platform and with every
// compiler. Not for secrets.
#pragma once

#include <cstdint>

namespace trueup {

/// Not thread-safe. Copies go on independently from where they are.
class SplitMix64 {
  public:
    explicit SplitMix64(std::uint64_t seed) : state_(seed) {}

    std::uint64_t next() {
        std::uint64_t z = state_ += 0x9e3779b97f4a7c15U;
        z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9U;
        z = (z ^ (z >> 27U)) * 0x94d049bb133111ebU;
        return z ^ (z >> 31U);
    }

  private:
    std::uint64_t state_;
};

}  // namespace trueup
