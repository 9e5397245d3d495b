// What lies between a process and the servers of the sandbox: a network that takes its time, cuts
// connections when a process dies, and delivers what was sent before all the same. On one
// connection nothing overtakes; the product has one for each call to a cluster, and three to a
// database.
//
// A witness (witness.h) is told what an executor reads, and what it knew when it sent a write.
#pragma once

#include "engine/ports/cluster.h"
#include "engine/ports/database.h"
#include "sandbox/world.h"
#include "simulation/crash_point.h"
#include "simulation/network.h"
#include "simulation/witness.h"

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

namespace trueup::simulation {

/// When the last message will be there, on a connection's way to the server and on its way back.
struct Connection {
    SteadyTime last_sent{};
    SteadyTime last_arrival{};
    Millis answers_take{0};  ///< each, beside the way
};

/// The ends of a process's connections at the servers; outlives the process until everything that
/// it had sent has arrived.
template <typename Port, typename Event>
struct Wire {
    std::unique_ptr<Port> server;
    std::function<void()> wake;
    bool cut = false;
    SteadyTime last_sent{};                                      ///< on any of them
    std::map<ports::CallId, std::shared_ptr<Connection>> calls;  ///< without their last event
    std::multimap<SteadyTime, Event> on_its_way;                 ///< back to the process
    std::set<ports::CallId> cancelled;
    std::shared_ptr<Mind> mind;                                   ///< of an executor
    std::map<ports::CallId, std::pair<std::string, Look>> reads;  ///< without their last event
};

class ClusterLink final : public ports::Cluster {
  public:
    ClusterLink(std::unique_ptr<ports::Cluster> server, Network& network, CrashPoint& life,
                std::function<void()> wake, std::shared_ptr<Mind> mind = nullptr);
    ~ClusterLink() override;
    ClusterLink(const ClusterLink&) = delete;
    ClusterLink& operator=(const ClusterLink&) = delete;

    void list_page(ports::CallId call, const ports::ListPage& request) override;
    void watch(ports::CallId call, const ports::WatchFrom& request) override;
    void get(ports::CallId call, const ports::GetObject& request) override;
    void erase(ports::CallId call, const ports::DeleteObject& request) override;
    void patch(ports::CallId call, const ports::PatchObject& request) override;
    void create(ports::CallId call, const ports::CreateObject& request) override;
    void cancel(ports::CallId call) override;
    void poll(Millis max_wait, std::vector<ports::ClusterEvent>& out) override;

  private:
    using Line = Wire<ports::Cluster, ports::ClusterEvent>;
    Connection& connect(ports::CallId call, Millis answers_take = Millis{0});

    Network& network_;
    CrashPoint& life_;
    std::shared_ptr<Line> wire_;
};

class DatabaseLink final : public ports::Database {
  public:
    DatabaseLink(sandbox::World& world, Network& network, CrashPoint& life,
                 std::function<void()> wake, std::shared_ptr<Mind> mind = nullptr);
    ~DatabaseLink() override;
    DatabaseLink(const DatabaseLink&) = delete;
    DatabaseLink& operator=(const DatabaseLink&) = delete;

    void inspect(ports::CallId call, const ports::Inspect& request) override;
    void ensure_slot(ports::CallId call, const ports::EnsureSlot& request) override;
    void drop_slot(ports::CallId call, const std::string& slot) override;
    void copy(ports::CallId call, const ports::CopyTable& request) override;
    void start_wal(ports::CallId call, const ports::StartWal& request) override;
    void insert_lsn(ports::CallId call, const ports::AskInsertLsn& request) override;
    void read_rows(ports::CallId call, const ports::ReadRows& request) override;
    void update_row(ports::CallId call, const ports::UpdateRow& request) override;
    void insert_row(ports::CallId call, const ports::InsertRow& request) override;
    void wal_status(ports::CallId call, ports::Lsn written, ports::Lsn flushed,
                    bool want_reply) override;
    void cancel(ports::CallId call) override;
    void poll(Millis max_wait, std::vector<ports::DatabaseEvent>& out) override;

  private:
    using Line = Wire<ports::Database, ports::DatabaseEvent>;
    Connection& use(const std::shared_ptr<Connection>& connection, ports::CallId call);

    Network& network_;
    CrashPoint& life_;
    std::shared_ptr<Line> wire_;
    const std::shared_ptr<Connection> sql_ = std::make_shared<Connection>();
    const std::shared_ptr<Connection> stream_ = std::make_shared<Connection>();
    const std::shared_ptr<Connection> copying_ = std::make_shared<Connection>();
};

}  // namespace trueup::simulation
