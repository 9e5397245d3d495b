// From a configuration of one policy to the parts of a process: connectors and executors over real
// servers.
#pragma once

#include "apps/config/config.h"
#include "apps/host_settings.h"
#include "apps/source_checks.h"
#include "engine/base/result.h"

#include <string>
#include <vector>

namespace trueup::apps {

/// The configured sources, each with a connection of its own that was not used yet.
Result<std::vector<SourceSpec>> make_sources(const config::Config& config);

/// The executors with connections of their own that were not used yet. Every source is in doubt,
/// and the primary key of a table unknown, until `executors::Dispatcher::found` says otherwise.
Result<ExecutorSpec> make_executors(const config::Config& config);

/// How to ask each source whether it can be read as configured. `file` is where `config` was read.
/// They keep a copy of it.
std::vector<SourceCheck> source_checks(const config::Config& config, const std::string& file);

struct Flaws {
    std::vector<std::string> wrong;       ///< what servers said is wrong, a sentence each
    std::vector<std::string> unanswered;  ///< what nobody answered, likewise
    bool none() const { return wrong.empty() && unanswered.empty(); }
    /// Of a command that asks once: 0, 2 where something is wrong, 1 where nobody answered.
    int exit_code() const { return !wrong.empty() ? 2 : unanswered.empty() ? 0 : 1; }
};

/// Asks every source once, one after another.
Flaws check_sources(const config::Config& config, const std::string& file);

}  // namespace trueup::apps
