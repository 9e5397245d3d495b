// The clock of a test: time passes when the test says so.
#pragma once

#include "engine/ports/clock.h"

namespace trueup::testing {

/// Not thread-safe.
class ManualClock final : public ports::Clock {
  public:
    explicit ManualClock(std::int64_t wall_millis = 1'700'000'000'000) : wall_(wall_millis) {}

    SteadyTime steady_now() override { return SteadyTime(Millis{1'000} + since_); }
    std::int64_t wall_millis() override { return wall_ + since_.count(); }

    void advance(Millis by) { since_ += by; }
    /// Since the test began.
    Millis since() const { return since_; }

  private:
    std::int64_t wall_;
    Millis since_{0};
};

}  // namespace trueup::testing
