// What a command writes to: one pod or object of a cluster, or one row of a database.
//
// `Execution` says when something is done to the target, a `WriteTarget` says how. Its calls come
// in this order, each with the answer to the call that the one before it started:
//
//   read  check  write  judge_write             the usual way
//   ..  judge_write  read  judge_read_back      the result of the write is unknown
//   ..  read  check  write  ..                  the round is repeated, from any of the judgements
//
//   T1  `read` asks the source itself and no cache, for everything that `check` needs.
//   T2  `check` keeps what makes the target this very one: `write` sends it along as a
//       precondition, which the source tests in the same step as it writes.
//   T3  `judge_write` says that something was done, or was not, only by the source's own word.
//       Everything else is read back.
//
// Belongs to one execution. Not thread-safe.
#pragma once

#include "engine/base/check.h"
#include "engine/model/command.h"
#include "executors/async_calls.h"
#include "executors/read_set.h"
#include "executors/sources.h"

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

namespace trueup::executors {

/// How a step of carrying out a command went.
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

class WriteTarget {
  public:
    virtual ~WriteTarget() = default;
    /// Starts a live read of the target.
    virtual StepResult read(SteadyTime now) = 0;
    /// Is the target, as it was just read, what the command is for? kNext: write to it.
    virtual StepResult check(Answer answer) = 0;
    /// Starts the write, which must be on its way within `send_within`.
    virtual StepResult write(Millis send_within, SteadyTime now) = 0;
    /// What became of the write, by its answer: never kNext.
    virtual StepResult judge_write(Answer answer) = 0;
    /// What became of a write whose result is unknown for the reason `because`, by the target as it
    /// was read afterwards: never kNext.
    virtual StepResult judge_read_back(Answer answer, const std::string& because) = 0;
};

/// What a target is reached with. All of it outlives the target.
struct TargetAccess {
    Owner owner;  ///< of the calls
    const Command& command;
    const Sources& sources;
    const ReadSet& read_set;  ///< the command's
    AsyncCalls& calls;
};

/// By the kind of the command's action, which `sources` must be able to carry out.
std::unique_ptr<WriteTarget> make_write_target(const TargetAccess& access);

}  // namespace trueup::executors
