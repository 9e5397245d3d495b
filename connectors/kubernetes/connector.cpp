#include "connectors/kubernetes/connector.h"

#include "engine/base/guard.h"

#include <algorithm>
#include <utility>

namespace trueup::connectors {

using kubernetes::Closing;
using kubernetes::Hole;
using kubernetes::Idle;
using kubernetes::Listing;
using kubernetes::ReadOnce;
using kubernetes::Streaming;
using kubernetes::Unread;

namespace {

constexpr Millis kMinInterval{100};
constexpr Millis kReverifyInterval{15'000};

Fact plain(Fact::Kind kind) {
    Fact fact;
    fact.kind = kind;
    return fact;
}

Fact border(Fact::Kind kind, std::uint64_t version) {
    Fact fact = plain(kind);
    fact.event_id = std::to_string(version);
    fact.version = Version{version, 0};
    return fact;
}

}  // namespace

KubernetesConnector::KubernetesConnector(ports::Cluster& cluster, KubernetesSettings settings)
    : cluster_(cluster),
      settings_(std::move(settings)),
      decoder_(Mapping{settings_.mapped_labels, settings_.veto_label, settings_.key_label,
                       ports::Selector::parse(settings_.label_selector).value_or(ports::Selector{}),
                       settings_.fields}),
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
            rewind();
        } else if (found && !objects_.found(*found, out)) {
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

// ---- the epoch

void KubernetesConnector::begin_epoch(SteadyTime now) {
    next_epoch_.reset();
    epoch_began_ = now;
    if (hole_ == Hole::kOpen) hole_ = Hole::kCovered;
    epoch_ = Listing{shown_.newest(), ""};
    objects_.begin_epoch();
    list_.begin(now);
}

void KubernetesConnector::take_part(PagedList::Part part, SteadyTime now, Facts& out) {
    if (part.flaw) return list_failed(*part.flaw, now);
    succeeded();
    const std::uint64_t version = part.page.version;
    // The first of two lists is remembered like any other, and what it says is told to no one.
    const bool counts =
        !std::holds_alternative<Unread>(stream_) || !TRUEUP_GUARD("kubernetes_reads_twice");
    Facts unheard;
    Facts& heard = counts ? out : unheard;
    if (part.first) list_began(version, heard);
    for (const KubeObject& object : part.page.items) take_listed(object, version, heard);
    if (!part.last) return;
    if (counts && std::get<Listing>(epoch_).lacking.empty()) {
        list_ended(version, now);
    } else {
        read_again(version, now);
    }
}

void KubernetesConnector::list_began(std::uint64_t version, Facts& out) {
    if (version < std::get<Listing>(epoch_).shown_before) rewind();
    // An incarnation that begins with a restored server lost nothing by that: no new one is needed.
    if (version < shown_.former) rewind_.happened();
    shown_.former = 0;
    shown_.listed = version;
    out.push_back(border(Fact::Kind::kSnapshotBegin, version));
}

void KubernetesConnector::take_listed(const KubeObject& object, std::uint64_t version, Facts& out) {
    if (objects_.contradicts(object, version)) rewind();
    // Asked before the cache takes it for listed.
    if (was_lacking(object)) std::get<Listing>(epoch_).lacking = object.name;
    objects_.listed(object, out);
    verifications_.drop(object.uid, object.version);
}

/// Was it there before this list, and is missing from what the list is held against? Then that was
/// cut, or this connector would have been told of the object.
bool KubernetesConnector::was_lacking(const KubeObject& object) const {
    if (rewound_) return false;  // two histories have no versions in common
    bool lacking = false;
    if (const auto* before = std::get_if<ReadOnce>(&stream_)) {
        lacking = object.version <= before->version && !objects_.listed_before(object);
    } else if (streaming() != nullptr) {
        // The event that could not be read may have been the one that told of it.
        lacking =
            object.version <= shown_.position && hole_ == Hole::kNone && !objects_.knows(object);
    }
    return lacking && TRUEUP_GUARD("kubernetes_lists_agree");
}

void KubernetesConnector::list_ended(std::uint64_t version, SteadyTime now) {
    epoch_ = Closing{version};
    ask_for_missing(version);
    if (streaming() != nullptr) return;  // an audit beside the live stream
    shown_.position = version;
    stream_ = Streaming{.heard = now, .next_watch = now};
}

/// Of two lists in a row the first lacked something, or there was no first one. The next list is
/// held against this one.
void KubernetesConnector::read_again(std::uint64_t version, SteadyTime now) {
    const std::string lacking = std::move(std::get<Listing>(epoch_).lacking);
    if (lacking.empty()) {
        epoch_ = Idle{};
        next_epoch_ = now;
    } else {
        list_failed({"the previous list lacked " + lacking + ", which existed all the time", {}},
                    now);
    }
    end_stream(ReadOnce{version});
}

void KubernetesConnector::list_failed(const PagedList::Flaw& flaw, SteadyTime now) {
    failed("list " + settings_.resource.plural + ": " + flaw.what);
    epoch_ = Idle{};
    // What follows a pause is not held against a list from before it.
    if (streaming() == nullptr) stream_ = Unread{};
    next_epoch_ = now + epoch_backoff_.next(flaw.retry_after);
}

/// A server, or something in front of it, answered 200 with less than there is. The epoch that has
/// begun never ends; the next one takes its place.
void KubernetesConnector::list_lied(const Verification& lacking, SteadyTime now) {
    verifications_.abandon_list();
    // Nor need the list before it have been true, unless an epoch of the stream has shown that.
    const bool shown =
        streaming() != nullptr && streaming()->proof != Streaming::Proof::kAwaitsEpoch;
    if (!shown) end_stream(Unread{});
    list_failed({"it lacks " + lacking.name + ", which existed all the time", {}}, now);
}

void KubernetesConnector::ask_for_missing(std::uint64_t version) {
    if (!TRUEUP_GUARD("kubernetes_asks_for_missing")) return;
    for (const Verification& verification : objects_.missing(version))
        verifications_.want(verification);
}

void KubernetesConnector::close_epoch(SteadyTime now, Facts& out) {
    const std::uint64_t version = std::get<Closing>(epoch_).version;
    // A watch that lags behind the list may have told of one more object that came and left before
    // the list's version: the sweep would take it for gone.
    ask_for_missing(version);
    if (verifications_.closing()) return;
    out.push_back(border(Fact::Kind::kSnapshotEnd, version));
    epoch_ = Idle{};
    ++health_.epochs;
    if (hole_ == Hole::kCovered) hole_ = Hole::kNone;
    next_reverify_ = now + kReverifyInterval;
    Streaming* const stream = streaming();
    if (stream == nullptr) return;  // the server went back meanwhile
    if (stream->proof == Streaming::Proof::kAwaitsEpoch) {
        // The waits of the epochs go on: a stream that never says anything after its epoch, and is
        // given up for that each time, must not have the server list everything at once.
        stream->proof = Streaming::Proof::kAtOnce;
    } else {
        epoch_backoff_.reset();
    }
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
    if (proof_.idle() || now < next_reverify_) return;
    next_reverify_ = now + kReverifyInterval;
    for (const Verification& verification : objects_.out_of_scope())
        verifications_.want(verification);
}

void KubernetesConnector::prove(SteadyTime now, Facts& out) {
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
