// The clock of a test: time passes when the test says so.
#pragma once

#include "engine/ports/clock.h"

#include <atomic>

namespace trueup::testing {

/// Thread-safe: a log's writer asks it, too.
class ManualClock final : public ports::Clock {
  public:
    explicit ManualClock(std::int64_t wall_millis = 1'700'000'000'000) : wall_(wall_millis) {}

    SteadyTime steady_now() override { return SteadyTime(Millis{1'000} + since()); }
    std::int64_t wall_millis() override { return wall_ + since().count(); }

    void advance(Millis by) { since_ += by.count(); }
    /// Since the test began.
    Millis since() const { return Millis{since_.load()}; }

  private:
    std::int64_t wall_;
    std::atomic<std::int64_t> since_{0};  ///< ms
};

}  // namespace trueup::testing
