// What a rule says of a subject, and the finding that its verdicts live in.
#pragma once

#include "engine/base/boxed.h"
#include "engine/base/time.h"
#include "engine/model/command.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace trueup {

/// Index of a source in the policy's settings. kNoSource where none is meant.
using SourceId = std::uint16_t;
inline constexpr SourceId kNoSource = 0xffff;

/// Why a finding is where it is. Data, never a new state.
enum class Reason : std::uint8_t {
    kNone = 0,
    // A rule abstains or waits.
    kUnproven = 1,          ///< a side is unknown: no complete epoch, or a hole
    kGrace = 2,             ///< first detection is too young
    kUnseen = 3,            ///< the other side's progress has not passed the evidence
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
    // How a finding ended.
    kDone = 20,
    kAlreadyDone = 21,
    kRetracted = 22,  ///< the disagreement went away by itself
    kRefused = 23,
    kFailed = 24,
    kExpired = 25,
};
std::string_view name_of(Reason reason);

enum class FindingState : std::uint8_t {
    kUnspecified = 0,
    kSuspected = 1,
    kWaiting = 2,
    kCommanded = 3,
    kResolved = 4,
};
std::string_view name_of(FindingState state);

/// A place in the queue of findings that wait for a rule's budget: the oldest finding is next.
struct Turn {
    std::uint8_t rule = 0;
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
    /// Judge again when the policy has no uncorrelated live row any more.
    bool uncorrelated = false;
    /// Judge again when the rule's budget has room for this one.
    std::optional<Turn> turn = std::nullopt;
    bool operator==(const Wait&) const = default;
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

    static Verdict healthy() { return {}; }
    static Verdict abstain(Reason why, Wait until = {}) {
        return {Kind::kAbstain, why, until, {}, {}};
    }
    static Verdict waiting(Reason why, Wait until, std::string_view object) {
        return {Kind::kWaiting, why, until, object, {}};
    }
    static Verdict act(std::string_view object, CommandDraft draft) {
        return {Kind::kAct, Reason::kNone, {}, object, std::move(draft)};
    }
    bool operator==(const Verdict&) const = default;
};

/// A disagreement with a life. Lives in its subject's row.
struct Finding {
    Hash128 id;
    std::uint8_t rule = 0;  ///< index in the policy's list of rules
    std::string object_id;
    FindingState state = FindingState::kUnspecified;
    Reason reason = Reason::kNone;
    JournalTime since{};            ///< first detection; graces count from here
    std::int64_t last_change = -1;  ///< journal offset of its last edge
    Boxed<Command> command;         ///< the one under way; its outcome is outstanding
    JournalTime emit_again{};       ///< when to emit the command once more
    std::uint32_t failures = 0;     ///< retryable failures in a row
    bool operator==(const Finding&) const = default;
};

}  // namespace trueup
