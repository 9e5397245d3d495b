// The finished-pod rule (G23): a row says `running` while its pod has Succeeded. Whether that is a
// success or a loss only the owner knows: it is reported, and nothing is done in any mode.
#pragma once

#include "engine/core/policy.h"

namespace trueup::core::graph_instances {

/// Returns kHealthy, or kWaiting (kReportOnly) about the row. Never kAct.
///
/// Thread-safe: keeps no state. O(facets).
Verdict judge_finished_pod(const Subject& subject, const References& references,
                           const Settings& settings, std::uint8_t self, JournalTime now);

}  // namespace trueup::core::graph_instances
