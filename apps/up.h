// `trueup up` and `trueup config check`: the process over real sources.
#pragma once

#include "apps/feed.h"
#include "apps/stop_signal.h"

#include <cstdint>
#include <string>

namespace trueup::apps {

struct UpOptions {
    std::string config;
    std::uint64_t seconds = 0;  ///< 0: until Ctrl-C
    /// While this file exists, executors check but hold their writes. Empty: never.
    std::string pause_file;
    FeedFormat format = FeedFormat::kText;
    bool colours = true;
};

struct CheckOptions {
    std::string config;
    bool offline = false;  ///< only the file
    FeedFormat format = FeedFormat::kText;
};

/// Exit codes: 0 stopped as asked; 1 it gave up; 2 the configuration is wrong or a source cannot be
/// reached, and nothing was started.
int run_up(const UpOptions& options, StopSignal& stop);

/// 0 all is well, 2 otherwise; one sentence for each thing that is wrong.
int run_config_check(const CheckOptions& options);

}  // namespace trueup::apps
