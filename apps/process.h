// The processes over real sources: `trueup up` runs everything in one, `trueup engine`, `trueup
// connect` and `trueup execute` run a part of it each, over Kafka.
#pragma once

#include "apps/event_printer.h"
#include "apps/stop_signal.h"
#include "engine/base/id.h"

#include <cstdint>
#include <string>
#include <vector>

namespace trueup::apps {

enum class Part : std::uint8_t { kEverything, kEngine, kConnect, kExecute };

struct ProcessOptions {
    Part part = Part::kEverything;
    std::string config;
    std::uint64_t seconds = 0;  ///< 0: until Ctrl-C
    /// While this file exists, executors check but hold their writes. Empty: never.
    std::string pause_file;
    std::string listen;                 ///< instead of the configuration's address; empty: that
    std::string shards;                 ///< of an engine, as `0-3,7`; empty: all
    bool follow = false;                ///< an engine that folds and emits nothing
    bool enable_all = false;            ///< every rule is enabled at once, unseen
    std::vector<std::string> names;     ///< sources to connect, kinds to execute; none: all
    std::vector<std::string> policies;  ///< that run here; none: all
    OutputFormat format = OutputFormat::kText;
    bool colours = true;
    std::string log_level;  ///< of the command line; empty: the configuration's
};

/// Exit codes: 0 stopped as asked; 1 it gave up, and another start may do; 2 the configuration is
/// wrong, or a server says that what it names is not there, and nothing was started: another start
/// does not help. Who does not answer is waited for. Of several policies those that can run do, and
/// the others are told of.
int run_process(const ProcessOptions& options, StopSignal& stop);

/// The numbers of `0-3,7`, ascending, each below `count`; the error says what to write.
Result<std::vector<PartitionNumber>> parse_shards(const std::string& text, std::int32_t count);

}  // namespace trueup::apps
