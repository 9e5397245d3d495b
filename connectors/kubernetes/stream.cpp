// The stream of a Kubernetes connector: what its watch says and how it ends, and when it is given
// up or the server has gone back (the second table of states.h).
#include "connectors/kubernetes/connector.h"

#include <algorithm>
#include <utility>

namespace trueup::connectors {

using kubernetes::Hole;
using kubernetes::Idle;
using kubernetes::ReadOnce;
using kubernetes::Stream;
using kubernetes::Streaming;
using kubernetes::Unread;

namespace {

constexpr Millis kMostAway{300'000};

}  // namespace

void KubernetesConnector::take_watch(const ports::ClusterEvent& event, SteadyTime now, Facts& out) {
    const auto sink = [&](const Result<WatchEvent>& line) {
        if (away_for_too_long()) return give_up_stream(now);
        streaming()->heard = now;
        take_event(line, out);
    };
    const std::optional<WatchStream::Ending> ending = watch_.feed(event, now, sink);
    if (ending) return take_ending(*ending, now);
    if (watch_.up()) succeeded();
}

/// What comes back may have been restored, and have counted on past our version meanwhile: the
/// watch would go on in another history, and nothing would tell. Asked once it said something, or
/// was up at a heartbeat: one that says at once that it is overloaded is not listed.
bool KubernetesConnector::away_for_too_long() const {
    return watch_.began() - streaming()->heard > kMostAway;
}

void KubernetesConnector::take_event(const Result<WatchEvent>& event, Facts& out) {
    if (!event) {
        ++unreadable_;
        failed("watch: " + event.error().what);
        hole_ = Hole::kOpen;
        // A server whose every event is like that must not be listed without a pause.
        next_epoch_ =
            std::max(next_epoch_.value_or(epoch_began_), epoch_began_ + settings_.backoff_max);
        return;
    }
    streaming()->stuck_watches = 0;
    watch_backoff_.reset();
    epoch_backoff_.reset();
    if (event->type != WatchEvent::Type::kBookmark) take_object(*event, out);
    shown_.position = std::max(shown_.position, event->version);
}

void KubernetesConnector::take_object(const WatchEvent& event, Facts& out) {
    if (event.type != WatchEvent::Type::kDeleted) {
        objects_.changed(event.object, out);
        verifications_.drop(event.object.uid, event.version);
        return;
    }
    const std::optional<Verification> question = objects_.deleted(event.object, out);
    if (question) {
        verifications_.want(*question);
    } else {
        verifications_.drop(event.object.uid, event.version);
    }
}

void KubernetesConnector::take_ending(const WatchStream::Ending& ending, SteadyTime now) {
    Streaming& stream = *streaming();
    const bool lived = now - watch_.began() >= settings_.backoff_max;
    switch (ending.kind) {
        case WatchStream::Ending::Kind::kEof: {
            const bool useful = watch_.lines() > 0 || lived;
            if (useful) watch_backoff_.reset();
            if (useful) stream.heard = now;
            const bool again = watch_backoff_.failures() > 0;
            const Millis wait = watch_backoff_.next();
            stream.next_watch = again ? now + wait : now;
            return;
        }
        case WatchStream::Ending::Kind::kExpired:
            failed(ending.what);
            give_up_stream(now);
            return;
        case WatchStream::Ending::Kind::kTrouble:
            failed(ending.what);
            // One that lived begins the waits anew.
            if (watch_.was_accepted() && lived) watch_backoff_.reset();
            stream.next_watch = now + watch_backoff_.next(ending.retry_after);
            // What came meanwhile is still to be had from the same version when the server is back,
            // and a whole list is the last thing that it can use then.
            stream.stuck_watches = ending.stuck ? stream.stuck_watches + 1 : 0;
            if (stream.stuck_watches >= settings_.stuck_to_relist) give_up_stream(now);
            return;
    }
}

void KubernetesConnector::give_up_stream(SteadyTime now) {
    list_.cancel();
    end_stream(Unread{});
    verifications_.abandon_list();
    epoch_ = Idle{};
    // At once, unless the last one led to nothing either.
    const bool again = epoch_backoff_.failures() > 0;
    const Millis wait = epoch_backoff_.next();
    next_epoch_ = again ? now + wait : now;
}

/// A list is older than what was delivered before it was asked for, or shows something that is, or
/// a single object is. No version from before can be compared any more, and none is waited for.
void KubernetesConnector::rewind() {
    rewound_ = true;
    rewind_.happened();
    // A list that is under way is published to its end: its begin tells the engine of the rewind.
    end_stream(streaming() != nullptr ? Stream(ReadOnce{shown_.position}) : stream_);
    verifications_.clear();
    objects_.forget_versions();
}

/// What it was is not true any more, or is told by no one.
void KubernetesConnector::end_stream(Stream next) {
    stream_ = next;
    watch_.cancel();
    proof_.cancel();
}

}  // namespace trueup::connectors
