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
#pragma once

#include "connectors/kubernetes/settings.h"
#include "engine/ports/connector.h"

#include <memory>

namespace trueup::connectors {

class KubernetesConnector final : public ports::Connector {
  public:
    /// Does not own the cluster, which must outlive it and belong to no one else.
    KubernetesConnector(ports::Cluster& cluster, KubernetesSettings settings);
    ~KubernetesConnector() override;

    void restart(SteadyTime now) override;
    void step(SteadyTime now, Millis max_wait, std::vector<Fact>& out) override;
    void marker_appended(BrokerTime t, SteadyTime now) override;
    void pace_progress(Millis interval) override;
    void resnapshot() override;
    ports::SourceHealth health() const override;

    /// The server's versions went back: it was restored from a backup, and what it says now cannot
    /// be compared with what was published. The machine takes a new epoch in any case, but the
    /// engine believes one only of a new incarnation. Stays true until `restart` (S13).
    bool needs_new_incarnation() const override;

    /// Lines of the watch that were skipped because they could not be read. Each costs an epoch.
    std::uint64_t unreadable() const;

  private:
    class Machine;
    std::unique_ptr<Machine> machine_;
};

}  // namespace trueup::connectors
