// The missing-pod rule (G2): a row that wants a pod whose pod is proven absent is marked failed.
//
// A pod is created some seconds after its row at times, and a row is re-pointed at a new pod: the
// pods must have proven themselves past the row's last change plus the create window. An empty or
// failed listing proves nothing (G22).
//
// Invariants:
//   I1  kAct implies that the pods are known, fresh past the row's evidence, and hold none.
//   I2  kAct names one row, and every column that was read.
#pragma once

#include "engine/core/policy.h"

namespace trueup::core::graph_instances {

/// Returns
///   kHealthy  no live row with a pod_name, or its pod is there (whatever its phase or labels);
///   kAbstain  the pods are unknown, two live rows claim the name, or a hold is on the row;
///   kWaiting  the pod is absent; grace or freshness still holds it;
///   kAct      the command marks exactly this row failed.
///
/// Thread-safe: keeps no state. O(facets).
Verdict judge_missing_pod(const Subject& subject, const References& references,
                          const Settings& settings, std::uint8_t self, JournalTime now);

}  // namespace trueup::core::graph_instances
