// The clock of a test: time passes when the test says so, or with each look at it.
#pragma once

#include "engine/ports/clock.h"

#include <atomic>

namespace trueup::testing {

/// Thread-safe: a log's writer asks it, too.
class ManualClock : public ports::Clock {
  public:
    explicit ManualClock(std::int64_t wall_millis = 1'700'000'000'000, Millis each_look = Millis{0})
        : wall_(wall_millis), each_look_(each_look.count()) {}

    SteadyTime steady_now() override {
        since_ += each_look_;
        return SteadyTime(Millis{1'000} + since());
    }
    std::int64_t wall_millis() override { return wall_ + since().count(); }

    void advance(Millis by) { since_ += by.count(); }
    /// Somebody sets the wall clock.
    void leap(Millis by) { wall_ += by.count(); }
    /// Since the test began.
    Millis since() const { return Millis{since_.load()}; }

  private:
    std::atomic<std::int64_t> wall_;
    const std::int64_t each_look_;        ///< ms that pass with a look
    std::atomic<std::int64_t> since_{0};  ///< ms
};

}  // namespace trueup::testing
