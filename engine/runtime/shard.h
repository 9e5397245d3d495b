// One shard of the engine: sequencer, fold, relay and write-behind around one journal.
//
// `step` is one round: fold what the journal has, publish what that led to, append what came in,
// and write rows behind. The leader folds only what it read back from the journal; a follower is
// the same loop without sequencer and relay. Restart is `open`: rows from the store, the rest from
// the journal's tail.
//
// Of two engines on one shard the one whose record the fold accepted last goes on sequencing and
// publishing; the other one steps in as soon as something has waited for `timeout`. That saves
// duplicates and decides nothing: both at once do no harm (docs/adr/0017).
//
// Not thread-safe: one thread calls `open`, `step` and `stop`; `status` may be read from others.
#pragma once

#include "engine/base/mutex.h"
#include "engine/base/result.h"
#include "engine/codec/signature.h"
#include "engine/core/fold.h"
#include "engine/core/look.h"
#include "engine/ports/clock.h"
#include "engine/ports/log.h"
#include "engine/ports/store.h"
#include "engine/runtime/active_hint.h"
#include "engine/runtime/continuity.h"
#include "engine/runtime/projection.h"
#include "engine/runtime/relay.h"
#include "engine/runtime/sequencer.h"

#include <deque>
#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace trueup::runtime {

struct ShardSettings {
    PartitionNumber shard;
    std::int32_t partitions = 1;
    Settings policy;                          ///< put in force when it differs from the journal's
    std::size_t cache_bytes = 256ULL << 20U;  ///< for subjects in memory
    std::size_t write_behind_bytes = 32ULL << 20U;  ///< dirty bytes that trigger a write
    Millis write_behind_every{2'000};
    std::size_t record_bytes = 950ULL << 10U;  ///< of a journal record, about
    std::size_t in_flight = 2;                 ///< journal appends at once
    bool lead = true;                          ///< false: fold only, emit nothing
    Millis timeout{200};                       ///< how long another engine may let something wait
    /// Where rows are written and backlogs encoded: beside the shard's thread, or (deferred) by it.
    std::launch jobs = std::launch::async;
    /// For the Genesis of an empty journal; none: an empty journal is refused.
    JournalId new_journal_id;
    /// Sees each edge once it was folded, and at the start the last one of every open finding.
    /// Called by the shard's thread; without the subject where it is gone, or this is no news.
    std::function<void(const FindingEdge&, const Subject*)> on_finding;
    /// Called once by the shard's thread, before it writes its settings into the journal: with
    /// those that were in force until then, unless there were none.
    std::function<void(const Settings&)> on_settings;
    codec::KeyRing request_keys;  ///< whose requests are believed
    codec::KeyRing command_keys;  ///< the first one signs the commands
};

/// What others may see of a shard.
struct ShardStatus {
    core::Meta meta;
    std::shared_ptr<const core::Plan> plan;  ///< of the policy in force; nullptr: none is
    std::string refused;                     ///< why the shard does not emit; empty: it does
    bool caught_up = false;
    bool active = false;  ///< sequences and publishes, as far as it knows alone on the shard
    std::uint64_t published = 0;
    std::uint64_t rewinds = 0;
    std::uint64_t cached_bytes = 0;
    std::uint64_t cached_subjects = 0;
    bool proof_awaited = false;  ///< connectors should prove progress often
};

class Shard {
  public:
    /// kSkip: the stored rows are damaged (set them aside, open again over an empty store).
    /// kStop: the journal contradicts what was stored; the sentence names the way out.
    static Result<std::unique_ptr<Shard>> open(ShardSettings settings, ports::Log& log,
                                               ports::Store& store, ports::Clock& clock);

    /// One round. Never waits for input; true: there is more to do at once. kRetry errors may be
    /// followed by another call; after kStop the shard must not be stepped again.
    Result<bool> step();

    /// How long the next `step` may wait for input before something is due.
    Millis idle_time() const;

    /// Publishes and writes behind everything that was folded.
    Status stop();

    /// A copy, at most as old as the last step. Thread-safe.
    ShardStatus status() const TRUEUP_EXCLUDES(status_mutex_);

    /// The sources that were asked for a complete epoch since the last call, each once.
    std::vector<SourceId> take_wanted_epochs() { return std::exchange(wants_epoch_, {}); }

    const core::State& state() const { return state_; }
    /// Does it sequence and publish, as far as it knows alone on the shard?
    bool active() const;
    /// What the fold has of a subject, for a person. Of the thread that steps.
    std::optional<core::SubjectLook> look_at(std::string_view key) {
        return core::look_at(state_, key);
    }

  private:
    Shard(ShardSettings settings, ports::Log& log, ports::Store& store, ports::Clock& clock);

    // shard.cpp: one round
    Result<bool> round();
    Result<bool> fold_journal();
    Status fold_record(const ports::Record& record);
    Status fill_gaps();
    void go_back();
    Status settle_appends();
    Status lead();
    Result<bool> our_turn();
    bool write_due() const;
    Result<bool> sequence();
    bool tick_due() const;
    Status write_behind();
    Status check_rows();
    void refuse(std::string why);

    // shard_open.cpp
    Status check_journal();
    Status check_partitions() const;
    Error with_way_out(const Error& error);
    void tell_findings(const Subject& subject) const;

    // shard_status.cpp
    bool has_news() const TRUEUP_EXCLUDES(status_mutex_);
    bool proof_awaited() const;
    void publish_status() TRUEUP_EXCLUDES(status_mutex_);

    ShardSettings settings_;
    ports::Log& log_;
    ports::Store& store_;
    ports::Clock& clock_;
    Projection projection_;
    core::State state_;
    Sequencer sequencer_;
    Relay relay_;
    Lineage lineage_;
    JournalView view_;
    core::FoldReport report_;
    std::vector<core::Parked> parked_;
    std::vector<core::Gap> gaps_;
    std::deque<std::unique_ptr<ports::PendingAppend>> appends_;
    ActiveHint active_;
    SteadyTime next_look_{};
    std::string refused_;
    bool caught_up_ = false;
    bool sequencing_ = false;          ///< the journal's end was reached once, positions are set
    bool settings_journaled_ = false;  ///< an append of ours that carried them was acknowledged
    bool more_work_ = false;
    std::vector<SourceId> wants_epoch_;  ///< not handed out yet
    SteadyTime last_record_{};
    SteadyTime last_write_{};
    SteadyTime last_status_{};
    Offset written_ = kNoOffset;  ///< journal offset of the last write-behind, also one under way

    mutable Mutex status_mutex_;
    ShardStatus status_ TRUEUP_GUARDED_BY(status_mutex_);
};

}  // namespace trueup::runtime
