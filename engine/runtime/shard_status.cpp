// What others may see of a shard.
#include "engine/runtime/shard.h"

namespace trueup::runtime {

namespace {

constexpr Millis kSoon{5'000};  // a proof of so much later is worth hurrying for

}  // namespace

/// Does the status say what is no more?
bool Shard::has_news() const {
    const MutexLock lock(status_mutex_);
    return status_.meta.applied != state_.meta.applied || status_.caught_up != caught_up_ ||
           status_.refused != refused_ || status_.active != active() ||
           status_.published != relay_.published() || status_.rewinds != sequencer_.rewinds();
}

bool Shard::active() const { return settings_.lead && refused_.empty() && active_.ours(); }

void Shard::publish_status() {
    last_status_ = clock_.steady_now();
    const MutexLock lock(status_mutex_);
    status_.meta = state_.meta;
    status_.plan = state_.plan;
    status_.refused = refused_;
    status_.caught_up = caught_up_;
    status_.active = active();
    status_.published = relay_.published();
    status_.rewinds = sequencer_.rewinds();
    status_.cached_bytes = state_.subjects.bytes();
    status_.cached_subjects = state_.subjects.size();
    status_.proof_awaited = proof_awaited();
}

/// Is there anything that a source could end by proving itself further, now? Most of what is open
/// is not: a finding that is only observed, a pause, a deadline, be it a row's own, hours away. Nor
/// does a source that is silent, or has to be listed or released first, come further by being asked
/// more often.
bool Shard::proof_awaited() const {
    const core::Meta& meta = state_.meta;
    const bool pass = meta.pass.running && !meta.pass.sweeping;
    const BrokerTime pass_beyond = meta.pass.started + meta.settings.max_broker_skew;
    for (std::size_t i = 0; i < meta.sources.size(); ++i) {
        const auto id = static_cast<SourceId>(i);
        const core::SourceState& source = meta.sources[i];
        const bool silent = source.complete_as_of != BrokerTime{} &&
                            meta.broker_now - source.complete_as_of > meta.settings.stale_after;
        if (!source.known || silent || meta.settings.sources[id].role == kNoRole) continue;
        if (pass && source.complete_as_of <= pass_beyond) return true;
        if (state_.waits.awaits(id, meta.broker_now + kSoon)) return true;
    }
    return false;
}

ShardStatus Shard::status() const {
    const MutexLock lock(status_mutex_);
    return status_;
}

}  // namespace trueup::runtime
