#include "connectors/kubernetes/connector.h"

#include "engine/base/guard.h"

#include <algorithm>
#include <utility>

namespace trueup::connectors {

using kubernetes::Closing;
using kubernetes::Hole;
using kubernetes::Streaming;

namespace {

constexpr Millis kMinInterval{100};

Fact plain(Fact::Kind kind) {
    Fact fact;
    fact.kind = kind;
    return fact;
}

}  // namespace

KubernetesConnector::KubernetesConnector(ports::Cluster& cluster, KubernetesSettings settings)
    : cluster_(cluster),
      settings_(std::move(settings)),
      decoder_(Mapping{settings_.mapped_labels, settings_.veto_label, settings_.key_label,
                       ports::Selector::parse(settings_.label_selector).value_or(ports::Selector{}),
                       settings_.fields, settings_.paths}),
      objects_(settings_),
      verifications_(cluster, ids_, decoder_, settings_),
      list_(cluster, ids_, decoder_, settings_),
      watch_(cluster, ids_, decoder_, settings_),
      proof_(cluster, ids_, decoder_, settings_),
      epoch_backoff_(settings_.backoff_min, settings_.backoff_max, settings_.jitter_seed),
      watch_backoff_(settings_.backoff_min, settings_.backoff_max, settings_.jitter_seed + 1) {}

void KubernetesConnector::restart(SteadyTime now) {
    give_up_stream(now);
    verifications_.clear();
    objects_.forget_versions();  // a restore in the meantime may have taken them back
    epoch_backoff_.reset();
    watch_backoff_.reset();
    shown_.restart();
    next_epoch_ = now;
    hole_ = Hole::kNone;
    rewound_ = false;
    rewind_.restart();
    heartbeats_.beat(now);
    next_proof_ = now;
}

void KubernetesConnector::step(SteadyTime now, Millis max_wait, Facts& out) {
    const std::size_t before = out.size();
    advance(now, out);
    const Millis wait = out.size() > before ? Millis(0) : wait_until_due(now, max_wait);
    events_.clear();
    cluster_.poll(wait, events_);
    for (const ports::ClusterEvent& event : events_) dispatch(event, now, out);
    // What they made possible does not wait for the next call.
    if (!events_.empty()) advance(now, out);
    rewind_.tell(out, before);
}

/// Everything that needs no event: time-outs, calls that are due, steps that became possible.
void KubernetesConnector::advance(SteadyTime now, Facts& out) {
    if (std::optional<PagedList::Part> late = list_.expire(now)) {
        take_part(std::move(*late), now, out);
    }
    if (const std::optional<WatchStream::Ending> deaf = watch_.expire(now)) {
        take_ending(*deaf, now);
    }
    if (std::holds_alternative<Closing>(epoch_) && !verifications_.closing()) close_epoch(now, out);
    verifications_.advance(now);
    // Behind the verifications: the last answer to them may be what the proof waits for.
    prove(now, out);
    if (idle() && next_epoch_ && now >= *next_epoch_) begin_epoch(now);
    if (streaming() != nullptr && !watch_.running() && now >= streaming()->next_watch) {
        watch_.begin(shown_.position, settings_.watch_seconds, settings_.watch_slack, now);
    }
    beat(now, out);
}

void KubernetesConnector::dispatch(const ports::ClusterEvent& event, SteadyTime now, Facts& out) {
    if (list_.owns(event.call)) {
        std::optional<PagedList::Part> part = list_.feed(event, now);
        if (part) take_part(std::move(*part), now, out);
    } else if (watch_.owns(event.call)) {
        take_watch(event, now, out);
    } else if (verifications_.owns(event.call)) {
        const std::optional<Found> found = verifications_.feed(event, now);
        if (found && objects_.contradicts(*found)) {
            rewind();  // below what was published of it
        } else if (found && !objects_.found(*found, out)) {
            // It was there all the time, and the list lacked it.
            list_lied(found->verification, now);
        }
    } else if (proof_.owns(event.call)) {
        proof_.feed(event, now);
    }
}

Millis KubernetesConnector::wait_until_due(SteadyTime now, Millis max_wait) const {
    SteadyTime due = std::min(now + max_wait, heartbeats_.next());
    const auto sooner = [&due](SteadyTime at) { due = std::min(due, at); };
    if (list_.running()) sooner(list_.deadline());
    if (idle() && next_epoch_) sooner(*next_epoch_);
    if (watch_.running()) sooner(watch_.deadline());
    if (streaming() != nullptr && !watch_.running()) sooner(streaming()->next_watch);
    if (const std::optional<SteadyTime> at = verifications_.deadline()) sooner(*at);
    if (const std::optional<SteadyTime> at = proof_.deadline()) sooner(*at);
    return std::max(due - now, Millis(0));
}

// ---- progress

void KubernetesConnector::relist() {
    if (!next_epoch_) next_epoch_ = epoch_began_;  // which is past: at once
}

void KubernetesConnector::pace_progress(Millis interval) {
    heartbeats_.pace(std::max(interval, kMinInterval));
}

void KubernetesConnector::marker_appended(BrokerTime t, SteadyTime now) {
    rewind_.marker_appended();
    proof_.marker_appended(t, shown_.position, now);
    // No watch under the selector tells when what left it is gone (K2): it is asked for.
    if (proof_.idle() || now < next_reverify_) return;
    next_reverify_ = now + kReverifyInterval;
    for (const Verification& verification : objects_.out_of_scope())
        verifications_.want(verification);
}

void KubernetesConnector::prove(SteadyTime now, Facts& out) {
    // K3: what is still being asked for, and what could not be read, a proof would cover up.
    const bool told = verifications_.empty() || !TRUEUP_GUARD("kubernetes_lookups_first");
    const bool whole = hole_ == Hole::kNone || !TRUEUP_GUARD("kubernetes_no_hole");
    const ProgressProof::Stream stream{shown_.position, watch_.up(), told && whole};
    switch (proof_.advance(stream, now)) {
        case ProgressProof::Verdict::kPending:
            return;
        case ProgressProof::Verdict::kProven: {
            if (away_for_too_long()) return give_up_stream(now);
            Fact progress = plain(Fact::Kind::kProgress);
            progress.complete_as_of = proof_.as_of();
            progress.event_id = std::to_string(proof_.version());
            out.push_back(std::move(progress));
            shown_.position = std::max(shown_.position, proof_.version());
            streaming()->heard = now;
            succeeded();
            return;
        }
        case ProgressProof::Verdict::kSilent:
            // The server owes an answer, and the stream is as it was: it is kept, and proves
            // nothing.
            failed("progress: " + proof_.trouble());
            next_proof_ = now + std::min(proof_.retry_after(), kMostAsked);
            out.push_back(plain(Fact::Kind::kAlive));
            return;
        case ProgressProof::Verdict::kRewound:
            rewind_.happened();  // the new list tells whether an incarnation ends with it
            [[fallthrough]];
        case ProgressProof::Verdict::kUnprovable:
            failed("progress: " + proof_.trouble());
            give_up_stream(now);
            return;
    }
}

/// A heartbeat: a proof where one is possible and none is under way, else only a sign of life.
void KubernetesConnector::beat(SteadyTime now, Facts& out) {
    const bool due = heartbeats_.due(now);
    if (due && watch_.up() && away_for_too_long()) give_up_stream(now);
    using Proof = Streaming::Proof;
    const Proof proof = streaming() != nullptr ? streaming()->proof : Proof::kAwaitsEpoch;
    const bool begun = proof != Proof::kAwaitsEpoch || !TRUEUP_GUARD("kubernetes_epoch_first");
    const bool provable =
        begun && watch_.up() && hole_ == Hole::kNone && proof_.idle() && now >= next_proof_;
    // The first proof behind an epoch is not left to the next heartbeat: every rule waits for it.
    if (!due && !(proof == Proof::kAtOnce && provable)) return;
    heartbeats_.beat(now);
    if (!provable) {
        out.push_back(plain(Fact::Kind::kAlive));
        return;
    }
    if (proof == Proof::kAtOnce) streaming()->proof = Proof::kPaced;
    proof_.begin();
    out.push_back(plain(Fact::Kind::kMarker));
}

// ---- health

void KubernetesConnector::succeeded() {
    health_.answering = true;
    health_.trouble.clear();
}

void KubernetesConnector::failed(std::string why) {
    health_.answering = false;
    health_.trouble = std::move(why);
    ++health_.failures;
}

ports::SourceHealth KubernetesConnector::health() const {
    ports::SourceHealth health = health_;
    health.failures += verifications_.failures();
    if (!health.trouble.empty()) return health;
    if (rewound_) {
        health.trouble =
            "the server went back to an earlier state: was it restored from a backup? A new "
            "incarnation is needed";
    } else if (hole_ != Hole::kNone) {
        health.trouble = "an event of the watch could not be read; a full list is under way";
    } else if (!verifications_.trouble().empty()) {
        health.trouble = verifications_.trouble();
    }
    return health;
}

}  // namespace trueup::connectors
