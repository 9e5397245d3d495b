// What a process does with the sources of one type: a line for each type, in the order of
// `config::SourceConfig::world`. How its section of the configuration is read is in
// apps/config/source_types.h.
//
// Constants; thread-safe.
#pragma once

#include "apps/config/config.h"
#include "apps/host_settings.h"
#include "apps/wiring_survey.h"
#include "engine/base/result.h"
#include "engine/ports/fields.h"

#include <array>
#include <functional>
#include <memory>
#include <string>
#include <variant>
#include <vector>

namespace trueup::apps {

using Columns = std::vector<std::string>;
using Ask = std::function<Result<Columns>()>;

struct SourceWork {
    /// Gives `spec` a connection of its own, which was not used yet, and the connector over it.
    Status (*open)(const config::Config& config, const config::SourceConfig& source,
                   SourceSpec& spec);
    /// Adds what executors reach it by, with other accounts to write with where the configuration
    /// has them.
    Status (*reach)(const config::Config& config, const config::SourceConfig& source,
                    ExecutorSpec& spec);
    /// How to ask whether it can be read as configured (SourceCheck::ask). `source` is one of
    /// `config`'s.
    Ask (*check)(std::shared_ptr<const config::Config> config, const config::SourceConfig& source);
    /// One look at all of it (apps/wiring_survey.h).
    Result<Surveyed> (*survey)(const config::Config& config, const config::SourceConfig& source,
                               const Watcher& watcher, Depth depth);
};
extern const SourceWork kKubernetesWork;
extern const SourceWork kPostgresWork;

inline const std::array<const SourceWork*,
                        std::variant_size_v<decltype(config::SourceConfig::world)>>
    kSourceWork{&kKubernetesWork, &kPostgresWork};

inline const SourceWork& work_of(const config::SourceConfig& source) {
    return *kSourceWork[source.world.index()];
}

// For the types.
/// Of executors, until a check has found otherwise.
inline constexpr const char* kNotAsked =
    "it has not been checked yet whether it can be read as configured";

/// Gives a policy that hashes the key to do it with, made at the first start.
Status add_hash(const config::Config& config, ports::FieldPolicy& policy);
/// What is hashed no rule reads: any hash will do where nothing is kept.
void add_passing_hash(ports::FieldPolicy& policy);

}  // namespace trueup::apps
