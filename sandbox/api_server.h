// The pods of a world and their versions, as an API server and its etcd hold them.
//
// One counter numbers every write. Old versions are kept for `watch_window` writes, so that a list
// can go on under the version of its first page and a watch can start in the past.
//
// Not thread-safe; World's mutex guards it.
#pragma once

#include "sandbox/records.h"

#include <deque>
#include <map>
#include <string>
#include <utility>

namespace trueup::sandbox {

class ApiServer {
  public:
    /// (namespace, name); the order of lists.
    using Key = std::pair<std::string, std::string>;

    ApiServer(std::uint64_t seed, const WorldSettings& settings, std::vector<Record>& records)
        : seed_(seed), settings_(settings), records_(records) {}

    std::uint64_t newest() const { return newest_; }
    std::uint64_t oldest() const { return oldest_; }
    const std::map<Key, PodPtr>& pods() const { return pods_; }
    const std::deque<PodEvent>& history() const { return history_; }
    PodPtr find(const Key& key) const;

    /// Every pod as of `resource_version`, which lies within [oldest, newest].
    std::vector<PodPtr> as_of(std::uint64_t resource_version) const;

    /// Gives it a uid and a version. The key must be free.
    PodPtr create(Pod pod);
    /// Stores `next` as the new version of the pod that has its key. A terminating pod whose
    /// kubelet is done goes with its last finalizer.
    PodPtr modify(Pod next);
    void remove(const Key& key);

    /// What a DELETE does: at once for a pod without a node, a finished one, or grace 0; else the
    /// pod is marked and its kubelet takes its time. Returns the pod as the answer shows it.
    PodPtr begin_deletion(const Key& key, std::int64_t grace_seconds, SteadyTime now,
                          std::int64_t wall_ms);
    /// Ends the terminations that are due.
    void settle(SteadyTime now);
    /// When the next one is due; nullopt: none.
    std::optional<SteadyTime> next_due() const;

    void compact();
    void write_elsewhere();
    /// What a backup from `writes` writes ago holds is all there is, with its versions; uids that
    /// were given since are not given again. Reaches back as far as the history does. `bumped`: the
    /// counter goes on far above what it showed, and everything below is forgotten, as the manual
    /// of etcd advises; else it goes back as well.
    void restore(std::uint64_t writes, bool bumped, SteadyTime now);

    /// Takes a record of the past.
    void apply(const PodEvent& event);
    void apply(const ClusterMark& mark);
    /// After the last record of the past: terminating pods get their kubelets back.
    void resume(SteadyTime now);

  private:
    void commit(PodEvent event);
    std::string next_uid();
    void expect_end(const Pod& pod, SteadyTime now);

    std::uint64_t seed_;
    const WorldSettings& settings_;
    std::vector<Record>& records_;
    std::uint64_t newest_ = 1000;
    std::uint64_t oldest_ = 1000;
    std::uint64_t created_ = 0;
    std::map<Key, PodPtr> pods_;
    std::deque<PodEvent> history_;  ///< every event above oldest_
    std::map<std::pair<SteadyTime, std::uint64_t>, PodPtr> terminating_;
};

}  // namespace trueup::sandbox
