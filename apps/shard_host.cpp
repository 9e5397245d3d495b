#include "apps/shard_host.h"

#include "apps/shard_opening.h"
#include "engine/ports/clock.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <chrono>
#include <utility>

namespace trueup::apps {

namespace {

constexpr Millis kLongestWait{1'000};
constexpr Millis kNothingNew{2'000};         // until a checkpoint is looked for again
constexpr Millis kCheckpointFailed{60'000};  // the same after a failure
constexpr Millis kMostAhead = std::chrono::hours(1);

}  // namespace

ShardHost::ShardHost(ShardHostSettings settings, ports::Log& log)
    : settings_(std::move(settings)),
      log_(log),
      checkpoints_(settings_.checkpoints, settings_.shard.shard, settings_.checkpoints_kept),
      retention_(settings_.retention, log, ports::system_clock()) {}

Result<std::unique_ptr<ShardHost>> ShardHost::open(ShardHostSettings settings, ports::Log& log) {
    std::unique_ptr<ShardHost> host(new ShardHost(std::move(settings), log));
    const ShardHostSettings& how = host->settings_;
    auto opened = open_shard({how.rows, how.store_bytes, host->checkpoints_}, how.shard, log,
                             ports::system_clock(),
                             [](const std::string& what) { spdlog::warn("{}", what); });
    if (!opened) return opened.error();
    host->store_ = std::move(opened->store);
    host->shard_ = std::move(opened->shard);
    host->add_loop();
    return host;
}

ShardHost::~ShardHost() {
    if (Status stopped = stop(); !stopped) spdlog::error("{}", stopped.error().what);
}

void ShardHost::add_loop() {
    runtime::ShardLoopSettings settings;
    settings.on_quiet = [this](const runtime::ShardStatus& status,
                               const std::vector<std::string>& wanted) {
        if (loop_->fatal().empty()) passes_.look(status.meta, settings_.events);
        settings_.on_quiet(status, wanted);
    };
    settings.on_settings = settings_.on_settings;
    settings.on_failure = [this](const Error& error) {
        if (error.next == Next::kStop) {
            spdlog::error("shard {} stops emitting: {}", settings_.called, error.what);
        } else {
            spdlog::warn("shard {}: {}", settings_.called, error.what);
        }
    };
    loop_ = std::make_unique<runtime::ShardLoop>(*shard_, log_, std::move(settings));
}

void ShardHost::start() {
    thread_ = std::thread([this] { run(); });
}

void ShardHost::begin_stop() {
    stopping_ = true;
    if (loop_) loop_->begin_stop();
}

Status ShardHost::stop() {
    begin_stop();
    if (!thread_.joinable()) return Done{};
    thread_.join();
    return stopped_;
}

Result<std::optional<core::SubjectLook>> ShardHost::look(const std::string& key, Millis timeout) {
    // What a shard has that gave up is not what it would decide by.
    if (const std::string why = fatal(); !why.empty()) {
        return Error{Next::kRetry, Code::kUnavailable, why};
    }
    return looks_.ask(key, timeout);
}

ShardHost::Made ShardHost::checkpoint() const {
    const MutexLock lock(mutex_);
    return checkpoint_;
}

void ShardHost::run() {
    while (!stopping_) {
        looks_.answer(*shard_);
        loop_->step(kLongestWait);
    }
    looks_.close();
    // A shard that gave up keeps its last good rows.
    stopped_ = fatal().empty() ? shard_->stop() : store_->flush();
}

Millis ShardHost::make_checkpoint() {
    ports::Clock& clock = ports::system_clock();
    const core::Meta meta = shard_->status().meta;
    // The status is a little behind the rows; what is ahead of both is another engine's.
    reached_ = std::max(reached_, meta.applied);
    const auto newest = checkpoints_.newest(meta.journal_id, reached_);
    const std::int64_t made_at = newest ? checkpoints_.made_at(*newest) : 0;
    {
        const MutexLock lock(mutex_);
        checkpoint_ = {newest ? newest->offset : kNoOffset, made_at};
    }
    const Millis every = settings_.checkpoint_every;
    const Millis due = Millis(made_at - clock.wall_millis()) + every;
    // A clock that was set back does not put it off.
    if (due > Millis{0} && due <= every) return due;
    const auto made = checkpoints_.make(*store_, [this] { return stopping_.load(); });
    if (!made && !stopping_) spdlog::warn("no checkpoint was made: {}", made.error().what);
    if (!made) return std::min(kCheckpointFailed, every);
    if (!made->has_value()) return std::min(kNothingNew, every);
    reached_ = std::max(reached_, (*made)->offset);
    return Millis{0};
}

std::vector<ShardHost::Lag> ShardHost::lags() const {
    const runtime::ShardStatus status = shard_->status();
    std::vector<Lag> found;
    // False: the log does not answer, and each further question would wait for it as long.
    const auto add = [&](Topic topic, Offset taken) {
        const auto extent = log_.describe({topic, index()});
        if (!extent) return false;
        // What retention took is not waited for.
        const Offset from = std::max(next(taken), extent->first_offset);
        found.push_back({topic, std::max<std::int64_t>(0, distance(from, extent->next_offset))});
        return true;
    };
    if (!add(Topic::kJournal, status.meta.applied)) return {};
    if (!status.active) return found;  // another engine moves them into the journal
    for (const Topic topic : kInputTopics) {
        if (stopping_ || !add(topic, status.meta.last[static_cast<std::size_t>(topic)])) break;
    }
    return found;
}

ShardHost::Shortened ShardHost::shorten_log() {
    const runtime::ShardStatus status = shard_->status();
    if (!settings_.shard.lead || !status.active || !status.caught_up) {
        const auto extent = log_.describe({Topic::kJournal, index()});
        if (!extent) return Shortened::kNoAnswer;
        journal_begin_ = extent->first_offset;
        // A follower's turn never comes.
        return settings_.shard.lead ? Shortened::kNotOurTurn : Shortened::kDone;
    }
    const auto tended =
        retention_.tend(status.meta, checkpoints_.list(), [this] { return stopping_.load(); });
    if (!tended) {
        if (!stopping_) {
            spdlog::warn("shard {}: the log cannot be trimmed for now: {}", settings_.called,
                         tended.error().what);
        }
        return Shortened::kNoAnswer;
    }
    tell_retention(*tended);
    return Shortened::kDone;
}

void ShardHost::tell_retention(const runtime::Retention::Tended& tended) {
    for (const runtime::Retention::Cut& cut : tended.cuts) {
        spdlog::info("shard {}: retention deleted what was before offset {} of {}",
                     settings_.called, cut.first_offset.value(), name_of(cut.partition.topic));
    }
    if (tended.journal_begin >= kFirstOffset) journal_begin_ = tended.journal_begin;
    const bool ahead = tended.ahead > kMostAhead;
    if (ahead && !ahead_) {
        spdlog::warn(
            "shard {}: the clock of the log is {} min ahead of this machine's, or has jumped; "
            "bus.retention goes by this machine's time since the start, so too little is deleted: "
            "restart this process once the clocks are right",
            settings_.called,
            std::chrono::duration_cast<std::chrono::minutes>(tended.ahead).count());
    }
    ahead_ = ahead;
    if (tended.too_large && !too_large_ && !ahead) {
        spdlog::warn(
            "shard {}: the log is larger than bus.retention.journal allows, and nothing more of "
            "the journal "
            "can be deleted: what is left is as recent as the topics, or needed from the oldest "
            "checkpoint on; write a larger size, or a shorter bus.retention.topics",
            settings_.called);
    }
    too_large_ = tended.too_large;
}

}  // namespace trueup::apps
