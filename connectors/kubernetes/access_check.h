// Asks once, before anything starts, whether this source can be read at all: for `config check` and
// the start-up. Blocks for at most five seconds.
#pragma once

#include "engine/base/result.h"
#include "engine/ports/clock.h"
#include "engine/ports/cluster.h"

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace trueup::connectors {

/// Lists one object, opens a watch, and where a selector makes the connector look objects up, gets
/// one. The error is one sentence that names what is missing: the server, its certificate, our
/// credentials, a right, or the resource. kStop: so it will be until somebody mends it. kRetry:
/// another try may help; so is a 403 or 404 of a server that does not say that it is ready, since
/// one that has just started knows neither its rules nor all of its resources.
Status check_access(ports::Cluster& cluster, const ports::Resource& resource,
                    const std::string& label_selector, ports::Clock& clock = ports::system_clock());

/// Is there a namespace of that name? nullopt: the server did not tell, most likely because the
/// account may not look.
std::optional<bool> namespace_exists(ports::Cluster& cluster, const std::string& name,
                                     ports::Clock& clock = ports::system_clock());

/// Starts a POST of a JSON body under that id; its answer comes in by the cluster's `poll`.
using Post = std::function<void(ports::CallId call, std::string_view path, std::string body)>;

/// Which of these verbs (`patch/status`: on that subresource) our account does not have, as the
/// server itself says (SelfSubjectAccessReview, which changes nothing). nullopt: it did not tell.
std::optional<std::vector<std::string>> missing_verbs(ports::Cluster& cluster, const Post& post,
                                                      const ports::Resource& resource,
                                                      const std::vector<std::string>& verbs,
                                                      ports::Clock& clock = ports::system_clock());

}  // namespace trueup::connectors
