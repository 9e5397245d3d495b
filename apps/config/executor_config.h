// The executors of the configuration. A plain value.
#pragma once

#include "apps/config/source_config.h"

#include <optional>
#include <string>
#include <vector>

namespace trueup::config {

/// Executors of one kind, as one section says it.
struct ExecutorConfig {
    std::string kind;                  ///< `delete_pod`, `update_row` or `delete_object`
    std::vector<std::string> sources;  ///< what they act on; no source is in two sections
    std::optional<DatabaseLogin>
        rows;  ///< as whom `update_row` writes; nullopt: as the source reads
    std::optional<ClusterLogin> objects;  ///< as whom the others delete; likewise
    int line = 0;                         ///< where it stands in the file, from 1
};

}  // namespace trueup::config
