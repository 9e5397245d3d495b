#include "connectors/kubernetes/connector.h"

#include "connectors/kubernetes/machine.h"
#include "engine/base/guard.h"

#include <algorithm>
#include <utility>

namespace trueup::connectors {

namespace {

constexpr Millis kMinInterval{100};
constexpr Millis kStrayInterval{15'000};
constexpr Millis kMostAway{300'000};

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
    : machine_(std::make_unique<Machine>(cluster, std::move(settings))) {}

KubernetesConnector::~KubernetesConnector() = default;

void KubernetesConnector::restart(SteadyTime now) { machine_->restart(now); }

void KubernetesConnector::step(SteadyTime now, Millis max_wait, std::vector<Fact>& out) {
    machine_->step(now, max_wait, out);
}

void KubernetesConnector::marker_appended(BrokerTime t, SteadyTime now) {
    machine_->marker_appended(t, now);
}

void KubernetesConnector::pace_progress(Millis interval) { machine_->pace_progress(interval); }

void KubernetesConnector::resnapshot() { machine_->resnapshot(); }

ports::SourceHealth KubernetesConnector::health() const { return machine_->health(); }

bool KubernetesConnector::needs_new_incarnation() const { return machine_->rewound(); }

std::uint64_t KubernetesConnector::unreadable() const { return machine_->unreadable(); }

KubernetesConnector::Machine::Machine(ports::Cluster& cluster, KubernetesSettings settings)
    : cluster_(cluster),
      settings_(std::move(settings)),
      decoder_(Mapping{settings_.mapped_labels, settings_.hold_key, settings_.key_label,
                       ports::Selector::parse(settings_.label_selector).value_or(ports::Selector{}),
                       settings_.fields}),
      roster_(settings_),
      lookups_(cluster, ids_, decoder_, settings_),
      list_(cluster, ids_, decoder_, settings_),
      watch_(cluster, ids_, decoder_, settings_),
      proof_(cluster, ids_, decoder_, settings_),
      epoch_backoff_(settings_.backoff_min, settings_.backoff_max, settings_.jitter_seed),
      watch_backoff_(settings_.backoff_min, settings_.backoff_max, settings_.jitter_seed + 1) {}

void KubernetesConnector::Machine::restart(SteadyTime now) {
    relist(now);
    lookups_.clear();
    roster_.forget_versions();  // a restore in the meantime may have taken them back
    epoch_backoff_.reset();
    watch_backoff_.reset();
    shown_before_ = std::max({shown_before_, position_, listed_to_});
    position_ = 0;
    listed_to_ = 0;
    next_epoch_ = now;
    hole_ = false;
    rewound_ = false;
    rewind_.restart();
    last_beat_ = now;
    next_beat_ = now + interval_;
    next_proof_ = now;
}

void KubernetesConnector::Machine::step(SteadyTime now, Millis max_wait, Facts& out) {
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
void KubernetesConnector::Machine::advance(SteadyTime now, Facts& out) {
    if (std::optional<PagedList::Part> late = list_.expire(now)) {
        take_part(std::move(*late), now, out);
    }
    if (const std::optional<WatchStream::Ending> deaf = watch_.expire(now)) {
        take_ending(*deaf, now);
    }
    if (closes_at_ != 0 && !lookups_.closing()) close_epoch(now, out);
    lookups_.advance(now);
    prove(now, out);
    const bool listing = list_.running() || closes_at_ != 0;
    if (epoch_wanted_ && !listing && now >= next_epoch_) begin_epoch(now);
    if (streaming_ && !watch_.running() && now >= next_watch_) {
        watch_.begin(position_, settings_.watch_seconds, settings_.watch_slack, now);
    }
    beat(now, out);
}

void KubernetesConnector::Machine::dispatch(const ports::ClusterEvent& event, SteadyTime now,
                                            Facts& out) {
    if (list_.owns(event.call)) {
        std::optional<PagedList::Part> part = list_.feed(event, now);
        if (part) take_part(std::move(*part), now, out);
    } else if (watch_.owns(event.call)) {
        take_watch(event, now, out);
    } else if (lookups_.owns(event.call)) {
        const std::optional<Found> found = lookups_.feed(event, now);
        if (found && roster_.contradicts(*found)) {
            rewind();
        } else if (found && !roster_.found(*found, out)) {
            list_lied(found->lookup, now);
        }
    } else if (proof_.owns(event.call)) {
        proof_.feed(event, now);
    }
}

Millis KubernetesConnector::Machine::wait_until_due(SteadyTime now, Millis max_wait) const {
    SteadyTime due = std::min(now + max_wait, next_beat_);
    const auto sooner = [&due](SteadyTime at) { due = std::min(due, at); };
    if (list_.running()) sooner(list_.deadline());
    if (epoch_wanted_ && !list_.running() && closes_at_ == 0) sooner(next_epoch_);
    if (watch_.running()) sooner(watch_.deadline());
    if (streaming_ && !watch_.running()) sooner(next_watch_);
    if (const std::optional<SteadyTime> at = lookups_.deadline()) sooner(*at);
    if (const std::optional<SteadyTime> at = proof_.deadline()) sooner(*at);
    return std::max(due - now, Millis(0));
}

// ---- the epoch

void KubernetesConnector::Machine::begin_epoch(SteadyTime now) {
    epoch_wanted_ = false;
    epoch_began_ = now;
    hole_covered_ = true;
    // The stream may lag behind what a list has shown already.
    listed_from_ = std::max(position_, listed_to_);
    roster_.begin_epoch();
    list_.begin(now);
}

void KubernetesConnector::Machine::take_part(PagedList::Part part, SteadyTime now, Facts& out) {
    if (part.flaw) {
        list_failed(*part.flaw, now);
        return;
    }
    succeeded();
    Facts unheard;
    const bool counts = read_to_ != 0 || !TRUEUP_GUARD("kubernetes_reads_twice");
    Facts& heard = counts ? out : unheard;
    if (part.first) {
        lacked_.clear();
        if (part.page.version < listed_from_) rewind();
        if (part.page.version < shown_before_) rewind_.happened();
        shown_before_ = 0;
        listed_to_ = part.page.version;
        heard.push_back(border(Fact::Kind::kSnapshotBegin, part.page.version));
    }
    for (const KubeObject& object : part.page.items) {
        if (roster_.contradicts(object, part.page.version)) rewind();
        if (lacks(object)) lacked_ = object.name;
        roster_.listed(object, heard);
        lookups_.drop(object.uid, object.version);
    }
    if (!part.last) return;
    if (counts && lacked_.empty()) {
        list_ended(part.page.version, now);
    } else {
        read_again(part.page.version, now);
    }
}

/// Was it there by the version of the list before this one, and not in it? Beside a stream: by what
/// was delivered, and neither the list that the stream began with nor the stream told of it?
bool KubernetesConnector::Machine::lacks(const KubeObject& object) const {
    if (rewound_ || object.version > (streaming_ ? position_ : read_to_)) return false;
    const bool told = streaming_ ? hole_ || roster_.knows(object) : roster_.listed_before(object);
    return !told && TRUEUP_GUARD("kubernetes_lists_agree");
}

/// Of two lists in a row the first lacked something, or there was no first one. The next list is
/// held against this one.
void KubernetesConnector::Machine::read_again(std::uint64_t version, SteadyTime now) {
    end_stream();
    if (lacked_.empty()) {
        epoch_wanted_ = true;
        next_epoch_ = now;
    } else {
        list_failed({"the one before lacked " + lacked_ + ", which was there all the time", {}},
                    now);
    }
    read_to_ = version;
}

void KubernetesConnector::Machine::list_failed(const PagedList::Flaw& flaw, SteadyTime now) {
    failed("list " + settings_.resource.plural + ": " + flaw.what);
    if (!streaming_) read_to_ = 0;
    epoch_wanted_ = true;
    next_epoch_ = now + epoch_backoff_.next(flaw.retry_after);
}

/// A server, or something in front of it, answered 200 with less than there is. The epoch that has
/// begun never ends; the next one takes its place.
void KubernetesConnector::Machine::list_lied(const Lookup& lacking, SteadyTime now) {
    lookups_.abandon_list();
    closes_at_ = 0;
    if (!complete_) end_stream();  // nor need the one before it have been true: two lists anew
    list_failed({"it lacks " + lacking.name + ", which was there all the time", {}}, now);
}

void KubernetesConnector::Machine::list_ended(std::uint64_t version, SteadyTime now) {
    closes_at_ = version;
    ask_for_missing();
    if (streaming_) return;  // an audit beside the live stream
    position_ = version;
    streaming_ = true;
    heard_ = now;
    stuck_watches_ = 0;
    next_watch_ = now;
}

/// What it began with was not true. The next one begins with two lists.
void KubernetesConnector::Machine::end_stream() {
    complete_ = false;
    streaming_ = false;
    watch_.cancel();
    proof_.cancel();
}

/// A list is older than what was delivered before it was asked for, or shows something that is, or
/// a single object is.
void KubernetesConnector::Machine::rewind() {
    rewound_ = true;
    rewind_.happened();
    end_stream();
    lookups_.clear();
    roster_.forget_versions();
}

void KubernetesConnector::Machine::ask_for_missing() {
    if (!TRUEUP_GUARD("kubernetes_asks_for_missing")) return;
    for (const Lookup& lookup : roster_.missing(closes_at_)) lookups_.want(lookup);
}

void KubernetesConnector::Machine::close_epoch(SteadyTime now, Facts& out) {
    // A watch that lags behind the list may have told of one more object that came and left before
    // the list's version: the sweep would take it for gone.
    ask_for_missing();
    if (lookups_.closing()) return;
    out.push_back(border(Fact::Kind::kSnapshotEnd, closes_at_));
    closes_at_ = 0;
    ++health_.epochs;
    if (hole_covered_) hole_ = false;
    if (complete_) epoch_backoff_.reset();
    prove_soon_ = prove_soon_ || !complete_;
    complete_ = true;
    next_strays_ = now + kStrayInterval;
}

void KubernetesConnector::Machine::relist(SteadyTime now) {
    list_.cancel();
    end_stream();
    lookups_.abandon_list();
    closes_at_ = 0;
    read_to_ = 0;
    epoch_wanted_ = true;
    // At once, unless the last one led to nothing either.
    const bool again = epoch_backoff_.failures() > 0;
    const Millis wait = epoch_backoff_.next();
    next_epoch_ = again ? now + wait : now;
}

// ---- the stream

void KubernetesConnector::Machine::take_watch(const ports::ClusterEvent& event, SteadyTime now,
                                              Facts& out) {
    const auto sink = [&](const Result<WatchEvent>& line) {
        if (away_for_too_long()) return relist(now);
        heard_ = now;
        take_event(line, out);
    };
    const std::optional<WatchStream::Ending> ending = watch_.feed(event, now, sink);
    if (ending) return take_ending(*ending, now);
    if (watch_.up()) succeeded();
}

/// What comes back may have been restored, and have counted on past our version meanwhile: the
/// watch would go on in another history, and nothing would tell. Asked once it said something, or
/// was up at a heartbeat: one that says at once that it is overloaded is not listed.
bool KubernetesConnector::Machine::away_for_too_long() const {
    return watch_.began() - heard_ > kMostAway;
}

void KubernetesConnector::Machine::take_event(const Result<WatchEvent>& event, Facts& out) {
    if (!event) {
        ++unreadable_;
        failed("watch: " + event.error().what);
        hole_ = true;
        hole_covered_ = false;
        epoch_wanted_ = true;
        next_epoch_ = std::max(next_epoch_, epoch_began_ + settings_.backoff_max);
        return;
    }
    stuck_watches_ = 0;
    watch_backoff_.reset();
    epoch_backoff_.reset();
    if (event->type != WatchEvent::Type::kBookmark) take_object(*event, out);
    position_ = std::max(position_, event->version);
}

void KubernetesConnector::Machine::take_object(const WatchEvent& event, Facts& out) {
    if (event.type != WatchEvent::Type::kDeleted) {
        roster_.changed(event.object, out);
        lookups_.drop(event.object.uid, event.version);
        return;
    }
    const std::optional<Lookup> question = roster_.deleted(event.object, out);
    if (question) {
        lookups_.want(*question);
    } else {
        lookups_.drop(event.object.uid, event.version);
    }
}

void KubernetesConnector::Machine::take_ending(const WatchStream::Ending& ending, SteadyTime now) {
    switch (ending.kind) {
        case WatchStream::Ending::Kind::kEof: {
            const bool useful = watch_.lines() > 0 || now - watch_.began() >= settings_.backoff_max;
            if (useful) watch_backoff_.reset();
            if (useful) heard_ = now;
            const bool again = watch_backoff_.failures() > 0;
            const Millis wait = watch_backoff_.next();
            next_watch_ = again ? now + wait : now;
            return;
        }
        case WatchStream::Ending::Kind::kExpired:
            failed(ending.what);
            relist(now);
            return;
        case WatchStream::Ending::Kind::kTrouble:
            failed(ending.what);
            // One that lived begins the waits anew.
            if (watch_.was_accepted() && now - watch_.began() >= settings_.backoff_max) {
                watch_backoff_.reset();
            }
            next_watch_ = now + watch_backoff_.next(ending.retry_after);
            // What came meanwhile is still to be had from the same version when the server is back,
            // and a whole list is the last thing that it can use then.
            stuck_watches_ = ending.stuck ? stuck_watches_ + 1 : 0;
            if (stuck_watches_ >= settings_.stuck_to_relist) relist(now);
            return;
    }
}

// ---- progress

void KubernetesConnector::Machine::pace_progress(Millis interval) {
    interval_ = std::max(interval, kMinInterval);
    next_beat_ = std::min(next_beat_, last_beat_ + interval_);
}

void KubernetesConnector::Machine::marker_appended(BrokerTime t, SteadyTime now) {
    rewind_.marker_appended();
    proof_.marker_appended(t, position_, now);
    if (proof_.idle() || now < next_strays_) return;
    next_strays_ = now + kStrayInterval;
    for (const Lookup& lookup : roster_.strays()) lookups_.want(lookup);
}

void KubernetesConnector::Machine::prove(SteadyTime now, Facts& out) {
    const bool told = lookups_.empty() || !TRUEUP_GUARD("kubernetes_lookups_first");
    const bool whole = !hole_ || !TRUEUP_GUARD("kubernetes_no_hole");
    const ProgressProof::Stream stream{position_, watch_.up(), told && whole};
    switch (proof_.advance(stream, now)) {
        case ProgressProof::Verdict::kPending:
            return;
        case ProgressProof::Verdict::kProven: {
            if (away_for_too_long()) return relist(now);
            Fact progress = plain(Fact::Kind::kProgress);
            progress.complete_as_of = proof_.as_of();
            progress.event_id = std::to_string(proof_.version());
            out.push_back(std::move(progress));
            position_ = std::max(position_, proof_.version());
            heard_ = now;
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
            relist(now);
            return;
    }
}

/// A heartbeat: a proof where one is possible and none is under way, else only a sign of life.
void KubernetesConnector::Machine::beat(SteadyTime now, Facts& out) {
    const bool due = now >= next_beat_;
    if (due && watch_.up() && away_for_too_long()) relist(now);
    const bool begun = complete_ || !TRUEUP_GUARD("kubernetes_epoch_first");
    const bool provable = begun && watch_.up() && !hole_ && proof_.idle() && now >= next_proof_;
    if (!due && !(prove_soon_ && provable)) return;
    last_beat_ = now;
    next_beat_ = now + interval_;
    if (!provable) {
        out.push_back(plain(Fact::Kind::kAlive));
        return;
    }
    prove_soon_ = false;
    proof_.begin(position_, now);
    out.push_back(plain(Fact::Kind::kMarker));
}

// ---- health

void KubernetesConnector::Machine::succeeded() {
    health_.answering = true;
    health_.trouble.clear();
}

void KubernetesConnector::Machine::failed(std::string why) {
    health_.answering = false;
    health_.trouble = std::move(why);
    ++health_.failures;
}

ports::SourceHealth KubernetesConnector::Machine::health() const {
    ports::SourceHealth health = health_;
    health.failures += lookups_.failures();
    if (!health.trouble.empty()) return health;
    if (rewound_) {
        health.trouble =
            "the server went back to what it held before: was it restored from a backup? A new "
            "incarnation is needed";
    } else if (hole_) {
        health.trouble = "an event of the watch could not be read; a full list is under way";
    } else if (!lookups_.trouble().empty()) {
        health.trouble = lookups_.trouble();
    }
    return health;
}

}  // namespace trueup::connectors
