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

#include "engine/model/command.h"
#include "executors/async_calls.h"
#include "executors/read_set.h"
#include "executors/sources.h"
#include "executors/step_result.h"

#include <memory>
#include <string>

namespace trueup::executors {

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

/// Does this executor know the action?
bool carried_out(Action::Kind kind);
/// And has it the source of the command's target, for such an action?
bool has_target(const Sources& sources, const Command& command);

/// By the kind of the command's action; its `has_target`.
std::unique_ptr<WriteTarget> make_write_target(const TargetAccess& access);

}  // namespace trueup::executors
