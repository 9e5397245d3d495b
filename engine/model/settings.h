// What the operator decided: sources, rules, modes and times. Settings are part of the journal (a
// Policy control record), so a replay judges with what was in force.
#pragma once

#include "engine/base/time.h"
#include "engine/model/topic.h"
#include "engine/model/verdict.h"

#include <cstdint>
#include <string>
#include <vector>

namespace trueup {

enum class Mode : std::uint8_t {
    kUnspecified = 0,
    kObserve = 1,  ///< finds and explains, never acts; the default
    kEnforce = 2,
};

/// How many commands a rule may issue in one window of journal time.
struct Budget {
    std::uint32_t most = 10;     ///< in any case; divided among the shards
    std::uint32_t percent = 20;  ///< of the shard's subjects, where that is more
    Millis window{300'000};      ///< windows follow each other without gaps
    bool operator==(const Budget&) const = default;
};

struct RuleSettings {
    std::string rule;  ///< `orphaned_pod`
    Mode mode = Mode::kObserve;
    Millis grace{60'000};          ///< journal time from first detection
    Millis create_window{30'000};  ///< broker time in which the other side may still be written
    Budget budget{};
    bool operator==(const RuleSettings&) const = default;
};

struct SourceSettings {
    std::string name;
    Topic topic = Topic::kUnspecified;  ///< the one topic that it writes
    bool operator==(const SourceSettings&) const = default;
};

struct Settings {
    std::string policy;                   ///< its name; the first part of every subject key
    std::string use;                      ///< the built-in set of rules: `graph-instances`
    std::vector<SourceSettings> sources;  ///< a SourceId is an index in here
    SourceId pods = kNoSource;
    SourceId rows = kNoSource;
    std::vector<RuleSettings> rules;      ///< one for each rule of the set, in its order
    Millis max_step{10'000};              ///< the longest step of journal time per record
    Millis max_skew{0};                   ///< between append times of different partitions
    Millis stale_after{45'000};           ///< a source silent for longer holds what leans on it
    Millis command_ttl{60'000};           ///< from issue to not_after
    Millis emit_again{10'000};            ///< a command without an outcome is emitted once more
    std::uint32_t max_drop_percent = 50;  ///< an epoch that loses more (and > 10) is not believed
    std::uint32_t max_outbox = 10'000;
    std::uint32_t sweep_step =
        2'000;  ///< facets that one record may sweep, or subjects it may wake
    bool operator==(const Settings&) const = default;
};

}  // namespace trueup
