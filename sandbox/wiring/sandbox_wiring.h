// What lies between the sandbox and an engine over it, in the demo as in the tests: the settings of
// both connectors, the executors' reach, and the piece of PostgreSQL that the sandbox asks for.
// Pacing, jitter and page sizes are the caller's to add.
#pragma once

#include "connectors/kubernetes/settings.h"
#include "connectors/postgres/settings.h"
#include "engine/ports/cluster.h"
#include "engine/ports/database.h"
#include "executors/sources.h"
#include "sandbox/world_settings.h"

#include <optional>
#include <string>

namespace trueup::sandbox {

/// For WorldSettings::evaluate_key: a correlation expression over a row, the way PostgreSQL would.
std::optional<std::string> evaluate_key(const std::string& expression,
                                        const sandbox::ColumnOf& column_of);

/// The source `pods`: the sandbox's pods under this selector.
connectors::KubernetesSettings sandbox_pods(const std::string& label_selector);

/// The source `rows`: the sandbox's table, by slot and publication.
connectors::postgres::Settings sandbox_rows();

/// Both sources, through ports that outlive every user of this; of the pods those under this
/// selector.
executors::Sources sandbox_reach(ports::Cluster& cluster, ports::Database& database,
                                 const std::string& label_selector);

}  // namespace trueup::sandbox
