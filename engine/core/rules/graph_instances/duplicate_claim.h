// The duplicate-claim rule (design §4.11): two live objects of one source claim one name. Every
// other rule abstains meanwhile; this one says so. Nothing is done in any mode.
#pragma once

#include "engine/core/policy.h"

namespace trueup::core::graph_instances {

/// Returns kHealthy, or kWaiting (kDuplicateClaim) about the claimant that is last in order. Never
/// kAct. A pod on its way out claims nothing.
///
/// Thread-safe: keeps no state. O(facets).
Verdict judge_duplicate_claim(const Subject& subject, const References& references,
                              const Settings& settings, std::uint8_t self, JournalTime now);

}  // namespace trueup::core::graph_instances
