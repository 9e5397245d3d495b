// `trueup simulate`: runs of the shipped code in a simulated world, from seeds.
#pragma once

#include "apps/event_printer.h"
#include "apps/stop_signal.h"

#include <cstdint>
#include <string>

namespace trueup::apps {

struct SimulateOptions {
    std::uint64_t seed = 1;  ///< 0: a fresh one, which is printed
    std::uint64_t runs = 100;
    std::uint64_t seconds = 0;  ///< not 0: as many runs as end in this time
    std::string plan = "standard";
    std::uint64_t jobs = 1;
    bool shrink = true;  ///< look for the smallest schedule that fails
    bool keep_going = false;
    std::string tell;  ///< what happened around this name, in the run that failed or in the first
    OutputFormat format = OutputFormat::kText;
};

/// The process's exit code: 0 when every run was good, 1 when one was not.
int run_simulate(SimulateOptions options, StopSignal& stop);

}  // namespace trueup::apps
