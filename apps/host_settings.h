// What a Host is made of: how it runs, its sources, and its executors' ports.
#pragma once

#include "apps/config_watch.h"
#include "apps/secrets.h"
#include "engine/base/id.h"
#include "engine/base/time.h"
#include "engine/model/exports.h"
#include "engine/model/headers.h"
#include "engine/model/settings.h"
#include "engine/model/topic.h"
#include "engine/ports/cluster.h"
#include "engine/ports/connector.h"
#include "engine/ports/database.h"
#include "engine/runtime/retention_settings.h"
#include "executors/dispatcher_settings.h"
#include "executors/sources.h"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace trueup::apps {

/// A source with its machine and the port that the machine owns.
struct SourceSpec {
    std::string name;
    Topic topic = Topic::kUnspecified;
    std::uint64_t mapping = 0;  ///< by what the connector reads (SourceSettings)
    Millis pace_idle{15'000};
    Millis pace_waiting{2'000};
    Millis relist_every{std::chrono::hours(6)};
    std::unique_ptr<ports::Cluster> cluster;
    std::unique_ptr<ports::Database> database;
    std::unique_ptr<ports::Connector> connector;
};

/// The executors' own ports and what they may touch through them. Without any source: none run
/// here.
struct ExecutorSpec {
    std::vector<std::unique_ptr<ports::Cluster>> clusters;
    std::vector<std::unique_ptr<ports::Database>> databases;
    executors::Sources sources;
    executors::DispatcherSettings settings;
};

struct HostSettings {
    std::string state_dir;             ///< of this policy alone
    std::shared_ptr<Secrets> secrets;  ///< nullptr: made in state_dir/keys
    /// Of the process; nullptr: nobody looks.
    std::shared_ptr<ConfigWatch> configuration;
    std::size_t memory_bytes = std::size_t{512} << 20U;
    Settings policy;
    policy::Exports exports;                                     ///< of its text
    std::int32_t partitions = 1;                                 ///< of every topic
    std::vector<PartitionNumber> shards = {PartitionNumber(0)};  ///< that run here
    bool lead = true;  ///< false: they fold and emit nothing
    FindingHeaders finding_headers = FindingHeaders::kId;
    /// No other process uses the log: an empty journal is begun, and no shard needs hints.
    bool alone = true;
    std::string checkpoints;  ///< their folder; empty: state_dir/checkpoints
    Millis checkpoint_every{std::chrono::minutes(15)};
    std::size_t checkpoints_kept = 3;
    runtime::RetentionSettings retention;
    Millis shorten_every{std::chrono::hours(1)};  ///< the log, to what is to be kept of it
    /// Waits while the log does not answer; true: do not try again. Called by `Host::begin` only.
    std::function<bool(Millis)> pause = [](Millis) { return true; };
};

}  // namespace trueup::apps
