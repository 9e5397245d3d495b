// The topics of a cluster: what they have to be, and what they are (design §3).
#pragma once

#include "connectors/kafka/admin.h"
#include "connectors/kafka/settings.h"
#include "engine/base/result.h"

#include <cstdint>
#include <string>
#include <vector>

namespace trueup::connectors::kafka {

struct TopicOptions {
    std::int32_t partitions = 1;
    std::int32_t replicas = 3;
    std::int32_t min_in_sync = 2;
};

/// Every topic of the prefix, as `topics create` makes it.
std::vector<TopicPlan> plan_topics(const Settings& settings, const TopicOptions& options);

struct TopicFlaws {
    std::vector<std::string> missing;   ///< topics that are not there
    std::vector<std::string> wrong;     ///< sentences; nothing may run like that
    std::vector<std::string> warnings;  ///< sentences; it works, until it does not
};

/// What a cluster has, in the order of the plan.
struct TopicsState {
    std::vector<TopicState> topics;
    /// So many journals have a record, or had one: the number of shards there is. 0: none has
    /// begun.
    std::int32_t shards = 0;
};

/// Holds topics against the plan. The sentences name the setting and what to write.
///
/// What a topic has beyond the plan's partitions does no harm where the journals that have begun
/// are as many as planned: everybody who writes names the partition. So that is warned of, and
/// everything else that is not as planned is wrong. `begun`: fewer journals than planned are wrong
/// too (else they are about to be begun).
TopicFlaws flaws_of(const std::vector<TopicPlan>& plan, const TopicsState& state, bool begun);

/// Asks the cluster, and holds what it says against the plan.
Result<TopicFlaws> check_topics(Admin& admin, const std::vector<TopicPlan>& plan, bool begun);

}  // namespace trueup::connectors::kafka
