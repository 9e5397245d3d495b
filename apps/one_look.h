// Reads a source once, whole, with the product's own machines, and leaves nothing behind: of a
// cluster its lists, of a table a copy under a temporary slot, which ends with the session.
// Blocking.
#pragma once

#include "apps/rehearsal.h"
#include "connectors/kubernetes/settings.h"
#include "connectors/postgres/settings.h"
#include "engine/base/result.h"
#include "engine/ports/clock.h"
#include "engine/ports/cluster.h"
#include "engine/ports/database.h"

#include <cstdint>
#include <functional>
#include <string>

namespace trueup::apps {

/// Told now and then how many objects of which source were read. False: stop.
using Watcher = std::function<bool(const std::string& source, std::uint64_t objects)>;

/// Ends with kStop where the watcher said so, and with kRetry and the reason where the source was
/// silent for 30 s or failed three times.
Result<Look> look_at(ports::Cluster& cluster, connectors::KubernetesSettings settings,
                     const Watcher& watcher, ports::Clock& clock = ports::system_clock());

/// The same of a table, which failed once.
Result<Look> look_at(ports::Database& database, connectors::postgres::Settings settings,
                     const Watcher& watcher, ports::Clock& clock = ports::system_clock());

}  // namespace trueup::apps
