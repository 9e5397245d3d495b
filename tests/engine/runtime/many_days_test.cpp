// An installation that runs for weeks: what it keeps does not grow with its age. Over the embedded
// log and rows on the disk, in virtual time, with checkpoints, retention, audits, endings and
// restarts. TRUEUP_SOAK_DAYS says how many days (2); tools/soak asks for 24.
//
// What it gets wrong: the servers are the sandbox's; certificates and tokens are none of its parts.
#include "connectors/embedded/embedded_log.h"
#include "engine/runtime/checkpoints.h"
#include "engine/runtime/retention.h"
#include "projections/rocksdb_store.h"
#include "tests/support/temp_dir.h"
#include "tests/support/virtual_host.h"
#include "tests/support/wrapped_log.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <optional>
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

/// A log whose appends are answered when `append` returns: in virtual time its writer's thread
/// would take as long as the machine is busy.
class AtOnce final : public WrappedLog {
  public:
    using WrappedLog::WrappedLog;
    std::unique_ptr<ports::PendingAppend> append(
        ports::Partition partition, const std::vector<ports::Entry>& entries) override {
        auto pending = WrappedLog::append(partition, entries);
        while (!pending->ready()) std::this_thread::yield();
        return pending;
    }
};

class ManyDays : public ::testing::Test {
  protected:
    ManyDays() : host_(1, settings()), checkpoints_(dir_ / "checkpoints", 0, kCheckpoints) {
        begin_retention();
        for (int i = 0; i < kInstances; ++i) begin_instance();
    }

    VirtualHostSettings settings() {
        VirtualHostSettings made;
        made.policy.max_clock_step = Millis{10'000};
        made.policy.stale_after = Millis{45'000};
        made.tick = Millis{1'000};
        made.pace_idle = Millis{15'000};
        made.pace_waiting = Millis{2'000};
        made.relist_every = std::chrono::hours(1);
        made.open_log = [this](ports::Clock& clock) -> std::unique_ptr<ports::Log> {
            auto log = connectors::EmbeddedLog::open({.path = dir_ / "log",
                                                      .fsync = false,
                                                      .clock = &clock,
                                                      .memory_bytes = std::size_t{4} << 20U});
            return log ? std::make_unique<AtOnce>(std::move(*log)) : nullptr;
        };
        made.open_store = [this]() -> std::unique_ptr<ports::Store> {
            auto store = projections::RocksdbStore::open(
                {.path = dir_ / "rows", .memory_bytes = std::size_t{4} << 20U});
            return store ? std::move(*store) : nullptr;
        };
        return made;
    }

    void begin_retention() {
        retention_.emplace(runtime::RetentionSettings{.topics = kKept, .journal = kKept},
                           host_.log_in_use(), host_.clock());
    }
    void begin_instance() {
        const std::string name = "wrapper-n" + std::to_string(++instances_);
        host_.world().create_pod(name, VirtualHost::labels(), "Running");
        host_.insert_row(name);
    }
    /// An hour in which an orphan is made, which Trueup deletes.
    void hour() {
        host_.world().create_pod("wrapper-o" + std::to_string(++instances_), VirtualHost::labels(),
                                 "Running");
        host_.run(std::chrono::hours(1));
        ASSERT_EQ(host_.fatal(), "");
        const auto never = [] { return false; };
        ASSERT_TRUE(checkpoints_.make(host_.rows_in_use(), never).ok());
        const auto tended = retention_->tend(host_.status().meta, checkpoints_.list(), never);
        ASSERT_TRUE(tended.ok()) << tended.error().what;
        if (++hours_ % kRestartEvery == 0) {
            host_.crash();
            begin_retention();
        }
    }

    TempDir dir_;
    VirtualHost host_;
    runtime::Checkpoints checkpoints_;
    std::optional<runtime::Retention> retention_;
    int instances_ = 0;
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
    EXPECT_EQ(host_.status().meta.counters.holes, 0U);
    EXPECT_TRUE(host_.settle(Millis{600'000}));
    const std::vector<sandbox::Effect> effects = host_.accepted_effects();
    EXPECT_EQ(effects.size(), static_cast<std::size_t>(hours_)) << "each orphan, and nothing else";
}

}  // namespace
}  // namespace trueup::testing
