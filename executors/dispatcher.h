// Carries out what the `commands` topic says: in parallel over subjects, one at a time per subject,
// never waiting inside a slot, and each command ends in an outcome on the `outcomes` topic.
//
//   D1  Nothing is acted on before everything that ended is known, nor without a heartbeat
//       younger than `heartbeat_fresh` (details 9).
//   D2  An id that ended is never acted on again, and nothing is written for it (S38).
//   D3  A subject's next command starts when the outcome of the one before is in the log.
//   D4  Nothing is written against a pause or a hold of an operator, nor what was ordered before
//       one (executors/brakes.h).
//   D5  After `close` nothing is started and no write goes out; those that went out end in their
//       outcome as ever.
//   D6  Of several executors that share the work each starts the commands of its own partitions.
//       What was begun goes on when the assignment changes.
//   D7  What cannot be understood, or is not signed, is parked: counted and reported, never a
//       crash, never an act.
//
// One thread calls `step` and owns the ports of the sources; `stats` is for any thread.
#pragma once

#include "engine/codec/signature.h"
#include "engine/model/command.h"
#include "engine/ports/log.h"
#include "executors/command_reader.h"
#include "executors/partition_assignment.h"
#include "executors/sources.h"

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace trueup::executors {

/// trueup_check_to_write_seconds: how long before a write that took effect its checks began. Counts
/// per bucket, not cumulated; the last one is everything above.
struct CheckToWrite {
    static constexpr std::array<std::int64_t, 11> kBoundsMillis{1,   2,   5,   10,   20,  50,
                                                                100, 200, 500, 1000, 2000};
    std::array<std::uint64_t, kBoundsMillis.size() + 1> counts{};
    std::uint64_t count = 0;
    std::int64_t sum_micros = 0;
};

struct DispatcherStats {
    std::array<std::uint64_t, 6> outcomes{};  ///< written, by OutcomeKind
    std::uint64_t failed_retryable = 0;       ///< the retryable ones among kFailed
    std::uint64_t known = 0;                  ///< commands whose id had ended already
    std::uint64_t duplicates = 0;             ///< emitted again while under way
    std::uint64_t parked = 0;
    std::uint64_t unauthenticated = 0;  ///< the parked ones among them that nobody signed
    std::uint64_t skipped = 0;          ///< older than any command lives
    std::uint64_t append_failures = 0;
    std::uint64_t pending = 0;
    std::uint64_t running = 0;
    std::uint64_t blocked = 0;     ///< checked and waiting for the permit to write
    std::uint64_t partitions = 0;  ///< whose commands are ours
    bool ended_known = false;      ///< which commands have ended (D1)
    bool clock_fresh = false;
    std::string trouble;  ///< one sentence while the log is not read; empty otherwise
    CheckToWrite check_to_write;
};

struct DispatcherSettings {
    std::string executor = "executor";  ///< the name that outcomes carry
    std::vector<PartitionNumber> partitions = {PartitionNumber(0)};  ///< not empty
    std::vector<Action::Kind> kinds;  ///< what it carries out; none: everything
    std::shared_ptr<const PartitionAssignment> assignment;  ///< whose commands; none: everybody's
    std::size_t max_running = 32;
    std::size_t max_pending = 10'000;
    /// No command may live longer from its issue on: ended commands are remembered for as long.
    Millis longest_expiry{3'600'000};
    Millis max_broker_skew{10'000};
    Millis heartbeat_every{2'000};
    Millis heartbeat_fresh{5'000};
    Millis append_again{200};
    Millis call_timeout{15'000};
    codec::KeyRing command_keys;  ///< whose commands are carried out; without any: nobody's
    codec::KeyRing request_keys;  ///< whose pauses and holds are followed
    /// What the time is right before a write: a step may have stood still since it began, or waited
    /// for the log. Empty: as at its begin.
    std::function<SteadyTime()> steady_now;
    /// Asked between decision and write; while it says false the write is blocked. Empty: never.
    std::function<bool(const Command&)> before_write;
    std::function<void(const ParkedCommand&)> on_parked;
    /// An outcome is in the log.
    std::function<void(const Command&, const Outcome&)> on_outcome;
};

class Dispatcher {
  public:
    /// `log` and the ports in `sources` outlive the dispatcher.
    Dispatcher(ports::Log& log, Sources sources, DispatcherSettings settings);
    ~Dispatcher();
    Dispatcher(const Dispatcher&) = delete;
    Dispatcher& operator=(const Dispatcher&) = delete;

    /// Handles what came in, starts what may start, and waits at most `max_wait` for more. `now` is
    /// the steady clock; never hand in an older one than before.
    void step(SteadyTime now, Millis max_wait);

    /// The process is about to end: step on until nothing is `unsettled`, as long as there is
    /// time. What was not written then is emitted again after the next start.
    void close();
    /// How many commands have gone out, or ended, and have no outcome in the log yet.
    std::size_t unsettled() const;

    /// Of a source became known why nothing may be asked of it (empty: everything may), and the
    /// columns of its table's primary key. Commands about a source in doubt fail, retryably.
    void found(const std::string& source, std::string doubt, std::vector<std::string> pk_columns);

    /// As of the end of the last step. Thread-safe.
    DispatcherStats stats() const;

  private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace trueup::executors
