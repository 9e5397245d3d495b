// What a source does for as long as its process runs: it proves progress at the pace that shards
// need, lists everything again from time to time and when a shard asks for it, and lets its task
// work (source_task.h). Each of them is a step; thread, clock and pauses are the caller's.
//
//   L1  A list that a shard asked for is not forgotten: where it was asked for too soon after the
//       one before, it follows as soon as it may.
//   L2  One that a shard asks for again and again comes once in `heal_every`.
//
// One thread calls `step` and `drain`, and owns connector and port; the rest is for any thread.
#pragma once

#include "engine/base/mutex.h"
#include "engine/ports/connector.h"
#include "engine/ports/log.h"
#include "engine/runtime/source_task.h"

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

namespace trueup::runtime {

struct SourceLoopSettings {
    SourceTaskSettings task;
    Millis pace_idle{15'000};                    ///< between two proofs of progress
    Millis pace_waiting{2'000};                  ///< the same while a finding waits for one
    Millis relist_every{std::chrono::hours(6)};  ///< whatever happens
    Millis heal_every{10'000};                   ///< at most this often because a shard asks
    /// What an operator should read in the log, once each; `wrong`: as a warning. Called by `step`.
    std::function<void(const std::string& sentence, bool wrong)> on_news;
};

/// What others may see of a source.
struct SourceStatus {
    ports::SourceHealth health;
    std::uint64_t published = 0;  ///< records that are in the log
    bool owned = false;           ///< what it tells counts: no other process is its owner
};

class SourceLoop {
  public:
    /// `log` and `connector` outlive it.
    SourceLoop(SourceLoopSettings settings, ports::Log& log, ports::Connector& connector);

    /// A shard missed something, and needs everything listed and told in full.
    void want_epoch();
    /// Ends the wait of the step that is under way, or of the next one: something is wanted.
    void wake() { connector_.wake(); }

    /// One round. `hurry`: a shard has findings that wait for progress. Waits for at most
    /// `max_wait`, for the source, for what it appended, or until something is due.
    void step(SteadyTime now, bool hurry, Millis max_wait) TRUEUP_EXCLUDES(mutex_);

    /// Waits for what is on its way to the log. For a clean stop.
    void drain();

    /// As of the end of the last step; before the first one nothing is known.
    SourceStatus status() const TRUEUP_EXCLUDES(mutex_);

    /// For the thread that steps.
    const SourceTask& task() const { return task_; }

  private:
    void ask_for_lists(SteadyTime now);
    SteadyTime due() const;
    void tell(const std::string& sentence, bool wrong) const;
    void tell_news(const ports::SourceHealth& health);

    const SourceLoopSettings settings_;
    ports::Connector& connector_;
    SourceTask task_;
    std::optional<SteadyTime> next_relist_;  ///< none: it was not stepped yet
    SteadyTime next_heal_{};
    std::atomic<bool> wants_epoch_{false};
    bool stood_by_ = false;  ///< and that was told, as what follows
    std::string trouble_;
    bool remarked_ = false;

    mutable Mutex mutex_;
    SourceStatus status_ TRUEUP_GUARDED_BY(mutex_);
};

}  // namespace trueup::runtime
