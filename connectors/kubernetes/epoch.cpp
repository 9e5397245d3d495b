// The epoch of a KubernetesConnector: lists, what is missing from them, and how one closes.
#include "connectors/kubernetes/connector.h"
#include "engine/base/guard.h"

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

Fact border(Fact::Kind kind, std::uint64_t version) {
    Fact fact;
    fact.kind = kind;
    fact.event_id = std::to_string(version);
    fact.version = Version{version, 0};
    return fact;
}

}  // namespace

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

}  // namespace trueup::connectors
