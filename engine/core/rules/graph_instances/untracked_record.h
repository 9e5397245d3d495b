// The untracked-record rule (G6): a live row without a pod_name gets the name of the pod that has
// the row's name; where that pod is proven absent, the row is marked failed.
//
// Naming the pod takes nothing away. Failing the row does, and while pods are there that no row
// means, one of them may be this row's: an operator must approve (G25).
//
// Invariants:
//   I1  kAct that fails the row implies that the pods are known, fresh past the row's evidence plus
//       the create window, and hold none of that name.
//   I2  kAct that names a pod implies that exactly one is there, and that it is not on its way out.
#pragma once

#include "engine/core/policy.h"

namespace trueup::core::graph_instances {

/// Returns
///   kHealthy  no live row without a pod_name, or its pod is on its way out;
///   kAbstain  the pods are unknown, two objects claim the name, or a hold is on the row;
///   kWaiting  grace or freshness still holds it;
///   kAct      the command names the pod, or marks exactly this row failed.
///
/// Thread-safe: keeps no state. O(facets).
Verdict judge_untracked_record(const Subject& subject, const References& references,
                               const Settings& settings, std::uint8_t self, JournalTime now);

}  // namespace trueup::core::graph_instances
