#include "apps/process.h"

#include "apps/config/config.h"
#include "apps/events.h"
#include "apps/hosts.h"
#include "apps/logging.h"
#include "apps/operate.h"
#include "apps/parts.h"
#include "apps/process_start.h"
#include "engine/base/version.h"
#include "engine/ports/clock.h"

#include <fmt/core.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace trueup::apps {

namespace {

constexpr Millis kFeedEvery{100};  // at most; and whether all is settled

/// Prints what is wrong, one sentence a line. Returns the exit code.
int refuse(const Refusal& refusal) {
    fmt::print(stderr, "{}\n", refusal.what);
    return refusal.code;
}

/// What a preview left behind means nothing here, and what no policy names is nobody's.
std::optional<Refusal> check_state(const config::Config& config) {
    namespace fs = std::filesystem;
    std::error_code none;
    for (const char* former : {"log", "projection", "shard-0"}) {
        if (!fs::exists(config.state_dir + "/" + former, none)) continue;
        return Refusal{kWrong, config.state_dir + "/" + former +
                                   " is of an earlier preview, whose state cannot be continued; "
                                   "move it away, or write another state_dir"};
    }
    for (const auto& folder : fs::directory_iterator(config.state_dir + "/policies", none)) {
        const std::string name = folder.path().filename().string();
        const auto same = [&](const auto& one) { return one.name == name; };
        if (std::any_of(config.policies.begin(), config.policies.end(), same) ||
            std::any_of(config.left_out.begin(), config.left_out.end(), same)) {
            continue;
        }
        spdlog::warn(
            "{} has the journal of a policy that the configuration does not name: what it ordered "
            "is not carried out any more; move it away if it is not to come back",
            folder.path().string());
    }
    return std::nullopt;
}

std::string describe(const Hosts& hosts) {
    std::string text;
    for (const Host* host : hosts.begun()) {
        text += (text.empty() ? "" : "; ") +
                (hosts.all().size() > 1 ? "policy " + host->policy() + ": " : "") +
                host->describe();
    }
    return text;
}

void greet(const config::Config& config, const ProcessOptions& options, const Hosts& hosts) {
    if (options.format != OutputFormat::kText) return;
    const std::size_t left = hosts.all().size() - hosts.begun().size();
    std::string text =
        options.part == Part::kEverything
            ? fmt::format(
                  "trueup is up: {}{} sources, state in {}",
                  hosts.all().size() > 1 ? fmt::format("{} policies, ", hosts.begun().size()) : "",
                  config.sources.size(), config.state_dir)
            : fmt::format("trueup {} is up: {}", name_of(options.part), describe(hosts));
    if (left > 0) text += fmt::format(", {} left out", left);
    if (!hosts.address().empty()) {
        text += fmt::format(", metrics at {}://{}/metrics", config.http_tls ? "https" : "http",
                            hosts.address());
    }
    fmt::print("{}\n", text);
    std::fflush(stdout);
}

/// Which build runs, under which configuration, and what its rules may do: whoever reads the log of
/// a night asks for it first.
void log_start(const config::Config& config, const ProcessOptions& options) {
    nlohmann::ordered_json rules = nlohmann::ordered_json::object();
    for (const config::PolicyConfig& policy : config.policies) {
        for (const RuleSettings& rule : policy.rules) {
            rules[policy.name][rule.rule] = name_of(rule.mode);
        }
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
int run(Hosts& hosts, const ProcessOptions& options, StopSignal& stop) {
    std::vector<EventPrinter::Feed> feeds;
    std::vector<std::unique_ptr<ports::Wakeup::Listener>> heard;
    for (Host* host : hosts.begun()) {
        feeds.push_back({&host->log(), host->shards()});
        heard.push_back(host->log().listen([&stop] { stop.wake(); }));
    }
    EventPrinter feed(feeds, options.format, options.colours);
    ports::Clock& clock = ports::system_clock();
    const SteadyTime start = clock.steady_now();
    const Millis length = std::chrono::seconds(options.seconds);
    // What comes shortly after one another is shown together.
    while (!stop.wait(kFeedEvery)) {
        feed.show_new();
        const Millis left = options.seconds > 0 ? start + length - clock.steady_now() : kNoNews;
        if (left <= Millis{0}) break;
        stop.wait_for_news(left);
    }
    const std::string fatal = hosts.fatal();
    log_event("stopping", {{"part", name_of(options.part)}});
    hosts.begin_stop();
    while (hosts.settling()) {
        if (stop.again(kFeedEvery)) hosts.hurry();
        feed.show_new();
    }
    const Status stopped = hosts.stop();
    feed.show_new();
    if (options.format == OutputFormat::kText && runs(options.part, Part::kEngine)) {
        const auto ran =
            std::chrono::duration_cast<std::chrono::seconds>(clock.steady_now() - start);
        std::uint64_t open = 0;
        for (Host* host : hosts.begun()) open += host->snapshot().open_findings;
        feed.summarise(ran.count(), open);
    }
    if (!stopped)
        fmt::print(stderr, "trueup {}: {}\n", name_of(options.part), stopped.error().what);
    const int code = stopped && fatal.empty() ? 0 : kGaveUp;
    log_event("stopped", {{"part", name_of(options.part)}, {"exit_code", code}});
    return code;
}

}  // namespace

int run_process(const ProcessOptions& options, StopSignal& stop) {
    auto loaded = config::load_sound_policies(options.config);
    if (!loaded) return refuse({kWrong, loaded.error().what});
    const auto config = narrowed(std::move(*loaded), options);
    if (!config) return refuse({kWrong, config.error().what});
    use_log_settings(*config, options.log_level,
                     options.format == OutputFormat::kJson ? config::LogFormat::kJson
                                                           : config::LogFormat::kText);
    if (const auto refused = check_state(*config)) return refuse(*refused);
    Start start(*config, options, stop);
    std::unique_ptr<Hosts> hosts;
    if (const auto refused = start.run(hosts)) {
        if (stop.wait(Millis{0})) return 0;  // while it waited
        return refuse(*refused);
    }
    if (stop.wait(Millis{0})) return 0;
    log_start(*config, options);
    greet(*config, options, *hosts);
    return run(*hosts, options, stop);
}

}  // namespace trueup::apps
