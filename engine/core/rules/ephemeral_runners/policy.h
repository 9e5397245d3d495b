// The policy ephemeral-runners: one pod for each runner, made anew when it fails, a little later
// each time; a runner that failed too often goes, and its set makes another. Subject: the name of a
// runner, which its pod has too.
//
// Of a runner the rules read `phase`, `job` (the job that it was given), `namespace` and
// `failures`, what its own status knows: `uid=time` or `uid=true`, separated by blanks.
#pragma once

#include "engine/core/policy.h"

namespace trueup::core::ephemeral_runners {

/// Its sources, by Role.
enum Sources : Role { kRunners = 0, kPods = 1 };

/// R2, R3: a runner without a pod gets one, after the backoff; one that succeeded never (R5).
Verdict judge_missing_pod(const Subject& subject, const References& references,
                          const Settings& settings, std::uint8_t self, JournalTime now);
/// The runner's pod has failed; it makes room for the next one.
Verdict judge_failed_pod(const Subject& subject, const References& references,
                         const Settings& settings, std::uint8_t self, JournalTime now);
/// R4: the sixth failure ends the runner; R10: with a job, the first.
Verdict judge_failed_runner(const Subject& subject, const References& references,
                            const Settings& settings, std::uint8_t self, JournalTime now);

extern const Policy kPolicy;

}  // namespace trueup::core::ephemeral_runners
