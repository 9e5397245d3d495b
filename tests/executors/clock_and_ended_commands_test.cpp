// Proves details 9: broker time by heartbeats and the steady clock, and the commands that ended.
#include "executors/broker_clock.h"
#include "executors/ended_commands.h"
#include "tests/support/memory_log.h"

#include <gtest/gtest.h>

namespace trueup::executors::testing {
namespace {

using trueup::testing::MemoryLog;

constexpr ports::Partition kOutcomes{Topic::kOutcomes, PartitionNumber(0)};

SteadyTime at(std::int64_t ms) { return from_millis<SteadyTime>(ms); }

TEST(BrokerClock, KnowsNothingBeforeTheFirstBeat) {
    MemoryLog log;
    BrokerClock clock(log, kOutcomes, Millis(2'000), Millis(5'000));
    EXPECT_FALSE(clock.at(at(0)).has_value());
    EXPECT_FALSE(clock.fresh(at(0)));
    EXPECT_FALSE(clock.step(at(0), false));
    EXPECT_TRUE(log.records(kOutcomes).empty());
}

TEST(BrokerClock, IsTheAppendTimePlusTheSteadyClockSinceTheBeatWasSent) {
    MemoryLog log(1'000'000);
    BrokerClock clock(log, kOutcomes, Millis(2'000), Millis(5'000));
    log.hold_appends();
    clock.step(at(100), true);
    EXPECT_TRUE(clock.waiting());
    log.advance(Millis(30));
    log.release_appends();
    EXPECT_TRUE(clock.step(at(140), true));
    // Appended somewhere in those 40 ms: we take the latest that it can be by now.
    EXPECT_EQ(clock.at(at(140)), from_millis<BrokerTime>(1'000'030 + 40));
    EXPECT_TRUE(clock.fresh(at(5'099)));
    EXPECT_FALSE(clock.fresh(at(5'100)));
}

TEST(BrokerClock, BeatsEveryTwoSecondsWhileWanted) {
    MemoryLog log;
    BrokerClock clock(log, kOutcomes, Millis(2'000), Millis(5'000));
    for (std::int64_t ms = 0; ms < 6'000; ms += 100) clock.step(at(ms), true);
    EXPECT_EQ(log.records(kOutcomes).size(), 3U);
    for (std::int64_t ms = 6'000; ms < 20'000; ms += 100) clock.step(at(ms), false);
    EXPECT_EQ(log.records(kOutcomes).size(), 3U);
}

TEST(BrokerClock, AFailedBeatIsRepeatedAfterAPause) {
    MemoryLog log;
    log.fail_next_append(false);
    BrokerClock clock(log, kOutcomes, Millis(2'000), Millis(5'000));
    clock.step(at(0), true);
    EXPECT_FALSE(clock.fresh(at(0)));
    clock.step(at(199), true);
    EXPECT_FALSE(clock.fresh(at(199)));
    clock.step(at(200), true);
    EXPECT_TRUE(clock.fresh(at(200)));
}

TEST(BrokerClock, NeverRunsBackwards_S35) {
    MemoryLog log(1'000'000);
    BrokerClock clock(log, kOutcomes, Millis(2'000), Millis(5'000));
    clock.step(at(0), true);
    // Append times of one partition stand still while the broker's clock is behind itself.
    for (std::int64_t ms = 0; ms < 10'000; ms += 500) {
        const auto before = clock.at(at(ms));
        clock.step(at(ms), true);
        EXPECT_GE(*clock.at(at(ms)), *before);
    }
}

// An executor that stood still while a beat was under way took every command for expired from then
// on.
TEST(BrokerClock, ABeatThatWasUnderWayForTooLongSaysNothing) {
    MemoryLog log(1'000'000);
    BrokerClock clock(log, kOutcomes, Millis(2'000), Millis(5'000));
    clock.step(at(0), true);
    log.advance(Millis(2'000));
    log.hold_appends();
    clock.step(at(2'000), true);
    log.advance(Millis(130'000));  // stopped before it was sent
    log.release_appends();
    clock.step(at(132'000), true);
    EXPECT_TRUE(clock.fresh(at(132'000))) << "another one follows at once";
    EXPECT_EQ(clock.at(at(132'000)), from_millis<BrokerTime>(1'132'000));
}

TEST(EndedCommands, ForgetsOnlyWhatIsOlderThanItsHorizon) {
    EndedCommands ended;
    ended.remember(CommandId({0, 1}), from_millis<BrokerTime>(100));
    ended.remember(CommandId({0, 2}), from_millis<BrokerTime>(200));
    ended.remember(CommandId({0, 1}), from_millis<BrokerTime>(300));
    ended.forget_before(from_millis<BrokerTime>(250));
    EXPECT_TRUE(ended.knows(CommandId({0, 1})));
    EXPECT_FALSE(ended.knows(CommandId({0, 2})));
    ended.forget_before(from_millis<BrokerTime>(301));
    EXPECT_EQ(ended.size(), 0U);
}

}  // namespace
}  // namespace trueup::executors::testing
