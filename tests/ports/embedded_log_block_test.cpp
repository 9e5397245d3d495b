// Proves connectors/embedded/block.h and append_clock.h: what is stored is checked when it is read,
// and times are given as promised.
#include "connectors/embedded/append_clock.h"
#include "connectors/embedded/block.h"
#include "tests/support/manual_clock.h"

#include <gtest/gtest.h>

namespace trueup::connectors {
namespace {

constexpr BrokerTime kTime{Millis(1234)};

BlockRef sample() {
    return seal(pack({{"k1", "v1", {{"h", "x"}}}, {"", ""}, {"k3", "v3"}}), Offset(40), kTime);
}

TEST(Block, ComesBackAsItWasSealed) {
    const Result<BlockRef> parsed = parse(sample()->bytes, Offset(40));
    ASSERT_TRUE(parsed.ok());
    EXPECT_EQ((*parsed)->next_offset(), Offset(43));
    EXPECT_EQ((*parsed)->append_time, kTime);
    ports::Fetched out;
    std::size_t taken = 0;
    EXPECT_TRUE(add_records(*parsed, Offset(41), 1000, taken, out));
    ASSERT_EQ(out.records.size(), 2U);
    EXPECT_EQ(out.records[1].key, "k3");
    EXPECT_EQ(out.records[1].value, "v3");
    EXPECT_EQ(headers_of(**parsed, Offset(40)), (Headers{{"h", "x"}}));
}

TEST(Block, EveryDamagedByteIsNoticed) {
    const std::string good = sample()->bytes;
    for (std::size_t i = 0; i < good.size(); ++i) {
        std::string bad = good;
        bad[i] = static_cast<char>(bad[i] ^ 1);
        EXPECT_FALSE(parse(bad, Offset(40)).ok()) << "byte " << i;
    }
}

TEST(Block, EveryCutAndAnyWrongPlaceIsNoticed) {
    const std::string good = sample()->bytes;
    for (std::size_t size = 0; size < good.size(); ++size) {
        EXPECT_FALSE(parse(good.substr(0, size), Offset(40)).ok()) << "size " << size;
    }
    EXPECT_FALSE(parse(good + "x", Offset(40)).ok());
    EXPECT_FALSE(parse(good, Offset(41)).ok());
}

TEST(AppendClock, AscendsWithinAPartitionAndNeverDescendsBetweenThem) {
    testing::ManualClock source{1'000};
    AppendClock clock(source);
    EXPECT_EQ(to_millis(clock.next({})), 1000);
    EXPECT_EQ(to_millis(clock.next(BrokerTime(Millis(1000)))), 1001);
    EXPECT_EQ(to_millis(clock.next({})), 1001);  // another partition
}

TEST(AppendClock, DoesNotRunAwayUnderLoad) {
    testing::ManualClock source{1'000};
    AppendClock clock(source);
    BrokerTime time{};
    for (int i = 0; i < 100'000; ++i) time = clock.next(time);
    EXPECT_EQ(time, BrokerTime(Millis(1000) + AppendClock::kMaxLead));
}

TEST(AppendClock, TicksOnWhileTheWallClockIsBehind) {
    testing::ManualClock source{1'000};
    AppendClock clock(source);
    const BrokerTime before = clock.next({});
    source.advance(Millis(500));
    source.leap(-Millis(4100));
    EXPECT_EQ(clock.next(before), before + Millis(500));
}

TEST(AppendClock, StartsBehindWhatWasGivenBefore) {
    testing::ManualClock source{1'000};
    AppendClock clock(source);
    clock.not_before(BrokerTime(Millis(9000)));
    EXPECT_EQ(to_millis(clock.next({})), 9000);
    source.advance(Millis(5));
    EXPECT_EQ(to_millis(clock.next({})), 9005);
}

}  // namespace
}  // namespace trueup::connectors
