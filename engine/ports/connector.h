// The port between a source's protocol machine and the task that publishes for it
// (engine/runtime/source_task). The machine knows its protocol (list, watch, slots) and nothing of
// topics; the task knows incarnations, seq, epochs and delivery, and nothing of protocols.
//
// A machine does no I/O itself: it starts calls on a world port (cluster.h, database.h) and handles
// their answers in `step`. Not thread-safe, but for `wake`; one thread owns machine, port and task.
#pragma once

#include "engine/base/time.h"
#include "engine/model/fact.h"
#include "engine/ports/source_health.h"

#include <cstdint>
#include <vector>

namespace trueup::ports {

class Connector {
  public:
    virtual ~Connector() = default;

    /// A new incarnation begins: drop what is in flight and read a complete epoch from the start.
    /// Facts that `step` returned before are void. Called once before the first `step`.
    virtual void restart(SteadyTime now) = 0;

    /// Handles answers and due timers, starts calls, and appends to `out` what is to be published,
    /// in order. Waits for at most `max_wait` for answers; returns early when there is something.
    virtual void step(SteadyTime now, Millis max_wait, std::vector<Fact>& out) = 0;

    /// Ends the wait of the `step` that is under way, or of the next one (wakeup.h). For any
    /// thread.
    virtual void wake() {}

    /// The marker that this machine asked for (Fact::kMarker, one at a time) was appended at `t`.
    /// Only now may the machine ask its source how far it is (design §4.4).
    virtual void marker_appended(BrokerTime t, SteadyTime now) = 0;

    /// Everything that preceded Fact::kConfirm with this number is durable in the log.
    virtual void delivered(std::uint64_t confirm) { (void)confirm; }

    /// How often to prove progress; short while a finding waits, long otherwise.
    virtual void pace_progress(Millis interval) = 0;

    /// Takes a complete audit epoch soon, beside the live stream.
    virtual void relist() = 0;

    /// The source was rewound, replaced, or lost changes that nobody can fetch any more (a restored
    /// backup, a lost slot, a failover): the task must begin a new incarnation. If it went back in
    /// time, the epochs after that say so (rewind.h).
    virtual bool needs_new_incarnation() const { return false; }

    virtual SourceHealth health() const = 0;
};

}  // namespace trueup::ports
