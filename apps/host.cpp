#include "apps/host.h"

#include "apps/bus.h"
#include "apps/keys.h"
#include "apps/retry.h"

#include <spdlog/spdlog.h>

#include <algorithm>

namespace trueup::apps {

Result<std::unique_ptr<Host>> Host::open(HostSettings settings) {
    std::unique_ptr<Host> host(new Host);
    host->settings_ = std::move(settings);
    HostSettings& how = host->settings_;
    if (how.checkpoints.empty()) how.checkpoints = how.state_dir + "/checkpoints";
    if (Status made = make_state_folder(how.state_dir); !made) return made.error();
    if (how.secrets) return host;
    auto secrets = Secrets::load(how.state_dir + "/keys", true);
    if (!secrets) return secrets.error();
    how.secrets = std::move(*secrets);
    return host;
}

Status Host::begin(std::unique_ptr<ports::Log> log, std::vector<SourceSpec> sources,
                   ExecutorSpec executors, std::unique_ptr<SourceChecks> checks) {
    checks_ = std::move(checks);
    log_ = std::move(log);
    // What is signed is signed for this log alone: a record that was copied from another one, with
    // the same keys, is believed by no one here.
    const std::string name = log_->name().empty() ? policy() : log_->name();
    request_keys_ = settings_.secrets->requests().for_log(name);
    command_keys_ = settings_.secrets->commands().for_log(name);
    wait_for("");
    if (Status shards = open_shards(); !shards) return shards.error();
    // Before executors act, and before a shard puts its settings into the journal.
    if (Status said = say_what_does_not_act(); !said) return said.error();
    add_sources(std::move(sources));
    add_executors(std::move(executors));
    // Before the threads: from here on HTTP may look at everything above, which no longer moves.
    begun_ = true;
    // What was asked there may be done in it from now on.
    if (checks_) checks_->tell([this] { log_->wake(); });
    start_threads();
    return Done{};
}

Waiting Host::waiting() {
    return {settings_.pause, [this](const std::string& what) { wait_for(what); }};
}

void Host::wait_for(const std::string& what) {
    const MutexLock lock(mutex_);
    waits_for_ = what.empty() ? "the state folder is being read" : what;
}

std::string Host::starting() const {
    if (begun_) return {};
    const MutexLock lock(mutex_);
    return waits_for_;
}

void Host::leave_out(const std::string& why) {
    const MutexLock lock(mutex_);
    left_out_ = why;
}

std::string Host::left_out() const {
    const MutexLock lock(mutex_);
    return left_out_;
}

std::string Host::unavailable() const {
    if (const std::string why = left_out(); !why.empty()) {
        return "policy " + policy() + " does not run: " + why;
    }
    const std::string what = starting();
    return what.empty() ? what : "it is still starting: " + what;
}

std::string Host::called(PartitionNumber shard) const {
    return policy() + "/" + std::to_string(shard.value());
}

/// Sources come last: what they say finds everybody there who is to hear it.
void Host::start_threads() {
    for (const auto& shard : shards_) shard->start();
    if (dispatcher_) executor_thread_ = std::thread([this] { run_executor(); });
    maintenance_thread_ = std::thread([this] { run_maintenance(); });
    if (hint_reader_) hints_thread_ = std::thread([this] { run_hints(); });
    for (const auto& source : sources_) {
        source->thread = std::thread([this, s = source.get()] { run_source(*s); });
    }
}

Host::Host() = default;

api::Backend Host::backend() {
    api::Backend backend;
    backend.policy = settings_.policy.policy;
    backend.unavailable = [this] { return unavailable(); };
    backend.snapshot = [this] { return snapshot(); };
    backend.finding = [this](const std::string& id) { return finding(id); };
    backend.why = [this](const std::string& subject, const std::string& rule) {
        return why(subject, rule);
    };
    backend.settings = [this] { return settings_in_force(); };
    backend.findings = [this](const projections::FindingsFilter& filter) {
        return findings_.list(filter);
    };
    backend.too_much = [this](const Request& request) { return too_much(request); };
    backend.ask = [this](Request request) { return ask(std::move(request)); };
    backend.answer = [this](const RequestId& id) { return answer(id); };
    return backend;
}

std::string Host::describe() const {
    std::vector<std::string> parts;
    const auto list = [&](const std::string& what, const std::vector<std::string>& names) {
        if (names.empty()) return;
        std::string text = what;
        for (const std::string& name : names) text += (name == names.front() ? " " : ", ") + name;
        parts.push_back(std::move(text));
    };
    std::vector<std::string> names;
    for (const PartitionNumber shard : settings_.shards) {
        names.push_back(std::to_string(shard.value()));
    }
    list(settings_.lead ? "shards" : "following shards", names);
    names.clear();
    for (const auto& source : sources_) names.push_back(source->spec.name);
    list("sources", names);
    if (dispatcher_) parts.emplace_back("executors");
    std::string text;
    for (const std::string& part : parts) text += (text.empty() ? "" : "; ") + part;
    return text;
}

std::string Host::fatal() const {
    for (const auto& shard : shards_) {
        if (std::string why = shard->fatal(); !why.empty()) return why;
    }
    return {};
}

/// Takes what a shard needs to the sources, here or elsewhere.
void Host::heed(std::size_t slot, const runtime::ShardStatus& status,
                const std::vector<std::string>& wanted) {
    const bool awaited = proof_awaited_[slot]->exchange(status.proof_awaited);
    if (status.proof_awaited && !awaited) wake_sources();
    for (const std::string& name : wanted) want_epoch(name);
    // A follower's needs are its leader's, too: told twice they would only cost lists.
    if (hints_.empty() || !settings_.lead) return;
    // A source that stands by here is another process's: it has to be told like any other.
    const auto owned = [](const auto& source) { return source->loop->status().owned; };
    const auto owned_here = [&](const std::string& name) {
        return std::any_of(sources_.begin(), sources_.end(), [&](const auto& source) {
            return source->spec.name == name && owned(source);
        });
    };
    const bool all = !sources_.empty() && std::all_of(sources_.begin(), sources_.end(), owned);
    std::vector<std::string> elsewhere = wanted;
    std::erase_if(elsewhere, owned_here);
    hints_[slot]->say(status.proof_awaited && !all, elsewhere);
}

void Host::want_epoch(const std::string& source) {
    for (const auto& known : sources_) {
        if (known->spec.name == source) known->loop->want_epoch();
    }
}

/// They are to see how things are now.
void Host::wake_sources() {
    for (const auto& source : sources_) source->loop->wake();
}

bool Host::hurry_sources() const {
    const auto waits = [](const auto& one) { return one->load(); };
    return hurried_by_others_ || std::any_of(proof_awaited_.begin(), proof_awaited_.end(), waits);
}

void Host::begin_stop() {
    {
        const MutexLock lock(mutex_);
        if (stopping_) return;
        settling_ = executor_thread_.joinable();
        stopping_ = true;
    }
    // Everybody is told before anybody is woken, so that nobody waits once more in between.
    if (checks_) checks_->stop();
    for (const auto& shard : shards_) shard->begin_stop();
    stop_asked_.notify_all();
    log_->begin_stop();
    wake_sources();
    log_->wake();
}

void Host::hurry() {
    hurried_ = true;
    log_->wake();
}

Status Host::stop() {
    if (!log_) return Done{};  // it never started
    begin_stop();
    // Shards are the last: they fold and save what the others still had to say.
    for (const auto& source : sources_) {
        if (source->thread.joinable()) source->thread.join();
    }
    for (std::thread* thread : {&executor_thread_, &maintenance_thread_, &hints_thread_}) {
        if (thread->joinable()) thread->join();
    }
    Status stopped = Done{};
    for (const auto& shard : shards_) {
        if (Status one = shard->stop(); !one) stopped = one;
    }
    return stopped;
}

Host::~Host() {
    if (Status stopped = stop(); !stopped) spdlog::error("{}", stopped.error().what);
}

}  // namespace trueup::apps
