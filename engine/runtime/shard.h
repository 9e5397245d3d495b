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
#include "engine/codec/journal_codec.h"
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
#include "engine/runtime/shard_settings.h"
#include "engine/runtime/shard_status.h"

#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace trueup::runtime {

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
    Result<bool> put_settings();
    void append(codec::JournalRecordBuilder record);
    Result<bool> our_turn();
    bool crowded() const;
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
    bool sequencing_ = false;      ///< the journal's end was reached once, positions are set
    bool settings_taken_ = false;  ///< ours came into force since the journal's end was reached
    std::optional<codec::JournalRecordBuilder> first_;  ///< goes behind our settings
    Offset appended_ = kNoOffset;                       ///< the last record of ours
    std::size_t last_size_ = 0;  ///< of a journal record of ours: the next one may be as large
    bool more_work_ = false;
    std::vector<SourceId> wants_epoch_;  ///< not handed out yet
    SteadyTime last_record_{};
    SteadyTime last_write_{};
    Millis last_took_{};  ///< the last write-behind, of this thread's time
    SteadyTime last_status_{};
    Offset written_ = kNoOffset;  ///< journal offset of the last write-behind, also one under way

    mutable Mutex status_mutex_;
    ShardStatus status_ TRUEUP_GUARDED_BY(status_mutex_);
};

}  // namespace trueup::runtime
