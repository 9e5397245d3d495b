// Proves that journal time is watched time (S35; design §4.4, §4.8).
#include "tests/support/graph_script.h"

#include <gtest/gtest.h>

namespace trueup::testing {
namespace {

JournalScript with_orphan() {
    JournalScript s = orphan_at(110s);
    s.news();
    return s;
}

TEST(Time, StartsAtZeroAndCountsTheSteps) {
    JournalScript s;
    EXPECT_EQ(to_millis(s.meta().now), 0);
    s.at(3s).tick();
    s.at(13s).tick();
    EXPECT_EQ(to_millis(s.meta().now), 13'000);
    EXPECT_EQ(s.counted().clamped_steps, 0U) << "10 s is the longest step that was watched";
}

TEST(Time, AJumpOfOneDayEndsNoGrace_S35) {
    JournalScript s = with_orphan();
    s.at(24h);
    s.together([&] {
        s.progress("pods");
        s.progress("rows");
    });
    EXPECT_EQ(to_millis(s.meta().now), 120'000) << "the day counts as 10 s";
    EXPECT_EQ(s.counted().clamped_steps, 1U);
    EXPECT_EQ(s.news(), "");
    s.quiet_until(24h + 40s);
    EXPECT_EQ(s.news(),
              "86440s commanded orphaned_pod wrapper-7 a\n"
              "86440s delete_pod wrapper-7 a\n");
}

TEST(Time, AJumpClearsWhatWasProven_S35) {
    JournalScript s = with_orphan();
    ASSERT_EQ(s.source("rows").complete_as_of, broker(110s));
    s.at(110s + 10s + 1ms).tick();
    EXPECT_EQ(s.source("rows").complete_as_of, BrokerTime{});
    EXPECT_EQ(s.source("pods").complete_as_of, BrokerTime{});
    EXPECT_TRUE(s.source("rows").known) << "what was listed was listed";
    s.silent_until(300s);
    EXPECT_EQ(s.news(), "160s suspected orphaned_pod wrapper-7 a: awaiting_progress\n");
}

TEST(Time, AStepBackMovesNothingAndHaltsNothing_S35) {
    JournalScript s = with_orphan();
    s.at(50s).tick();
    EXPECT_EQ(to_millis(s.meta().now), 110'000);
    EXPECT_EQ(s.meta().broker_now, broker(110s));
    EXPECT_EQ(s.source("rows").complete_as_of, BrokerTime{});
    EXPECT_EQ(s.counted().clamped_steps, 1U);
    EXPECT_TRUE(s.state().halted.empty());
    s.at(110s).quiet_until(160s);
    EXPECT_EQ(s.news(),
              "160s commanded orphaned_pod wrapper-7 a\n"
              "160s delete_pod wrapper-7 a\n");
}

TEST(Time, SilenceOf46sHoldsWhatLeansOnTheSource) {
    JournalScript s = with_orphan();
    // Rows stay proven until 140 s, past the window at 130 s, then say nothing more.
    s.quiet_until(140s);
    while (s.now() < 155s) s.at(s.now() + 5s).progress("pods");
    s.at(160s).progress("pods");
    EXPECT_EQ(s.commands().size(), 1U) << "20 s of silence is no silence";

    JournalScript other = with_orphan();
    other.quiet_until(131s);
    Settings longer = graph_settings();
    longer.rules[0].grace = 80s;
    other.put_in_force(longer);
    while (other.now() < 180s) other.at(other.now() + 7s).progress("pods");
    EXPECT_EQ(other.news(), "180s suspected orphaned_pod wrapper-7 a: stale\n");
}

TEST(Time, TheGuardTimesAreStoredNotMeasured_C7) {
    JournalScript s = with_orphan();
    const JournalTime now = s.meta().now;
    EXPECT_EQ(s.findings().front().since, JournalTime(100s));
    EXPECT_EQ(now, JournalTime(110s));
}

}  // namespace
}  // namespace trueup::testing
