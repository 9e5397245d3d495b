// The whole process in one thread and in virtual time: the sandbox's two servers, a connector and a
// source loop for each, one shard, one dispatcher, over a log and a store in memory. It steps the
// loops that apps/host.cpp gives threads. The interleaving of the parts is drawn from the seed, so
// a seed repeats a run to the byte.
//
//     VirtualHost host(seed);
//     host.world().create_pod("wrapper-a", host.labels(), "Running");
//     host.run(Millis{30'000});
//     EXPECT_EQ(host.deletes(), …);
//
// Not thread-safe.
#pragma once

#include "engine/model/command.h"
#include "engine/model/finding_edge.h"
#include "engine/ports/connector.h"
#include "engine/runtime/shard.h"
#include "engine/runtime/shard_loop.h"
#include "engine/runtime/source_loop.h"
#include "executors/dispatcher.h"
#include "executors/executor_loop.h"
#include "projections/memory_store.h"
#include "sandbox/wiring/demo_policy.h"
#include "sandbox/world.h"
#include "tests/support/manual_clock.h"
#include "tests/support/memory_log.h"

#include <functional>
#include <memory>
#include <random>
#include <string>
#include <vector>

namespace trueup::testing {

struct VirtualHostSettings {
    Settings policy = sandbox::demo_policy();
    Millis tick{20};  ///< how much time passes between two rounds of all parts
    Millis pace_idle{2'000};
    Millis pace_waiting{500};
    Millis relist_every{std::chrono::hours(6)};
    Millis heal_every{10'000};  ///< a source that only an epoch can heal is asked this often
    /// Where log and rows lie; none: in memory, where a crash leaves them. Called at each start,
    /// once the former ones are gone.
    std::function<std::unique_ptr<ports::Log>(ports::Clock&)> open_log = nullptr;
    std::function<std::unique_ptr<ports::Store>()> open_store = nullptr;
};

class VirtualHost {
  public:
    using Settings = VirtualHostSettings;
    explicit VirtualHost(std::uint64_t seed, Settings settings = {});
    ~VirtualHost();

    sandbox::World& world() { return world_; }
    MemoryLog& log() { return log_; }
    ManualClock& clock() { return clock_; }
    projections::MemoryStore& store() { return store_; }
    /// Those in use, wherever they lie; until the next crash.
    ports::Log& log_in_use() { return own_log_ ? *own_log_ : log_; }
    ports::Store& rows_in_use() { return own_store_ ? *own_store_ : store_; }
    /// What every pod that the source selects carries.
    static sandbox::Labels labels() { return {{"app", "ryugraph-wrapper"}}; }
    /// A row that means this pod; the primary key comes back.
    std::string insert_row(const std::string& pod_name, const std::string& status = "running");

    /// Lets this much time pass.
    void run(Millis time);
    /// The same until `done`; false when it was not by then.
    bool run_until(const std::function<bool()>& done, Millis at_most);
    /// No finding is open and no command is without outcome, and so it stays for 3 s.
    bool settle(Millis at_most);
    /// kill -9: everything but world, log and store is forgotten, and opened anew.
    void crash();

    runtime::ShardStatus status() const { return shard_->status(); }
    const core::SourceState& source(const std::string& name);
    ports::SourceHealth health(const std::string& source) const;
    executors::DispatcherStats executor() const { return dispatcher_->stats(); }
    /// Why the shard gave up; empty while it runs.
    std::string fatal() const { return shard_loop_->fatal(); }

    // What the topics say, and what reached the servers.
    std::vector<Command> commands() const;
    std::vector<Outcome> outcomes() const;
    std::vector<FindingEdge> findings() const;
    std::vector<sandbox::Effect> accepted_effects() const;

  private:
    struct Source;
    void start();
    void round();
    void open_shard(std::uint64_t nonce);
    void add_source(bool is_pods, std::uint64_t nonce);

    const Settings settings_;
    std::mt19937_64 random_;
    ManualClock clock_;
    MemoryLog log_;
    projections::MemoryStore store_;
    sandbox::World world_;
    std::uint64_t starts_ = 0;
    std::unique_ptr<ports::Log> own_log_;
    std::unique_ptr<ports::Store> own_store_;
    std::unique_ptr<ports::Cluster> executor_cluster_;
    std::unique_ptr<ports::Database> executor_database_;
    std::vector<std::unique_ptr<Source>> sources_;
    std::unique_ptr<runtime::Shard> shard_;
    std::unique_ptr<runtime::ShardLoop> shard_loop_;
    std::unique_ptr<executors::Dispatcher> dispatcher_;
    std::unique_ptr<executors::ExecutorLoop> executor_loop_;
    core::SourceState looked_at_;
};

}  // namespace trueup::testing
