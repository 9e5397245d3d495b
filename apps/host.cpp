#include "apps/host.h"

#include "apps/events.h"
#include "apps/keys.h"
#include "apps/shard_opening.h"
#include "apps/version.h"
#include "engine/codec/request_codec.h"
#include "engine/core/budget.h"
#include "engine/ports/clock.h"
#include "engine/runtime/memory.h"

#include <spdlog/spdlog.h>

#include <filesystem>
#include <random>

namespace trueup::apps {

namespace {

constexpr Millis kSourceWait{50};
constexpr Millis kExecutorWait{20};
constexpr Millis kSettle{3'000};  // within it writes end in their outcome, or are left
constexpr Millis kRetryPause{200};
constexpr Millis kNothingNew{2'000};         // until a checkpoint is looked for again
constexpr Millis kCheckpointFailed{60'000};  // the same after a failure
constexpr Millis kHealEvery{10'000};  // a source that only an epoch can heal is asked this often

std::uint64_t fresh_number() {
    std::random_device device;
    return (std::uint64_t{device()} << 32U) | device();
}

}  // namespace

Result<std::unique_ptr<Host>> Host::start(HostSettings settings, std::vector<SourceSpec> sources,
                                          ExecutorSpec executors) {
    std::unique_ptr<Host> host(new Host);
    host->settings_ = std::move(settings);
    std::error_code made;
    std::filesystem::create_directories(host->settings_.state_dir, made);
    if (made) {
        return Error{Next::kStop, "cannot make the state folder " + host->settings_.state_dir +
                                      ": " + made.message()};
    }
    if (Status secrets = host->load_secrets(); !secrets) return secrets.error();
    connectors::EmbeddedLog::Settings log;
    log.path = host->settings_.state_dir + "/log";
    log.fsync = host->settings_.fsync;
    log.memory_bytes = runtime::memory_shares(host->settings_.memory_bytes).log;
    auto opened = connectors::EmbeddedLog::open(log);
    if (!opened) return opened.error();
    host->log_ = std::move(*opened);
    if (Status shard = host->open_shard(); !shard) return shard.error();

    const std::uint64_t nonce = fresh_number();
    for (SourceSpec& spec : sources) {
        auto source = std::make_unique<Source>();
        runtime::SourceTaskSettings task;
        task.source = spec.name;
        task.topic = spec.topic;
        task.nonce_seed = nonce;
        source->spec = std::move(spec);
        source->task =
            std::make_unique<runtime::SourceTask>(task, *host->log_, *source->spec.connector);
        host->sources_.push_back(std::move(source));
    }
    host->executors_ = std::move(executors);
    host->executors_.settings.command_keys = host->command_keys_;
    host->executors_.settings.request_keys = host->request_keys_;
    host->executors_.settings.on_outcome = [](const Command& command, const Outcome& outcome) {
        log_outcome(command, outcome, ports::system_clock().wall_millis());
    };
    host->dispatcher_ = std::make_unique<executors::Dispatcher>(
        *host->log_, host->executors_.sources, host->executors_.settings);
    if (!host->settings_.listen.empty()) {
        auto server = api::Server::start(host->settings_.listen, host->backend());
        if (!server) return server.error();
        host->server_ = std::move(*server);
    }
    host->shard_thread_ = std::thread([raw = host.get()] { raw->run_shard(); });
    host->executor_thread_ = std::thread([raw = host.get()] { raw->run_executor(); });
    host->chores_thread_ = std::thread([raw = host.get()] { raw->run_chores(); });
    for (const auto& source : host->sources_) {
        source->thread = std::thread([raw = host.get(), s = source.get()] { raw->run_source(*s); });
    }
    return host;
}

Host::Host()
    : key_watch_([](const std::string& sentence, bool wrong) {
          spdlog::log(wrong ? spdlog::level::warn : spdlog::level::info, "{}", sentence);
      }) {}

Status Host::load_secrets() {
    const std::string& folder = settings_.state_dir;
    for (const auto& [role, keys] :
         {std::pair{"requests", &request_keys_}, std::pair{"commands", &command_keys_}}) {
        const Result<codec::KeyRing> loaded = load_keys(folder, role);
        if (!loaded) return loaded.error();
        keys->become(*loaded);
        key_watch_.add(key_file(folder, role), [&folder, name = role, ring = keys]() -> Status {
            const Result<codec::KeyRing> now = read_keys(folder, name);
            if (!now) return now.error();
            ring->become(*now);
            return Done{};
        });
    }
    if (Status taken = take_tokens(load_tokens(folder)); !taken) return taken;
    key_watch_.add(key_file(folder, "tokens"),
                   [this, &folder] { return take_tokens(read_tokens(folder)); });
    return Done{};
}

Status Host::take_tokens(const Result<std::string>& text) {
    if (!text) return text.error();
    const Result<api::Tokens> tokens = api::Tokens::parse(*text);
    if (!tokens) return Error{Next::kStop, settings_.state_dir + "/keys/" + tokens.error().what};
    tokens_.become(*tokens);
    return Done{};
}

api::Backend Host::backend() {
    api::Backend backend;
    backend.snapshot = [this] { return snapshot(); };
    backend.findings = [this](const projections::FindingsFilter& filter) {
        return findings_.list(filter);
    };
    backend.ask = [this](Request request) { return ask(std::move(request)); };
    backend.answer = [this](const Hash128& id) { return answer(id); };
    backend.tokens = tokens_;
    return backend;
}

Result<Hash128> Host::ask(Request request) {
    request.id = {fresh_number(), fresh_number()};
    request.issued_ms = ports::system_clock().wall_millis();
    std::string bytes = codec::encode_request(request);
    request_keys_.sign(codec::kRequestSignature, bytes);
    std::vector<ports::Entry> entries;
    entries.push_back({request.scope.subject, std::move(bytes), {}});
    const auto appended = ports::append_now(*log_, {Topic::kRequests, 0}, entries);
    if (!appended) return appended.error();
    return request.id;
}

std::optional<api::AnswerView> Host::answer(const Hash128& id) const {
    for (const core::Answered& answered : shard_->status().meta.answered) {
        if (answered.id != id) continue;
        return api::AnswerView{answered.kind, answered.granted, answered.by, answered.sentence};
    }
    return std::nullopt;
}

Status Host::open_shard() {
    const runtime::MemoryShares memory = runtime::memory_shares(settings_.memory_bytes);
    checkpoints_.emplace(settings_.state_dir + "/checkpoints", 0, settings_.checkpoints_kept);
    runtime::ShardSettings shard;
    shard.policy = settings_.policy;
    shard.cache_bytes = memory.subjects;
    shard.write_behind_bytes = memory.write_behind;
    shard.new_journal_id = {fresh_number(), fresh_number()};
    shard.request_keys = request_keys_;
    shard.command_keys = command_keys_;
    shard.on_finding = [this](const FindingEdge& edge, const Subject* subject) {
        findings_.take(edge);
        if (subject == nullptr) return;
        log_finding(edge, subject, ports::system_clock().wall_millis());
    };
    auto opened = apps::open_shard(
        {settings_.state_dir + "/projection", memory.store, *checkpoints_}, shard, *log_,
        ports::system_clock(), [](const std::string& what) { spdlog::warn("{}", what); });
    if (!opened) return opened.error();
    store_ = std::move(opened->store);
    shard_ = std::move(opened->shard);
    return Done{};
}

void Host::give_up(const std::string& why) {
    {
        const std::lock_guard lock(mutex_);
        if (fatal_.empty()) fatal_ = why;
    }
    spdlog::error("the engine stops emitting: {}", why);
}

std::string Host::fatal() const {
    const std::lock_guard lock(mutex_);
    return fatal_;
}

void Host::tell_sources() {
    const runtime::ShardStatus status = shard_->status();
    passes_.look(status.meta);
    findings_wait_ = status.findings_wait;
    for (const SourceId id : shard_->take_wanted_epochs()) {
        for (const auto& source : sources_) {
            if (source->spec.name == status.meta.sources[id].name) source->wants_epoch = true;
        }
    }
}

void Host::run_shard() {
    bool alive = true;
    while (!stopping_) {
        const std::uint64_t seen = log_->changes_seen();
        if (!alive) {
            log_->wait(seen, kRetryPause);
            continue;
        }
        const Result<bool> busy = shard_->step();
        if (!busy) {
            alive = busy.error().next != Next::kStop;
            if (!alive) give_up(busy.error().what);
            if (alive) spdlog::warn("shard: {}", busy.error().what);
            log_->wait(log_->changes_seen(), kRetryPause);
            continue;
        }
        if (*busy) continue;
        tell_sources();
        log_->wait(seen, shard_->idle_time());
    }
    // A shard that gave up keeps its last good rows.
    stopped_ = alive ? shard_->stop() : store_->flush();
}

void Host::run_source(Source& source) {
    ports::Clock& clock = ports::system_clock();
    ports::Connector& connector = *source.spec.connector;
    SteadyTime next_epoch = clock.steady_now() + source.spec.resnapshot;
    SteadyTime next_heal{};
    std::string trouble;
    while (!stopping_) {
        const SteadyTime now = clock.steady_now();
        connector.pace_progress(findings_wait_ ? source.spec.pace_waiting : source.spec.pace_idle);
        if (now >= next_epoch) {
            connector.resnapshot();
            next_epoch = now + source.spec.resnapshot;
        }
        if (now >= next_heal && source.wants_epoch.exchange(false)) {
            connector.resnapshot();
            next_heal = now + kHealEvery;
        }
        if (Status stepped = source.task->step(now, kSourceWait); !stepped) {
            spdlog::warn("source {}: {}", source.spec.name, stepped.error().what);
        }
        const ports::SourceHealth health = connector.health();
        if (health.trouble != trouble) {
            trouble = health.trouble;
            if (!trouble.empty()) spdlog::warn("source {}: {}", source.spec.name, trouble);
            if (trouble.empty()) spdlog::info("source {}: answers again", source.spec.name);
        }
        const std::lock_guard lock(source.mutex);
        source.health = health;
        source.published = source.task->published();
    }
    if (Status drained = source.task->drain(); !drained) {
        spdlog::warn("source {}: {}", source.spec.name, drained.error().what);
    }
}

void Host::run_executor() {
    ports::Clock& clock = ports::system_clock();
    while (!stopping_) dispatcher_->step(clock.steady_now(), kExecutorWait);
    settle_writes();
    settling_ = false;
}

void Host::settle_writes() {
    ports::Clock& clock = ports::system_clock();
    const SteadyTime limit = clock.steady_now() + kSettle;
    dispatcher_->close();
    if (const std::size_t open = dispatcher_->unsettled(); open != 0) {
        spdlog::info("waiting 3 s at most for the outcome of writes that went out: {}", open);
    }
    while (dispatcher_->unsettled() != 0 && !hurried_ && clock.steady_now() < limit) {
        dispatcher_->step(clock.steady_now(), kExecutorWait);
    }
    if (const std::size_t left = dispatcher_->unsettled(); left != 0) {
        spdlog::warn("writes that have no outcome yet: {}; the next start finds it out", left);
    }
}

void Host::run_chores() {
    ports::Clock& clock = ports::system_clock();
    SteadyTime next_checkpoint{};
    std::unique_lock lock(mutex_);
    while (!stopping_) {
        lock.unlock();
        key_watch_.look(clock.steady_now());
        if (clock.steady_now() >= next_checkpoint) {
            const Millis pause = make_checkpoint();
            next_checkpoint = clock.steady_now() + pause;
        }
        const Millis pause = std::min(KeyWatch::kEvery, next_checkpoint - clock.steady_now());
        lock.lock();
        stop_asked_.wait_for(lock, pause, [this] { return stopping_.load(); });
    }
}

/// Makes one if it is time. How long to wait before the next call.
Millis Host::make_checkpoint() {
    ports::Clock& clock = ports::system_clock();
    const auto newest = checkpoints_->newest(shard_->status().meta.journal_id);
    const std::int64_t made_at = newest ? checkpoints_->made_at(*newest) : 0;
    {
        const std::lock_guard lock(mutex_);
        checkpoint_offset_ = newest ? newest->offset : -1;
        checkpoint_made_at_ = made_at;
    }
    const Millis every = settings_.checkpoint_every;
    const Millis due = Millis(made_at - clock.wall_millis()) + every;
    // A clock that was set back does not put it off.
    if (due > Millis{0} && due <= every) return due;
    const auto made = checkpoints_->make(*store_, [this] { return stopping_.load(); });
    if (!made && !stopping_) spdlog::warn("no checkpoint was made: {}", made.error().what);
    if (!made) return std::min(kCheckpointFailed, every);
    return made->has_value() ? Millis{0} : std::min(kNothingNew, every);
}

void Host::begin_stop() {
    {
        const std::lock_guard lock(mutex_);
        if (stopping_) return;
        settling_ = executor_thread_.joinable();
        stopping_ = true;
    }
    stop_asked_.notify_all();
    log_->wake();
}

Status Host::stop() {
    begin_stop();
    if (!shard_thread_.joinable()) return Done{};  // it was stopped before, or never started
    for (const auto& source : sources_) {
        if (source->thread.joinable()) source->thread.join();
    }
    if (executor_thread_.joinable()) executor_thread_.join();
    if (shard_thread_.joinable()) shard_thread_.join();
    if (chores_thread_.joinable()) chores_thread_.join();
    server_.reset();
    return stopped_;
}

Host::~Host() {
    if (Status stopped = stop(); !stopped) spdlog::error("{}", stopped.error().what);
}

namespace {

std::vector<api::NamedCount> fold_counters(const core::Counters& c) {
    return {{"items", c.items},
            {"duplicates", c.duplicates},
            {"gaps", c.gaps},
            {"parked", c.parked},
            {"foreign_tokens", c.foreign_tokens},
            {"repeated_seq", c.repeated_seq},
            {"holes", c.holes},
            {"unchanged", c.unchanged},
            {"stale_versions", c.stale_versions},
            {"swept", c.swept},
            {"quarantines", c.quarantines},
            {"clamped_steps", c.clamped_steps},
            {"unknown_outcomes", c.unknown_outcomes},
            {"late_outcomes", c.late_outcomes},
            {"unauthenticated_requests", c.unauthenticated}};
}

void add_executor(api::Snapshot& view, const executors::DispatcherStats& stats) {
    view.executor_counters = {
        {"known", stats.known},     {"duplicates", stats.duplicates},
        {"parked", stats.parked},   {"unauthenticated", stats.unauthenticated},
        {"skipped", stats.skipped}, {"append_failures", stats.append_failures}};
    view.held_commands = stats.held;
    const auto& bounds = executors::CheckToWrite::kBoundsMillis;
    view.check_to_write_bounds_ms.assign(bounds.begin(), bounds.end());
    view.check_to_write_counts.assign(stats.check_to_write.counts.begin(),
                                      stats.check_to_write.counts.end());
    view.check_to_write_sum_seconds = static_cast<double>(stats.check_to_write.sum_micros) / 1e6;
}

double in_seconds(Millis time) { return static_cast<double>(time.count()) / 1000.0; }

void add_tallies(api::Snapshot& view, const core::Meta& meta) {
    const core::Policy* policy = core::find_policy(meta.settings.use);
    if (policy == nullptr) return;
    for (std::size_t i = 0; i < policy->tallies.size(); ++i) {
        view.tallies.push_back({std::string(policy->tallies[i]), meta.tallies[i]});
    }
}

void add_passes(api::Snapshot& view, const core::Meta& meta) {
    const core::Pass& pass = meta.pass;
    view.passes = pass.completed;
    view.pass_seconds = in_seconds(Millis(static_cast<std::int64_t>(pass.millis)));
    for (const std::int64_t bound : core::Pass::kBoundsSeconds) {
        view.pass_bounds_ms.push_back(1'000 * bound);
    }
    view.pass_counts.assign(pass.durations.begin(), pass.durations.end());
    if (pass.running) view.pass_age_seconds = in_seconds(meta.broker_now - pass.started);
    view.pauses = meta.pauses.size();
}

api::SourceView source_view(const core::SourceState& source, const core::Meta& meta) {
    api::SourceView view;
    view.name = source.name;
    view.known = source.known;
    view.quarantined = source.quarantined_at != 0;
    view.objects = source.population;
    const bool proven = source.complete_as_of != BrokerTime{};
    const Millis age = meta.broker_now - source.complete_as_of;
    view.fresh = proven && age <= meta.settings.stale_after;
    if (proven) view.progress_age_seconds = in_seconds(age);
    if (proven && source.source_clock != SourceTime{}) {
        view.clock_skew_seconds = in_seconds(source.source_clock.time_since_epoch() -
                                             source.complete_as_of.time_since_epoch());
    }
    return view;
}

}  // namespace

void Host::add_checkpoint(api::Snapshot& view) const {
    const std::lock_guard lock(mutex_);
    view.checkpoint_offset = checkpoint_offset_;
    const Millis age(ports::system_clock().wall_millis() - checkpoint_made_at_);
    if (checkpoint_made_at_ != 0) view.checkpoint_age_seconds = in_seconds(age);
}

api::Snapshot Host::snapshot() const {
    const runtime::ShardStatus status = shard_->status();
    const core::Meta& meta = status.meta;
    api::Snapshot view;
    view.version = kVersion;
    view.refused = status.refused.empty() ? fatal() : status.refused;
    view.caught_up = status.caught_up;
    view.journal_offset = meta.applied;
    view.journal_time_seconds = in_seconds(meta.now.time_since_epoch());
    view.subjects = meta.subjects;
    view.open_findings = meta.open_findings;
    view.outbox = meta.outbox;
    add_tallies(view, meta);
    add_passes(view, meta);
    view.cached_bytes = status.cached_bytes;
    add_checkpoint(view);
    for (const auto& source : sources_) {
        api::SourceView shown;
        shown.name = source->spec.name;
        for (const core::SourceState& known : meta.sources) {
            if (known.name == source->spec.name) shown = source_view(known, meta);
        }
        const std::lock_guard lock(source->mutex);
        shown.answering = source->health.answering;
        shown.trouble = source->health.trouble;
        shown.failures = source->health.failures;
        shown.epochs = source->health.epochs;
        shown.published = source->published;
        view.sources.push_back(std::move(shown));
    }
    for (std::size_t i = 0; i < meta.rules.size() && i < meta.settings.rules.size(); ++i) {
        const core::RuleCounters& counts = meta.rules[i];
        view.rules.push_back(
            {meta.settings.rules[i].rule, std::string(name_of(meta.settings.rules[i].mode)),
             counts.detected, counts.commands, counts.retracted, counts.mended,
             core::left_of(meta.settings.rules[i].budget, counts.spending, meta), counts.outcomes});
    }
    view.fold_counters = fold_counters(meta.counters);
    add_executor(view, dispatcher_->stats());
    return view;
}

}  // namespace trueup::apps
