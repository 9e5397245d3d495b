// Proves engine/ports/log.h L3 and L4 for the embedded log: `kill -9` in the middle of appending.
#include "connectors/embedded/embedded_log.h"
#include "tests/ports/log_samples.h"
#include "tests/ports/victim.h"
#include "tests/support/temp_dir.h"

#include <gtest/gtest.h>

#include <deque>

namespace trueup::connectors {
namespace {

using ports::kJournal0;
using ports::read_all;
using ports::Seen;

constexpr std::size_t kSmallMemory = std::size_t{4} << 20U;  // so that flushes happen too
constexpr int kRecordsInUnit = 9;

/// The unit of one number: its key is the number, its values are of various sizes.
std::vector<ports::Entry> numbered_unit(std::uint64_t number) {
    std::vector<ports::Entry> entries;
    for (std::size_t i = 0; i < kRecordsInUnit; ++i) {
        entries.push_back({std::to_string(number), std::string(number % 7 * 400 + i, 'x')});
    }
    return entries;
}

std::unique_ptr<EmbeddedLog> must_open(const std::string& path) {
    auto opened = EmbeddedLog::open({.path = path, .memory_bytes = kSmallMemory});
    if (!opened.ok()) throw std::runtime_error(opened.error().what);
    return std::move(opened).value();
}

/// Units in the log, checked to be whole, adjacent and numbered from 0 without a hole.
std::uint64_t count_units(ports::Log& log) {
    const std::vector<Seen> seen = read_all(log, kJournal0);
    EXPECT_EQ(seen.size() % kRecordsInUnit, 0U);
    for (std::size_t i = 0; i < seen.size(); ++i) {
        const ports::Entry expected = numbered_unit(i / kRecordsInUnit)[i % kRecordsInUnit];
        EXPECT_EQ(seen[i].offset, Offset(static_cast<std::int64_t>(i)));
        EXPECT_EQ(seen[i].key, expected.key);
        EXPECT_EQ(seen[i].value.size(), expected.value.size());
    }
    return seen.size() / kRecordsInUnit;
}

/// Appends numbered units with some in flight for ever and says each number once acknowledged.
TEST(EmbeddedLogVictim, DISABLED_AppendsUntilKilled) {
    const auto job = testing::VictimJob::of_this_process();
    if (job.path.empty()) GTEST_SKIP() << "only as a child of EmbeddedLogKilled";
    auto log = must_open(job.path);
    std::deque<std::unique_ptr<ports::PendingAppend>> pending;
    std::uint64_t acknowledged = count_units(*log);
    for (std::uint64_t number = acknowledged;; ++number) {
        pending.push_back(log->append(kJournal0, numbered_unit(number)));
        if (pending.size() < 5) continue;
        if (!pending.front()->take().ok()) ::_exit(1);
        pending.pop_front();
        job.say(acknowledged++);
    }
}

TEST(EmbeddedLogKilled, AcknowledgedUnitsAreThereAndWhole_L3_L4) {
    testing::TempDir dir;
    std::uint64_t before = 0;
    for (const std::uint64_t enough : {5U, 150U, 600U}) {
        std::uint64_t number = 0;
        std::uint64_t heard = 0;
        {
            testing::Victim victim("EmbeddedLogVictim.DISABLED_AppendsUntilKilled", dir / "log");
            while (heard < enough && victim.hear(number)) ++heard;
            victim.kill();
            while (victim.hear(number)) ++heard;
        }
        ASSERT_GE(heard, enough);
        EXPECT_EQ(number, before + heard - 1);
        auto log = must_open(dir / "log");
        const std::uint64_t units = count_units(*log);
        EXPECT_GT(units, number);
        before = units;
    }
}

}  // namespace
}  // namespace trueup::connectors
