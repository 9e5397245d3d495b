// A finding: the disagreement that a rule's verdicts on a subject live in.
#pragma once

#include "engine/base/boxed.h"
#include "engine/base/id.h"
#include "engine/base/time.h"
#include "engine/model/command.h"
#include "engine/model/ids.h"
#include "engine/model/reason.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace trueup {

enum class FindingState : std::uint8_t {
    kUnspecified = 0,
    kSuspected = 1,  ///< the evidence is not complete: the reason says what it lacks
    kConfirmed = 2,  ///< it is; the reason says what else holds the command back
    kCommanded = 3,
    kResolved = 4,
};
std::string_view name_of(FindingState state);
/// The state of an open finding without a command under way.
FindingState state_of(Reason reason);

/// A disagreement with a life. Lives in its subject's row.
struct Finding {  // NOLINT(clang-analyzer-optin.performance.Padding): in the order of its life
    FindingId id;
    RuleNumber rule;
    std::string object_id;
    FindingState state = FindingState::kUnspecified;
    Reason reason = Reason::kNone;
    std::string count;    ///< of kUncorrelatedRows: which of the policy's it waits for
    JournalTime since{};  ///< first detection; graces count from here
    /// Its rule found nothing, or another object, while a command of it was under way: graces begin
    /// when it is found again.
    bool lapsed = false;
    Offset last_change = kNoOffset;  ///< journal offset of its last edge
    Boxed<Command> command;          ///< the one under way; its outcome is outstanding
    JournalTime emit_again{};        ///< when to emit the command once more
    std::uint32_t failures = 0;      ///< retryable failures in a row
    std::uint32_t steps = 0;         ///< commands of it that were done, with more to follow
    bool more = false;               ///< the command under way is not the last one
    /// What it would do: the hash of the command's draft that waits for an approval. The approval
    /// holds for exactly this; none: it does not wait for one.
    Hash128 proposal;
    bool approved = false;
    bool dismissed = false;  ///< ended by an operator; kept until the disagreement is gone ...
    /// ... or another object comes into it: the ids of all that were there.
    std::vector<std::string> dismissed_of;
    bool operator==(const Finding&) const = default;
};

}  // namespace trueup
