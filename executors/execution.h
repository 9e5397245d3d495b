// One command being carried out: an asynchronous machine. Answers and time come in, calls go out
// through `Calls`; it reads no clock and does no I/O itself.
//
// The order is always the same (design §4.12): every other side of the read set is read live, then
// the target itself, then the write goes out with the target's own atomic precondition.
//
//   X1  No write without a round of reads that began at most `kMaxCheckAge` before it is sent.
//   X2  No write without the permit, asked right before it, nor against an operator's objection.
//   X3  A write whose result is unknown is read back; it is never assumed.
//   X4  A stale precondition repeats the whole round, `kMaxRepeats` times at most.
//
// Not thread-safe.
#pragma once

#include "engine/model/command.h"
#include "executors/calls.h"
#include "executors/read_set.h"
#include "executors/sources.h"

#include <functional>
#include <memory>
#include <optional>
#include <string>

namespace trueup::executors {

/// May this write go out now? kEnded: another executor has ended the command.
enum class Permit : std::uint8_t { kGo, kHold, kExpired, kEnded };

/// What an execution needs of its surroundings. Outlives the executions.
struct Surroundings {
    Sources sources;
    Calls* calls = nullptr;
    std::function<Permit(const Command&, SteadyTime)> permit;
    /// Why an operator does not want this done; nullopt: nobody objects.
    std::function<std::optional<std::string>(const Command&)> objection;
    std::string executor;  ///< the name that outcomes carry
};

class Execution {
  public:
    static constexpr Millis kMaxCheckAge{2'000};
    static constexpr int kMaxRepeats = 5;
    static constexpr int kMaxReadBacks = 3;

    Execution(Owner owner, Command command, const Surroundings& surroundings);
    virtual ~Execution();
    Execution(const Execution&) = delete;
    Execution& operator=(const Execution&) = delete;

    void begin(SteadyTime now);
    void answered(Answer answer, SteadyTime now);
    /// Asks for the permit again while the write is held; else does nothing.
    void tick(SteadyTime now);

    const Command& command() const { return command_; }
    /// Everything was checked, the write waits for its permit.
    bool held() const { return stage_ == Stage::kHeld; }
    /// A write went out, and what came of it is not known yet.
    bool writing() const { return stage_ == Stage::kWriting || stage_ == Stage::kReadingBack; }
    /// Set once, at the end.
    const std::optional<Outcome>& outcome() const { return outcome_; }

  protected:
    /// Starts the read of the target: through `expect(call)`.
    virtual void read_target(SteadyTime now) = 0;
    /// Judges the target just read: `ready`, `finish` or `stop`.
    virtual void judge_target(Answer answer, SteadyTime now) = 0;
    /// Sends the write: through `expect(call)`.
    virtual void write(SteadyTime now) = 0;
    /// Reads the answer to the write: `finish`, `stop`, `again` or `read_back`.
    virtual void judge_write(Answer answer, SteadyTime now) = 0;
    /// Judges the target read after a write whose result is unknown: `finish` when the write, or
    /// what it was for, is there; else `again` or `stop`.
    virtual void judge_read_back(Answer answer, SteadyTime now) = 0;

    void expect(ports::CallId call) { expected_ = call; }
    /// The target is as the command needs it: write as soon as it is permitted.
    void ready(SteadyTime now);
    /// The precondition was stale or the result is open: the whole round once more.
    void again(SteadyTime now, const std::string& why);
    /// The result of the write is unknown for this reason.
    void read_back(SteadyTime now, std::string why);
    void finish(OutcomeKind kind, std::string reason, bool retryable = false);
    /// Ends with what a predicate or a failed call said.
    void stop(Standing standing);

    Calls& calls() { return *surroundings_.calls; }
    const Sources& sources() const { return surroundings_.sources; }
    const ReadSet& read_set() const { return read_set_; }
    Owner owner() const { return owner_; }
    /// In which a write must be on its way, for what it was decided on not to be too old.
    Millis send_within() const;
    /// Why a write had to be read back; empty: none.
    const std::string& unknown_because() const { return unknown_because_; }

  private:
    enum class Stage : std::uint8_t { kChecking, kReading, kHeld, kWriting, kReadingBack, kEnded };
    void check(SteadyTime now);
    void checked(SteadyTime now);

    Owner owner_;
    Command command_;
    const Surroundings& surroundings_;
    ReadSet read_set_;
    Stage stage_ = Stage::kChecking;
    ports::CallId expected_ = 0;
    SteadyTime checked_at_{};  ///< when the reads of this round began: no value is older
    Millis check_to_write_{0};
    int repeats_ = 0;
    int read_backs_ = 0;
    std::string unknown_because_;
    std::optional<Outcome> outcome_;
};

}  // namespace trueup::executors
