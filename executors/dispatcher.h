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

#include "engine/base/time.h"
#include "engine/ports/log.h"
#include "executors/dispatcher_settings.h"
#include "executors/dispatcher_stats.h"
#include "executors/sources.h"

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

namespace trueup::executors {

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
