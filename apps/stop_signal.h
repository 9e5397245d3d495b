// Ctrl-C and SIGTERM as something to wait for. Make one before any thread starts: threads inherit
// the blocked signals.
#pragma once

#include "engine/base/time.h"

namespace trueup::apps {

class StopSignal {
  public:
    StopSignal();
    /// Waits at most `max_wait`; true once the process was asked to stop.
    bool wait(Millis max_wait);
    /// The same, for one more signal than those that `wait` and `again` told of so far.
    bool again(Millis max_wait);

  private:
    bool asked_ = false;
};

}  // namespace trueup::apps
