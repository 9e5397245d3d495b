// `trueup config check`.
#pragma once

#include "apps/feed.h"
#include "apps/stop_signal.h"

#include <string>

namespace trueup::apps {

struct CheckOptions {
    std::string config;
    bool offline = false;  ///< only the file
    FeedFormat format = FeedFormat::kText;
};

/// 0 all is well, 2 otherwise; one sentence for each thing that is wrong.
int run_config_check(const CheckOptions& options, StopSignal& stop);

}  // namespace trueup::apps
