#include "apps/host.h"

#include "apps/bus.h"
#include "apps/events.h"
#include "apps/keys.h"
#include "apps/retry.h"
#include "engine/model/loosened.h"
#include "engine/ports/clock.h"
#include "engine/runtime/memory.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <filesystem>
#include <random>

namespace trueup::apps {

namespace {

constexpr int kSilentBeats = 3;  // of a connector, until another one takes its source

/// Says once what this configuration lets rules do that the one before did not.
std::function<void(const Settings&)> say_loosened(Settings now) {
    return [now = std::move(now)](const Settings& before) {
        for (const std::string& what : loosened(before, now)) {
            spdlog::warn("policy {}: the configuration is looser than the one before: {}",
                         now.policy, what);
        }
    };
}

std::uint64_t fresh_number() {
    std::random_device device;
    return (std::uint64_t{device()} << 32U) | device();
}

}  // namespace

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

void Host::add_sources(std::vector<SourceSpec> specs) {
    const std::uint64_t nonce = fresh_number();
    for (SourceSpec& spec : specs) {
        auto source = std::make_unique<Source>();
        runtime::SourceLoopSettings loop;
        loop.task.source = spec.name;
        loop.task.topic = spec.topic;
        loop.task.partitions = settings_.partitions;
        loop.task.nonce_seed = nonce;
        // Another connector of the source must have been silent for so long before this one takes
        // it over, or two that are merely slow would take it from each other for ever.
        loop.task.timeout = kSilentBeats * spec.pace_idle;
        loop.pace_idle = spec.pace_idle;
        loop.pace_waiting = spec.pace_waiting;
        loop.relist_every = spec.relist_every;
        loop.on_news = [name = spec.name](const std::string& sentence, bool wrong) {
            spdlog::log(wrong ? spdlog::level::warn : spdlog::level::info, "source {}: {}", name,
                        sentence);
        };
        source->spec = std::move(spec);
        source->loop =
            std::make_unique<runtime::SourceLoop>(std::move(loop), *log_, *source->spec.connector);
        sources_.push_back(std::move(source));
    }
    if (!sources_.empty() && !settings_.alone) {
        hint_reader_.emplace(*log_, settings_.partitions, request_keys_);
    }
}

void Host::add_executors(ExecutorSpec spec) {
    executors_ = std::move(spec);
    if (executors_.sources.empty()) return;
    executors::DispatcherSettings& settings = executors_.settings;
    // All of them: which ones this process takes at the moment, its assignment says.
    settings.partitions.clear();
    for (std::int32_t p = 0; p < settings_.partitions; ++p) {
        settings.partitions.emplace_back(p);
    }
    settings.command_keys = command_keys_;
    settings.request_keys = request_keys_;
    settings.steady_now = [] { return ports::system_clock().steady_now(); };
    settings.on_parked = [this](const executors::ParkedCommand& parked) {
        spdlog::warn("command {}@{} is parked (a dead letter): {}", called(parked.partition),
                     parked.offset.value(), parked.reason);
    };
    settings.on_outcome = [](const Command& command, const Outcome& outcome) {
        log_outcome(command, outcome, ports::system_clock().wall_millis());
    };
    dispatcher_ = std::make_unique<executors::Dispatcher>(*log_, executors_.sources, settings);
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
    backend.findings = [this](const projections::FindingsFilter& filter) {
        return findings_.list(filter);
    };
    backend.too_much = [this](const Request& request) { return too_much(request); };
    backend.ask = [this](Request request) { return ask(std::move(request)); };
    backend.answer = [this](const RequestId& id) { return answer(id); };
    return backend;
}

ShardHostSettings Host::shard_settings(PartitionNumber index) {
    const std::size_t count = std::max<std::size_t>(1, settings_.shards.size());
    const runtime::MemoryShares memory = runtime::memory_shares(settings_.memory_bytes / count);
    const std::string own = own_folder(index);
    ShardHostSettings host;
    host.rows = settings_.state_dir + own + "/projection";
    host.checkpoints = settings_.checkpoints + own;
    host.store_bytes = memory.store;
    host.checkpoint_every = settings_.checkpoint_every;
    host.checkpoints_kept = settings_.checkpoints_kept;
    host.retention = settings_.retention;
    host.on_quiet = [this, slot = shards_.size()](const runtime::ShardStatus& status,
                                                  const std::vector<std::string>& wanted) {
        heed(slot, status, wanted);
    };
    host.on_settings = [this, index](const Settings& before, const Settings& now) {
        return say_in_force(index, before, now);
    };
    runtime::ShardSettings& shard = host.shard;
    shard.shard = index;
    shard.partitions = settings_.partitions;
    shard.lead = settings_.lead;
    shard.policy = settings_.policy;
    shard.cache_bytes = memory.subjects;
    shard.write_behind_bytes = memory.write_behind;
    // Over Kafka `topics create` has begun the journals: an empty one there is a lost one.
    if (settings_.alone) shard.new_journal_id = JournalId({fresh_number(), fresh_number()});
    shard.request_keys = request_keys_;
    shard.command_keys = command_keys_;
    host.called = called(index);
    shard.on_finding = [this](const FindingEdge& edge, const Subject* subject) {
        findings_.take(edge);
        // Told once more at a start, of a finding that was found by an earlier process.
        if (subject == nullptr) return;
        log_finding(edge, subject, ports::system_clock().wall_millis());
    };
    if (shards_.empty()) shard.on_settings = say_loosened(settings_.policy);  // of all shards
    return host;
}

Status Host::open_shards() {
    for (const PartitionNumber index : settings_.shards) {
        proof_awaited_.push_back(std::make_unique<std::atomic<bool>>(false));
        if (!settings_.alone) {
            hints_.push_back(std::make_unique<runtime::SourceHintSender>(
                *log_, index, request_keys_, ports::system_clock(), fresh_number()));
        }
        const ShardHostSettings host = shard_settings(index);
        std::error_code made;
        std::filesystem::create_directories(settings_.state_dir + own_folder(index), made);
        auto opened =
            attempt_until_answered([&] { return ShardHost::open(host, *log_); }, waiting());
        if (!opened) return opened.error();
        shards_.push_back(std::move(*opened));
    }
    return Done{};
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
