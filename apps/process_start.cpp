#include "apps/process_start.h"

#include "apps/bus.h"
#include "apps/operate.h"
#include "apps/retry.h"
#include "apps/topics.h"
#include "apps/wiring.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <atomic>
#include <thread>
#include <utility>

namespace trueup::apps {

namespace {

Refusal refusal_of(const Error& error) {
    return {error.next == Next::kRetry ? kGaveUp : kWrong, error.what};
}
Refusal gave_up(const Error& error) { return {kGaveUp, error.what}; }

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

}  // namespace

Start::Start(const config::Config& config, const ProcessOptions& options, StopSignal& stop)
    : config_(config), options_(options), stop_(stop) {
    for (config::Config& policy : policies_here(config, options)) {
        policies_.push_back({std::move(policy)});
    }
    for (const config::LeftOut& one : config.left_out) {
        if (is_named(one.name, options)) left_out_.push_back(one);
    }
}

std::optional<Refusal> Start::run(std::unique_ptr<Hosts>& hosts) {
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

std::optional<Refusal> Start::none_left() {
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

void Start::leave_out(Policy& policy) {
    std::string why = policy.refused->what;
    if (policy.refused->code == kGaveUp) why += "; restart this process once that is mended";
    leave_out(policy.name(), why, policy.host);
}

void Start::leave_out(const std::string& name, const std::string& why, Host* host) {
    if (host != nullptr) host->leave_out(why);
    const MutexLock lock(mutex_);
    if (!told_.insert(name).second) return;
    spdlog::error("policy {} does not run: {}", name, why);
}

std::optional<Refusal> Start::make_parts() {
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

std::optional<Refusal> Start::open_hosts(std::unique_ptr<Hosts>& hosts) {
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

api::ServerSettings Start::http() const {
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

void Start::begin_all() {
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

bool Start::wait(Millis pause) {
    const MutexLock lock(mutex_);
    const CondVar::Deadline until = CondVar::in(pause);
    while (!stopped_ && stopped_news_.wait_until(mutex_, until)) {
    }
    return stopped_;
}

}  // namespace trueup::apps
