#include "apps/parts.h"

#include "apps/wiring.h"
#include "engine/base/suggest.h"
#include "engine/model/verb.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <set>
#include <sstream>
#include <utility>

namespace trueup::apps {

namespace {

Error wrong(std::string sentence) {
    return {Next::kStop, Code::kConfiguration, std::move(sentence)};
}

/// The names of the command line, each of which the configuration must have.
Status check_names(const config::Config& config, const ProcessOptions& options) {
    for (const std::string& name : options.names) {
        if (options.part == Part::kConnect && config.source(name) == nullptr) {
            return wrong("there is no source " + name + " in " + options.config);
        }
        if (options.part == Part::kExecute && !config.has_executor(name)) {
            return wrong("there is no executor " + name + " in " + options.config +
                         "; write it under executors");
        }
    }
    return Done{};
}

/// The policies that the command line names are there.
Status check_named(const config::Config& config, const ProcessOptions& options) {
    std::vector<std::string> known;
    for (const auto& one : config.policies) known.push_back(one.name);
    for (const auto& one : config.left_out) known.push_back(one.name);
    for (const std::string& name : options.policies) {
        if (std::find(known.begin(), known.end(), name) != known.end()) continue;
        return wrong("there is no policy '" + name + "' in " + options.config + "; " +
                     did_you_mean(name, known));
    }
    return Done{};
}

Result<ExecutorSpec> executors_of(const config::Config& policy, const ProcessOptions& options) {
    if (!runs(options.part, Part::kExecute)) return ExecutorSpec{};
    auto executors = make_executors(policy);
    if (!executors) return executors;
    for (const std::string& name : options.names) {
        if (options.part != Part::kExecute) continue;
        for (const policy::Use& use : policy::kUses) {
            if (use.executors == name) executors->settings.kinds.push_back(use.action);
        }
    }
    if (!options.pause_file.empty()) {
        // Unknown is not absent: a file that cannot be looked for holds the writes too.
        executors->settings.before_write = [file = options.pause_file](const Command&) {
            std::error_code failed;
            return !std::filesystem::exists(file, failed) && !failed;
        };
    }
    return executors;
}

/// In a test build the environment makes this the next build, which has one more version of the
/// logic (tests/integration/test_kafka_upgrade.py).
void become_next_build([[maybe_unused]] Settings& policy) {
#ifdef TRUEUP_MUTANTS
    if (std::getenv("TRUEUP_NEXT_BUILD") != nullptr) ++policy.logic;
#endif
}

Result<HostSettings> settings_of(const config::Config& policy, const ProcessOptions& options) {
    HostSettings settings;
    settings.state_dir = policy.state_dir;
    settings.memory_bytes = policy.memory_bytes;
    settings.checkpoint_every = policy.checkpoint_every;
    settings.checkpoints_kept = policy.checkpoints_kept;
    settings.checkpoints = policy.checkpoints;
    if (!policy.kafka) settings.retention.topics = policy.retention.topics;
    settings.retention.journal = policy.retention.journal;
    settings.retention.log_bytes = policy.retention.log_bytes;
    settings.policy = config::policy_settings(policy);
    settings.exports = policy.policies.front().exports;
    if (options.enable_all) settings.policy.enabled_by = kCommandLine;
    become_next_build(settings.policy);
    settings.alone = !policy.kafka;
    settings.lead = !options.follow;
    settings.finding_headers = policy.finding_headers;
    if (policy.kafka) settings.partitions = static_cast<std::int32_t>(policy.kafka->partitions);
    settings.shards.clear();
    if (!runs(options.part, Part::kEngine)) return settings;
    auto shards = parse_shards(options.shards, settings.partitions);
    if (!shards) return shards.error();
    settings.shards = std::move(*shards);
    return settings;
}

}  // namespace

std::string name_of(Part part) {
    switch (part) {
        case Part::kEngine:
            return "engine";
        case Part::kConnect:
            return "connect";
        case Part::kExecute:
            return "execute";
        case Part::kEverything:
            break;
    }
    return "up";
}

bool is_named(const std::string& policy, const ProcessOptions& options) {
    const auto& names = options.policies;
    return names.empty() || std::find(names.begin(), names.end(), policy) != names.end();
}

Result<config::Config> narrowed(config::Config config, const ProcessOptions& options) {
    if (Status named = check_named(config, options); !named) return named.error();
    if (Status names = check_names(config, options); !names) return names.error();
    if (!options.listen.empty()) config.listen = options.listen == "off" ? "" : options.listen;
    if (std::string flaw = config::flaw_of_listen(config, config.listen);
        !config.listen.empty() && !flaw.empty()) {
        return wrong(options.config + ": http.listen " + flaw);
    }
    if (options.part == Part::kEverything) return config;
    if (!config.kafka) {
        return wrong(options.config + ": `trueup " + name_of(options.part) +
                     "` needs a Kafka bus; write bus: {kafka: {bootstrap: HOST:PORT}}, or run "
                     "`trueup up`");
    }
    // The others have their own: the engine is the one that people ask.
    if (options.part != Part::kEngine && options.listen.empty()) config.listen.clear();
    return config;
}

std::vector<config::Config> policies_here(const config::Config& config,
                                          const ProcessOptions& options) {
    // All first: what a policy has, as its folders, does not hang on who else is named.
    std::vector<config::Config> policies = config::of_each_policy(config);
    std::erase_if(policies, [&](const config::Config& policy) {
        if (!is_named(policy.policies.front().name, options)) return true;
        if (options.names.empty()) return false;
        return std::none_of(options.names.begin(), options.names.end(), [&](const auto& name) {
            return options.part == Part::kConnect ? policy.source(name) != nullptr
                                                  : policy.has_executor(name);
        });
    });
    return policies;
}

config::Config sources_used(const config::Config& policy, const ProcessOptions& options) {
    config::Config used = policy;
    if (options.part == Part::kEngine) used.sources.clear();
    if (options.part != Part::kConnect || options.names.empty()) return used;
    std::erase_if(used.sources, [&](const config::SourceConfig& source) {
        return std::find(options.names.begin(), options.names.end(), source.name) ==
               options.names.end();
    });
    return used;
}

Result<Parts> parts_of(const config::Config& policy, const ProcessOptions& options,
                       std::shared_ptr<Secrets> secrets) {
    auto settings = settings_of(policy, options);
    if (!settings) return settings.error();
    settings->secrets = std::move(secrets);
    auto sources = runs(options.part, Part::kConnect)
                       ? make_sources(sources_used(policy, options))
                       : Result<std::vector<SourceSpec>>(std::vector<SourceSpec>{});
    if (!sources) return sources.error();
    auto executors = executors_of(policy, options);
    if (!executors) return executors.error();
    return Parts{std::move(*settings), std::move(*sources), std::move(*executors)};
}

Result<std::vector<PartitionNumber>> parse_shards(const std::string& text, std::int32_t count) {
    std::set<PartitionNumber> shards;
    const auto wrong = [&] {
        return Error{Next::kStop, Code::kInvalid,
                     "--shards is '" + text + "'; write numbers from 0 to " +
                         std::to_string(count - 1) + ", as 0-3 or 0,2"};
    };
    const auto number = [&](std::string_view digits) {
        std::int32_t value = -1;
        const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), value);
        return read.ec == std::errc{} && read.ptr == digits.data() + digits.size() ? value : -1;
    };
    std::istringstream parts(text.empty() ? "0-" + std::to_string(count - 1) : text);
    for (std::string part; std::getline(parts, part, ',');) {
        const std::size_t dash = part.find('-');
        const std::int32_t first = number(std::string_view(part).substr(0, dash));
        const std::int32_t last =
            dash == std::string::npos ? first : number(std::string_view(part).substr(dash + 1));
        if (first < 0 || last < first || last >= count) return wrong();
        for (std::int32_t shard = first; shard <= last; ++shard) shards.emplace(shard);
    }
    if (shards.empty()) return wrong();
    return std::vector<PartitionNumber>(shards.begin(), shards.end());
}

}  // namespace trueup::apps
