// The policy ec2-workers: what discovery sees of EC2 instances, region by region, against the rows
// of the workers. Subject: an instance id.
#pragma once

#include "engine/core/policy.h"

namespace trueup::core::ec2_workers {

/// Its sources, by Role. Each region is a source of its own, whose scope is the region's name.
enum Sources : Role { kInstances = 0, kWorkers = 1 };

/// W3: a row that says the worker lives, and a complete discovery of its region that lacks the
/// instance. It is asked for directly first; only then the row is marked.
Verdict judge_terminated_externally(const Subject& subject, const References& references,
                                    const Settings& settings, std::uint8_t self, JournalTime now);

/// W7: the row was marked by the rule above, and the instance is seen alive again.
Verdict judge_resurrected(const Subject& subject, const References& references,
                          const Settings& settings, std::uint8_t self, JournalTime now);

extern const Policy kPolicy;

}  // namespace trueup::core::ec2_workers
