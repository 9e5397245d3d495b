// A pass: the proof, again and again, that everything was looked at (design §5, G14).
#include "engine/core/passes.h"

#include "engine/core/enablings.h"

#include <utility>

namespace trueup::core {

/// Starts a pass that is due or asked for; judges everything once every source has proven itself
/// past its start. A source that stays silent keeps the pass open: it is not complete without it.
void Passes::tend_pass() {
    Pass& pass = meta_.pass;
    const Millis every = meta_.settings.reconcile_every;
    const bool due = pass.asked || (every > Millis{0} && meta_.now >= pass.next);
    if (!pass.running && due) {
        pass.running = true;
        pass.asked = pass.sweeping = false;
        pass.started = meta_.broker_now;
        pass.next = meta_.now + every;
    }
    if (!pass.running || pass.sweeping) return;
    const BrokerTime beyond = pass.started + meta_.settings.max_broker_skew;
    for (SourceId id = 0; id < meta_.source_count(); ++id) {
        if (meta_.settings.sources[id].role != kNoRole && !proven_past(meta_.sources[id], beyond))
            return;
    }
    pass.sweeping = true;
    Sweep sweep;
    sweep.what = Sweep::What::kPass;
    meta_.sweeps.push_back(std::move(sweep));
}

void Passes::end_pass() {
    Pass& pass = meta_.pass;
    pass.running = pass.sweeping = false;
    ++pass.completed;
    const Millis took = meta_.broker_now - pass.started;
    pass.millis += static_cast<std::uint64_t>(took.count());
    std::size_t bucket = 0;
    while (bucket < Pass::kBoundsSeconds.size() &&
           took > std::chrono::seconds(Pass::kBoundsSeconds[bucket])) {
        ++bucket;
    }
    ++pass.durations[bucket];
    enablings_.note_looks();
}

}  // namespace trueup::core
