// Proves that tests/support/memory_log.h keeps the promises of engine/ports/log.h that tests rely
// on.
#include "tests/support/memory_log.h"

#include <gtest/gtest.h>

#include <thread>

namespace trueup::testing {
namespace {

constexpr ports::Partition kJournal{Topic::kJournal, PartitionNumber(0)};

std::vector<ports::Entry> entries(std::initializer_list<const char*> values) {
    std::vector<ports::Entry> list;
    for (const char* value : values) list.push_back({"k", value, {}});
    return list;
}

std::vector<std::string> values_from(MemoryLog& log, std::int64_t offset,
                                     std::size_t max_bytes = 1'000) {
    const auto fetched = log.read(kJournal, Offset(offset), max_bytes);
    std::vector<std::string> values;
    for (const ports::Record& record : fetched.value().records) values.emplace_back(record.value);
    return values;
}

TEST(MemoryLog, KeepsOrderOffsetsAndTime_L1_L2_L4) {
    MemoryLog log(1'000);
    const auto first = append_now(log, kJournal, entries({"a", "b"}));
    ASSERT_TRUE(first.ok());
    EXPECT_EQ(first.value().first_offset, kFirstOffset);
    EXPECT_EQ(first.value().last_offset, Offset(1));
    log.set_now(from_millis<BrokerTime>(500));
    const auto second = append_now(log, kJournal, entries({"c"}));
    EXPECT_EQ(second.value().append_time, from_millis<BrokerTime>(1'000));
    EXPECT_EQ(values_from(log, 0), (std::vector<std::string>{"a", "b", "c"}));
    EXPECT_EQ(values_from(log, 0, 1), std::vector<std::string>{"a"});
    EXPECT_EQ(values_from(log, 3), std::vector<std::string>{});
    EXPECT_EQ(log.describe(kJournal).value().next_offset, Offset(3));
    EXPECT_EQ(log.changes_seen(), 2U);
}

TEST(MemoryLog, AFailedAppendMayBeStored_L5) {
    MemoryLog log;
    log.fail_next_append(true);
    log.fail_next_append(false);
    log.fail_next_append(false, Topic::kOutcomes);
    EXPECT_FALSE(append_now(log, kJournal, entries({"stored"})).ok());
    EXPECT_FALSE(append_now(log, kJournal, entries({"lost"})).ok());
    EXPECT_TRUE(append_now(log, kJournal, entries({"fine"})).ok());
    EXPECT_EQ(values_from(log, 0), (std::vector<std::string>{"stored", "fine"}));
}

TEST(MemoryLog, BelowTheStartIsAnError_L6) {
    MemoryLog log;
    ASSERT_TRUE(append_now(log, kJournal, entries({"a", "b"})).ok());
    const auto kept = log.read(kJournal, kFirstOffset, 1'000);
    ASSERT_TRUE(log.truncate(kJournal, Offset(1)).ok());
    EXPECT_EQ(log.read(kJournal, kFirstOffset, 1'000).error().next, Next::kStop);
    EXPECT_EQ(values_from(log, 1), std::vector<std::string>{"b"});
    EXPECT_EQ(kept.value().records[0].value, "a");  // what was read stays
    EXPECT_EQ(log.headers(kJournal, kFirstOffset).error().next, Next::kSkip);
}

TEST(MemoryLog, HeldAppendsAreNeitherReadableNorAnswered) {
    MemoryLog log;
    log.hold_appends();
    const auto pending = log.append(kJournal, entries({"a"}));
    EXPECT_FALSE(pending->ready());
    EXPECT_TRUE(values_from(log, 0).empty());
    log.release_appends();
    EXPECT_TRUE(pending->ready());
    EXPECT_EQ(pending->take().value().first_offset, kFirstOffset);
}

TEST(MemoryLog, OffsetsMaySkip_L2) {
    MemoryLog log;
    ASSERT_TRUE(append_now(log, kJournal, entries({"a"})).ok());
    log.skip_offsets(kJournal, 10);
    EXPECT_EQ(append_now(log, kJournal, entries({"b"})).value().first_offset, Offset(11));
    EXPECT_EQ(values_from(log, 1), std::vector<std::string>{"b"});
}

TEST(MemoryLog, WaitEndsByAnAppendOrAWake) {
    MemoryLog log;
    log.block_in_wait(true);
    std::thread writer([&] { (void)append_now(log, kJournal, entries({"a"})); });
    log.wait(0, Millis(60'000));
    writer.join();
    EXPECT_EQ(log.changes_seen(), 1U);
    log.wait(0, Millis(60'000));  // there is news already
}

}  // namespace
}  // namespace trueup::testing
