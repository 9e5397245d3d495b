// From a configuration to the parts of a process: connectors and executors over real servers.
#pragma once

#include "apps/config/config.h"
#include "apps/host.h"
#include "apps/one_look.h"
#include "apps/survey.h"
#include "engine/base/result.h"

#include <string>
#include <vector>

namespace trueup::apps {

/// The configured sources, each with a connection of its own that was not used yet.
Result<std::vector<SourceSpec>> make_sources(const config::Config& config);

/// The executors with connections of their own. Asks each database for the primary key of its table
/// (blocking, at most 5 s).
Result<ExecutorSpec> make_executors(const config::Config& config);

/// Asks every source whether it can be read as configured, one after another. One sentence for each
/// that cannot, as `file:line: what is wrong`; empty: all can. `file` is where `config` was read.
std::vector<std::string> check_sources(const config::Config& config, const std::string& file);

/// Reads each source of the policy once, one after another, and asks what our accounts may do
/// there. Blocking; writes nothing. The error names the source that did not answer; kStop: the
/// watcher said so, or a source is not as configured.
Result<std::vector<Surveyed>> survey(const config::Config& config, const Watcher& watcher);

}  // namespace trueup::apps
