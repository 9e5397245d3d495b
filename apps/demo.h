// `trueup demo`: the whole process over the sandbox, in which things go wrong by themselves.
#pragma once

#include "apps/event_printer.h"
#include "apps/stop_signal.h"

#include <cstdint>
#include <string>

namespace trueup::apps {

struct DemoOptions {
    std::uint64_t seconds = 0;  ///< 0: until Ctrl-C
    std::uint64_t seed = 0;     ///< 0: a fresh one, which is printed
    OutputFormat format = OutputFormat::kText;
    bool colours = true;
    bool calm = false;  ///< nothing new goes wrong; what is wrong is put right
    std::string
        state_dir;  ///< empty: a temporary one. Kept: world and engine go on where they were
};

/// The process's exit code.
int run_demo(const DemoOptions& options, StopSignal& stop);

}  // namespace trueup::apps
