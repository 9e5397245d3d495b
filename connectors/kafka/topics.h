// The topics of a cluster: what they have to be, and what they are (design §3).
#pragma once

#include "connectors/kafka/admin.h"
#include "connectors/kafka/settings.h"
#include "engine/base/result.h"

#include <cstdint>
#include <string>
#include <vector>

namespace trueup::connectors::kafka {

struct TopicWishes {
    std::int32_t partitions = 1;
    std::int32_t replicas = 3;
    std::int32_t min_in_sync = 2;
};

/// Every topic of the prefix, as `topics create` makes it.
std::vector<TopicPlan> plan_topics(const Settings& settings, const TopicWishes& wishes);

struct TopicFlaws {
    std::vector<std::string> missing;   ///< topics that are not there
    std::vector<std::string> wrong;     ///< sentences; nothing may run like that
    std::vector<std::string> warnings;  ///< sentences; it works, until it does not
};

/// Holds the cluster's topics against the plan. The sentences name the setting and what to write.
Result<TopicFlaws> check_topics(Admin& admin, const std::vector<TopicPlan>& plan);

}  // namespace trueup::connectors::kafka
