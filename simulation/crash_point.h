// When a process dies. Every call that it makes on the world outside (log, store, servers) is an
// await point, and it may die at any of them: from there on nothing that it does has any effect.
// Its code runs on to the end of its step, as a process that was killed does not; nobody can tell.
#pragma once

#include <cstdint>
#include <limits>

namespace trueup::simulation {

/// Not thread-safe.
class CrashPoint {
  public:
    /// One more call on the outside. False: the process is dead, and the call has no effect.
    bool call() {
        if (left_ == 0) return false;
        if (left_ != kForEver) --left_;
        return left_ > 0;
    }
    bool alive() const { return left_ > 0; }
    /// Dies at the n-th call from now on, from 1.
    void die_at(std::uint64_t n) { left_ = n; }
    void die() { left_ = 0; }

  private:
    static constexpr std::uint64_t kForEver = std::numeric_limits<std::uint64_t>::max();
    std::uint64_t left_ = kForEver;
};

}  // namespace trueup::simulation
