// Proves executors/brakes.h (design §8, §4.9, S24, S40): executors follow pauses and holds, and
// what was ordered before one is never carried out; nor is what was ordered before its rule was set
// to observe or off (S40).
#include "executors/brakes.h"

#include "engine/model/intake.h"
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
    EXPECT_TRUE(desk.outcomes()[0].retryable) << "it was an operator's word";
    EXPECT_TRUE(desk.outcomes()[0].final());
    EXPECT_TRUE(says(desk.outcomes()[0], part)) << desk.outcomes()[0].detail;
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

TEST(Brakes, ARefusalByALookAtTheWorldIsNoOperatorsWord) {
    Desk desk;
    desk.cluster.pods["wrapper-a"].label = "trueup.io/hold";
    desk.emit(delete_orphan());
    desk.step();
    ASSERT_EQ(desk.outcomes().size(), 1U);
    EXPECT_EQ(desk.outcomes()[0].kind, OutcomeKind::kRefused);
    EXPECT_FALSE(desk.outcomes()[0].retryable);
}

/// Reads all that was said so far.
Brakes brakes_of(Desk& desk) {
    Brakes brakes(desk.log, {0}, test_keys());
    brakes.step();
    EXPECT_TRUE(brakes.current());
    return brakes;
}

std::optional<std::string> against(Desk& desk) {
    return brakes_of(desk).against(desk.live(delete_orphan()), 0);
}

// Symptom: after a clock had leapt an hour ahead and was set right, executors ignored every pause
// and every hold for an hour.
TEST(Brakes, WhatOnlyRestrictsIsTakenWhateverItsAge_S40) {
    for (const std::int64_t age : {3'600'000, -3'600'000}) {
        for (const RequestKind kind : {RequestKind::kPause, RequestKind::kHold}) {
            Desk desk;
            Request said = desk.request(kind);
            said.issued_ms -= age;
            if (kind == RequestKind::kHold) said.scope.subject = "graph/wrapper-a";
            desk.append(Topic::kRequests, trueup::testing::signed_bytes(said));
            EXPECT_NE(against(desk), std::nullopt) << name_of(kind) << " " << age;
        }
    }
}

// What was recorded and is sent again stops at most what somebody has to let go again.
TEST(Brakes, AnOldPauseThatIsSentAgainPausesAgainOnceItIsForgotten) {
    Desk desk;
    const std::string recorded = trueup::testing::signed_bytes(desk.request(RequestKind::kPause));
    desk.append(Topic::kRequests, recorded);
    desk.pass(Millis(1));
    desk.say(RequestKind::kResume);
    desk.append(Topic::kRequests, recorded);
    desk.pass(Millis(1));
    EXPECT_EQ(against(desk), std::nullopt) << "the same id";
    desk.pass(kRemembered);
    desk.append(Topic::kRequests, recorded);
    EXPECT_NE(against(desk), std::nullopt);
}

TEST(Brakes, AWordAboutAnotherPolicyIsNoneAboutThisOne) {
    Desk desk;
    Request said = desk.request(RequestKind::kPause);
    said.scope.policy = "processors";
    desk.append(Topic::kRequests, trueup::testing::signed_bytes(said));
    said = desk.request(RequestKind::kHold);
    said.scope.policy = "processors";
    said.scope.subject = "graph/wrapper-a";
    desk.append(Topic::kRequests, trueup::testing::signed_bytes(said));
    desk.pass(Millis(1));
    EXPECT_EQ(against(desk), std::nullopt);
}

TEST(Brakes, AResumeEndsThePauseHoweverItsPolicyIsNamed) {
    const std::string policy = delete_orphan().policy;
    for (const bool named : {false, true}) {
        Desk desk;
        const Command before = desk.live(delete_orphan());
        Request said = desk.request(RequestKind::kPause);
        if (named) said.scope.policy = policy;
        desk.append(Topic::kRequests, trueup::testing::signed_bytes(said));
        EXPECT_NE(against(desk), std::nullopt);
        desk.pass(Millis(1));
        said = desk.request(RequestKind::kResume);
        if (!named) said.scope.policy = policy;
        desk.append(Topic::kRequests, trueup::testing::signed_bytes(said));
        EXPECT_EQ(against(desk), std::nullopt);
        EXPECT_EQ(brakes_of(desk).against(before, 0), "ordered before an operator's pause (olga)");
    }
}

// Symptom: an executor ended a hold by a word that the engine took for the end of a quarantine.
TEST(Brakes, AReleaseOfASourceEndsNoHold) {
    Desk desk;
    desk.say(RequestKind::kHold, {}, "graph/wrapper-a");
    Request release = desk.request(RequestKind::kRelease);
    release.scope.subject = "graph/wrapper-a";
    release.scope.source = "pods";
    desk.append(Topic::kRequests, trueup::testing::signed_bytes(release));
    desk.pass(Millis(1));
    EXPECT_NE(against(desk), std::nullopt);
}

TEST(Brakes, AsManyHoldsAreFollowedAsTheEngineGrants) {
    Desk desk;
    for (std::uint64_t i = 0; i < kMostHolds; ++i) {
        desk.say(RequestKind::kHold, {}, "graph/" + std::to_string(i));
    }
    desk.say(RequestKind::kHold, {}, "graph/wrapper-a");
    desk.pass(Millis(1));
    EXPECT_EQ(against(desk), std::nullopt);
    desk.say(RequestKind::kRelease, {}, "graph/7");
    desk.say(RequestKind::kHold, {}, "graph/wrapper-a");
    desk.pass(Millis(1));
    EXPECT_NE(against(desk), std::nullopt);
}

// Symptom: a rule was set from enforce to observe while the process was stopped; started again, its
// executor took the command of before from the topic and deleted the pod.
TEST(Brakes, WhatWasOrderedBeforeItsRuleWasSetToObserveIsNotDone_S40) {
    Desk desk;
    desk.emit(delete_orphan());
    Request activation = desk.request(RequestKind::kActivation);
    activation.scope.rule = "orphaned_pod";
    activation.issued_ms -= 86'400'000;  // whatever its age
    desk.append(Topic::kRequests, trueup::testing::signed_bytes(activation));
    desk.step();
    expect_refused(desk, "ordered before the rule was set to observe");
}

TEST(Brakes, WhatIsOrderedAfterwardsIsDone_S40) {
    Desk desk;
    Request activation = desk.request(RequestKind::kActivation);
    activation.scope.rule = "orphaned_pod";
    desk.append(Topic::kRequests, trueup::testing::signed_bytes(activation));
    desk.pass(Millis(1));
    desk.emit(delete_orphan());
    desk.step();
    EXPECT_EQ(desk.cluster.effects, 1U);
}

TEST(Brakes, AnActivationIsAboutItsRuleAndEndsNoPause_S40) {
    Desk desk;
    Request activation = desk.request(RequestKind::kActivation);
    activation.scope.rule = "missing_pod";
    desk.append(Topic::kRequests, trueup::testing::signed_bytes(activation));
    EXPECT_EQ(against(desk), std::nullopt) << "another rule's";
    desk.say(RequestKind::kPause, "orphaned_pod");
    activation.scope.rule = "orphaned_pod";
    desk.append(Topic::kRequests, trueup::testing::signed_bytes(activation));
    desk.pass(Millis(1));
    EXPECT_EQ(against(desk), "an operator's pause of the rule (olga)");
    desk.append(Topic::kRequests, codec::encode_request(activation));
    desk.say(RequestKind::kResume, "orphaned_pod");
    EXPECT_EQ(against(desk), std::nullopt) << "nobody signed the second one";
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
