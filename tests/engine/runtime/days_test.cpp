// What an installation writes and keeps as days pass: a process over the embedded log and rows on
// the disk, in virtual time, with checkpoints, retention, audits, endings and restarts.
// TRUEUP_SOAK_DAYS says how many days (2); tools/soak asks for 24.
//
// What it gets wrong: the servers are the sandbox's; certificates and tokens are none of its parts.
#include "connectors/embedded/embedded_log.h"
#include "connectors/kubernetes/connector.h"
#include "connectors/postgres/connector.h"
#include "engine/runtime/checkpoints.h"
#include "engine/runtime/retention.h"
#include "engine/runtime/shard_loop.h"
#include "engine/runtime/source_loop.h"
#include "executors/executor_loop.h"
#include "projections/rocksdb_store.h"
#include "sandbox/wiring/demo_policy.h"
#include "sandbox/wiring/sandbox_wiring.h"
#include "sandbox/world.h"
#include "tests/support/keys.h"
#include "tests/support/manual_clock.h"
#include "tests/support/temp_dir.h"
#include "tests/support/wrapped_log.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace trueup::testing {
namespace {

constexpr int kHours = 24;
constexpr int kRestartEvery = 7;  // hours
constexpr std::size_t kCheckpoints = 3;
constexpr int kInstances = 40;
constexpr Millis kKept = std::chrono::hours(12);  // of topics and journal
constexpr Millis kTick{1'000};
constexpr std::size_t kMemory = std::size_t{4} << 20U;  // of the log, and of rows
constexpr const char* kSelector = "app=ryugraph-wrapper";

int days() {
    const char* asked = std::getenv("TRUEUP_SOAK_DAYS");
    return asked == nullptr ? 2 : std::max(2, std::atoi(asked));
}

std::uintmax_t size_of(const std::filesystem::path& folder) {
    std::uintmax_t bytes = 0;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
        std::error_code gone;
        const std::uintmax_t size = entry.is_regular_file(gone) ? entry.file_size(gone) : 0;
        if (!gone) bytes += size;
    }
    return bytes;
}

/// Resident memory of this process, in KiB.
std::uint64_t resident() {
    std::ifstream status("/proc/self/status");
    for (std::string line; std::getline(status, line);) {
        if (line.starts_with("VmRSS:")) return std::stoull(line.substr(6));
    }
    return 0;
}

template <typename Value>
Value opened(Result<Value> result) {
    if (!result) throw std::runtime_error(result.error().what);
    return std::move(*result);
}

/// A log whose appends are answered when `append` returns: in virtual time its writer's thread
/// would take as long as the machine is busy.
class AtOnce final : public WrappedLog {
  public:
    using WrappedLog::WrappedLog;
    std::unique_ptr<ports::PendingAppend> append(ports::Partition partition,
                                                 const ports::Entries& entries) override {
        auto pending = WrappedLog::append(partition, entries);
        while (!pending->ready()) std::this_thread::yield();
        return pending;
    }
};

runtime::SourceLoopSettings loop_of(const char* source, Topic topic, std::uint64_t nonce) {
    runtime::SourceLoopSettings settings;  // their paces are the product's
    settings.task.source = source;
    settings.task.topic = topic;
    settings.task.nonce_seed = nonce;
    settings.relist_every = std::chrono::hours(1);
    return settings;
}

runtime::ShardSettings shard_settings(const Settings& policy, std::uint64_t nonce) {
    runtime::ShardSettings settings;
    settings.jobs = std::launch::deferred;  // one thread
    settings.policy = policy;
    settings.new_journal_id = JournalId({nonce, 1});
    settings.request_keys = settings.command_keys = test_keys();
    return settings;
}

executors::DispatcherSettings dispatcher_settings(ManualClock& clock) {
    executors::DispatcherSettings settings;
    settings.executor = "days";
    settings.command_keys = settings.request_keys = test_keys();
    settings.steady_now = [&clock] { return clock.steady_now(); };
    return settings;
}

/// All that a start makes, as apps/host.h does, and that a kill forgets.
struct Started {
    Started(const TempDir& dir, ManualClock& clock, sandbox::World& world, const Settings& policy,
            std::uint64_t nonce)
        : log(opened(connectors::EmbeddedLog::open(
              {.path = dir / "log", .fsync = false, .clock = &clock, .memory_bytes = kMemory}))),
          store(opened(
              projections::RocksdbStore::open({.path = dir / "rows", .memory_bytes = kMemory}))),
          cluster(world.cluster()),
          database(world.database()),
          pods(*cluster, sandbox::sandbox_pods(kSelector)),
          rows(opened(
              connectors::postgres::PostgresConnector::open(sandbox::sandbox_rows(), *database))),
          pods_loop(loop_of("pods", Topic::kChangesPods, nonce), log, pods),
          rows_loop(loop_of("rows", Topic::kChangesRows, nonce), log, *rows),
          shard(opened(runtime::Shard::open(shard_settings(policy, nonce), log, *store, clock))),
          shard_loop(*shard, log, {}),
          executor_cluster(world.cluster()),
          executor_database(world.database()),
          dispatcher(log, sandbox::sandbox_reach(*executor_cluster, *executor_database, kSelector),
                     dispatcher_settings(clock)),
          executor(dispatcher, {}) {}

