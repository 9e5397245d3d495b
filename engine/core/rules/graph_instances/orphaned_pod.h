// The orphaned-pod rule (G1): a pod that no instance row owns is to be deleted, but not in haste.
//
// Ownership is judged by absence, and absence is knowledge only once the row source has finished an
// epoch and has proven itself past the moment at which the pod was first seen, plus the create
// window: a pod is often observed some seconds before the row that owns it (S6). After that the
// disagreement must have lasted for the grace, in watched time. While any live row has no pod that
// can be told (G25), that row may own this pod: an operator must approve.
//
// Invariants (checked here, and again by the simulator's oracle):
//   I1  kAct implies that the rows are known, fresh past the pod's evidence, and hold none.
//   I2  kAct names a uid, so that a successor pod of the same name is never deleted (S1).
//   I3  Equal arguments give equal verdicts: no clock, no randomness, no I/O.
#pragma once

#include "engine/core/policy.h"

namespace trueup::core::graph_instances {

/// Returns
///   kHealthy  no pod, a row owns it, or it is terminating or out of scope;
///   kAbstain  the rows are unknown, two pods claim the name, or a hold is on the pod;
///   kWaiting  unowned; grace or freshness still holds it;
///   kAct      the command deletes exactly this uid; it asks for an approval while a live row may
///             own the pod.
///
/// Thread-safe: keeps no state. O(facets).
Verdict judge_orphaned_pod(const Subject& subject, const References& references,
                           const Settings& settings, std::uint8_t self, JournalTime now);

}  // namespace trueup::core::graph_instances
