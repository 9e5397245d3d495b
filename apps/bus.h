// The log that a configuration names.
#pragma once

#include "apps/config/config.h"
#include "connectors/kafka/settings.h"
#include "engine/base/result.h"
#include "engine/model/command.h"
#include "engine/ports/log.h"
#include "executors/partition_assignment.h"

#include <memory>
#include <string>
#include <vector>

namespace trueup::apps {

/// Makes the folder, and those above it. kRetry: this machine does not let it now.
Status make_state_folder(const std::string& state_dir);

/// The log of a single process, in `state_dir/log`.
Result<std::unique_ptr<ports::Log>> open_embedded(const std::string& state_dir, bool fsync,
                                                  std::size_t memory_bytes);

/// How to reach the configured cluster; there is one. `part` names this process to it.
connectors::kafka::Settings kafka_settings(const config::Config& config, const std::string& part);

/// Embedded or Kafka, as configured. `part` is what the process calls itself to a broker.
Result<std::unique_ptr<ports::Log>> open_bus(const config::Config& config, const std::string& part);

/// A place among the executors of `kinds` (none: of everything) of the configured cluster.
Result<std::shared_ptr<const executors::PartitionAssignment>> join_executors(
    const config::Config& config, const std::vector<Action::Kind>& kinds);

}  // namespace trueup::apps
