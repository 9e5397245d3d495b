// The policy processors: one pod for each row that wants one, made as the row says. Subject: the id
// of a processor.
//
// Of a row the rules read `status`, `name` (of its pod), `versions` (how many of its template's
// versions are active) and `spec`, a fingerprint of all that its pod is made from. A pod carries
// the fingerprint that it was made from, as `spec` too.
#pragma once

#include "engine/core/policy.h"

namespace trueup::core::processors {

/// Its sources, by Role.
enum Sources : Role { kWanted = 0, kPods = 1 };

/// P1: a row wants a pod and there is none, not even one on its way out (P26). After failures the
/// next try comes later (P27).
Verdict judge_missing_pod(const Subject& subject, const References& references,
                          const Settings& settings, std::uint8_t self, JournalTime now);
/// P2: a pod that no row wants.
Verdict judge_unwanted_pod(const Subject& subject, const References& references,
                           const Settings& settings, std::uint8_t self, JournalTime now);
/// P3, P29: the pod has ended; it makes room for the next one.
Verdict judge_ended_pod(const Subject& subject, const References& references,
                        const Settings& settings, std::uint8_t self, JournalTime now);
/// P4: the pod was made from another spec than its row has now; it makes room for the next one.
Verdict judge_changed_spec(const Subject& subject, const References& references,
                           const Settings& settings, std::uint8_t self, JournalTime now);
/// P5: several pods for one row; the newest that fits stays.
Verdict judge_surplus_pod(const Subject& subject, const References& references,
                          const Settings& settings, std::uint8_t self, JournalTime now);
/// P25: a row that wants a pod, but nothing says which version of it. Reported; its pod stays.
Verdict judge_no_active_version(const Subject& subject, const References& references,
                                const Settings& settings, std::uint8_t self, JournalTime now);

extern const Policy kPolicy;

}  // namespace trueup::core::processors
