// The stuck-transition rule (G23): a row that has been `stopping` for too long while its pod is
// proven absent. Nobody will finish this; where the rule may act, the row is closed as failed.
//
// Invariants:
//   I1  kAct implies that the pods are known, fresh past the row's evidence plus the create window,
//       and hold none.
#pragma once

#include "engine/core/policy.h"

namespace trueup::core::graph_instances {

/// Returns
///   kHealthy  no row is stopping, or its pod is still there;
///   kAbstain  the pods are unknown, a live row is there as well, or a hold is on the row;
///   kWaiting  the grace (how long is too long) or freshness still holds it;
///   kAct      the command closes exactly this row.
///
/// Thread-safe: keeps no state. O(facets).
Verdict judge_stuck_transition(const Subject& subject, const References& references,
                               const Settings& settings, std::uint8_t self, JournalTime now);

}  // namespace trueup::core::graph_instances
