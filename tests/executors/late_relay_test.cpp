// Proves that a relay which slept does no harm when it wakes (C5): each command of its backlog is
// known already, has expired, or is refused.
#include "engine/runtime/relay.h"
#include "tests/executors/dispatcher_fixture.h"

#include <gtest/gtest.h>

#include <future>

namespace trueup::executors::testing {
namespace {

constexpr Millis kSeconds{20'000};  // a command lives longer
constexpr Millis kHours{5 * 3'600'000};

/// A shard's relay that was given an order, and has not published it.
class LateRelay : public ::testing::Test {
  protected:
    DispatcherFixture fixture_;

    LateRelay() {
        fixture_.step();  // the executor is up
        core::FoldReport report;
        report.commands.push_back(fixture_.live(delete_orphan()));
        relay_.offer(JournalId({7, 7}), Offset(3), report);
    }
    void wakes_after(Millis asleep) {
        fixture_.pass(asleep);
        ASSERT_TRUE(relay_.drain().ok());
        ASSERT_EQ(relay_.published(), 1U);
        fixture_.step();
    }
    void expect_one_outcome(OutcomeKind kind) {
        ASSERT_EQ(fixture_.outcomes().size(), 1U);
        EXPECT_EQ(fixture_.outcomes()[0].kind, kind) << fixture_.outcomes()[0].detail;
    }

  private:
    runtime::Relay relay_{fixture_.log, PartitionNumber(0), trueup::testing::test_keys(),
                          std::launch::deferred};
};

/// Without a nap the order is carried out: what follows is not true of any order.
TEST_F(LateRelay, InTimeItsCommandIsCarriedOut) {
    wakes_after(Millis(0));
    expect_one_outcome(OutcomeKind::kDone);
    EXPECT_EQ(fixture_.cluster.effects, 1U);
}

TEST_F(LateRelay, WhatAnotherEnginesRelayPublishedIsKnown_C5) {
    fixture_.emit(delete_orphan());
    fixture_.step();
    fixture_.cluster.pods["wrapper-a"] = {};  // as if somebody had undone it
    wakes_after(kSeconds);
    expect_one_outcome(OutcomeKind::kDone);
    EXPECT_EQ(fixture_.cluster.effects, 1U);
}

TEST_F(LateRelay, AfterHoursItsCommandHasExpired_C5) {
    wakes_after(kHours);
    expect_one_outcome(OutcomeKind::kExpired);
    EXPECT_TRUE(fixture_.cluster.calls.empty());
}

TEST_F(LateRelay, WhatWasPausedMeanwhileIsRefusedThoughThePauseIsOver_C5) {
    fixture_.pass(Millis(1));
    fixture_.say(RequestKind::kPause);
    fixture_.pass(Millis(1));
    fixture_.say(RequestKind::kResume);
    wakes_after(kSeconds);
    expect_one_outcome(OutcomeKind::kRefused);
    EXPECT_EQ(fixture_.cluster.effects, 0U);
}

TEST_F(LateRelay, WhatTheWorldHasLeftBehindIsRefused_C5) {
    fixture_.database.rows["7"].columns["pod_name"] = "wrapper-a";
    wakes_after(kSeconds);
    expect_one_outcome(OutcomeKind::kRefused);
    EXPECT_EQ(fixture_.cluster.effects, 0U);
}

}  // namespace
}  // namespace trueup::executors::testing
