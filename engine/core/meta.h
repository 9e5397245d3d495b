// What a shard knows beside its subjects: where it is in its inputs, who owns each source and how
// far that source has proven itself, what is being swept, and what was counted.
#pragma once

#include "engine/base/id.h"
#include "engine/base/time.h"
#include "engine/model/change.h"
#include "engine/model/request.h"
#include "engine/model/settings.h"
#include "engine/model/subject.h"
#include "engine/model/topic.h"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace trueup::core {

/// Where a number names a rule: all of them.
inline constexpr RuleNumber kEveryRule(0xff);

/// An epoch whose SnapshotBegin was folded and whose End was not.
struct OpenEpoch {
    std::uint64_t id = 0;    ///< this shard's own number, unique over incarnations
    std::uint64_t wire = 0;  ///< the number that the connector's items carry
    Version as_of;
    std::uint64_t count = 0;  ///< items of it so far
    bool rewound = false;     ///< the source went back in time before it
    bool operator==(const OpenEpoch&) const = default;
};

/// Why a source is not believed, or nothing is taken away on its word.
enum class Quarantine : std::uint8_t {
    kNone = 0,
    // It is unknown until an epoch is believed.
    kDrop = 1,   ///< it lost suspiciously much at once
    kEmpty = 2,  ///< its first epoch listed fewer objects than it is expected to have
    // It is known, and rules find what they find; nothing is taken away until an operator vouches.
    kWrong = 3,    ///< by its first epoch more than half of all subjects are wrong
    kRewound = 4,  ///< it went back in time: what was made since then is missing in it
};

/// One source as this shard sees it.
struct SourceState {
    std::string name;
    Topic topic = Topic::kUnspecified;
    Incarnation incarnation = kNoOffset;
    std::uint64_t next_seq = 1;
    /// The owner's own epoch is complete and no hole came after it: what is not listed is absent.
    bool known = false;
    bool hole = false;           ///< seq skipped; healed by an epoch that begins after it
    BrokerTime unknown_since{};  ///< of one not known: append time of the record that made it so
    std::optional<OpenEpoch> open;
    std::uint64_t last_epoch = 0;  ///< id of the newest epoch that began
    std::uint64_t epochs = 0;      ///< complete ones, ever
    std::uint64_t population = 0;  ///< present facets
    std::uint64_t newest = 0;      ///< `Version::hi` of the newest that it said
    /// The same as it was when its owner began: an epoch of before that went back in time.
    std::uint64_t floor = 0;
    Quarantine quarantine = Quarantine::kNone;
    /// kDrop: population before it. kEmpty: objects listed. kWrong: subjects that would be wrong.
    /// kRewound: population before it.
    std::uint64_t quarantined_at = 0;
    Quarantine beneath = Quarantine::kNone;  ///< comes back once an epoch is believed
    bool on_trial = false;        ///< its first epoch was not held against the other sources' yet
    bool believe_next = false;    ///< an operator vouched for the epoch that begins next ...
    bool believed = false;        ///< ... or for the one that is open
    BrokerTime complete_as_of{};  ///< proven progress; 0: not fresh
    SourceTime source_clock{};
    bool operator==(const SourceState&) const = default;
};

/// Is nothing to be taken away on its word?
inline bool doubted(const SourceState& source) {
    return source.on_trial || source.quarantine == Quarantine::kWrong ||
           source.quarantine == Quarantine::kRewound;
}

/// What an operator approved: whatever waits for `because` and has not changed since.
struct Approval {
    Reason reason = Reason::kNone;
    RuleNumber rule = kEveryRule;
    Offset offset = kNoOffset;  ///< of the journal: what had been seen
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

/// Journal-derived counters: a replay counts the same.
struct Counters {
    std::uint64_t items = 0;
    std::uint64_t duplicates = 0;      ///< offset seen before
    std::uint64_t gaps = 0;            ///< not folded, to be appended again
    std::uint64_t parked = 0;          ///< undecodable or foreign
    std::uint64_t foreign_tokens = 0;  ///< of a former owner
    std::uint64_t repeated_seq = 0;    ///< a connector's append that came twice
    std::uint64_t holes = 0;
    std::uint64_t unchanged = 0;
    std::uint64_t stale_versions = 0;
    std::uint64_t swept = 0;  ///< facets that an epoch proved absent
    std::uint64_t quarantines = 0;
    std::uint64_t clamped_steps = 0;
    std::uint64_t unknown_outcomes = 0;
    std::uint64_t late_outcomes = 0;
    std::uint64_t unauthenticated = 0;  ///< requests that nobody signed whom we know
    bool operator==(const Counters&) const = default;
};

/// What a rule has spent of its budget.
struct Spending {
    std::int64_t window = -1;  ///< of the budget (core/budget.h)
    std::uint64_t commands = 0;
    bool operator==(const Spending&) const = default;
};

/// What one rule found and did.
struct RuleCounters {
    std::uint64_t detected = 0;
    std::uint64_t commands = 0;
    std::array<std::uint64_t, 6> outcomes{};  ///< by OutcomeKind
    std::uint64_t retracted = 0;
    std::uint64_t mended = 0;  ///< findings whose last command was done
    Spending spending;
    bool operator==(const RuleCounters&) const = default;
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
    Settings settings;  ///< its source ids are indexes in `sources`
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
};

}  // namespace trueup::core
