// Ctrl-C and SIGTERM as something to wait for, beside news of the process itself. Make one before
// any thread starts: threads inherit the blocked signals. One thread waits; `wake` is for any.
#pragma once

#include "engine/base/time.h"

#include <atomic>

namespace trueup::apps {

class StopSignal {
  public:
    StopSignal();
    /// Waits at most `max_wait`; true once the process was asked to stop.
    bool wait(Millis max_wait);
    /// The same, and a `wake` ends it: the one since the last such wait, or the next.
    bool wait_for_news(Millis max_wait);
    /// As `wait`, for one more signal than those that were told of so far.
    bool again(Millis max_wait);
    void wake();

  private:
    bool asked_ = false;
    std::atomic<bool> woken_{false};  ///< a wake that no wait has ended with
};

}  // namespace trueup::apps
