// What the operator decided of one rule: how far it goes, and how soon, how often and when it may
// have something done. Plain values.
#pragma once

#include "engine/base/time.h"
#include "engine/model/mode.h"

#include <cstdint>
#include <optional>
#include <string>

namespace trueup {

/// A time of the week, UTC, in which commands may be issued: on each of `days`, from `from` up to,
/// not with, `to`.
struct Window {
    std::uint8_t days = 0;   ///< bit 0: Monday … bit 6: Sunday
    std::uint16_t from = 0;  ///< minutes of the day
    std::uint16_t to = 0;    ///< above `from`, at most 24 × 60
    bool operator==(const Window&) const = default;
};

/// How many commands a rule may issue in one window, over all shards (core/budget.h).
struct Budget {
    std::uint32_t max = 10;      ///< in any case; divided among the shards
    std::uint32_t percent = 20;  ///< of the subjects, where that is more
    Millis window{300'000};      ///< windows follow each other without gaps
    bool operator==(const Budget&) const = default;
};

struct RuleSettings {
    std::string rule;  ///< `orphaned_pod`
    Mode mode = Mode::kObserve;
    Millis grace{60'000};          ///< journal time from first detection
    Millis create_window{30'000};  ///< broker time in which the other side may still be written
    Budget budget{};
    /// Seconds that a pod which the rule deletes is given to end; nullopt: the pod's own. 0 kills.
    std::optional<std::uint32_t> grace_period = {};
    bool operator==(const RuleSettings&) const = default;
};

}  // namespace trueup
