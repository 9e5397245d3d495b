// Proves the tables of waits (design §5: due timers; §4.5: progress).
#include "engine/core/waits.h"

#include <gtest/gtest.h>

namespace trueup::core {
namespace {

using std::chrono::seconds;

Wait due(std::int64_t at) {
    Wait wait;
    wait.due = JournalTime(seconds(at));
    return wait;
}
Wait seen(SourceId source, std::int64_t beyond) {
    Wait wait;
    wait.source = source;
    wait.beyond = BrokerTime(seconds(beyond));
    return wait;
}
Wait correlated() {
    Wait wait;
    wait.uncorrelated = true;
    return wait;
}

TEST(Waits, TimersComeInOrderAndNotBeforeTheirTime) {
    Waits waits;
    waits.add("b", due(20));
    waits.add("a", due(30));
    waits.add("c", due(10));
    EXPECT_EQ(waits.size(), 3U);
    EXPECT_EQ(waits.next_due(), JournalTime(seconds(10)));
    EXPECT_EQ(waits.take_due(JournalTime(seconds(9))), std::nullopt);
    EXPECT_EQ(waits.take_due(JournalTime(seconds(20))), "c");
    EXPECT_EQ(waits.take_due(JournalTime(seconds(20))), "b");
    EXPECT_EQ(waits.take_due(JournalTime(seconds(20))), std::nullopt);
    EXPECT_EQ(waits.take_due(JournalTime(seconds(30))), "a");
    EXPECT_EQ(waits.next_due(), std::nullopt);
}

TEST(Waits, ProgressMustPassNotReach) {
    Waits waits;
    waits.add("a", seen(1, 100));
    EXPECT_TRUE(waits.waiting_on(1));
    EXPECT_FALSE(waits.waiting_on(0));
    EXPECT_FALSE(waits.waiting_on(2));
    EXPECT_EQ(waits.take_seen(1, BrokerTime(seconds(100))), std::nullopt);
    EXPECT_EQ(waits.take_seen(0, BrokerTime(seconds(999))), std::nullopt);
    EXPECT_EQ(waits.take_seen(2, BrokerTime(seconds(999))), std::nullopt);
    EXPECT_EQ(waits.take_seen(1, BrokerTime(seconds(101))), "a");
    EXPECT_FALSE(waits.waiting_on(1));
}

TEST(Waits, WhoWaitsForCorrelationComesByKey) {
    Waits waits;
    waits.add("b", correlated());
    waits.add("a", correlated());
    EXPECT_EQ(waits.take_correlated(), "a");
    EXPECT_EQ(waits.take_correlated(), "b");
    EXPECT_EQ(waits.take_correlated(), std::nullopt);
}

TEST(Waits, AWaitMayHaveSeveralParts) {
    Waits waits;
    Wait all = seen(0, 5);
    all.due = JournalTime(seconds(1));
    all.uncorrelated = true;
    waits.add("a", all);
    EXPECT_EQ(waits.size(), 3U);
    waits.remove("a", all);
    EXPECT_EQ(waits.size(), 0U);
}

TEST(Waits, TheSameTwiceIsOnce) {
    Waits waits;
    waits.add("a", due(5));
    waits.add("a", due(5));
    EXPECT_EQ(waits.size(), 1U);
}

}  // namespace
}  // namespace trueup::core
