// The executors of the configuration. A plain value.
#pragma once

#include "apps/config/source_config.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace trueup::config {

/// Executors of one kind, as one section says it.
struct ExecutorConfig {
    /// `delete_pod`, `update_row`, `insert_row`, `delete_object`, `update_object` or
    /// `create_object`
    std::string kind;
    /// What they act on; no source is in two sections of a kind, nor written as two accounts.
    std::vector<std::string> sources;
    std::optional<DatabaseLogin> rows;  ///< as whom rows are written; nullopt: as the source reads
    std::optional<ClusterLogin> objects;  ///< as whom the others write; likewise
    int line = 0;                         ///< where it stands in the file, from 1
};

/// Do they act on several sources, whatever their resource, in one section?
inline bool takes_list(std::string_view kind) {
    return kind == "delete_object" || kind == "update_object" || kind == "create_object";
}

inline bool writes_rows(std::string_view kind) {
    return kind == "update_row" || kind == "insert_row";
}

}  // namespace trueup::config
