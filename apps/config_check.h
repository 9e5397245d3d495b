// `trueup config check`.
#pragma once

#include "apps/event_printer.h"
#include "apps/stop_signal.h"

#include <string>

namespace trueup::apps {

struct CheckOptions {
    std::string config;
    bool offline = false;  ///< only the file
    OutputFormat format = OutputFormat::kText;
};

/// 0 all is well, 2 otherwise; one sentence for each thing that is wrong.
int run_config_check(const CheckOptions& options, StopSignal& stop);

}  // namespace trueup::apps
