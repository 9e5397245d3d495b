// The sandbox: a Kubernetes cluster and a PostgreSQL database in memory, behind the wire-level
// ports. The demo runs on it and the simulator will; whatever sits above a port cannot tell.
//
// It has no threads, reads no clock but the one it is given, and is random only by its seed: the
// same calls at the same times give the same bytes. Thread-safe by one mutex; each port that it
// hands out belongs to one thread. Ports may outlive the World.
//
// Kept as the real servers have it: versions, pages, 410 in its three faces, selectors on watches,
// the three events of a deletion, preconditions, slots, LSNs, pgoutput, xmin.
//
// What it gets wrong:
//   - The only resource is pods; no streaming lists, no field selectors, no PATCH, no HTTP details.
//   - A restarted API server still has its watch window; only `compact` takes it away.
//   - A commit is visible, logged and flushed at one instant; nobody waits for a lock, and
//     transactions never conflict. A primary key is one column, and there is one table.
//   - Of a transaction begun but not committed, only the making of slots takes notice.
//   - An empty uid, resourceVersion or xmin is no precondition; only a mutant sends one.
//   - Networks do not delay; what fails, fails as `fail_next` says.
//   - XLogData of a killed walsender ends between messages, never inside one.
#pragma once

#include "engine/base/result.h"
#include "engine/ports/clock.h"
#include "engine/ports/cluster.h"
#include "engine/ports/database.h"
#include "sandbox/faults.h"
#include "sandbox/records.h"
#include "sandbox/transaction.h"
#include "sandbox/types.h"

#include <functional>
#include <memory>
#include <vector>

namespace trueup::sandbox {

struct Realm;

class World {
  public:
    using Settings = WorldSettings;

    World(std::uint64_t seed, ports::Clock& clock, Settings settings = {});
    ~World();

    /// A client of its own; of the second API server, where so asked.
    std::unique_ptr<ports::Cluster> cluster(bool second = false);
    std::unique_ptr<ports::Database> database();

    /// Rebuilds from the file what a world of this seed was, and from now on keeps all that happens
    /// in it (world_file.h). Call it first; a new file is made. Not kept: calls, faults, open
    /// transactions, the database's timeline and clock.
    Status restore(const std::string& path);
    /// Whether all that happened was kept.
    Status file_status() const;
    ports::Clock& clock() const;

    // The god's view of the cluster. Names live in Settings::name_space. A pod that is not Pending
    // has a node. Setters return false when there is no such pod.
    std::string create_pod(const std::string& name, const Labels& labels, const std::string& phase);
    /// Everything but uid and version as given; returns the uid. The name must be free.
    std::string create_pod(Pod pod);
    bool set_phase(const std::string& name, const std::string& phase);
    bool set_labels(const std::string& name, const Labels& labels);
    /// nullopt: takes it away.
    bool annotate(const std::string& name, const std::string& key,
                  const std::optional<std::string>& value);
    bool set_finalizers(const std::string& name, const std::vector<std::string>& finalizers);
    bool delete_pod(const std::string& name, std::int64_t grace_seconds);
    /// The pod goes at once and another one of its name and labels runs; returns the new uid.
    std::string recreate_pod(const std::string& name);
    /// Some other object is written: the version counter moves on.
    void write_elsewhere();
    /// Every version but the newest is forgotten: older ones get 410.
    void compact();
    /// Plain EOF for all watches.
    void cut_watch();
    /// While true, watches stay open and deliver nothing.
    void stall_watch(bool stalled);
    /// While true, the second API server knows of no write after now: its lists, gets and watches
    /// are of the past, as from a cache that has lost its etcd. Deletions reach etcd all the same.
    void leave_second_behind(bool yes);
    /// Connections break, unread answers are lost.
    void restart_cluster();
    /// etcd is restored from a backup: the last `writes` writes never were. Their versions are
    /// given again, unless the counter is `bumped` far above them. Not kept in a file.
    void restore_cluster(std::uint64_t writes, bool bumped = false);

    // The god's view of the database. update_row and delete_row return false without such a row.
    std::string insert_row(const Row& columns);
    bool update_row(const std::string& pk, const Row& columns);
    bool delete_row(const std::string& pk);
    void truncate_table();
    bool change_row_pk(const std::string& from, const std::string& to);
    Transaction begin();
    /// WAL that does not concern the table.
    void write_wal_elsewhere(std::size_t bytes);
    /// Every slot is dropped, its stream ended.
    void drop_slot();
    /// Every slot lost its WAL, as after max_slot_wal_keep_size.
    void lose_slot();
    void kill_walsender();
    /// Takes the table out of its publication, or puts it back. What is committed meanwhile is in
    /// no stream, now or later. Not kept in a file.
    void publish_table(bool yes);
    /// Sessions break. After a crash, slots are where they were last saved.
    void restart_database(bool crash = false);
    /// From now on the database's clock shows this much more than the world's.
    void set_database_clock(Millis ahead);
    /// A standby that missed the last `commits` commits (64 at most) is promoted: another timeline,
    /// and no slots. What it missed is not kept in a file either.
    void fail_over(std::size_t commits = 0);

    /// The next `times` calls of this kind meet the failure, after those that were asked for
    /// before.
    void fail_next(Op op, const Failure& failure, int times = 1);
    /// So many of them are still to come.
    std::size_t prepared(Op op) const;
    std::size_t prepared(Op op, Failure::Kind kind) const;
    /// When a page last came without its last third; nullopt: never.
    std::optional<SteadyTime> short_page_at() const;
    /// What was asked for and did not happen yet does not happen.
    void fail_no_more();

    // For oracles.
    Truth truth() const;
    /// Every write that reached the servers through a port, in order.
    std::vector<Effect> effects() const;
    /// From now on `observer` sees the records of each act, all of one act at once; it must not use
    /// the world.
    void observe(std::function<void(const std::vector<Record>&)> observer);

  private:
    std::shared_ptr<Realm> realm_;
};

}  // namespace trueup::sandbox
