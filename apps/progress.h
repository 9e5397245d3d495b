// Says on stderr what is being read, once that takes longer than people wait in silence, and
// listens for Ctrl-C meanwhile.
#pragma once

#include "apps/stop_signal.h"
#include "engine/base/time.h"

#include <cstdint>
#include <string>

namespace trueup::apps {

/// A Watcher (one_look.h).
class Progress {
  public:
    explicit Progress(StopSignal& stop);

    /// False once the process was asked to stop.
    bool operator()(const std::string& source, std::uint64_t objects);

  private:
    StopSignal* stop_;
    SteadyTime said_;
};

}  // namespace trueup::apps
