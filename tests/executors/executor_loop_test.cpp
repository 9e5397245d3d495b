// Proves executors/executor_loop.h: how an executor ends.
#include "executors/executor_loop.h"

#include "tests/executors/desk.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace trueup::executors::testing {
namespace {

/// A pod is deleted, and the answer never comes.
void lose_the_answer(Desk& desk) {
    Upset lost;
    lost.carried_out = lost.silent = true;
    desk.cluster.upset_deletes.push_back(lost);
    desk.emit(delete_orphan());
    desk.step();
    ASSERT_EQ(desk.cluster.effects, 1U);
}

TEST(ExecutorLoop, SettlesOnceWhatWentOutHasItsOutcome_D5) {
    Desk desk;
    desk.settings.call_timeout = Millis{2'000};
    ExecutorLoop loop(desk.dispatcher(), {});
    lose_the_answer(desk);
    EXPECT_EQ(loop.close(desk.now), 1U);
    EXPECT_FALSE(loop.settled(desk.now));
    desk.pass(Millis{2'000});  // no answer came; the pod is looked at instead
    for (int i = 0; i < 5; ++i) loop.step(desk.now, Millis{0});
    EXPECT_TRUE(loop.settled(desk.now));
    EXPECT_EQ(desk.outcomes().size(), 1U);
}

TEST(ExecutorLoop, WaitsNoLongerThanItMayForAnOutcome) {
    Desk desk;
    ExecutorLoop loop(desk.dispatcher(), {});
    lose_the_answer(desk);
    EXPECT_EQ(loop.close(desk.now), 1U);
    desk.pass(Millis{2'999});
    loop.step(desk.now, Millis{0});
    EXPECT_FALSE(loop.settled(desk.now));
    desk.pass(Millis{1});
    EXPECT_TRUE(loop.settled(desk.now)) << "the next start finds out what became of it";
}

TEST(ExecutorLoop, WithNothingUnderWayItEndsAtOnce) {
    Desk desk;
    ExecutorLoop loop(desk.dispatcher(), {});
    loop.step(desk.now, Millis{0});
    EXPECT_EQ(loop.close(desk.now), 0U);
    EXPECT_TRUE(loop.settled(desk.now));
}

TEST(ExecutorLoop, WhatIsWrongIsSaidOnce) {
    Desk desk;
    std::vector<std::string> said;
    ExecutorLoop loop(desk.dispatcher(),
                      {.on_trouble = [&](const std::string& why) { said.push_back(why); }});
    loop.step(desk.now, Millis{0});
    desk.log.fail_reads(1'000);
    loop.step(desk.now, Millis{0});
    loop.step(desk.now, Millis{0});
    ASSERT_EQ(said.size(), 1U);
    desk.log.fail_reads(0);
    loop.step(desk.now, Millis{0});
    desk.log.fail_reads(1'000);
    loop.step(desk.now, Millis{0});
    EXPECT_EQ(said.size(), 2U) << "again, once it was well in between";
}

}  // namespace
}  // namespace trueup::executors::testing
