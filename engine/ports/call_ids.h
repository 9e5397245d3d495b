// The ids under which calls on one port are started, and who hands them out: one for each port,
// shared by all who start calls on it, so that each id is unique while its call runs. Not
// thread-safe, as ports are.
#pragma once

#include <cstdint>

namespace trueup::ports {

using CallId = std::uint64_t;

class CallIds {
  public:
    /// Never 0, which stands for "no call".
    CallId next() { return ++last_; }

  private:
    CallId last_ = 0;
};

}  // namespace trueup::ports
