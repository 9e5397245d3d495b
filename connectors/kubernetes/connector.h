// Kubernetes as a source: any collection under any label selector, by list and watch.
//
// An epoch is a paged consistent list; what lies after it comes from a watch. The machine does no
// I/O of its own and reads no clock: it starts calls on a ports::Cluster and gets its time handed
// in.
//
// Invariants:
//   K1  SnapshotEnd only after the last page of one consistent list, and after a GET answered for
//       each object that was known and is missing from it (up to `max_followed` of them). Where no
//       stream has told what came meanwhile, a list is read for that alone, right before: a page
//       that came without its objects, as 200, is as good as any to one who knows none of them.
//   K2  Remove only after the server said so itself: a DELETED of an object that nothing could keep
//       alive, a NotFound of that name, or another uid under it. Under a selector a DELETED is also
//       what an object that merely lost a label looks like; it is published as `in_scope=false`, at
//       the version of its leaving, and followed until a GET says that it is gone.
//   K3  Progress only beside a live watch and a complete epoch of this incarnation, with the source
//       asked after the marker (progress.h), and never over an event that could not be read.
//   K4  At most one epoch at a time; a SnapshotBegin abandons the one before it.
//
// Not thread-safe, but for `wake`.
#pragma once

#include "connectors/kubernetes/heartbeats.h"
#include "connectors/kubernetes/object_cache.h"
#include "connectors/kubernetes/pages.h"
#include "connectors/kubernetes/progress.h"
#include "connectors/kubernetes/settings.h"
#include "connectors/kubernetes/shown.h"
#include "connectors/kubernetes/states.h"
#include "connectors/kubernetes/verification.h"
#include "connectors/kubernetes/watch.h"
#include "engine/base/backoff.h"
#include "engine/model/fact.h"
#include "engine/ports/call_ids.h"
#include "engine/ports/connector.h"
#include "engine/ports/rewind.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace trueup::connectors {

class KubernetesConnector final : public ports::Connector {
  public:
    /// Does not own the cluster, which must outlive it and belong to no one else.
    KubernetesConnector(ports::Cluster& cluster, KubernetesSettings settings);
    KubernetesConnector(const KubernetesConnector&) = delete;  // its parts refer to one another
    KubernetesConnector& operator=(const KubernetesConnector&) = delete;

    void restart(SteadyTime now) override;
    void step(SteadyTime now, Millis max_wait, std::vector<Fact>& out) override;
    void wake() override { cluster_.wake(); }
    void marker_appended(BrokerTime t, SteadyTime now) override;
    void pace_progress(Millis interval) override;
    void relist() override;
    ports::SourceHealth health() const override;

    /// The server's versions went back: it was restored from a backup, and what it says now cannot
    /// be compared with what was published. The machine takes a new epoch in any case, but the
    /// engine believes one only of a new incarnation. Stays true until `restart` (S13).
    bool needs_new_incarnation() const override { return rewound_; }

    /// Lines of the watch that were skipped because they could not be read. Each costs an epoch.
    std::uint64_t unreadable() const { return unreadable_; }

  private:
    using Facts = std::vector<Fact>;
    static constexpr Millis kReverifyInterval{15'000};

    void advance(SteadyTime now, Facts& out);
    void dispatch(const ports::ClusterEvent& event, SteadyTime now, Facts& out);
    Millis wait_until_due(SteadyTime now, Millis max_wait) const;

    // What may happen to the epoch and the stream: the rows of the table in states.h.
    void begin_epoch(SteadyTime now);
    void take_part(PagedList::Part part, SteadyTime now, Facts& out);
    void list_began(std::uint64_t version, Facts& out);
    void take_listed(const KubeObject& object, std::uint64_t version, Facts& out);
    void list_ended(std::uint64_t version, SteadyTime now);
    void read_again(std::uint64_t version, SteadyTime now);
    void list_failed(const PagedList::Flaw& flaw, SteadyTime now);
    void list_lied(const Verification& lacking, SteadyTime now);
    void close_epoch(SteadyTime now, Facts& out);
    /// Gives the stream up; only a complete epoch leads on.
    void give_up_stream(SteadyTime now);
    void rewind();
    void end_stream(kubernetes::Stream next);

    bool was_lacking(const KubeObject& object) const;
    void ask_for_missing(std::uint64_t version);

    void take_watch(const ports::ClusterEvent& event, SteadyTime now, Facts& out);
    void take_event(const Result<WatchEvent>& event, Facts& out);
    void take_object(const WatchEvent& event, Facts& out);
    void take_ending(const WatchStream::Ending& ending, SteadyTime now);
    bool away_for_too_long() const;

    void prove(SteadyTime now, Facts& out);
    void beat(SteadyTime now, Facts& out);

    void succeeded();
    void failed(std::string why);

    bool idle() const { return std::holds_alternative<kubernetes::Idle>(epoch_); }
    kubernetes::Streaming* streaming() { return std::get_if<kubernetes::Streaming>(&stream_); }
    const kubernetes::Streaming* streaming() const {
        return std::get_if<kubernetes::Streaming>(&stream_);
    }

    // Its parts. A list is open while Listing, and at no other time; a watch or a proof only while
    // Streaming.
    ports::Cluster& cluster_;
    KubernetesSettings settings_;
    ports::CallIds ids_;
    Decoder decoder_;
    ObjectCache objects_;
    Verifications verifications_;
    PagedList list_;
    WatchStream watch_;
    ProgressProof proof_;
    Backoff epoch_backoff_;
    Backoff watch_backoff_;
    std::vector<ports::ClusterEvent> events_;

    kubernetes::Stream stream_;
    kubernetes::Epoch epoch_;
    kubernetes::Hole hole_ = kubernetes::Hole::kNone;
    kubernetes::Shown shown_;
    std::optional<SteadyTime> next_epoch_;  ///< nullopt: none is wanted
    SteadyTime epoch_began_{};
    bool rewound_ = false;  ///< since this incarnation began
    ports::Rewind rewind_;  ///< and what the engine is still to hear of it

    kubernetes::Heartbeats heartbeats_;
    SteadyTime next_proof_{};     ///< none before: the server asked for a rest
    SteadyTime next_reverify_{};  ///< when to ask for what left the selector, at the earliest

    ports::SourceHealth health_;
    std::uint64_t unreadable_ = 0;
};

}  // namespace trueup::connectors
