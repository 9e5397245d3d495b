// What an installation writes while nothing happens.
#include "connectors/embedded/embedded_log.h"
#include "tests/support/temp_dir.h"
#include "tests/support/virtual_host.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>

namespace trueup::testing {
namespace {

/// Everything that was appended, in the order of time.
struct Unit {
    Topic topic = Topic::kUnspecified;
    StoredRecord record;
};

std::vector<Unit> units_of(const MemoryLog& log) {
    std::vector<Unit> units;
    for (std::size_t i = 1; i < kTopics; ++i) {
        const auto topic = static_cast<Topic>(i);
        for (StoredRecord& record : log.records({topic, 0}))
            units.push_back({topic, std::move(record)});
    }
    std::stable_sort(units.begin(), units.end(), [](const Unit& a, const Unit& b) {
        return a.record.append_time < b.record.append_time;
    });
    return units;
}

// An idle installation with one open finding wrote 48 MB a day: its sources proved every two
// seconds that nothing had changed, each proof lay in the log twice, and nothing was compressed.
TEST(IdleDay, InObserveWithOpenFindingsItTakesLessThanTwoMegabytes) {
    VirtualHostSettings settings;
    for (RuleSettings& rule : settings.policy.rules) rule.mode = Mode::kObserve;
    settings.policy.reconcile_every = Millis{300'000};
    settings.policy.max_clock_step = Millis{10'000};
    settings.policy.stale_after = Millis{45'000};
    settings.pace_idle = Millis{15'000};
    settings.pace_waiting = Millis{2'000};
    settings.tick = Millis{500};
    VirtualHost host(1, settings);
    host.world().create_pod("wrapper-a", VirtualHost::labels(), "Running");
    host.insert_row("wrapper-b");
    host.run(std::chrono::hours(24));
    ASSERT_EQ(host.status().meta.open_findings, 2U);
    ASSERT_EQ(host.fatal(), "");

    const TempDir dir;
    auto log = connectors::EmbeddedLog::open(
        {.path = dir / "log", .fsync = false, .memory_bytes = std::size_t{2} << 20U});
    ASSERT_TRUE(log.ok());
    const std::vector<Unit> units = units_of(host.log());
    for (const Unit& unit : units) {
        const std::vector<ports::Entry> one{{unit.record.key, unit.record.value, {}}};
        ASSERT_TRUE(append_now(**log, {unit.topic, 0}, one).ok());
    }
    EXPECT_GT(units.size(), 24U * 3'600U / 15U) << "sources do prove themselves";
    *log = nullptr;  // what was in memory is written by the next start
    log = connectors::EmbeddedLog::open({.path = dir / "log", .fsync = false});
    ASSERT_TRUE(log.ok());
    EXPECT_LT((*log)->stored_bytes().value_or(0), 2'000'000U);
}

}  // namespace
}  // namespace trueup::testing
