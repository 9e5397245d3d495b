// Where the shell gets its time and its waits from. The core never sees this port.
#pragma once

#include "engine/base/time.h"

namespace trueup::ports {

class Clock {
  public:
    virtual ~Clock() = default;

    /// Monotonic.
    virtual SteadyTime steady_now() = 0;
    /// Milliseconds since 1970 by this machine. Only append times and logs are made of it.
    virtual std::int64_t wall_millis() = 0;
};

/// The machine's own clocks. Thread-safe.
Clock& system_clock();

}  // namespace trueup::ports
