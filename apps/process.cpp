#include "apps/process.h"

#include "apps/bus.h"
#include "apps/config/config.h"
#include "apps/events.h"
#include "apps/hosts.h"
#include "apps/logging.h"
#include "apps/operate.h"
#include "apps/parts.h"
#include "apps/retry.h"
#include "apps/source_checks.h"
#include "apps/topics.h"
#include "apps/wiring.h"
#include "engine/base/mutex.h"
#include "engine/base/version.h"
#include "engine/ports/clock.h"

#include <fmt/core.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <utility>

namespace trueup::apps {

namespace {

constexpr Millis kFeedEvery{100};                  // at most; and whether all is settled
constexpr Millis kNoNews = std::chrono::hours(1);  // a wait that only news or a signal ends
constexpr int kGaveUp = 1;                         // exit codes
constexpr int kWrong = 2;

/// Why it does not start, with the exit code that says whether another start may do.
struct Refusal {
    int code = kGaveUp;
    std::string what;
};

Refusal refusal_of(const Error& error) {
    return {error.next == Next::kRetry ? kGaveUp : kWrong, error.what};
}
Refusal gave_up(const Error& error) { return {kGaveUp, error.what}; }

/// Prints what is wrong, one sentence a line. Returns the exit code.
int refuse(const Refusal& refusal) {
    fmt::print(stderr, "{}\n", refusal.what);
    return refusal.code;
}

/// A policy on its way to running.
struct Policy {
    config::Config config;
    std::optional<Refusal> refused = std::nullopt;  ///< it does not run, though others may
    std::unique_ptr<SourceChecks> checks = nullptr;
    Parts parts = {};
    std::unique_ptr<ports::Log> log = nullptr;
    Host* host = nullptr;

    const std::string& name() const { return config.policies.front().name; }
};

/// Nothing of a policy starts where a server says that it is wrong. Whoever does not answer is
/// waited for.
void check_sources(Policy& policy, StopSignal& stop) {
    const auto flaws = policy.checks->first_answers([&](Millis pause) { return stop.wait(pause); });
    if (!flaws.empty()) policy.refused = {kWrong, fmt::format("{}", fmt::join(flaws, "\n"))};
}

/// The log of a single process, before its HTTP side: who has it has the state folder. Brokers may
/// come up later than we do, and are waited for behind ours.
void open_log(Policy& policy, Part part, const Waiting* waiting) {
    if (policy.config.kafka.has_value() != (waiting != nullptr)) return;
    if (waiting != nullptr) {
        const Status topics =
            attempt_until_answered([&] { return require_topics(policy.config); }, *waiting);
        if (!topics) {
            policy.refused = refusal_of(topics.error());
            return;
        }
    }
    const auto open = [&] { return open_bus(policy.config, name_of(part)); };
    auto opened = waiting == nullptr ? open() : attempt_until_answered(open, *waiting);
    if (!opened) {
        policy.refused = gave_up(opened.error());
        return;
    }
    policy.log = std::move(*opened);
}

/// Blocks while the log does not answer. On a thread of the policy's own.
void begin(Policy& policy, Part part) {
    const Waiting waiting = policy.host->waiting();
    open_log(policy, part, &waiting);
    if (policy.refused) return;
    ExecutorSpec& executors = policy.parts.executors;
    if (policy.config.kafka && !executors.sources.empty()) {
        auto assignment = join_executors(policy.config, executors.settings.kinds);
        if (!assignment) {
            policy.refused = gave_up(assignment.error());
            return;
        }
        executors.settings.assignment = std::move(*assignment);
    }
    const Status begun = policy.host->begin(std::move(policy.log), std::move(policy.parts.sources),
                                            std::move(executors), std::move(policy.checks));
    if (!begun) policy.refused = gave_up(begun.error());
}

/// The start of all policies: one that is refused leaves the others alone.
class Start {
  public:
    Start(const config::Config& config, const ProcessOptions& options, StopSignal& stop)
        : config_(config), options_(options), stop_(stop) {
        for (config::Config& policy : policies_here(config, options)) {
            policies_.push_back({std::move(policy)});
        }
        for (const config::LeftOut& one : config.left_out) {
            if (is_named(one.name, options)) left_out_.push_back(one);
        }
    }

    /// Fills in the hosts once each policy runs or is refused. Nullopt where one runs, or where it
    /// was asked to stop meanwhile.
    std::optional<Refusal> run(std::unique_ptr<Hosts>& hosts) {
        for (Policy& policy : policies_) {
            policy.checks = std::make_unique<SourceChecks>(
                source_checks(sources_used(policy.config, options_), options_.config));
        }
        for (Policy& policy : policies_) check_sources(policy, stop_);
        if (auto none = none_left()) return none;
        if (stop_.wait(Millis{0})) return std::nullopt;
        if (auto refused = make_parts()) return refused;
        if (auto refused = open_hosts(hosts)) return refused;
        begin_all();
        if (stop_.wait(Millis{0})) return std::nullopt;
        return none_left();
    }

  private:
    std::string self() const { return "trueup " + name_of(options_.part); }

    /// Why nothing runs, where nothing does; else what is refused is told, once. Another start may
    /// do as soon as one policy says so.
    std::optional<Refusal> none_left() {
        const auto refused = [](const Policy& policy) { return policy.refused.has_value(); };
        if (!std::all_of(policies_.begin(), policies_.end(), refused)) {
            for (Policy& policy : policies_) {
                if (policy.refused) leave_out(policy);
            }
            return std::nullopt;
        }
        Refusal all{kWrong, {}};
        const auto add = [&](const std::string& what) {
            all.what += (all.what.empty() ? "" : "\n") + what;
        };
        for (const Policy& policy : policies_) {
            all.code = std::min(all.code, policy.refused->code);
            add(policy.refused->what);
        }
        for (const config::LeftOut& one : left_out_) add(one.why);
        if (all.what.empty()) add(self() + ": no policy uses what was named; nothing is to be run");
        return all;
    }

