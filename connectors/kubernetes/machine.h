// The parts of a KubernetesConnector and how they hang together. Private to connector.cpp.
#pragma once

#include "connectors/kubernetes/backoff.h"
#include "connectors/kubernetes/connector.h"
#include "connectors/kubernetes/lookup.h"
#include "connectors/kubernetes/pages.h"
#include "connectors/kubernetes/progress.h"
#include "connectors/kubernetes/roster.h"
#include "connectors/kubernetes/watch.h"
#include "engine/ports/rewind.h"

#include <optional>
#include <string>
#include <vector>

namespace trueup::connectors {

class KubernetesConnector::Machine {
  public:
    Machine(ports::Cluster& cluster, KubernetesSettings settings);

    void restart(SteadyTime now);
    void step(SteadyTime now, Millis max_wait, std::vector<Fact>& out);
    void marker_appended(BrokerTime t, SteadyTime now);
    void pace_progress(Millis interval);
    void resnapshot() { epoch_wanted_ = true; }
    ports::SourceHealth health() const;
    bool rewound() const { return rewound_; }
    std::uint64_t unreadable() const { return unreadable_; }

  private:
    using Facts = std::vector<Fact>;

    void advance(SteadyTime now, Facts& out);
    void dispatch(const ports::ClusterEvent& event, SteadyTime now, Facts& out);
    Millis wait_until_due(SteadyTime now, Millis max_wait) const;

    void begin_epoch(SteadyTime now);
    void take_part(PagedList::Part part, SteadyTime now, Facts& out);
    void list_failed(const PagedList::Flaw& flaw, SteadyTime now);
    void list_lied(const Lookup& lacking, SteadyTime now);
    void list_ended(std::uint64_t version, SteadyTime now);
    bool lacks(const KubeObject& object) const;
    void end_stream();
    void read_again(std::uint64_t version, SteadyTime now);
    void rewind();
    void ask_for_missing();
    void close_epoch(SteadyTime now, Facts& out);
    /// Gives the stream up; only a complete epoch leads on.
    void relist(SteadyTime now);

    void take_event(const Result<WatchEvent>& event, Facts& out);
    void take_ending(const WatchStream::Ending& ending, SteadyTime now);
    void take_watch(const ports::ClusterEvent& event, SteadyTime now, Facts& out);
    bool away_for_too_long() const;
    void take_object(const WatchEvent& event, Facts& out);

    void prove(SteadyTime now, Facts& out);
    void beat(SteadyTime now, Facts& out);

    void succeeded();
    void failed(std::string why);

    ports::Cluster& cluster_;
    KubernetesSettings settings_;
    CallIds ids_;
    Decoder decoder_;
    Roster roster_;
    Lookups lookups_;
    PagedList list_;
    WatchStream watch_;
    ProgressProof proof_;
    Backoff epoch_backoff_;
    Backoff watch_backoff_;
    std::vector<ports::ClusterEvent> events_;

    // The stream.
    std::uint64_t position_ = 0;       ///< everything up to it was delivered; 0: nowhere
    bool streaming_ = false;           ///< a list gave the position from which to watch
    std::uint32_t stuck_watches_ = 0;  ///< in a row
    SteadyTime next_watch_{};
    SteadyTime heard_{};  ///< a list, a line of the watch, its regular end or a proof came last

    // The epoch.
    bool epoch_wanted_ = true;
    bool complete_ = false;           ///< an epoch ended, and no new one is needed since
    std::uint64_t read_to_ = 0;       ///< version of a list that was read right before; 0: none was
    std::string lacked_;              ///< by that one, and this one shows that it was there
    std::uint64_t closes_at_ = 0;     ///< version of a list that ended, while lookups are open
    std::uint64_t listed_from_ = 0;   ///< what had been shown when the list was asked for
    std::uint64_t listed_to_ = 0;     ///< version of the last list that began to come
    std::uint64_t shown_before_ = 0;  ///< the newest version that former incarnations were shown
    SteadyTime next_epoch_{};
    SteadyTime epoch_began_{};
    bool hole_ = false;          ///< an event could not be read
    bool hole_covered_ = false;  ///< and the epoch under way began after it
    bool rewound_ = false;       ///< since this incarnation began
    ports::Rewind rewind_;       ///< and what the engine is still to hear of it

    // Progress.
    Millis interval_{15'000};
    SteadyTime last_beat_{};
    SteadyTime next_beat_{};
    SteadyTime next_proof_{};  ///< none before: the server asked for a rest
    SteadyTime next_strays_{};
    bool prove_soon_ = false;  ///< the first proof after an epoch does not wait for its turn

    ports::SourceHealth health_;
    std::uint64_t unreadable_ = 0;
};

}  // namespace trueup::connectors
