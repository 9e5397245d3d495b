// What a shard knows beside its subjects: where it is in its inputs, who owns each source and how
// far that source has proven itself, what is being swept, and what was counted.
#pragma once

#include "engine/base/id.h"
#include "engine/base/time.h"
#include "engine/core/counters.h"
#include "engine/core/source_state.h"
#include "engine/model/change.h"
#include "engine/model/request.h"
#include "engine/model/settings.h"
#include "engine/model/subject.h"
#include "engine/model/topic.h"

#include <array>
#include <cstdint>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace trueup::core {

/// Where a number names a rule: all of them.
inline constexpr RuleNumber kEveryRule(0xff);

/// What an operator approved: whatever waits for `reason` and has not changed since.
struct Approval {
    Reason reason = Reason::kNone;
    RuleNumber rule = kEveryRule;
    Offset offset = kNoOffset;      ///< of the journal: what had been seen
    std::string count_reason = {};  ///< of kUncorrelatedRows: of these counts only; empty: of any
    bool operator==(const Approval&) const = default;
};

/// Something on its way over all subjects, one after the other; each is judged as it goes by.
struct Sweep {
    enum class What : std::uint8_t {
        kJudgement = 0,  ///< nothing else
        kEpoch = 1,      ///< what a complete epoch lacks is absent
        kApproval = 2,
        kPass = 3,    ///< the pass is complete when it ends
        kTrial = 4,   ///< what a first epoch makes of the world is known when it ends
        kPolicy = 5,  ///< each subject is counted and judged by another policy
    };
    What what = What::kJudgement;
    SourceId source = kNoSource;  ///< of kEpoch, as the next three
    std::uint64_t epoch = 0;
    Incarnation incarnation = kNoOffset;  ///< whose epoch it was
    Version as_of;
    Approval approval;
    std::string changed;  ///< of kPolicy: the numbers of rules that mean something else now, ...
    JournalTime since{};  ///< ... and from when on
    std::string cursor;   ///< the last key that was visited; empty: none yet
    bool operator==(const Sweep&) const = default;
};

/// A full look at everything: each source has proven itself past its start, then each subject was
/// judged (design §5).
struct Pass {
    static constexpr std::array<std::int64_t, 9> kBoundsSeconds{1, 2, 5, 10, 30, 60, 120, 300, 600};
    bool running = false;
    bool sweeping = false;
    bool asked = false;  ///< by an operator, for the next record
    BrokerTime started{};
    JournalTime next{};  ///< when one starts by itself
    std::uint64_t completed = 0;
    std::uint64_t millis = 0;                                          ///< that all of them took
    std::array<std::uint64_t, kBoundsSeconds.size() + 1> durations{};  ///< completed, by bucket
    bool operator==(const Pass&) const = default;
};

/// An operator's pause: no command of the rule.
struct Pause {
    RuleNumber rule = kEveryRule;
    BrokerTime since{};
    std::string by;
    std::string comment;  ///< the operator's own words
    bool operator==(const Pause&) const = default;
};

/// What came of a request.
struct Answered {
    RequestId id;
    RequestKind kind = RequestKind::kUnspecified;
    bool granted = false;
    BrokerTime at{};
    std::string by;
    std::string sentence;  ///< what it did, or why not
    bool operator==(const Answered&) const = default;
};

/// Who may act by himself: what people looked at and enabled of one rule, by its text
/// (rule_text.h).
struct Enabling {
    static constexpr std::size_t kMost = 8;
    std::vector<Hash128> texts;    ///< enabled ones, the last at the end
    Hash128 disabled;              ///< a person took it back last: nothing but a request enables it
    Offset looked = kNoOffset;     ///< ended the first reconcile under the text in force; -1: none
    JournalTime left{Millis{-1}};  ///< when last what was enabled was taken back or changed
    BrokerTime turned{};           ///< when last it was enabled, disabled or came to mean another
    bool operator==(const Enabling&) const = default;

    bool has(const Hash128& text) const;
    void add(const Hash128& text);  ///< the oldest beyond kMost is forgotten
    void take(const Hash128& text);
};

struct Meta {
    JournalId journal_id;
    std::int32_t partitions = 1;
    PartitionNumber shard;
    Offset applied = kNoOffset;  ///< journal offset folded last
    std::uint64_t record = 0;    ///< digest of that record
    BrokerTime broker_now{};     ///< append time of that record, never descending
    JournalTime now{};           ///< watched time
    BrokerTime watched_since{};  ///< append time of the record that ended the last unwatched step
    Hash128 chain;               ///< running hash over the records that brought items
    Hash128 digest;              ///< sum of the hashes of the subjects' rows as written
    std::array<Offset, kTopics> last{kNoOffset, kNoOffset, kNoOffset, kNoOffset, kNoOffset,
                                     kNoOffset, kNoOffset, kNoOffset, kNoOffset, kNoOffset};
    std::vector<Offset> later;       ///< the same of topics that only a later build has: kept
    Settings settings;               ///< its source ids are indexes in `sources`
    Offset settings_at = kNoOffset;  ///< journal offset of the record that brought them last
    std::vector<SourceState> sources;
    std::vector<Sweep> sweeps;                                      ///< one after another
    std::array<std::uint64_t, std::tuple_size_v<Tally>> tallies{};  ///< of the policy
    Pass pass;
    std::vector<Pause> pauses;
    std::vector<Answered> answered;  ///< the last ones, the oldest first
    std::uint64_t outbox = 0;        ///< commands without an outcome
    std::uint64_t open_findings = 0;
    std::uint64_t subjects = 0;              ///< rows, tombstones and references included
    std::uint64_t present = 0;               ///< subjects that a source shows an object of
    std::uint64_t wrong = 0;                 ///< of these, with an open finding
    std::array<std::uint64_t, 5> endings{};  ///< under way, by Ending::Stage
    std::uint64_t stuck = 0;                 ///< of these, without progress for too long
    std::uint64_t holds = 0;                 ///< of operators, in force
    Counters counters;
    std::vector<RuleCounters> rules;
    std::vector<Enabling> enabling;  ///< by rule, as `rules`
    /// Parts that another build wrote and this one does not know: kept as they are.
    std::vector<std::pair<std::uint64_t, std::string>> others;
    bool operator==(const Meta&) const = default;

    /// Every SourceId is below it.
    SourceId source_count() const { return static_cast<SourceId>(sources.size()); }
};

}  // namespace trueup::core
