#include "executors/execution.h"

#include "engine/base/check.h"
#include "engine/base/guard.h"

#include <algorithm>
#include <chrono>
#include <utility>

namespace trueup::executors {

Execution::Execution(Owner owner, Command command, const Surroundings& surroundings)
    : owner_(owner),
      command_(std::move(command)),
      surroundings_(surroundings),
      read_set_(command_, surroundings.sources, *surroundings.calls, owner) {}

Execution::~Execution() { surroundings_.calls->cancel_all(owner_); }

void Execution::begin(SteadyTime now) { check(now); }

void Execution::check(SteadyTime now) {
    stage_ = Stage::kChecking;
    checked_at_ = now;
    if (TRUEUP_GUARD("live_check")) {
        read_set_.start(now);
        if (!read_set_.complete()) return;
    }
    checked(now);
}

void Execution::checked(SteadyTime now) {
    if (TRUEUP_GUARD("live_check")) {
        Standing standing = read_set_.others();
        if (!standing.ok()) {
            stop(std::move(standing));
            return;
        }
    }
    stage_ = Stage::kReading;
    read_target(now);
}

void Execution::answered(Answer answer, SteadyTime now) {
    if (stage_ == Stage::kChecking) {
        if (read_set_.answered(answer) && read_set_.complete()) checked(now);
        return;
    }
    if (answer.call != expected_) return;
    expected_ = 0;
    switch (stage_) {
        case Stage::kReading:
            judge_target(std::move(answer), now);
            return;
        case Stage::kWriting:
            judge_write(std::move(answer), now);
            return;
        case Stage::kReadingBack:
            judge_read_back(std::move(answer), now);
            return;
        case Stage::kChecking:
        case Stage::kHeld:
        case Stage::kEnded:
            return;
    }
}

void Execution::ready(SteadyTime now) {
    stage_ = Stage::kHeld;
    tick(now);
}

void Execution::tick(SteadyTime now) {
    if (stage_ != Stage::kHeld) return;
    switch (surroundings_.permit(command_, now)) {
        case Permit::kHold:
            return;
        case Permit::kExpired:
            finish(OutcomeKind::kExpired, "expired before the write; nothing was written");
            return;
        case Permit::kEnded:
            finish(OutcomeKind::kAlreadyDone, "another executor has ended it; nothing was written");
            return;
        case Permit::kGo:
            break;
    }
    if (std::optional<std::string> why = surroundings_.objection(command_)) {
        finish(OutcomeKind::kRefused, std::move(*why), true);
        return;
    }
    if (now - checked_at_ > kMaxCheckAge && TRUEUP_GUARD("check_age")) {
        again(now, "the checks took too long");
        return;
    }
    check_to_write_ = now - checked_at_;
    stage_ = Stage::kWriting;
    write(now);
}

Millis Execution::send_within() const {
    if (!TRUEUP_GUARD("sent_in_time")) return Millis(24 * 3'600'000);
    return std::max(Millis(0), kMaxCheckAge - check_to_write_);
}

void Execution::again(SteadyTime now, const std::string& why) {
    if (++repeats_ > kMaxRepeats) {
        finish(OutcomeKind::kFailed,
               why + "; given up after " + std::to_string(kMaxRepeats) + " repeats", true);
        return;
    }
    check(now);
}

void Execution::read_back(SteadyTime now, std::string why) {
    unknown_because_ = std::move(why);
    if (++read_backs_ > kMaxReadBacks) {
        finish(OutcomeKind::kFailed,
               "the result of the write is unknown and could not be read back: " + unknown_because_,
               true);
        return;
    }
    stage_ = Stage::kReadingBack;
    read_target(now);
}

void Execution::finish(OutcomeKind kind, std::string reason, bool retryable) {
    TRUEUP_CHECK(!outcome_.has_value());
    stage_ = Stage::kEnded;
    Outcome outcome;
    outcome.command_id = command_.id;
    outcome.subject = command_.subject;
    outcome.kind = kind;
    outcome.retryable = retryable;
    outcome.reason = std::move(reason);
    outcome.executor = surroundings_.executor;
    outcome.check_to_write_micros = std::chrono::microseconds(check_to_write_).count();
    outcome_ = std::move(outcome);
}

void Execution::stop(Standing standing) {
    TRUEUP_CHECK(!standing.ok());
    const bool refused = standing.kind == Standing::Kind::kRefused;
    finish(refused ? OutcomeKind::kRefused : OutcomeKind::kFailed, std::move(standing.reason),
           standing.retryable);
}

}  // namespace trueup::executors
