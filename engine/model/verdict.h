// What a rule says of a subject, why, and what it waits for.
#pragma once

#include "engine/base/boxed.h"
#include "engine/base/time.h"
#include "engine/model/command.h"
#include "engine/model/ids.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace trueup {

/// Index of a source in the policy's settings. kNoSource where none is meant.
using SourceId = std::uint16_t;
inline constexpr SourceId kNoSource = 0xffff;

/// Index of something that a policy counts over all its subjects. kNoTally where none is meant.
using TallyId = std::uint8_t;
inline constexpr TallyId kNoTally = 0xff;

/// Why a finding is where it is. Data, never a new state.
enum class Reason : std::uint8_t {
    kNone = 0,
    // A rule abstains or waits.
    kNotSynced = 1,         ///< a side is unknown: no complete snapshot, or a hole
    kGrace = 2,             ///< first detection is too young
    kAwaitingProgress = 3,  ///< the other side's progress has not passed the evidence
    kStale = 4,             ///< a source was silent for too long
    kOwnWrite = 5,          ///< our own last outcome is not in view yet
    kUncorrelatedRows = 6,  ///< a live row may own any pod without a row
    kDuplicateClaim = 7,    ///< two live objects claim the subject
    kVeto = 8,              ///< a hold on the object itself
    kObserved = 9,          ///< the rule's mode is observe: it would act
    kOutboxFull = 10,       ///< too many commands are under way
    kRetry = 11,            ///< the last try failed and will be repeated
    kIncomplete = 12,       ///< a field that the rule needs was not sent
    kQuarantine = 13,       ///< a source's last epoch dropped suspiciously much
    kBudget = 14,           ///< the rule has issued enough for now; it waits its turn
    kUnreadable = 15,       ///< a field holds what the rule cannot read
    kClockSkew = 16,        ///< the source's clock is too far from the broker's
    kApproval = 17,         ///< the rule's mode is approve: an operator must say so
    kPaused = 18,           ///< an operator paused the rule
    kWindow = 19,           ///< outside the windows in which commands are issued
    // How a finding ended.
    kDone = 20,
    kAlreadyDone = 21,
    kRetracted = 22,  ///< the disagreement went away by itself
    kRefused = 23,
    kFailed = 24,
    kExpired = 25,
    kDismissed = 26,  ///< an operator ended it without a command
    // A rule abstains or waits, once more.
    kHold = 27,         ///< an operator's hold on the subject
    kNextStep = 28,     ///< one part is done, the next one follows
    kReportOnly = 29,   ///< reported only; what to do is left to the owner
    kBackoff = 30,      ///< what was made anew failed before; the next try comes later
    kTransition = 31,   ///< it is on its way from one state to another
    kEnding = 32,       ///< another rule is ending the subject
    kEndingStuck = 33,  ///< the ending has not gone on for 15 minutes
    kBusy = 34,         ///< another command on the same object is under way
    kNoObject = 35,     ///< what is to be ended is not there yet
    // How a finding ended, once more.
    kSuperseded = 36,  ///< another object came under the name of the one that was taken
    // A rule waits, once more.
    kNotEnabled = 37,   ///< nobody has enabled the rule as it is: an operator must say so
    kUnknownWord = 38,  ///< a field that the rule needs says a word that the policy does not list
};
std::string_view name_of(Reason reason);
/// Of all reasons but kNone, by number.
std::vector<std::string> reason_names();

/// A place in the queue of findings that wait for a rule's budget: the oldest finding is next.
struct Turn {
    RuleNumber rule;
    JournalTime since{};  ///< of the finding
    auto operator<=>(const Turn&) const = default;
};

/// Something that must happen before a verdict can change without a new fact.
struct Wait {
    /// Judge again when journal time reaches this.
    std::optional<JournalTime> due;
    /// Judge again when `source` has proven itself past `beyond`.
    SourceId source = kNoSource;
    BrokerTime beyond{};
    /// Judge again when nothing counts to this tally of the policy any more.
    TallyId none_of = kNoTally;
    /// Judge again when the rule's budget has room for this one.
    std::optional<Turn> turn = std::nullopt;
    bool operator==(const Wait&) const = default;
    /// It waits for nothing.
    bool empty() const { return !due && source == kNoSource && none_of == kNoTally && !turn; }
};

/// healthy · abstain(why) · waiting(why, until) · act(command).
///
/// `object_id` is the object that the disagreement is about: a finding's identity is
/// (subject, rule, object_id), so another object under the same name is another finding.
struct Verdict {
    enum class Kind : std::uint8_t { kHealthy, kAbstain, kWaiting, kAct };
    Kind kind = Kind::kHealthy;
    Reason reason = Reason::kNone;
    Wait wait;
    std::string_view object_id;   ///< of a facet of the subject that is judged
    Boxed<CommandDraft> command;  ///< only of kAct
    bool more = false;            ///< of kAct: the finding goes on once the command is done
    bool harmless = false;        ///< of kAct: takes nothing away, so that no budget counts it

    static Verdict healthy() { return {}; }
    /// Healthy so far; to be looked at again.
    static Verdict healthy_until(Wait until) {
        Verdict verdict;
        verdict.wait = until;
        return verdict;
    }
    static Verdict abstain(Reason why, Wait until = {}) {
        Verdict verdict = healthy_until(until);
        verdict.kind = Kind::kAbstain;
        verdict.reason = why;
        return verdict;
    }
    static Verdict waiting(Reason why, Wait until, std::string_view object) {
        Verdict verdict = abstain(why, until);
        verdict.kind = Kind::kWaiting;
        verdict.object_id = object;
        return verdict;
    }
    static Verdict act(std::string_view object, CommandDraft draft) {
        Verdict verdict;
        verdict.kind = Kind::kAct;
        verdict.object_id = object;
        verdict.command = std::move(draft);
        return verdict;
    }
    /// Acts once an operator has approved, whatever the rule's mode; `why` says what for.
    static Verdict ask(Reason why, Wait until, std::string_view object, CommandDraft draft) {
        Verdict verdict = act(object, std::move(draft));
        verdict.reason = why;
        verdict.wait = until;
        return verdict;
    }
    bool operator==(const Verdict&) const = default;
};
}  // namespace trueup
