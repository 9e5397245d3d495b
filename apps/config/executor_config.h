// The executors of the configuration. A plain value.
#pragma once

#include "apps/config/source_config.h"
#include "engine/model/verb.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace trueup::config {

/// Executors of one kind, as one section says it.
struct ExecutorConfig {
    std::string kind;  ///< policy::Use::executors, as `delete_pod`
    /// What they act on; no source is in two sections of a kind, nor written as two accounts.
    std::vector<std::string> sources;
    std::optional<DatabaseLogin> rows;  ///< as whom rows are written; nullopt: as the source reads
    std::optional<ClusterLogin> objects;  ///< as whom the others write; likewise
    int line = 0;                         ///< where it stands in the file, from 1
};

/// Do they act on several sources, whatever their resource, in one section?
inline bool takes_list(std::string_view kind) {
    return policy::act_on(kind, policy::Kind::kObject);
}

inline bool writes_rows(std::string_view kind) { return policy::act_on(kind, policy::Kind::kRow); }

}  // namespace trueup::config
