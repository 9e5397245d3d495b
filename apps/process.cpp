#include "apps/process.h"

#include "apps/attempts.h"
#include "apps/bus.h"
#include "apps/config/config.h"
#include "apps/logging.h"
#include "apps/topics.h"
#include "apps/wiring.h"
#include "engine/ports/clock.h"

#include <fmt/core.h>
#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <set>
#include <sstream>
#include <string>
#include <utility>

namespace trueup::apps {

namespace {

constexpr Millis kFeedEvery{100};

/// Prints what is wrong, one sentence a line. Returns the exit code.
int refuse(const std::string& sentences) {
    fmt::print(stderr, "{}\n", sentences);
    return 2;
}

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

bool runs(Part part, Part what) { return part == Part::kEverything || part == what; }

/// Lets scripts find the port that was chosen; with TLS as an address, and the certificate below
/// it.
void write_address(const config::Config& config, const std::string& address) {
    std::ofstream file(config.state_dir + "/http.addr", std::ios::trunc);
    if (!config.http_tls) {
        file << address << '\n';
        return;
    }
    std::error_code ignored;
    file << "https://" << address << '\n'
         << std::filesystem::absolute(config.http_tls->cert_file, ignored).string() << '\n';
}

/// Only what this process runs, in a copy of the configuration.
Result<config::Config> narrowed(config::Config config, const ProcessOptions& options) {
    if (!options.listen.empty()) config.listen = options.listen == "off" ? "" : options.listen;
    if (std::string flaw = config::flaw_of_listen(config, config.listen);
        !config.listen.empty() && !flaw.empty()) {
        return Error{Next::kStop, options.config + ": http.listen " + flaw};
    }
    if (options.part == Part::kEverything) return config;
    if (!config.kafka) {
        return Error{Next::kStop, options.config + ": `trueup " + name_of(options.part) +
                                      "` needs a bus of many processes; write bus: {kafka: "
                                      "{bootstrap: HOST:PORT}}, or run `trueup up`"};
    }
    // The others have their own: the engine is the one that people ask.
    if (options.part != Part::kEngine && options.listen.empty()) config.listen.clear();
    return config;
}

/// The configuration with the sources that this process asks: an engine none, a connector its own,
/// an executor all, since it reads the other sides too.
Result<config::Config> sources_used(const config::Config& config, const ProcessOptions& options) {
    config::Config used = config;
    if (options.part == Part::kEngine) used.sources.clear();
    if (options.part != Part::kConnect || options.names.empty()) return used;
    used.sources.clear();
    for (const std::string& name : options.names) {
        const config::SourceConfig* source = config.source(name);
        if (source == nullptr) {
            return Error{Next::kStop, "there is no source " + name + " in " + options.config};
        }
        used.sources.push_back(*source);
    }
    return used;
}

Result<std::vector<SourceSpec>> sources_of(const config::Config& config,
                                           const ProcessOptions& options) {
    if (!runs(options.part, Part::kConnect)) return std::vector<SourceSpec>{};
    const auto used = sources_used(config, options);
    if (!used) return used.error();
    return make_sources(*used);
}

Result<ExecutorSpec> executors_of(const config::Config& config, const ProcessOptions& options) {
    if (!runs(options.part, Part::kExecute)) return ExecutorSpec{};
    auto executors = make_executors(config);
    if (!executors) return executors;
    for (const std::string& name : options.names) {
        if (options.part != Part::kExecute) break;
        if (config.executors.count(name) == 0) {
            return Error{Next::kStop, "there is no executor " + name + " in " + options.config +
                                          "; write it under executors"};
        }
        executors->settings.kinds.push_back(action_of(name));
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

Result<HostSettings> settings_of(const config::Config& config, const ProcessOptions& options) {
    HostSettings settings;
    settings.state_dir = config.state_dir;
    settings.keys = config.keys;
    settings.make_keys = !config.kafka;
    settings.memory_bytes = config.memory_bytes;
    settings.checkpoint_every = config.checkpoint_every;
    settings.checkpoints_kept = config.checkpoints_kept;
    settings.checkpoints = config.checkpoints;
    if (!config.kafka) settings.retention.topics = config.retention.topics;
    settings.retention.journal = config.retention.journal;
    settings.retention.log_bytes = config.retention.log_bytes;
    settings.policy = config::policy_settings(config);
    become_next_build(settings.policy);
    settings.http.listen = config.listen;
    if (config.http_tls) {
        settings.http.cert_file = config.http_tls->cert_file;
        settings.http.key_file = config.http_tls->key_file;
    }
    settings.alone = !config.kafka;
    settings.lead = !options.follow;
    if (config.kafka) settings.partitions = static_cast<std::int32_t>(config.kafka->partitions);
    settings.shards.clear();
    if (!runs(options.part, Part::kEngine)) return settings;
    auto shards = parse_shards(options.shards, settings.partitions);
    if (!shards) return shards.error();
    settings.shards = std::move(*shards);
    return settings;
}

/// The log, once its topics are as they should be. Brokers may come up later than we do.
Result<std::unique_ptr<ports::Log>> wait_for_bus(const config::Config& config, Part part,
                                                 StopSignal& stop) {
    return attempt_for_a_minute(
        [&]() -> Result<std::unique_ptr<ports::Log>> {
            const Status topics = require_topics(config);
            if (!topics) return topics.error();
            return open_bus(config, name_of(part));
        },
        [&](Millis pause) { return stop.wait(pause); });
}

Result<std::unique_ptr<Host>> start_host(const config::Config& config,
                                         const ProcessOptions& options, StopSignal& stop) {
    auto settings = settings_of(config, options);
    if (!settings) return settings.error();
    auto sources = sources_of(config, options);
    if (!sources) return sources.error();
    auto executors = executors_of(config, options);
    if (!executors) return executors.error();
    settings->pause = [&stop](Millis pause) { return stop.wait(pause); };
    auto log = wait_for_bus(config, options.part, stop);
    if (!log) return log.error();
    if (config.kafka && !executors->sources.empty()) {
        auto share = join_executors(config, executors->settings.kinds);
        if (!share) return share.error();
        executors->settings.share = std::move(*share);
    }
    return Host::start(std::move(*settings), std::move(*log), std::move(*sources),
                       std::move(*executors));
}

void greet(const config::Config& config, const ProcessOptions& options, const Host& host) {
    if (options.format != FeedFormat::kText) return;
    std::string text =
        options.part == Part::kEverything
            ? fmt::format("trueup is up: {} sources, state in {}", config.sources.size(),
                          config.state_dir)
            : fmt::format("trueup {} is up: {}", name_of(options.part), host.describe());
    if (!host.address().empty()) {
        text += fmt::format(", metrics at {}://{}/metrics", config.http_tls ? "https" : "http",
                            host.address());
    }
    fmt::print("{}\n", text);
    std::fflush(stdout);
}

}  // namespace

Result<std::vector<std::int32_t>> parse_shards(const std::string& text, std::int32_t count) {
    std::set<std::int32_t> shards;
    const auto wrong = [&] {
        return Error{Next::kStop, "--shards is '" + text + "'; write numbers from 0 to " +
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
        for (std::int32_t shard = first; shard <= last; ++shard) shards.insert(shard);
    }
    if (shards.empty()) return wrong();
    return std::vector<std::int32_t>(shards.begin(), shards.end());
}

int run_process(const ProcessOptions& options, StopSignal& stop) {
    auto loaded = config::load_config(options.config);
    if (!loaded) return refuse(loaded.error().what);
    const auto config = narrowed(std::move(*loaded), options);
    if (!config) return refuse(config.error().what);
    use_log_settings(*config);
    // Nothing starts before every source that it uses has answered.
    const auto used = sources_used(*config, options);
    if (!used) return refuse(used.error().what);
    for (const std::string& wrong : check_sources(*used, options.config)) return refuse(wrong);
    const std::string self = "trueup " + name_of(options.part);
    auto host = start_host(*config, options, stop);
    if (!host) return refuse(self + ": " + host.error().what);
    // The engine is the one that people ask.
    if (!(*host)->address().empty() && runs(options.part, Part::kEngine)) {
        write_address(*config, (*host)->address());
    }
    greet(*config, options, **host);
    Feed feed((*host)->log(), (*host)->shards(), options.format, options.colours);
    ports::Clock& clock = ports::system_clock();
    const SteadyTime start = clock.steady_now();
    const Millis length = std::chrono::seconds(options.seconds);
    while (!stop.wait(kFeedEvery)) {
        feed.show_new();
        if (options.seconds > 0 && clock.steady_now() - start >= length) break;
    }
    const std::string fatal = (*host)->fatal();
    (*host)->begin_stop();
    while ((*host)->settling()) {
        if (stop.again(kFeedEvery)) (*host)->hurry();
        feed.show_new();
    }
    const Status stopped = (*host)->stop();
    feed.show_new();
    if (!stopped) fmt::print(stderr, "{}: {}\n", self, stopped.error().what);
    return stopped && fatal.empty() ? 0 : 1;
}

}  // namespace trueup::apps
