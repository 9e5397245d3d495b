// Proves executors/executor_loop.h: how an executor ends.
#include "executors/executor_loop.h"

#include "tests/executors/dispatcher_fixture.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace trueup::executors::testing {
namespace {

/// A pod is deleted, and the answer never comes.
void lose_the_answer(DispatcherFixture& fixture) {
    Upset lost;
    lost.carried_out = lost.silent = true;
    fixture.cluster.upset_deletes.push_back(lost);
    fixture.emit(delete_orphan());
    fixture.step();
    ASSERT_EQ(fixture.cluster.effects, 1U);
}

TEST(ExecutorLoop, SettlesOnceWhatWentOutHasItsOutcome_D5) {
    DispatcherFixture fixture;
    fixture.settings.call_timeout = Millis{2'000};
    ExecutorLoop loop(fixture.dispatcher(), {});
    lose_the_answer(fixture);
    EXPECT_EQ(loop.close(fixture.now), 1U);
    EXPECT_FALSE(loop.settled(fixture.now));
    fixture.pass(Millis{2'000});  // no answer came; the pod is looked at instead
    for (int i = 0; i < 5; ++i) loop.step(fixture.now, Millis{0});
    EXPECT_TRUE(loop.settled(fixture.now));
    EXPECT_EQ(fixture.outcomes().size(), 1U);
}

TEST(ExecutorLoop, WaitsNoLongerThanItMayForAnOutcome) {
    DispatcherFixture fixture;
    ExecutorLoop loop(fixture.dispatcher(), {});
    lose_the_answer(fixture);
    EXPECT_EQ(loop.close(fixture.now), 1U);
    fixture.pass(Millis{2'999});
    loop.step(fixture.now, Millis{0});
    EXPECT_FALSE(loop.settled(fixture.now));
    fixture.pass(Millis{1});
    EXPECT_TRUE(loop.settled(fixture.now)) << "the next start finds out what became of it";
}

TEST(ExecutorLoop, WithNothingUnderWayItEndsAtOnce) {
    DispatcherFixture fixture;
    ExecutorLoop loop(fixture.dispatcher(), {});
    loop.step(fixture.now, Millis{0});
    EXPECT_EQ(loop.close(fixture.now), 0U);
    EXPECT_TRUE(loop.settled(fixture.now));
}

TEST(ExecutorLoop, WhatIsWrongIsSaidOnce) {
    DispatcherFixture fixture;
    std::vector<std::string> said;
    ExecutorLoop loop(fixture.dispatcher(),
                      {.on_trouble = [&](const std::string& why) { said.push_back(why); }});
    loop.step(fixture.now, Millis{0});
    fixture.log.fail_reads(1'000);
    loop.step(fixture.now, Millis{0});
    loop.step(fixture.now, Millis{0});
    ASSERT_EQ(said.size(), 1U);
    fixture.log.fail_reads(0);
    loop.step(fixture.now, Millis{0});
    fixture.log.fail_reads(1'000);
    loop.step(fixture.now, Millis{0});
    EXPECT_EQ(said.size(), 2U) << "again, once it was well in between";
}

}  // namespace
}  // namespace trueup::executors::testing
