// What a shard does for as long as its process runs: it is stepped until nothing is left to do,
// tells sources what it needs of them, and waits for news; after a failure it tries again, and
// after one that is final it does nothing any more. Thread and clock are the caller's.
//
// One thread calls `step`; the rest is for any thread.
#pragma once

#include "engine/base/error.h"
#include "engine/base/mutex.h"
#include "engine/ports/log.h"
#include "engine/runtime/shard.h"

#include <atomic>
#include <functional>
#include <string>
#include <vector>

namespace trueup::runtime {

struct ShardLoopSettings {
    /// Called after each round that left nothing to do: how the shard is, and the sources that are
    /// to list everything again, by name. Once with neither when it gives up: it needs nothing
    /// then.
    std::function<void(const ShardStatus&, const std::vector<std::string>& wanted)> on_quiet;
    /// Called where this engine leads and settings are in force by the journal that it has not
    /// been called for: those that it knew before, and those. False: not yet, and so again.
    std::function<bool(const Settings& before, const Settings& now)> on_settings;
    /// A round failed. kRetry: another one follows; kStop: none does.
    std::function<void(const Error&)> on_failure;
};

class ShardLoop {
  public:
    static constexpr int kMostSteps = 100;  ///< of one round: others are to be heard in between
    static constexpr Millis kRetryPause{200};

    /// `shard` and `log`, which is the shard's, outlive it.
    ShardLoop(Shard& shard, ports::Log& log, ShardLoopSettings settings);

    /// One round, and then a wait of at most `max_wait`: for news of the log, or until something is
    /// due.
    void step(Millis max_wait);

    /// A round that is under way ends after its step.
    void begin_stop() { stopping_ = true; }

    /// Why it gave up; empty while it runs.
    std::string fatal() const TRUEUP_EXCLUDES(mutex_);

  private:
    enum class Round : unsigned char { kBusy, kQuiet, kFailed };
    Round round(std::uint64_t& seen);
    void fail(const Error& error) TRUEUP_EXCLUDES(mutex_);
    void tell();
    void tell_settings();

    Shard& shard_;
    ports::Log& log_;
    const ShardLoopSettings settings_;
    std::atomic<bool> stopping_{false};
    bool alive_ = true;
    Settings told_;                ///< in force
    std::uint32_t told_plan_ = 0;  ///< and their plan's number
    mutable Mutex mutex_;
    std::string fatal_ TRUEUP_GUARDED_BY(mutex_);
};

}  // namespace trueup::runtime
