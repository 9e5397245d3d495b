// One shard with its rows, its checkpoints and the thread that steps it.
//
// Thread-safe once started.
#pragma once

#include "apps/events.h"
#include "apps/pass_log.h"
#include "apps/shard_looks.h"
#include "engine/base/mutex.h"
#include "engine/ports/log.h"
#include "engine/ports/store.h"
#include "engine/runtime/checkpoints.h"
#include "engine/runtime/retention.h"
#include "engine/runtime/shard.h"
#include "engine/runtime/shard_loop.h"

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace trueup::apps {

struct ShardHostSettings {
    runtime::ShardSettings shard;
    std::string called;                 ///< what lines of the log call it
    std::vector<policy::Event> events;  ///< of the policy, in the log
    std::string rows;                   ///< folder of the projection
    std::string checkpoints;            ///< folder of the checkpoints
    std::size_t store_bytes = 0;
    Millis checkpoint_every{};
    std::size_t checkpoints_kept = 3;
    runtime::RetentionSettings retention;
    /// ShardLoopSettings::on_quiet, by the shard's thread.
    std::function<void(const runtime::ShardStatus&, const std::vector<std::string>&)> on_quiet;
    /// ShardLoopSettings::on_settings, likewise.
    std::function<bool(const Settings& before, const Settings& now)> on_settings;
};

class ShardHost {
  public:
    /// Opens the rows, or makes them anew (apps/shard_opening.h). `log` outlives it.
    static Result<std::unique_ptr<ShardHost>> open(ShardHostSettings settings, ports::Log& log);
    ~ShardHost();
    ShardHost(const ShardHost&) = delete;
    ShardHost& operator=(const ShardHost&) = delete;

    void start();
    /// Before `stop`, for who stops several at once: wake the log after it.
    void begin_stop();
    /// Publishes and saves what was folded.
    Status stop();

    PartitionNumber index() const { return settings_.shard.shard; }
    runtime::ShardStatus status() const { return shard_->status(); }
    /// Why it gave up; empty while it runs.
    std::string fatal() const { return loop_->fatal(); }

    /// What the fold has of a subject, for a person; waits for the shard's thread. Thread-safe.
    Result<std::optional<core::SubjectLook>> look(const std::string& key, Millis timeout);

    /// Makes a checkpoint if it is time. How long to wait before the next call.
    Millis make_checkpoint() TRUEUP_EXCLUDES(mutex_);
    struct Made {
        Offset offset = kNoOffset;  ///< of the newest one; -1: there is none
        std::int64_t at = 0;        ///< in milliseconds since 1970
    };
    Made checkpoint() const TRUEUP_EXCLUDES(mutex_);

    /// Forgets what is older than it has to be (engine/runtime/retention.h), if it is this engine's
    /// turn. Of the same thread as `make_checkpoint`.
    enum class Shortened : std::uint8_t { kDone, kNotOurTurn, kNoAnswer };
    Shortened shorten_log();
    struct Lag {
        Topic topic{};
        std::int64_t records = 0;
    };
    /// How many records of the journal, and of the topics that it is made of, are still to be
    /// folded. Asks the log; empty, or
    /// a part, where that does not answer.
    std::vector<Lag> lags() const;
    /// The oldest offset of the journal, as of the last `shorten_log`; -1: not looked at yet.
    Offset journal_begin() const { return journal_begin_; }

  private:
    ShardHost(ShardHostSettings settings, ports::Log& log);
    void add_loop();
    void run();
    void tell_retention(const runtime::Retention::Tended& tended);

    ShardHostSettings settings_;
    ports::Log& log_;
    runtime::Checkpoints checkpoints_;
    runtime::Retention retention_;
    std::atomic<Offset> journal_begin_{kNoOffset};
    bool too_large_ = false;      ///< the log, and that was said
    bool ahead_ = false;          ///< the log's clock, likewise
    Offset reached_ = kNoOffset;  ///< offset that the rows have passed; of the maintenance thread
    std::unique_ptr<ports::Store> store_;
    std::unique_ptr<runtime::Shard> shard_;
    std::unique_ptr<runtime::ShardLoop> loop_;
    PassLog passes_;  ///< of the shard's thread
    ShardLooks looks_{[this] { log_.wake(); }};
    std::atomic<bool> stopping_{false};
    mutable Mutex mutex_;
    Made checkpoint_ TRUEUP_GUARDED_BY(mutex_);
    Status stopped_ = Done{};
    std::thread thread_;
};

}  // namespace trueup::apps
