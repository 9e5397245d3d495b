#include "executors/execution.h"

#include "engine/base/check.h"
#include "engine/base/guard.h"

#include <algorithm>
#include <chrono>
#include <utility>

namespace trueup::executors {

Execution::Execution(Owner owner, Command command, PartitionNumber partition,
                     const ExecutionContext& context)
    : command_(std::move(command)),
      partition_(partition),
      context_(context),
      owner_(owner),
      read_set_(command_, context.sources, *context.calls, owner),
      target_(make_write_target({owner, command_, context.sources, read_set_, *context.calls})) {}

Execution::~Execution() { context_.calls->cancel_all(owner_); }

void Execution::advance(SteadyTime now) {
    while (!outcome_ && !waits()) {
        switch (step_) {
            // The other sides come first: the target's own precondition holds to the very write,
            // and what it cannot cover is as young as it can be.
            case Step::kReadOthers:
                read_others(now);
                break;
            case Step::kJudgeOthers:
                follow(others(), Step::kReadTarget);
                break;

            case Step::kReadTarget:
                follow(target_->read(now), Step::kJudgeTarget);
                break;
            case Step::kJudgeTarget:
                follow(target_->check(take_answer()), Step::kWrite);
                break;

            case Step::kWrite:
                if (!write(now)) return;
                break;
            case Step::kJudgeWrite:
                follow(target_->judge_write(take_answer()), Step::kEnded);
                break;

            // Only where the answer did not tell: what the target looks like now has the word.
            case Step::kReadBack:
                follow(target_->read(now), Step::kJudgeReadBack);
                break;
            case Step::kJudgeReadBack:
                follow(target_->judge_read_back(take_answer(), unknown_because_), Step::kEnded);
                break;
            case Step::kEnded:
                return;
        }
    }
}

bool Execution::waits() const {
    if (step_ == Step::kJudgeOthers) return !read_set_.complete();
    const bool judges =
        step_ == Step::kJudgeTarget || step_ == Step::kJudgeWrite || step_ == Step::kJudgeReadBack;
    return judges && !answer_;
}

void Execution::read_others(SteadyTime now) {
    checked_at_ = now;
    if (TRUEUP_GUARD("live_check")) read_set_.start(now);
    step_ = Step::kJudgeOthers;
}

// Permit, brakes and age are asked with nothing between them and the write. The age comes last, by
// the time after the permit: the write may have been blocked for long, and the permit itself waits
// for the log.
bool Execution::write(SteadyTime now) {
    const Permit permit = context_.gate->permit(command_, partition_, now);
    if (permit != Permit::kGo && TRUEUP_GUARD("permit_check")) {
        if (permit == Permit::kWait) return false;
        finish_unwritten(permit);
    } else if (auto why = context_.gate->objection(command_, partition_)) {
        finish(OutcomeKind::kRefused, std::move(*why), true);
    } else if (now - checked_at_ > kMaxCheckAge && TRUEUP_GUARD("check_age")) {
        repeat("the checks took too long");
    } else {
        check_to_write_ = now - checked_at_;
        follow(target_->write(send_within(), now), Step::kJudgeWrite);
    }
    return true;
}

void Execution::answered(Answer answer, SteadyTime now) {
    if (step_ == Step::kJudgeOthers) {
        if (!read_set_.answered(answer)) return;
    } else {
        // An answer to a call of an earlier round says nothing of this one.
        if (answer.call != expected_) return;
        expected_ = 0;
        answer_ = std::move(answer);
    }
    advance(now);
}

StepResult Execution::others() const {
    Standing standing = read_set_.others();
    return standing.ok() ? StepResult::next() : StepResult::stopped(std::move(standing));
}

void Execution::follow(StepResult result, Step next) {
    switch (result.kind) {
        case StepResult::Kind::kNext:
            TRUEUP_CHECK(next != Step::kEnded);  // a write ends in an outcome, or goes on somehow
            expected_ = result.call;
            step_ = next;
            return;
        case StepResult::Kind::kEnded:
            finish(result.outcome, std::move(result.reason), result.retryable);
            return;
        case StepResult::Kind::kRepeat:
            repeat(result.reason);
            return;
        case StepResult::Kind::kReadBack:
            unknown_because_ = std::move(result.reason);
            step_ = Step::kReadBack;
            // Once more would tell as little, and somebody waits for the subject's next command.
            if (++read_backs_ > kMaxReadBacks) {
                finish(OutcomeKind::kFailed,
                       "the result of the write is unknown and could not be read back: " +
                           unknown_because_,
                       true);
            }
            return;
    }
}

/// From the other sides on: while the target was read, they may have changed as well.
void Execution::repeat(const std::string& why) {
    step_ = Step::kReadOthers;
    if (++repeats_ > kMaxRepeats) {
        finish(OutcomeKind::kFailed,
               why + "; given up after " + std::to_string(kMaxRepeats) + " repeats", true);
    }
}

void Execution::finish_unwritten(Permit permit) {
    if (permit == Permit::kExpired) {
        finish(OutcomeKind::kExpired, "expired before the write; nothing was written");
    } else {
        finish(OutcomeKind::kAlreadyDone, "another executor has ended it; nothing was written");
    }
}

Answer Execution::take_answer() {
    Answer answer = std::move(*answer_);
    answer_.reset();
    return answer;
}

/// A port may keep the write back for a while, behind a login or another call.
Millis Execution::send_within() const {
    return std::max(Millis(0), kMaxCheckAge - check_to_write_);
}

void Execution::finish(OutcomeKind kind, std::string reason, bool retryable) {
    TRUEUP_CHECK(!outcome_.has_value());  // one command, one outcome
    step_ = Step::kEnded;
    Outcome outcome;
    outcome.command_id = command_.id;
    outcome.subject = command_.subject;
    outcome.kind = kind;
    outcome.retryable = retryable;
    outcome.detail = std::move(reason);
    outcome.executor = context_.executor;
    outcome.check_to_write_micros = std::chrono::microseconds(check_to_write_).count();
    outcome_ = std::move(outcome);
}

}  // namespace trueup::executors
