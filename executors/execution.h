// One command being carried out: an asynchronous machine. Answers and time come in, calls go out
// through `AsyncCalls`; it reads no clock and does no I/O itself.
//
// The order is always the same, and `advance` is where it stands (design §4.12): every other side
// of the read set is read live, then the target itself, then the write goes out with the target's
// own atomic precondition.
//
//   X1  No write without a round of reads that began at most `kMaxCheckAge` before it is sent.
//   X2  No write without the permit, asked right before it, nor against an operator's objection.
//   X3  A write whose result is unknown is read back; it is never assumed.
//   X4  A stale precondition repeats the whole round, `kMaxRepeats` times at most.
//
// Not thread-safe.
#pragma once

#include "engine/model/command.h"
#include "executors/async_calls.h"
#include "executors/read_set.h"
#include "executors/sources.h"
#include "executors/write_gate.h"
#include "executors/write_target.h"

#include <memory>
#include <optional>
#include <string>

namespace trueup::executors {

/// What the executions of one dispatcher have in common. Outlives them.
struct ExecutionContext {
    Sources sources;
    AsyncCalls* calls = nullptr;
    WriteGate* gate = nullptr;
    std::string executor;  ///< the name that outcomes carry
};

class Execution {
  public:
    static constexpr Millis kMaxCheckAge{2'000};
    static constexpr int kMaxRepeats = 5;
    static constexpr int kMaxReadBacks = 3;

    /// `owner`: of its calls, no other execution's. `partition`: where the command came from.
    Execution(Owner owner, Command command, PartitionNumber partition,
              const ExecutionContext& context);
    ~Execution();  ///< cancels its calls
    Execution(const Execution&) = delete;
    Execution& operator=(const Execution&) = delete;

    /// Goes on as far as it can without an answer; also begins it, and asks for the permit again.
    /// `now` is never older than before.
    void advance(SteadyTime now);
    /// One of its calls was answered: goes on with that.
    void answered(Answer answer, SteadyTime now);

    /// Everything was checked, the write waits for its permit.
    bool blocked() const { return step_ == Step::kWrite; }
    /// A write went out, and what came of it is not known yet.
    bool writing() const { return step_ == Step::kJudgeWrite || step_ == Step::kJudgeReadBack; }
    /// Set once, at the end.
    const std::optional<Outcome>& outcome() const { return outcome_; }

  private:
    /// The next thing to do. Those that judge wait for the answer to what was asked before them.
    enum class Step : std::uint8_t {
        kReadOthers,
        kJudgeOthers,
        kReadTarget,
        kJudgeTarget,
        kWrite,
        kJudgeWrite,
        kReadBack,
        kJudgeReadBack,
        kEnded,
    };
    /// Does it wait for an answer to what was asked before?
    bool waits() const;
    void read_others(SteadyTime now);
    /// Permit, brakes, age, and the write; false: there is no permit yet.
    bool write(SteadyTime now);
    /// Do the other sides, as they were just read, bear the command out?
    StepResult others() const;
    /// Goes where the result of a step leads: to `next` if it went well.
    void follow(StepResult result, Step next);
    void repeat(const std::string& why);
    void finish(OutcomeKind kind, std::string reason, bool retryable = false);
    void finish_unwritten(Permit permit);
    Answer take_answer();
    /// In which a write must be on its way, for what it was decided on not to be too old.
    Millis send_within() const;

    Command command_;
    const PartitionNumber partition_;
    const ExecutionContext& context_;
    const Owner owner_;
    ReadSet read_set_;
    std::unique_ptr<WriteTarget> target_;
    Step step_ = Step::kReadOthers;
    ports::CallId expected_ = 0;    ///< the call on the target that is under way; 0: none
    std::optional<Answer> answer_;  ///< to that call, until the next step takes it
    SteadyTime checked_at_{};       ///< when the reads of this round began: no value is older
    Millis check_to_write_{0};
    int repeats_ = 0;
    int read_backs_ = 0;
    std::string unknown_because_;  ///< why the write had to be read back; empty: it had not
    std::optional<Outcome> outcome_;
};

}  // namespace trueup::executors
