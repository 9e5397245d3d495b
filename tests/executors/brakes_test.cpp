// Proves executors/brakes.h (design §8, §4.9, S24, S40): executors follow pauses and holds, and
// what was ordered before one is never carried out.
#include "executors/brakes.h"

#include "tests/executors/desk.h"

#include <gtest/gtest.h>

namespace trueup::executors::testing {
namespace {

using trueup::testing::test_keys;

/// Nothing was written; the command was refused, with a sentence that says why.
void expect_refused(Desk& desk, const std::string& part) {
    EXPECT_EQ(desk.cluster.effects, 0U);
    ASSERT_EQ(desk.outcomes().size(), 1U);
    EXPECT_EQ(desk.outcomes()[0].kind, OutcomeKind::kRefused);
    EXPECT_TRUE(says(desk.outcomes()[0], part)) << desk.outcomes()[0].reason;
}

TEST(Brakes, ACommandBehindAPauseIsRefusedAndSaysWhoPaused_S40) {
    Desk desk;
    desk.say(RequestKind::kPause);
    desk.pass(Millis(1));
    desk.emit(delete_orphan());
    desk.step();
    expect_refused(desk, "an operator's pause (olga)");
}

TEST(Brakes, WhatWasOrderedBeforeAPauseStaysUndoneWhenItEnds_S40) {
    Desk desk;
    desk.emit(delete_orphan());
    desk.pass(Millis(1));
    desk.say(RequestKind::kPause);
    desk.pass(Millis(1));
    desk.say(RequestKind::kResume);
    desk.step();
    expect_refused(desk, "ordered before an operator's pause");
}

TEST(Brakes, WhatIsOrderedBehindAResumeIsDone) {
    Desk desk;
    desk.say(RequestKind::kPause);
    desk.pass(Millis(1));
    desk.say(RequestKind::kResume);
    desk.pass(Millis(1));
    desk.emit(delete_orphan());
    desk.step();
    EXPECT_EQ(desk.cluster.effects, 1U);
}

TEST(Brakes, APauseOfAnotherRuleAndAHoldOnAnotherSubjectStopNothing) {
    Desk desk;
    desk.say(RequestKind::kPause, "missing_pod");
    desk.say(RequestKind::kHold, {}, "graph/wrapper-b");
    desk.pass(Millis(1));
    desk.emit(delete_orphan());
    desk.step();
    EXPECT_EQ(desk.cluster.effects, 1U);
}

TEST(Brakes, AHoldThatComesAfterTheCommandStopsIt_S24) {
    Desk desk;
    desk.emit(delete_orphan());
    desk.pass(Millis(1));
    desk.say(RequestKind::kHold, {}, "graph/wrapper-a");
    desk.step();
    expect_refused(desk, "hold (olga)");
}

// Symptom: an answer that came in was followed by its write in the same step, on the requests as
// they were read a step earlier.
TEST(Brakes, APauseStopsEveryWriteThatDidNotGoOutBefore_S24) {
    for (int before = 0; before < 10; ++before) {
        Desk desk;
        desk.emit(delete_orphan());
        desk.step(before);
        const auto done = desk.cluster.effects;
        desk.say(RequestKind::kPause);
        desk.step();
        EXPECT_EQ(desk.cluster.effects, done) << "paused behind step " << before;
    }
}

TEST(Brakes, NothingIsWrittenWhileTheRequestsCannotBeRead) {
    Desk desk;
    desk.emit(delete_orphan());
    Brakes brakes(desk.log, {0}, test_keys());
    EXPECT_FALSE(brakes.current()) << "nothing was read yet";
    desk.log.fail_reads(1);
    brakes.step();
    EXPECT_FALSE(brakes.current());
    EXPECT_NE(brakes.trouble(), "");
    brakes.step();
    EXPECT_TRUE(brakes.current());
    EXPECT_EQ(brakes.trouble(), "");
}

TEST(Brakes, AReadThatFailedForgetsNoPause) {
    Desk desk;
    desk.say(RequestKind::kPause);
    Brakes brakes(desk.log, {0}, test_keys());
    brakes.step();
    desk.log.fail_reads(1);
    brakes.step();
    brakes.step();
    Command command = desk.live(delete_orphan());
    EXPECT_NE(brakes.against(command, 0), std::nullopt);
}

// Symptom: an executor of several partitions that was started during a pause carried commands out.
// It had read yesterday's pause and its end in the second partition behind today's in the first.
TEST(Brakes, AnOldResumeInAnotherPartitionEndsNoPause_S40) {
    Desk desk;
    const auto say = [&](RequestKind kind) {
        const std::string bytes = trueup::testing::signed_bytes(desk.request(kind));
        for (const std::int32_t partition : {0, 1}) {
            desk.append(Topic::kRequests, bytes, "", partition);
        }
    };
    say(RequestKind::kPause);
    say(RequestKind::kResume);
    desk.pass(Millis(86'400'000));
    say(RequestKind::kPause);
    Brakes brakes(desk.log, {0, 1}, test_keys());
    brakes.step();
    EXPECT_TRUE(brakes.current());
    const Command command = desk.live(delete_orphan());
    EXPECT_NE(brakes.against(command, 0), std::nullopt);
    EXPECT_NE(brakes.against(command, 1), std::nullopt);
}

// Symptom: after a read of one partition that had failed, the holds of all others were forgotten.
TEST(Brakes, AReadThatFailedForgetsNoHoldOfAnotherPartition_S24) {
    Desk desk;
    Request hold = desk.request(RequestKind::kHold);
    hold.scope.subject = "graph/wrapper-a";
    desk.append(Topic::kRequests, trueup::testing::signed_bytes(hold), "", 1);
    Brakes brakes(desk.log, {0, 1}, test_keys());
    brakes.step();
    desk.log.fail_reads(1);  // of the first partition
    brakes.step();
    brakes.step();
    EXPECT_TRUE(brakes.current());
    const Command command = desk.live(delete_orphan());
    EXPECT_NE(brakes.against(command, 1), std::nullopt);
    EXPECT_EQ(brakes.against(command, 0), std::nullopt);
}

TEST(Brakes, AForgedResumeEndsNoPause) {
    Desk desk;
    desk.say(RequestKind::kPause);
    const Request resume = desk.request(RequestKind::kResume);
    const codec::KeyRing strangers(
        std::vector<codec::Key>{{"test", "another secret, as long ......."}});
    desk.append(Topic::kRequests, codec::encode_request(resume));
    desk.append(Topic::kRequests, trueup::testing::signed_bytes(resume, strangers));
    Brakes brakes(desk.log, {0}, test_keys());
    brakes.step();
    EXPECT_NE(brakes.against(desk.live(delete_orphan()), 0), std::nullopt);
}

TEST(Brakes, AnOldResumeThatIsSentAgainEndsNoPause) {
    Desk desk;
    const Request resume = desk.request(RequestKind::kResume);
    const std::string recorded = trueup::testing::signed_bytes(resume);
    desk.append(Topic::kRequests, recorded);
    desk.pass(Millis(1));
    desk.say(RequestKind::kPause);
    desk.append(Topic::kRequests, recorded);
    Brakes brakes(desk.log, {0}, test_keys());
    brakes.step();
    EXPECT_NE(brakes.against(desk.live(delete_orphan()), 0), std::nullopt) << "the same id";
    desk.pass(Millis(3'600'000));
    desk.append(Topic::kRequests, recorded);
    brakes.step();
    EXPECT_NE(brakes.against(desk.live(delete_orphan()), 0), std::nullopt) << "an hour later";
}

TEST(Dispatcher, ACommandThatNobodySignedIsParkedAndNotEnded_4_15) {
    Desk desk;
    const Command command = desk.live(delete_orphan());
    desk.append(Topic::kCommands, codec::encode_command(command));
    desk.step();
    EXPECT_EQ(desk.cluster.effects, 0U);
    EXPECT_TRUE(desk.outcomes().empty()) << "a forged twin must not end the true command";
    EXPECT_EQ(desk.dispatcher().stats().unauthenticated, 1U);
    ASSERT_EQ(desk.parked.size(), 1U);
    EXPECT_NE(desk.parked[0].reason.find("unauthenticated"), std::string::npos);
    desk.append(Topic::kCommands, trueup::testing::signed_bytes(command));
    desk.step();
    EXPECT_EQ(desk.cluster.effects, 1U);
}

}  // namespace
}  // namespace trueup::executors::testing
