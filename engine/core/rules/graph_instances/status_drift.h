// The status-drift rule (G3, G23): a row that says `starting` or `running` while its pod has Failed
// is marked failed.
//
// Both sides speak here, so nothing is proven by silence; still each must have been heard beyond
// the other's last word, or the row may already point at another pod.
//
// Invariants:
//   I1  kAct implies one present pod with phase Failed and one present row that is live.
//   I2  kAct names the row, the columns that were read, and the pod's uid and phase.
#pragma once

#include "engine/core/policy.h"

namespace trueup::core::graph_instances {

/// Returns
///   kHealthy  no live row, no Failed pod in scope, or another fact explains it;
///   kAbstain  two objects claim the name, or a hold is on one of them;
///   kWaiting  they disagree; freshness still holds it;
///   kAct      the command marks exactly this row failed.
///
/// Thread-safe: keeps no state. O(facets).
Verdict judge_status_drift(const Subject& subject, const References& references,
                           const Settings& settings, std::uint8_t self, JournalTime now);

}  // namespace trueup::core::graph_instances
