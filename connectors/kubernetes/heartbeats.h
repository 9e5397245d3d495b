// When a connector gives its next sign of life. Not thread-safe; the time is handed in.
#pragma once

#include "engine/base/time.h"

#include <algorithm>

namespace trueup::connectors::kubernetes {

class Heartbeats {
  public:
    void beat(SteadyTime now) {
        last_ = now;
        next_ = now + interval_;
    }
    /// A longer interval holds from the next beat on, a shorter one at once.
    void pace(Millis interval) {
        interval_ = interval;
        next_ = std::min(next_, last_ + interval_);
    }
    bool due(SteadyTime now) const { return now >= next_; }
    SteadyTime next() const { return next_; }

  private:
    Millis interval_{15'000};
    SteadyTime last_{};
    SteadyTime next_{};
};

}  // namespace trueup::connectors::kubernetes
