// From a configuration and a command line to what a process is made of, policy by policy. All that
// needs nobody but the configuration.
#pragma once

#include "apps/config/config.h"
#include "apps/host_settings.h"
#include "apps/process.h"
#include "engine/base/result.h"

#include <memory>
#include <string>
#include <vector>

namespace trueup::apps {

/// `up`, `engine`, `connect` or `execute`.
std::string name_of(Part part);
/// Does a process of that part run this one?
inline bool runs(Part part, Part what) { return part == Part::kEverything || part == what; }

/// Does the command line mean this policy?
bool is_named(const std::string& policy, const ProcessOptions& options);
/// The configuration with what the command line says instead. The error is one sentence: a source,
/// an executor or a policy that there is none of.
Result<config::Config> narrowed(config::Config config, const ProcessOptions& options);

/// Those of the policies that this process has something to run of: a connector of one source is
/// none of the others' business.
std::vector<config::Config> policies_here(const config::Config& config,
                                          const ProcessOptions& options);
/// A policy's configuration with the sources that this process reads: an engine none, a connector
/// its own, an executor all, since it reads the other sides too.
config::Config sources_used(const config::Config& policy, const ProcessOptions& options);

/// What one policy runs in this process.
struct Parts {
    HostSettings settings;
    std::vector<SourceSpec> sources;
    ExecutorSpec executors;
};
/// Of a policy's configuration.
Result<Parts> parts_of(const config::Config& policy, const ProcessOptions& options,
                       std::shared_ptr<Secrets> secrets);

}  // namespace trueup::apps
