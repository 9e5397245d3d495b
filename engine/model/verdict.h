// What a rule says of a subject, why, and what it waits for.
#pragma once

#include "engine/base/boxed.h"
#include "engine/model/command.h"
#include "engine/model/reason.h"
#include "engine/model/wait.h"

#include <cstdint>
#include <string_view>

namespace trueup {

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