    void step(SteadyTime now) {
        pods_loop.step(now, shard->status().proof_awaited, Millis{0});
        rows_loop.step(now, shard->status().proof_awaited, Millis{0});
        shard_loop.step(Millis{0});
        executor.step(now, Millis{0});
    }

    AtOnce log;
    std::unique_ptr<projections::RocksdbStore> store;
    std::unique_ptr<ports::Cluster> cluster;
    std::unique_ptr<ports::Database> database;
    connectors::KubernetesConnector pods;
    std::unique_ptr<connectors::postgres::PostgresConnector> rows;
    runtime::SourceLoop pods_loop;
    runtime::SourceLoop rows_loop;
    std::unique_ptr<runtime::Shard> shard;
    runtime::ShardLoop shard_loop;
    std::unique_ptr<ports::Cluster> executor_cluster;
    std::unique_ptr<ports::Database> executor_database;
    executors::Dispatcher dispatcher;
    executors::ExecutorLoop executor;
};

class Days : public ::testing::Test {
  protected:
    Days() {
        policy_.max_clock_step = Millis{10'000};
        policy_.stale_after = Millis{45'000};
    }

    static sandbox::WorldSettings world_settings() {
        sandbox::WorldSettings settings;
        settings.block_in_poll = false;
        settings.evaluate_key = sandbox::evaluate_key;
        return settings;
    }
    void start() {
        started_.reset();
        started_.emplace(dir_, clock_, world_, policy_, ++starts_);
    }
    void pass(Millis time) {
        for (const Millis end = clock_.since() + time; clock_.since() < end; clock_.advance(kTick))
            started_->step(clock_.steady_now());
        ASSERT_EQ(started_->shard_loop.fatal(), "");
    }
    core::Meta meta() const { return started_->shard->status().meta; }
    void create_pod(const std::string& name) {
        world_.create_pod(name, {{"app", "ryugraph-wrapper"}}, "Running");
    }
    void insert_row(const std::string& pod) {
        world_.insert_row({{"name", "graph " + pod}, {"status", "running"}, {"pod_name", pod}});
    }

    const TempDir dir_;
    ManualClock clock_;
    sandbox::World world_{1, clock_, world_settings()};
    Settings policy_ = sandbox::demo_policy();
    std::optional<Started> started_;
    std::uint64_t starts_ = 0;
};

using IdleDay = Days;

// An idle installation with one open finding wrote 48 MB a day: its sources proved every two
// seconds that nothing had changed, each proof lay in the log twice, and nothing was compressed.
TEST_F(IdleDay, InObserveWithOpenFindingsItTakesLessThanTwoMegabytes) {
    for (RuleSettings& rule : policy_.rules) rule.mode = Mode::kObserve;
    policy_.reconcile_every = Millis{300'000};
    create_pod("wrapper-a");
    insert_row("wrapper-b");
    start();
    ASSERT_NO_FATAL_FAILURE(pass(std::chrono::hours(kHours)));
    ASSERT_EQ(meta().open_findings, 2U);
    const auto said = started_->log.describe({Topic::kChangesPods, PartitionNumber(0)});
    ASSERT_TRUE(said.ok());
    EXPECT_GT(distance(kFirstOffset, said->next_offset), kHours * 3'600 / 15)
        << "sources do prove themselves";
    start();           // what was in memory is written by the next start
    started_.reset();  // and what that took the place of is gone once it has ended
    EXPECT_LT(size_of(dir_ / "log"), 2'000'000U);
}

class ManyDays : public Days {
  protected:
    ManyDays() : checkpoints_(dir_ / "checkpoints", PartitionNumber(0), kCheckpoints) {
        for (int i = 0; i < kInstances; ++i) {
            const std::string name = "wrapper-n" + std::to_string(i);
            create_pod(name);
            insert_row(name);
        }
        restart();
    }

    void restart() {
        retention_.reset();
        start();
        retention_.emplace(runtime::RetentionSettings{.topics = kKept, .journal = kKept},
                           started_->log, clock_);
    }
    /// An hour in which an orphan is made, which Trueup deletes.
    void hour() {
        create_pod("wrapper-o" + std::to_string(++hours_));
        ASSERT_NO_FATAL_FAILURE(pass(std::chrono::hours(1)));
        const auto never = [] { return false; };
        ASSERT_TRUE(checkpoints_.make(*started_->store, never).ok());
        const auto tended = retention_->tend(meta(), checkpoints_.list(), never);
        ASSERT_TRUE(tended.ok()) << tended.error().what;
        if (hours_ % kRestartEvery == 0) restart();
    }

    runtime::Checkpoints checkpoints_;
    std::optional<runtime::Retention> retention_;
    int hours_ = 0;
};

// The log, the journal and each look at what was the same were kept for ever.
TEST_F(ManyDays, WhatIsKeptDoesNotGrowWithAge) {
    std::uintmax_t log_at_first = 0;
    std::uintmax_t rows_at_first = 0;
    [[maybe_unused]] std::uint64_t memory_at_first = 0;
    const int all = days();
    for (int day = 1; day <= all; ++day) {
        for (int i = 0; i < kHours; ++i) ASSERT_NO_FATAL_FAILURE(hour());
        const std::uintmax_t log = size_of(dir_ / "log");
        const std::uintmax_t rows = size_of(dir_ / "rows");
        std::cout << "day " << day << ": log " << log / 1024 << " KiB, rows " << rows / 1024
                  << " KiB, checkpoints " << checkpoints_.list().size() << ", memory "
                  << resident() / 1024 << " MiB\n";
        EXPECT_LE(checkpoints_.list().size(), kCheckpoints);
        if (day == 1) {
            log_at_first = log;
            rows_at_first = rows;
            memory_at_first = resident();
        }
        if (day == 1) continue;
        EXPECT_LT(log, 2 * log_at_first);
        EXPECT_LT(rows, 2 * rows_at_first + (1U << 20U));
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)  // which keep what was freed
        EXPECT_LT(resident(), memory_at_first * 3 / 2);
#endif
    }
    ASSERT_NO_FATAL_FAILURE(pass(Millis{600'000}));
    EXPECT_EQ(meta().counters.holes, 0U);
    EXPECT_EQ(meta().open_findings, 0U);
    EXPECT_EQ(meta().outbox, 0U);
    const std::vector<sandbox::Effect> effects = world_.effects();
    EXPECT_EQ(
        std::count_if(effects.begin(), effects.end(), [](const auto& e) { return e.accepted; }),
        hours_)
        << "each orphan, and nothing else";
}

}  // namespace
}  // namespace trueup::testing
