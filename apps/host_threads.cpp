// What the threads of a Host do: sources, executors, hints, and what is to be done now and then.
#include "apps/host.h"
#include "engine/ports/clock.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <filesystem>
#include <utility>

namespace trueup::apps {

namespace {

constexpr Millis kShortenAgain{60'000};  // where it was not its turn
constexpr Millis kSourceWait{10'000};    // where nothing is due and nobody wakes it
constexpr Millis kExecutorWait{10'000};  // likewise
constexpr Millis kRetryPause{200};
constexpr Millis kAdmissionWait{1'000};  // at the start: news between a look and its wait are lost
constexpr Millis kHintWait{1'000};       // news end it sooner; a hint to hurry ends by the clock
constexpr Millis kMeasureEvery{15'000};  // what is left of the disk

}  // namespace

void Host::run_hints() {
    ports::Clock& clock = ports::system_clock();
    std::string trouble;
    for (;;) {
        const std::uint64_t seen = log_->changes_seen();
        if (stopping_) return;
        const SteadyTime now = clock.steady_now();
        const Status read =
            hint_reader_->step(now, [this](const std::string& name) { want_epoch(name); });
        const std::string now_wrong = read ? std::string() : read.error().what;
        if (now_wrong != trouble && !now_wrong.empty()) spdlog::warn("requests: {}", now_wrong);
        trouble = now_wrong;
        const bool hurry = hint_reader_->hurry(now);
        if (!hurried_by_others_.exchange(hurry) && hurry) wake_sources();
        log_->wait(seen, read ? kHintWait : kRetryPause);
    }
}

/// False: the process stops first.
bool Host::await_admission(const Source& source) {
    while (checks_ && !stopping_ && !checks_->look(source.spec.name).doubt.empty()) {
        checks_->wait(kAdmissionWait);
    }
    return !stopping_;
}

void Host::run_source(Source& source) {
    if (!await_admission(source)) return;
    ports::Clock& clock = ports::system_clock();
    while (!stopping_) source.loop->step(clock.steady_now(), hurry_sources(), kSourceWait);
    // What the connector has delivered must be in the log, or the next start lists it all again.
    source.loop->drain();
}

/// Tells the dispatcher what became known of sources that it may not ask yet.
void Host::admit_to_executors(std::vector<std::string>& in_doubt) {
    std::vector<std::string> left;
    for (std::string& name : in_doubt) {
        Admission known = checks_->look(name);
        const bool admitted = known.doubt.empty();
        dispatcher_->found(name, std::move(known.doubt), std::move(known.pk_columns));
        if (!admitted) left.push_back(std::move(name));
    }
    in_doubt = std::move(left);
}

void Host::run_executor() {
    ports::Clock& clock = ports::system_clock();
    executors::ExecutorLoopSettings settings;
    settings.on_trouble = [this](const std::string& why) {
        spdlog::warn("executors of {}: {}", policy(), why);
    };
    executors::ExecutorLoop loop(*dispatcher_, std::move(settings));
    std::vector<std::string> in_doubt;
    if (checks_) {
        for (const auto& [name, source] : executors_.sources.pods) in_doubt.push_back(name);
        for (const auto& [name, source] : executors_.sources.rows) in_doubt.push_back(name);
    }
    while (!stopping_) {
        admit_to_executors(in_doubt);
        loop.step(clock.steady_now(), kExecutorWait);
    }
    settle_writes(loop);
    settling_ = false;
}

void Host::settle_writes(executors::ExecutorLoop& loop) {
    ports::Clock& clock = ports::system_clock();
    if (const std::size_t open = loop.close(clock.steady_now()); open != 0) {
        spdlog::info("waiting up to 3 s for the outcome of writes in flight: {}", open);
    }
    while (!hurried_ && !loop.settled(clock.steady_now())) {
        loop.step(clock.steady_now(), kExecutorWait);
    }
    if (const std::size_t left = dispatcher_->unsettled(); left != 0) {
        spdlog::warn("writes without an outcome: {}; the next start finds out what became of them",
                     left);
    }
}

/// Asks the log for its ends, over Kafka the brokers: nothing that a snapshot could wait for.
void Host::measure_lags() {
    std::vector<api::LagView> found;
    for (const auto& shard : shards_) {
        if (stopping_) return;
        for (const ShardHost::Lag& lag : shard->lags()) {
            found.push_back({std::string(name_of(lag.topic)), shard->index(), lag.records});
        }
    }
    const MutexLock lock(mutex_);
    lags_ = std::move(found);
}

/// It walks the log's folder, so a snapshot does not wait for it.
void Host::measure_room() {
    const auto bytes = log_->stored_bytes();
    log_bytes_ = bytes ? static_cast<std::int64_t>(*bytes) : -1;
    std::error_code failed;
    const std::filesystem::space_info space = std::filesystem::space(settings_.state_dir, failed);
    state_free_bytes_ = failed ? -1 : static_cast<std::int64_t>(space.available);
}

void Host::run_maintenance() {
    ports::Clock& clock = ports::system_clock();
    SteadyTime next_checkpoint{};
    SteadyTime next_shortening{};
    SteadyTime next_measure{};
    MutexLock lock(mutex_);
    while (!stopping_) {
        // All of this may take long, and none of it needs the lock: others ask for lags meanwhile.
        lock.unlock();
        settings_.secrets->look(clock.steady_now());
        if (settings_.configuration) settings_.configuration->look(clock.steady_now());
        if (clock.steady_now() >= next_measure) {
            measure_room();
            measure_lags();
            next_measure = clock.steady_now() + kMeasureEvery;
        }
        for (const QuarantineNews::Line& line : quarantines_.look(snapshot().sources)) {
            spdlog::log(line.wrong ? spdlog::level::warn : spdlog::level::info, "{}",
                        line.sentence);
        }
        if (clock.steady_now() >= next_checkpoint) {
            Millis pause = settings_.checkpoint_every;
            for (const auto& shard : shards_) pause = std::min(pause, shard->make_checkpoint());
            next_checkpoint = clock.steady_now() + pause;
        }
        if (clock.steady_now() >= next_shortening) {
            next_shortening = clock.steady_now() + shorten_log();
        }
        const SteadyTime next = std::min(next_checkpoint, next_shortening);
        const Millis pause = std::min(KeyWatch::kEvery, next - clock.steady_now());
        lock.lock();
        const CondVar::Deadline until = CondVar::in(pause);
        while (!stopping_ && stop_asked_.wait_until(mutex_, until)) {
        }
    }
}

/// Returns after how long there is more to do.
Millis Host::shorten_log() {
    Millis next = settings_.shorten_every;
    for (const auto& shard : shards_) {
        if (stopping_) break;
        const ShardHost::Shortened shortened = shard->shorten_log();
        if (shortened == ShardHost::Shortened::kNoAnswer) break;  // nor about the others
        if (shortened == ShardHost::Shortened::kNotOurTurn) next = std::min(next, kShortenAgain);
    }
    return next;
}

}  // namespace trueup::apps
