// Why a rule says of a subject what it says: the stages that were asked, the one that it stopped
// at, and the facts that decided each. For people, so everything has its name in here.
//
// Plain values; const access is thread-safe.
#pragma once

#include "engine/base/boxed.h"
#include "engine/base/time.h"
#include "engine/model/command.h"
#include "engine/model/ids.h"
#include "engine/model/mode.h"
#include "engine/model/stage.h"
#include "engine/model/verdict.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace trueup {

/// One thing that a stage looked at.
struct DecidingFact {
    enum class Kind : std::uint8_t {
        kField = 1,     ///< a field of an object
        kObject = 2,    ///< that an object is there
        kNoObject = 3,  ///< that a source shows none of the role; `object`: the last that went
        kClaims = 4,    ///< how many objects of the role claim the subject
        kSource = 5,    ///< what a source has proven
        kClock = 6,     ///< where a source's own clock is
        kTime = 7,      ///< a time that is waited for: `left` of it
        kTally = 8,     ///< what the policy counts over all subjects
        kKept = 9,      ///< what the engine keeps: a request, an operator's word, a setting
    };
    enum class Read : std::uint8_t {
        kText = 1,
        kNull = 2,
        kNotThere = 3,  ///< the object has no such field
        kNotSent = 4,   ///< not known: the source did not send it
    };
    enum class Answer : std::uint8_t { kNo = 1, kUnknown = 2, kYes = 3 };

    Kind kind = Kind::kField;
    Answer answer = Answer::kYes;  ///< is it as the stage wants it?
    Reason why = Reason::kNone;    ///< of kUnknown
    std::string role;
    std::string source;
    std::string object;
    std::string name;  ///< of the field, the tally, the time, what is kept
    Read read = Read::kText;
    std::string value;
    std::string asked;           ///< in the words of the policy: `[running, starting]`
    Offset offset = kNoOffset;   ///< of the journal: the object's last change
    BrokerTime at{};             ///< of that change; of a source: since when, or up to when
    BrokerTime past{};           ///< of a source, of a clock: what it must have passed
    std::optional<Millis> left;  ///< until it changes by itself
    bool operator==(const DecidingFact&) const = default;
};
std::string_view name_of(DecidingFact::Kind kind);
std::string_view name_of(DecidingFact::Read read);

/// What came of one stage.
struct StageAnswer {
    Stage stage = Stage::kAsked;
    std::size_t of_case = 0;  ///< of a rule that has several: which one, from 1; 0: of them all
    std::string asked;        ///< in the words of the policy, where one stage asks several things
    bool stopped = false;     ///< the rule, or this case of it, ended here
    std::vector<DecidingFact> facts;
    bool operator==(const StageAnswer&) const = default;
};

/// One rule and one subject.
struct RuleTrace {
    std::string rule;
    std::string finds;
    Mode mode = Mode::kUnspecified;
    /// What the rule says of it, before anything of the fold's holds it.
    Verdict::Kind kind = Verdict::Kind::kHealthy;
    Reason reason = Reason::kNone;  ///< why it stopped where it did
    std::string count_reason;       ///< as in FindingEdge
    std::string object_id;          ///< that the disagreement is about; empty: none
    std::optional<FindingId> finding;
    std::optional<Millis> again;  ///< when it is judged again by itself, as far as time alone says
    std::string until;            ///< the source, or the tally, that it waits for; empty: none
    Boxed<CommandDraft> draft;    ///< what it would order, or has ordered
    std::vector<StageAnswer> stages;
    bool operator==(const RuleTrace&) const = default;

    /// Where it stopped: of several cases the last one, or of those that are healthy the first that
    /// waits for its deadline; nullptr: nowhere.
    const StageAnswer* stop() const;
    std::string_view verdict() const;  ///< `healthy`, `abstains`, `waits`, `acts`
    std::string_view reason_name() const {
        return count_reason.empty() ? name_of(reason) : std::string_view(count_reason);
    }
};

}  // namespace trueup
