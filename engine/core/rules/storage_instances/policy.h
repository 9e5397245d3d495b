// The policy storage-instances: the processes of engines and replicas that run, instance manager by
// instance manager, against the custom resources that say where they should. Subject: the name of
// an engine or a replica.
//
// Of a custom resource the rules read `desire_state`, `current_state`, `node`, `owner` and
// `manager`; of a running instance `name`, `state`, `uuid`, `manager`, `node` and `data_engine`; of
// a manager `state`; of a node `evicted`; of a record `manager` and `data_engine`.
#pragma once

#include "engine/core/policy.h"

namespace trueup::core::storage_instances {

/// Its sources, by Role. Managers and nodes are references.
enum Sources : Role { kObjects = 0, kInstances = 1, kManagers = 2, kNodes = 3, kOrphans = 4 };

/// Where an instance stands, by L1 to L5, L7 and L15.
struct Standing {
    enum class Kind : std::uint8_t { kOurs, kOrphaned, kUndecided };
    Kind kind = Kind::kOurs;
    Reason why = Reason::kNone;  ///< of kUndecided
};
Standing standing_of(const Subject& subject, const References& references, const Settings& settings,
                     const Facet& instance);

/// L6: an orphaned instance without a record gets one. A record takes nothing away.
Verdict judge_orphaned_instance(const Subject& subject, const References& references,
                                const Settings& settings, std::uint8_t self, JournalTime now);
/// L7: a record of something that is no orphan any more is taken back.
Verdict judge_stale_record(const Subject& subject, const References& references,
                           const Settings& settings, std::uint8_t self, JournalTime now);

extern const Policy kPolicy;

}  // namespace trueup::core::storage_instances
