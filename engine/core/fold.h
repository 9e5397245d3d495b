// The fold: (State, JournalRecord) → State' + emissions. Pure.
//
// Leader, follower, restart, forensics and backtest all run this one function over the same journal
// and cannot disagree. It reads no clock, no random number, no environment, no pointer's order and
// no unordered container; times come in with the records.
//
// A record's items are accepted by offset: `prev_offset ≤ last < offset`. A lower offset is a
// duplicate and is dropped; a higher prev_offset is a gap: the item is not folded, nothing halts,
// and the report says from where the sequencer must append again. So two sequencers on one shard,
// and appends that were lost, doubled or late, do no harm.
//
// Not thread-safe: one thread folds a state.
#pragma once

#include "engine/base/recycled.h"
#include "engine/core/evaluate.h"
#include "engine/core/meta.h"
#include "engine/core/plan.h"
#include "engine/core/subject_table.h"
#include "engine/core/waits.h"
#include "engine/model/finding_edge.h"
#include "engine/model/journal.h"

#include <memory>
#include <string>
#include <vector>

namespace trueup::core {

/// The oldest logic that this build folds by as the build did that had it. With `kLogic` it bounds
/// what a journal may put in force: from the first release on a build that brings a new logic keeps
/// the one before, so that engines can be replaced one by one.
inline constexpr std::uint32_t kOldestLogic = kLogic;

/// Everything that a shard knows. Meta and subjects are stored; waits follow from the subjects.
struct State {
    explicit State(Rows& rows) : subjects(rows) {}

    std::uint32_t newest_logic = kLogic;  ///< what this build can go by
    Meta meta;
    SubjectTable subjects;
    Waits waits;
    std::shared_ptr<const Plan> plan;  ///< follows from meta.settings; nullptr: none yet
    Verdict (*judge)(const Judgement& on) = core::judge;  ///< of tests: another judge
    std::uint32_t plans = 0;  ///< that were in force here so far: numbers them
    std::string halted;       ///< why this build cannot fold on; empty: it can
};

/// Why a build whose newest logic this is cannot go by these settings, to be read behind "the
/// configuration" or "journal offset 5"; empty: it can.
/// `partitions`: how many shards the policy has.
std::string flaw_of(const Settings& settings, std::uint32_t newest, std::int32_t partitions);

/// Takes up a stored Meta: compiles its policy, or says in `halted` what this build lacks for it.
void adopt_meta(State& state, Meta meta);
/// Registers the waits that a stored subject's row names.
void adopt_waits(State& state, const Subject& subject);

/// The sequencer must append again from the record after `last` of this topic.
struct Gap {
    Topic topic = Topic::kUnspecified;
    Offset last = kNoOffset;
    bool operator==(const Gap&) const = default;
};

/// An item that this build cannot read or that no source of ours wrote.
struct Parked {
    Topic topic = Topic::kUnspecified;
    Offset offset = kNoOffset;
    std::string reason;
    std::string bytes;
};

/// What one record led to, in order.
struct FoldReport {
    Recycled<FindingEdge> findings;
    std::vector<Command> commands;  ///< new ones, and old ones once more (emission > 1)
    std::vector<Gap> gaps;
    std::vector<Parked> parked;
    std::vector<SourceId> wants_epoch;  ///< sources that only a new complete epoch can heal
    bool more_work = false;             ///< a bounded step left work: append a tick soon
    void clear();
};

/// Folds one record. `record.offset` must exceed `state.meta.applied`. Does nothing once halted.
void fold(State& state, const JournalView& record, FoldReport& report);

}  // namespace trueup::core
