#include "apps/host.h"

#include "apps/events.h"
#include "apps/keys.h"
#include "apps/shard_opening.h"
#include "engine/codec/request_codec.h"
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

}  // namespace trueup::apps
