// Ending an instance (G7): first its pod is deleted, then what serves it, then its row says
// `stopping`. The rules judge the first of it only; the rest is an ending (core/ending.h). Three do
// it: the instance outlived its TTL (G4), nobody used it for too long (G5), or somebody asked (G8).
//
// A deadline is compared with the clock of the source that wrote it, as that source reported it,
// never with the engine's: it has passed when the source's own clock has passed it. Where that
// clock is further from the broker's than `max_clock_skew`, nothing is judged.
//
// Invariants:
//   I1  kAct names every column that the deadline was made of: a TTL that was extended meanwhile
//       refuses the command (S36).
//   I2  The row is written only behind our own deletion of its pod, or when that pod is on its way
//       out anyway. A pod that is simply not there is the business of missing_pod, but for what was
//       asked for: that waits for its pod.
//   I3  No deadline: NULL, blank, zero or negative. What cannot be read is not a deadline either,
//       and is reported.
#pragma once

#include "engine/core/policy.h"

namespace trueup::core::graph_instances {

/// Each returns
///   kHealthy  no live row, its time has not come, or its pod is absent or out of scope;
///   kAbstain  a value was not sent, a clock is off, two objects claim the name, or a hold is on
///             one of them;
///   kWaiting  freshness still holds it, or the deadline cannot be read;
///   kAct      the command deletes the pod, or what serves it where the pod is on its way out
///             already, and more follows; or it marks the row stopping.
///
/// Thread-safe: keep no state. O(facets).
Verdict judge_ttl_expired(const Subject& subject, const References& references,
                          const Settings& settings, std::uint8_t self, JournalTime now);
Verdict judge_inactive(const Subject& subject, const References& references,
                       const Settings& settings, std::uint8_t self, JournalTime now);
Verdict judge_termination_requested(const Subject& subject, const References& references,
                                    const Settings& settings, std::uint8_t self, JournalTime now);

}  // namespace trueup::core::graph_instances
