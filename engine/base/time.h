// The clocks of the engine, as types that cannot be mixed. None of them has `now()`: the core never
// reads a clock, it is told.
//
//   BrokerTime   append time that the log gave a record (ms since 1970). Freshness, create windows
//                and expiry compare it. It never runs backwards within one partition.
//   JournalTime  watched time of one shard: the sum of the clamped steps between the append times
//                of its journal records. Graces, timers and backoffs run on it; it starts at 0.
//   SourceTime   what a source's own clock said (ms since 1970). Only ever compared after a
//                conversion by that source's reported clock.
//   SteadyTime   the process's monotonic clock, for the shell's waits. Never stored, never sent.
#pragma once

#include <chrono>
#include <cstdint>

namespace trueup {

using Millis = std::chrono::milliseconds;

template <typename Tag>
struct TaggedClock {
    using rep = std::int64_t;
    using period = std::milli;
    using duration = Millis;
    using time_point = std::chrono::time_point<TaggedClock, Millis>;
};

using BrokerTime = TaggedClock<struct BrokerTag>::time_point;
using JournalTime = TaggedClock<struct JournalTag>::time_point;
using SourceTime = TaggedClock<struct SourceTag>::time_point;
using SteadyTime = TaggedClock<struct SteadyTag>::time_point;

template <typename TimePoint>
constexpr std::int64_t to_millis(TimePoint t) {
    return t.time_since_epoch().count();
}
template <typename TimePoint>
constexpr TimePoint from_millis(std::int64_t ms) {
    return TimePoint(Millis(ms));
}

}  // namespace trueup