    void leave_out(Policy& policy) {
        std::string why = policy.refused->what;
        if (policy.refused->code == kGaveUp) why += "; restart this process once that is mended";
        leave_out(policy.name(), why, policy.host);
    }
    /// Of any thread.
    void leave_out(const std::string& name, const std::string& why, Host* host)
        TRUEUP_EXCLUDES(mutex_) {
        if (host != nullptr) host->leave_out(why);
        const MutexLock lock(mutex_);
        if (!told_.insert(name).second) return;
        spdlog::error("policy {} does not run: {}", name, why);
    }

    std::optional<Refusal> make_parts() {
        auto secrets = Secrets::load(config_.keys, !config_.kafka);
        if (!secrets)
            return Refusal{refusal_of(secrets.error()).code, self() + ": " + secrets.error().what};
        for (Policy& policy : policies_) {
            policy.parts.settings.state_dir = policy.config.state_dir;
            policy.parts.settings.policy.policy = policy.name();
            policy.parts.settings.secrets = *secrets;
            if (policy.refused) continue;
            auto parts = parts_of(policy.config, options_, *secrets);
            if (parts) {
                policy.parts = std::move(*parts);
                policy.parts.settings.pause = [this](Millis pause) { return wait(pause); };
                const Status made = make_state_folder(policy.config.state_dir);
                if (made) {
                    open_log(policy, options_.part, nullptr);
                } else {
                    policy.refused = gave_up(made.error());
                }
            } else {
                policy.refused = Refusal{kWrong, parts.error().what};
            }
            if (policy.refused) policy.refused->what = self() + ": " + policy.refused->what;
        }
        return none_left();
    }

    /// A host for each, also for those that do not run: who asks is told why.
    std::optional<Refusal> open_hosts(std::unique_ptr<Hosts>& hosts) {
        const auto watch = std::make_shared<ConfigWatch>(
            options_.config, config_.digest,
            [](const std::string& sentence) { spdlog::warn("{}", sentence); });
        std::vector<HostSettings> settings;
        for (const Policy& policy : policies_) {
            settings.push_back(policy.parts.settings);
            settings.back().configuration = watch;
            // What does not run needs no folder, and must not end the others for want of one.
            if (policy.refused) settings.back().state_dir = config_.state_dir;
        }
        for (const config::LeftOut& one : left_out_) {
            settings.push_back(settings.front());
            settings.back().state_dir = config_.state_dir;
            settings.back().policy.policy = one.name;
        }
        auto opened = Hosts::open(http(), std::move(settings));
        if (!opened)
            return Refusal{refusal_of(opened.error()).code, self() + ": " + opened.error().what};
        hosts = std::move(*opened);
        for (std::size_t i = 0; i < policies_.size(); ++i) {
            policies_[i].host = hosts->all()[i].get();
        }
        for (std::size_t i = 0; i < left_out_.size(); ++i) {
            const config::LeftOut& one = left_out_[i];
            leave_out(one.name, one.why, hosts->all()[policies_.size() + i].get());
        }
        if (runs(options_.part, Part::kEngine)) {
            write_address(config_.state_dir, hosts->address(),
                          config_.http_tls ? config_.http_tls->cert_file : "");
        }
        return none_left();
    }

    api::ServerSettings http() const {
        api::ServerSettings http;
        http.listen = config_.listen;
        // The engine is the one that people ask.
        if (runs(options_.part, Part::kEngine)) http.socket = socket_of(config_.state_dir);
        if (config_.http_tls) {
            http.cert_file = config_.http_tls->cert_file;
            http.key_file = config_.http_tls->key_file;
        }
        return http;
    }

    /// Each on a thread of its own: one that waits for its topics lets the others begin.
    void begin_all() {
        std::vector<std::thread> threads;
        std::atomic<std::size_t> open{0};
        for (Policy& policy : policies_) {
            if (policy.refused) continue;
            ++open;
            threads.emplace_back([&, one = &policy] {
                try {
                    begin(*one, options_.part);
                } catch (const std::exception& error) {
                    one->refused = Refusal{kGaveUp, error.what()};
                }
                if (one->refused) {
                    one->refused->what = self() + ": " + one->refused->what;
                    leave_out(*one);
                }
                --open;
                stop_.wake();
            });
        }
        while (open > 0 && !stop_.wait_for_news(kNoNews)) {
        }
        {
            const MutexLock lock(mutex_);
            stopped_ = true;
        }
        stopped_news_.notify_all();
        for (std::thread& thread : threads) thread.join();
    }

    /// Of the threads that begin policies. True: it is to stop.
    bool wait(Millis pause) TRUEUP_EXCLUDES(mutex_) {
        const MutexLock lock(mutex_);
        const CondVar::Deadline until = CondVar::in(pause);
        while (!stopped_ && stopped_news_.wait_until(mutex_, until)) {
        }
        return stopped_;
    }

    const config::Config& config_;
    const ProcessOptions& options_;
    StopSignal& stop_;
    std::vector<Policy> policies_;
    std::vector<config::LeftOut> left_out_;
    Mutex mutex_;
    std::set<std::string> told_ TRUEUP_GUARDED_BY(mutex_);
    CondVar stopped_news_;
    bool stopped_ TRUEUP_GUARDED_BY(mutex_) = false;
};

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
