// A subject: the thing that several sources speak of, with everything that the engine knows of it
// in one row: the facets, the open findings and their commands.
#pragma once

#include "engine/base/boxed.h"
#include "engine/base/time.h"
#include "engine/model/answers.h"
#include "engine/model/change.h"
#include "engine/model/finding.h"
#include "engine/model/object.h"
#include "engine/model/request.h"
#include "engine/model/verdict.h"

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace trueup {

/// How it is known that an object is gone. There is no "not listed": that is not a proof.
enum class Absence : std::uint8_t {
    kPresent = 0,
    kRemoved = 1,  ///< the source said so
    kSwept = 2,    ///< a complete epoch lacks it
};

/// What one source last said of one object that claims the subject.
struct Facet {
    SourceId source = kNoSource;
    std::string object_id;
    Absence absence = Absence::kPresent;
    /// Whose word it was. Versions are compared within one incarnation only: a source that was
    /// restored from a backup starts again below what it said before (S13, S14).
    Incarnation incarnation = kNoOffset;
    Version version;          ///< of the last word on it, tombstones included
    std::uint64_t epoch = 0;  ///< the last epoch that listed it
    BrokerTime first_seen{};  ///< append time of the first change of this object
    /// Append time of the last change of what the policy's patterns, claims and keys mention: a
    /// heartbeat that is written every second keeps no rule waiting.
    BrokerTime evidence{};
    BrokerTime changed{};          ///< append time of the last change of its content ...
    Offset offset = kNoOffset;     ///< ... and its journal offset
    std::uint64_t gone_since = 0;  ///< complete epochs of the source when it went
    std::string object;            ///< encoded fields; empty once absent
    /// Kept by whoever works them out; void wherever `object` or the ledger is changed.
    mutable Answers answers;

    bool present() const { return absence == Absence::kPresent; }
    ObjectView fields() const { return ObjectView(object); }
    bool operator==(const Facet&) const = default;
};

/// How an object of a subject ended.
enum class End : std::uint8_t {
    kFailed = 0,
    kSucceeded = 1,
    kGone = 2,  ///< it was taken away before it ended by itself
};

/// What became of the objects that a subject had one after the other: pods that run, fail and are
/// made anew. Each end counts once, from when it was first observed, also after its object is
/// forgotten.
struct Ledger {
    struct Entry {
        std::string object_id;
        End end = End::kFailed;
        JournalTime at{};  ///< when it was first observed
        bool operator==(const Entry&) const = default;
    };
    std::string of;  ///< whose objects; a ledger of another begins empty
    std::vector<Entry> entries;
    bool operator==(const Ledger&) const = default;
};

/// What one subject contributes to each of its policy's tallies.
using Tally = std::array<std::uint8_t, 16>;

/// Somebody asked for something that the policy has a rule for (`requested: NAME`), and it was
/// granted.
struct StandingRequest {
    std::string name{kTerminateName};
    std::string by;
    /// Only owning it gave the right to: it holds as long as it is theirs.
    bool owners = false;
    JournalTime since{};
    /// The object that a command was ordered about first: of another one it was not asked. Empty:
    /// of none yet.
    std::string target = {};
    bool operator==(const StandingRequest&) const = default;
};

/// A list of steps of which the first has taken something away, or may have: it is carried to its
/// end, whatever becomes of the finding that it began with (core/ending.h).
struct Ending {
    enum class Stage : std::uint8_t {
        kTaking = 1,   ///< the first step is ordered, or what came of it is not known yet
        kBetween = 2,  ///< something is taken, the next step is not ordered
        kOrdered = 3,  ///< a later step is ordered
        kHalted = 4,   ///< as kBetween, but its rule does not act any more
    };
    Stage stage = Stage::kTaking;
    RuleNumber rule;                 ///< whose finding it began with
    RuleNumber by;                   ///< under which rule it goes on: that one, or one that asks so
    Hash128 steps;                   ///< of the list, as it was when this began
    std::uint32_t next = 0;          ///< index of the first step that is not behind it
    std::string object_id;           ///< what the finding is about
    SourceId taken_source = 0;       ///< where it took from ...
    std::vector<std::string> taken;  ///< ... and which objects
    SourceId target_source = kNoSource;  ///< of the object that a last step writes ...
    std::string target;                  ///< ... and which one: bound when this began
    JournalTime since{};
    JournalTime passed{};                          ///< when a step was put behind it last
    OutcomeKind last = OutcomeKind::kUnspecified;  ///< how its last command ended
    BrokerTime settled{};        ///< append time of that outcome, or when it was given up
    BrokerTime not_after{};      ///< of its last command
    JournalTime again{};         ///< nothing is ordered before this
    std::uint32_t failures = 0;  ///< of the step that is next, in a row
    bool stuck = false;          ///< no step was put behind it for too long
    bool operator==(const Ending&) const = default;
};

/// An ending was carried to its end: what it wrote is no failure, however long it stays so.
struct Ended {
    RuleNumber rule;
    std::string object_id;  ///< the object that was written last
    bool operator==(const Ended&) const = default;
};

/// A live look refused what a rule ordered: not to be ordered again before there is news, be it a
/// change of what the rule reads or that every source has listed everything anew.
struct Refusal {
    RuleNumber rule;
    std::string object_id;
    std::uint64_t said = 0;  ///< digest of what the rule reads (core::said_to)
    /// Complete epochs of each source (by id) when it was refused.
    std::vector<std::uint64_t> epochs;
    bool operator==(const Refusal&) const = default;
};

/// A rule was done with an object of the subject. One that comes to it again and again, with one
/// object or with those that come in its place, may be fighting another controller.
struct Mended {
    RuleNumber rule;
    std::string object_id;
    /// Other objects that were there when it was ordered. What is not among them came since.
    std::vector<std::string> beside;
    JournalTime at{};
    bool operator==(const Mended&) const = default;
};

/// What outlives a finding for a while, so that the next one does not repeat it.
struct Aftermath {
    std::vector<Refusal> refusals;
    std::vector<Mended> mended;  ///< of a day, oldest first
    Boxed<Ended> ended;
    /// After an ending was dropped: until then a command of it may still be carried out.
    BrokerTime quiet_until{};
    bool operator==(const Aftermath&) const = default;
};

struct Subject {
    std::string key;
    std::vector<Facet> facets;      ///< ordered by (source, object_id)
    std::vector<Finding> findings;  ///< open ones only, ordered by (rule, object_id)
    /// Append time of our own last outcome on an object of a source (by source id): a rule acts
    /// again only when that source has proven itself past it.
    std::vector<std::pair<SourceId, BrokerTime>> own_writes;
    /// What to wait for, as registered in the shard's tables of waits.
    std::vector<Wait> waits;
    Boxed<Ledger> ledger;  ///< only of policies that make objects anew
    Tally counted{};       ///< what it contributes to the policy's tallies
    bool held = false;     ///< by an operator: nothing happens to it
    /// One at most, until it was done, ended by itself, or was dismissed.
    Boxed<StandingRequest> request;
    Boxed<Ending> ending;  ///< one at most
    Boxed<Aftermath> aftermath;
    bool present = false;  ///< a source that plays a role shows an object of it
    bool wrong = false;    ///< it has an open finding
    bool operator==(const Subject&) const = default;

    /// The part of the key after the policy; the whole key when it has none.
    std::string_view name() const {
        const std::size_t slash = key.find('/');
        return std::string_view(key).substr(slash == std::string::npos ? 0 : slash + 1);
    }
    /// It stands for an object of one source, which other subjects may need, and claims no name.
    bool reference() const { return key.starts_with('!'); }
};

}  // namespace trueup
