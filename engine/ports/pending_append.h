// The answer that an append to a log (log.h) will get. Belongs to whoever appended; one thread uses
// it.
#pragma once

#include "engine/base/result.h"
#include "engine/ports/records.h"

#include <functional>

namespace trueup::ports {

/// An append under way. Completions of one partition come in the order of the appends.
class PendingAppend {
  public:
    virtual ~PendingAppend() = default;
    /// True once `take` will not block.
    virtual bool ready() const = 0;
    /// Waits for the answer and returns it. Call once.
    virtual Result<Appended> take() = 0;
    /// Calls `heard` once it is ready, now if it is, and never after this is gone. By any thread:
    /// it is short, and calls nothing of the log. A log whose callers never wait need not.
    // By value: who implements it keeps it.
    // NOLINTNEXTLINE(performance-unnecessary-value-param)
    virtual void tell(std::function<void()> /*heard*/) {}
};

}  // namespace trueup::ports
