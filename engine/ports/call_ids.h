// Hands out the ids under which calls on one port are started. One for each port, shared by all who
// start calls on it, so that each id is unique while its call runs. Not thread-safe, as ports are.
#pragma once

#include "engine/ports/cluster.h"

namespace trueup::ports {

class CallIds {
  public:
    /// Never 0, which stands for "no call".
    CallId next() { return ++last_; }

  private:
    CallId last_ = 0;
};

}  // namespace trueup::ports
