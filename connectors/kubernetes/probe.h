// Asks once, before anything starts, whether this source can be read at all: for `config check` and
// the start-up. Blocks for at most five seconds.
#pragma once

#include "engine/base/result.h"
#include "engine/ports/clock.h"
#include "engine/ports/cluster.h"

#include <string>

namespace trueup::connectors {

/// Lists one object, opens a watch, and where a selector makes the connector look objects up, gets
/// one. The error is one sentence that names what is missing: the server, its certificate, our
/// credentials, a right, or the resource.
Status check_access(ports::Cluster& cluster, const ports::Resource& resource,
                    const std::string& label_selector, ports::Clock& clock = ports::system_clock());

}  // namespace trueup::connectors
