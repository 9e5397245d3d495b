// An executor without anything to do looked at three topics of every partition 50 times a second,
// and 100 times while a call was under way.
//
// Proves engine/ports/wakeup.h of the executor: it waits until something is due, or it is woken.
#include "executors/executor_loop.h"
#include "tests/executors/dispatcher_fixture.h"
#include "tests/support/wrapped_log.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <vector>

namespace trueup::executors::testing {
namespace {

constexpr Millis kLong = std::chrono::minutes(1);

/// Writes down how long somebody was ready to wait, and what for.
class Waits final : public trueup::testing::WrappedLog {
  public:
    using WrappedLog::WrappedLog;
    void wait(std::uint64_t seen, Millis max_wait) override {
        all.push_back(max_wait);
        last_seen = seen;
    }
    std::vector<Millis> all;
    std::uint64_t last_seen = 0;
};

class IdleExecutor : public ::testing::Test {
  protected:
    IdleExecutor() {
        fixture.settings.partitions.clear();
        for (std::int32_t p = 0; p < 8; ++p) fixture.settings.partitions.emplace_back(p);
        dispatcher.emplace(log, sources_of(fixture.cluster, fixture.database), fixture.settings);
        // Its first beat, and where everything ends.
        for (int i = 0; i < 4; ++i) step(Millis{0});
    }
    void step(Millis max_wait = kLong) { dispatcher->step(fixture.now, max_wait); }
    /// As a thread does that nobody wakes: when the wait is over, it steps again.
    int steps_within(Millis time) {
        const SteadyTime end = fixture.now + time;
        int steps = 0;
        for (; fixture.now < end; ++steps) {
            const std::size_t before = log.all.size();
            step();
            if (log.all.size() > before) fixture.pass(log.all.back());
        }
        return steps;
    }

    /// For a pod that the cluster does not answer about, and for rows that the database keeps back.
    void wait_for_both() {
        Upset silent;
        silent.silent = true;
        fixture.cluster.upset_gets.push_back(silent);
        fixture.database.upset_reads.push_back(silent);
        fixture.emit(delete_orphan());
        Command other = fail_row();
        other.subject = "graph/wrapper-b";
        fixture.emit(std::move(other));
        for (int i = 0; i < 12; ++i) step(Millis{0});
        step();
    }

    DispatcherFixture fixture;
    Waits log{fixture.log};
    std::optional<Dispatcher> dispatcher;
};

TEST_F(IdleExecutor, MakesNoStepUntilSomethingIsDue) {
    EXPECT_LE(steps_within(std::chrono::hours(1)), 62) << "one a minute, as its caller wants";
}

TEST_F(IdleExecutor, ReadsNothingWhereTheLogSaysThatNothingIsNew) {
    const std::uint64_t before = fixture.log.reads();
    steps_within(std::chrono::hours(1));
    EXPECT_EQ(fixture.log.reads(), before);
}

TEST_F(IdleExecutor, ReadsTheOnePartitionThatHasNews) {
    const std::uint64_t before = fixture.log.reads();
    fixture.append(Topic::kRequests, "nobody's word", "key", 5);
    step();
    EXPECT_EQ(fixture.log.reads(), before + 1);
}

TEST_F(IdleExecutor, AStopBetweenTwoStepsEndsTheNextWait) {
    step();
    fixture.log.wake();
    step();
    EXPECT_LT(log.last_seen, log.changes_seen()) << "it does not wait for what was before";
}

TEST_F(IdleExecutor, WaitsForAnAnswerUntilItsCallIsOverdue) {
    Upset silent;
    silent.silent = true;
    fixture.database.upset_reads.push_back(silent);
    fixture.emit(delete_orphan());
    for (int i = 0; i < 12; ++i) step(Millis{0});
    step();
    EXPECT_EQ(fixture.database.longest_wait, Millis{2'000}) << "until the next heartbeat";
}

// A thousand times a second, while calls to a cluster and to a database were under way.
TEST_F(IdleExecutor, WaitsForAClusterAndADatabaseAtOnce) {
    wait_for_both();
    EXPECT_EQ(fixture.cluster.longest_wait, Millis{2'000}) << "until the next heartbeat";
    EXPECT_EQ(fixture.cluster.waited_for, 1U) << "the socket of the database";
    EXPECT_EQ(fixture.database.longest_wait, Millis{0});
}

TEST_F(IdleExecutor, LooksAgainSoonAtAPortThatCannotSayWhatItWaitsFor) {
    fixture.database.says_interest = false;
    wait_for_both();
    EXPECT_EQ(fixture.cluster.longest_wait, 2 * ports::kLookAgain) << "a while for each port";
}

TEST_F(IdleExecutor, NewsOfTheLogWakeThePortThatItWaitsFor) {
    Upset silent;
    silent.silent = true;
    fixture.database.upset_reads.push_back(silent);
    fixture.emit(delete_orphan());
    for (int i = 0; i < 12; ++i) step(Millis{0});
    const std::size_t before = fixture.database.wakes;
    fixture.append(Topic::kRequests, "nobody's word");
    EXPECT_EQ(fixture.database.wakes, before) << "it does not wait";
    fixture.database.in_poll = [&] { fixture.log.wake(); };
    step();
    EXPECT_EQ(fixture.database.wakes, before + 1);
}

TEST_F(IdleExecutor, WhatTheLogDoesNotGiveIsAskedForAgainSoon) {
    fixture.log.fail_reads(1'000);
    step();
    ASSERT_FALSE(log.all.empty());
    EXPECT_EQ(log.all.back(), Millis{200});
}

}  // namespace
}  // namespace trueup::executors::testing
