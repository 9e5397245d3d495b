// How a step of carrying out a command (execution.h) went, and what follows from it. A plain value.
#pragma once

#include "engine/base/check.h"
#include "engine/model/command.h"
#include "engine/ports/call_ids.h"
#include "executors/standing.h"

#include <cstdint>
#include <string>
#include <utility>

namespace trueup::executors {

struct StepResult {
    enum class Kind : std::uint8_t {
        kNext,      ///< well: the next step may be taken
        kEnded,     ///< the command ends like this
        kRepeat,    ///< what was checked is not so any more: the whole round once more
        kReadBack,  ///< nobody knows what became of the write: look at the target
    };
    Kind kind = Kind::kNext;
    ports::CallId call = 0;  ///< of kNext: whose answer the next step waits for; 0: none
    OutcomeKind outcome = OutcomeKind::kUnspecified;  ///< of kEnded
    bool retryable = false;                           ///< of kEnded
    std::string reason;                               ///< of all but kNext

    static StepResult next() { return {}; }
    static StepResult asked(ports::CallId call) { return {Kind::kNext, call, {}, {}, {}}; }
    static StepResult ended(OutcomeKind outcome, std::string reason, bool retryable = false) {
        return {Kind::kEnded, 0, outcome, retryable, std::move(reason)};
    }
    static StepResult repeat(std::string why) { return {Kind::kRepeat, 0, {}, {}, std::move(why)}; }
    static StepResult read_back(std::string why) {
        return {Kind::kReadBack, 0, {}, {}, std::move(why)};
    }
    /// The end by a predicate that does not hold, or a call that failed.
    static StepResult stopped(Standing standing) {
        TRUEUP_CHECK(!standing.ok());
        const bool refused = standing.kind == Standing::Kind::kRefused;
        return ended(refused ? OutcomeKind::kRefused : OutcomeKind::kFailed,
                     std::move(standing.reason), standing.retryable);
    }
};

}  // namespace trueup::executors
