#include "apps/process.h"

#include "apps/bus.h"
#include "apps/config/config.h"
#include "apps/events.h"
#include "apps/logging.h"
#include "apps/operate.h"
#include "apps/retry.h"
#include "apps/source_checks.h"
#include "apps/topics.h"
#include "apps/wiring.h"
#include "engine/base/version.h"
#include "engine/ports/clock.h"

#include <fmt/core.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <set>
#include <sstream>
#include <string>
#include <utility>

namespace trueup::apps {

namespace {

constexpr Millis kFeedEvery{100};                  // at most; and whether all is settled
constexpr Millis kNoNews = std::chrono::hours(1);  // a wait that only news or a signal ends
constexpr int kGaveUp = 1;                         // exit codes
constexpr int kWrong = 2;

/// Prints what is wrong, one sentence a line. Returns the exit code.
int refuse(const std::string& sentences) {
    fmt::print(stderr, "{}\n", sentences);
    return kWrong;
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

/// Only what this process runs, in a copy of the configuration.
Result<config::Config> narrowed(config::Config config, const ProcessOptions& options) {
    if (!options.listen.empty()) config.listen = options.listen == "off" ? "" : options.listen;
    if (std::string flaw = config::flaw_of_listen(config, config.listen);
        !config.listen.empty() && !flaw.empty()) {
        return Error{Next::kStop, Code::kConfiguration, options.config + ": http.listen " + flaw};
    }
    if (options.part == Part::kEverything) return config;
    if (!config.kafka) {
        return Error{Next::kStop, Code::kConfiguration,
                     options.config + ": `trueup " + name_of(options.part) +
                         "` needs a Kafka bus; write bus: {kafka: {bootstrap: HOST:PORT}}, or run "
                         "`trueup up`"};
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
            return Error{Next::kStop, Code::kConfiguration,
                         "there is no source " + name + " in " + options.config};
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
            return Error{Next::kStop, Code::kConfiguration,
                         "there is no executor " + name + " in " + options.config +
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
    if (options.enable_all) settings.policy.enabled_by = kCommandLine;
    become_next_build(settings.policy);
    settings.http.listen = config.listen;
    // The engine is the one that people ask.
    if (runs(options.part, Part::kEngine)) settings.http.socket = socket_of(config.state_dir);
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

/// Why it does not start, with the exit code that says whether another start may do.
struct Refusal {
    int code = kGaveUp;
    std::string what;
};

Refusal refusal_of(const Error& error) {
    return {error.next == Next::kRetry ? kGaveUp : kWrong, error.what};
}
Refusal gave_up(const Error& error) { return {kGaveUp, error.what}; }

/// All that needs nobody but the configuration.
struct Parts {
    HostSettings settings;
    std::vector<SourceSpec> sources;
    ExecutorSpec executors;
};

Result<Parts> parts_of(const config::Config& config, const ProcessOptions& options,
                       StopSignal& stop) {
    auto settings = settings_of(config, options);
    if (!settings) return settings.error();
    settings->pause = [&stop](Millis pause) { return stop.wait(pause); };
    auto sources = sources_of(config, options);
    if (!sources) return sources.error();
    auto executors = executors_of(config, options);
    if (!executors) return executors.error();
    return Parts{std::move(*settings), std::move(*sources), std::move(*executors)};
}

/// The log of a single process, before its HTTP side: who has it has the state folder. Brokers may
/// come up later than we do, and are waited for behind ours.
std::optional<Refusal> open_log(const config::Config& config, Part part, Host* host,
                                std::unique_ptr<ports::Log>& log) {
    if (config.kafka.has_value() != (host != nullptr)) return std::nullopt;
    if (host != nullptr) {
        const auto attempt = [&] { return require_topics(config); };
        const Status topics = attempt_until_answered(attempt, host->waiting());
        if (!topics) return refusal_of(topics.error());
    }
    const auto open = [&] { return open_bus(config, name_of(part)); };
    auto opened = host == nullptr ? open() : attempt_until_answered(open, host->waiting());
    if (!opened) return gave_up(opened.error());
    log = std::move(*opened);
    return std::nullopt;
}

/// Fills in the host once it runs.
std::optional<Refusal> start_host(const config::Config& config, const ProcessOptions& options,
                                  Parts parts, std::unique_ptr<SourceChecks> checks,
                                  std::unique_ptr<Host>& host) {
    std::unique_ptr<ports::Log> log;
    if (auto refused = open_log(config, options.part, nullptr, log)) return refused;
    auto opened = Host::open(std::move(parts.settings));
    if (!opened) return refusal_of(opened.error());
    host = std::move(*opened);
    if (runs(options.part, Part::kEngine)) {
        write_address(config.state_dir, host->address(),
                      config.http_tls ? config.http_tls->cert_file : "");
    }
    if (auto refused = open_log(config, options.part, host.get(), log)) return refused;
    if (config.kafka && !parts.executors.sources.empty()) {
        auto assignment = join_executors(config, parts.executors.settings.kinds);
        if (!assignment) return gave_up(assignment.error());
        parts.executors.settings.assignment = std::move(*assignment);
    }
    const Status begun = host->begin(std::move(log), std::move(parts.sources),
                                     std::move(parts.executors), std::move(checks));
    if (!begun) return gave_up(begun.error());
    return std::nullopt;
}

void greet(const config::Config& config, const ProcessOptions& options, const Host& host) {
    if (options.format != OutputFormat::kText) return;
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

/// Which build runs, under which configuration, and what its rules may do: whoever reads the log of
/// a night asks for it first.
void log_start(const config::Config& config, const ProcessOptions& options) {
    nlohmann::ordered_json rules = nlohmann::ordered_json::object();
    for (const RuleSettings& rule : config::policy_settings(config).rules) {
        rules[rule.rule] = name_of(rule.mode);
    }
    log_event("started", {{"version", kVersion},
                          {"part", name_of(options.part)},
                          {"configuration", options.config},
                          {"configuration_hash", to_hex(config.digest)},
                          {"rules", std::move(rules)}});
    if (!options.enable_all) return;
    log_event("request",
              {{"kind", "enable"}, {"by", kCommandLine}, {"comment", "--enable-all: every rule"}});
    spdlog::warn(
        "--enable-all: every rule may act in its mode, and nobody has looked at what it would do; "
        "leave it out, and use `trueup policy enable`, wherever something can be lost");
}

/// Until it is asked to stop. Returns the exit code.
int run(Host& host, const ProcessOptions& options, StopSignal& stop) {
    EventPrinter feed(host.log(), host.shards(), options.format, options.colours);
    ports::Clock& clock = ports::system_clock();
    const SteadyTime start = clock.steady_now();
    const Millis length = std::chrono::seconds(options.seconds);
    const auto heard = host.log().listen([&stop] { stop.wake(); });
    // What comes shortly after one another is shown together.
    while (!stop.wait(kFeedEvery)) {
        feed.show_new();
        const Millis left = options.seconds > 0 ? start + length - clock.steady_now() : kNoNews;
        if (left <= Millis{0}) break;
        stop.wait_for_news(left);
    }
    const std::string fatal = host.fatal();
    log_event("stopping", {{"part", name_of(options.part)}});
    host.begin_stop();
    while (host.settling()) {
        if (stop.again(kFeedEvery)) host.hurry();
        feed.show_new();
    }
    const Status stopped = host.stop();
    feed.show_new();
    if (options.format == OutputFormat::kText && !host.shards().empty()) {
        const auto ran =
            std::chrono::duration_cast<std::chrono::seconds>(clock.steady_now() - start);
        feed.summarise(ran.count(), host.snapshot().open_findings);
    }
    if (!stopped)
        fmt::print(stderr, "trueup {}: {}\n", name_of(options.part), stopped.error().what);
    const int code = stopped && fatal.empty() ? 0 : kGaveUp;
    log_event("stopped", {{"part", name_of(options.part)}, {"exit_code", code}});
    return code;
}

}  // namespace

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

int run_process(const ProcessOptions& options, StopSignal& stop) {
    auto loaded = config::load_config(options.config);
    if (!loaded) return refuse(loaded.error().what);
    const auto config = narrowed(std::move(*loaded), options);
    if (!config) return refuse(config.error().what);
    use_log_settings(*config, options.log_level);
    const auto used = sources_used(*config, options);
    if (!used) return refuse(used.error().what);
    // Nothing starts where a server says that it is wrong. Whoever does not answer is waited for.
    auto checks = std::make_unique<SourceChecks>(source_checks(*used, options.config));
    const auto flaws = checks->first_answers([&](Millis pause) { return stop.wait(pause); });
    if (!flaws.empty()) return refuse(fmt::format("{}", fmt::join(flaws, "\n")));
    if (stop.wait(Millis{0})) return 0;
    const std::string self = "trueup " + name_of(options.part);
    auto parts = parts_of(*config, options, stop);
    if (!parts) return refuse(self + ": " + parts.error().what);
    std::unique_ptr<Host> host;
    if (auto refused = start_host(*config, options, std::move(*parts), std::move(checks), host)) {
        if (stop.wait(Millis{0})) return 0;  // while it waited
        fmt::print(stderr, "{}: {}\n", self, refused->what);
        return refused->code;
    }
    log_start(*config, options);
    greet(*config, options, *host);
    return run(*host, options, stop);
}

}  // namespace trueup::apps
