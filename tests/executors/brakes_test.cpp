// Proves executors/brakes.h (design §8, §4.9, S24, S40): executors follow pauses and holds, and
// what was ordered before one is never carried out; nor is what was ordered before its rule was set
// to observe or off (S40).
#include "executors/brakes.h"

#include "engine/model/intake.h"
#include "tests/executors/dispatcher_fixture.h"

#include <gtest/gtest.h>

namespace trueup::executors::testing {
namespace {

using trueup::testing::test_keys;

/// Nothing was written; the command was refused, with a sentence that says why.
void expect_refused(DispatcherFixture& fixture, const std::string& part) {
    EXPECT_EQ(fixture.cluster.effects, 0U);
    ASSERT_EQ(fixture.outcomes().size(), 1U);
    EXPECT_EQ(fixture.outcomes()[0].kind, OutcomeKind::kRefused);
    EXPECT_TRUE(fixture.outcomes()[0].retryable) << "it was an operator's word";
    EXPECT_TRUE(fixture.outcomes()[0].final());
    EXPECT_TRUE(says(fixture.outcomes()[0], part)) << fixture.outcomes()[0].detail;
}

TEST(Brakes, ACommandBehindAPauseIsRefusedAndSaysWhoPaused_S40) {
    DispatcherFixture fixture;
    fixture.say(RequestKind::kPause);
    fixture.pass(Millis(1));
    fixture.emit(delete_orphan());
    fixture.step();
    expect_refused(fixture, "an operator's pause (olga)");
}

TEST(Brakes, WhatWasOrderedBeforeAPauseStaysUndoneWhenItEnds_S40) {
    DispatcherFixture fixture;
    fixture.emit(delete_orphan());
    fixture.pass(Millis(1));
    fixture.say(RequestKind::kPause);
    fixture.pass(Millis(1));
    fixture.say(RequestKind::kResume);
    fixture.step();
    expect_refused(fixture, "ordered before an operator's pause");
}

TEST(Brakes, WhatIsOrderedBehindAResumeIsDone) {
    DispatcherFixture fixture;
    fixture.say(RequestKind::kPause);
    fixture.pass(Millis(1));
    fixture.say(RequestKind::kResume);
    fixture.pass(Millis(1));
    fixture.emit(delete_orphan());
    fixture.step();
    EXPECT_EQ(fixture.cluster.effects, 1U);
}

TEST(Brakes, APauseOfAnotherRuleAndAHoldOnAnotherSubjectStopNothing) {
    DispatcherFixture fixture;
    fixture.say(RequestKind::kPause, "missing_pod");
    fixture.say(RequestKind::kHold, {}, "graph/wrapper-b");
    fixture.pass(Millis(1));
    fixture.emit(delete_orphan());
    fixture.step();
    EXPECT_EQ(fixture.cluster.effects, 1U);
}

TEST(Brakes, AHoldThatComesAfterTheCommandStopsIt_S24) {
    DispatcherFixture fixture;
    fixture.emit(delete_orphan());
    fixture.pass(Millis(1));
    fixture.say(RequestKind::kHold, {}, "graph/wrapper-a");
    fixture.step();
    expect_refused(fixture, "hold (olga)");
}

// Symptom: an answer that came in was followed by its write in the same step, on the requests as
// they were read a step earlier.
TEST(Brakes, APauseStopsEveryWriteThatDidNotGoOutBefore_S24) {
    for (int before = 0; before < 10; ++before) {
        DispatcherFixture fixture;
        fixture.emit(delete_orphan());
        fixture.step(before);
        const auto done = fixture.cluster.effects;
        fixture.say(RequestKind::kPause);
        fixture.step();
        EXPECT_EQ(fixture.cluster.effects, done) << "paused behind step " << before;
    }
}

TEST(Brakes, NothingIsWrittenWhileTheRequestsCannotBeRead) {
    DispatcherFixture fixture;
    fixture.emit(delete_orphan());
    Brakes brakes(fixture.log, {PartitionNumber(0)}, test_keys());
    EXPECT_FALSE(brakes.current()) << "nothing was read yet";
    fixture.log.fail_reads(1);
    brakes.step();
    EXPECT_FALSE(brakes.current());
    EXPECT_NE(brakes.trouble(), "");
    brakes.step();
    EXPECT_TRUE(brakes.current());
    EXPECT_EQ(brakes.trouble(), "");
}

TEST(Brakes, AReadThatFailedForgetsNoPause) {
    DispatcherFixture fixture;
    fixture.say(RequestKind::kPause);
    Brakes brakes(fixture.log, {PartitionNumber(0)}, test_keys());
    brakes.step();
    fixture.log.fail_reads(1);
    brakes.step();
    brakes.step();
    Command command = fixture.live(delete_orphan());
    EXPECT_NE(brakes.against(command, PartitionNumber(0)), std::nullopt);
}

// Symptom: an executor of several partitions that was started during a pause carried commands out.
// It had read yesterday's pause and its end in the second partition behind today's in the first.
TEST(Brakes, AnOldResumeInAnotherPartitionEndsNoPause_S40) {
    DispatcherFixture fixture;
    const auto say = [&](RequestKind kind) {
        const std::string bytes = trueup::testing::signed_bytes(fixture.request(kind));
        for (const std::int32_t partition : {0, 1}) {
            fixture.append(Topic::kRequests, bytes, "", partition);
        }
    };
    say(RequestKind::kPause);
    say(RequestKind::kResume);
    fixture.pass(Millis(86'400'000));
    say(RequestKind::kPause);
    Brakes brakes(fixture.log, {PartitionNumber(0), PartitionNumber(1)}, test_keys());
    brakes.step();
    EXPECT_TRUE(brakes.current());
    const Command command = fixture.live(delete_orphan());
    EXPECT_NE(brakes.against(command, PartitionNumber(0)), std::nullopt);
    EXPECT_NE(brakes.against(command, PartitionNumber(1)), std::nullopt);
}

// Symptom: after a read of one partition that had failed, the holds of all others were forgotten.
TEST(Brakes, AReadThatFailedForgetsNoHoldOfAnotherPartition_S24) {
    DispatcherFixture fixture;
    Request hold = fixture.request(RequestKind::kHold);
    hold.scope.subject = "graph/wrapper-a";
    fixture.append(Topic::kRequests, trueup::testing::signed_bytes(hold), "", 1);
    Brakes brakes(fixture.log, {PartitionNumber(0), PartitionNumber(1)}, test_keys());
    brakes.step();
    fixture.log.fail_reads(1);  // of the first partition
    brakes.step();
    brakes.step();
    EXPECT_TRUE(brakes.current());
    const Command command = fixture.live(delete_orphan());
    EXPECT_NE(brakes.against(command, PartitionNumber(1)), std::nullopt);
    EXPECT_EQ(brakes.against(command, PartitionNumber(0)), std::nullopt);
}

TEST(Brakes, AForgedResumeEndsNoPause) {
    DispatcherFixture fixture;
    fixture.say(RequestKind::kPause);
    const Request resume = fixture.request(RequestKind::kResume);
    const codec::KeyRing strangers(
        std::vector<codec::Key>{{"test", "another secret, as long ......."}});
    fixture.append(Topic::kRequests, codec::encode_request(resume));
    fixture.append(Topic::kRequests, trueup::testing::signed_bytes(resume, strangers));
    Brakes brakes(fixture.log, {PartitionNumber(0)}, test_keys());
    brakes.step();
    EXPECT_NE(brakes.against(fixture.live(delete_orphan()), PartitionNumber(0)), std::nullopt);
}

TEST(Brakes, AnOldResumeThatIsSentAgainEndsNoPause) {
    DispatcherFixture fixture;
    const Request resume = fixture.request(RequestKind::kResume);
    const std::string recorded = trueup::testing::signed_bytes(resume);
    fixture.append(Topic::kRequests, recorded);
    fixture.pass(Millis(1));
    fixture.say(RequestKind::kPause);
    fixture.append(Topic::kRequests, recorded);
    Brakes brakes(fixture.log, {PartitionNumber(0)}, test_keys());
    brakes.step();
    EXPECT_NE(brakes.against(fixture.live(delete_orphan()), PartitionNumber(0)), std::nullopt)
        << "the same id";
    fixture.pass(Millis(3'600'000));
    fixture.append(Topic::kRequests, recorded);
    brakes.step();
    EXPECT_NE(brakes.against(fixture.live(delete_orphan()), PartitionNumber(0)), std::nullopt)
        << "an hour later";
}

TEST(Brakes, ARefusalByALookAtTheWorldIsNoOperatorsWord) {
    DispatcherFixture fixture;
    fixture.cluster.pods["wrapper-a"].label = "trueup.io/hold";
    fixture.emit(delete_orphan());
    fixture.step();
    ASSERT_EQ(fixture.outcomes().size(), 1U);
    EXPECT_EQ(fixture.outcomes()[0].kind, OutcomeKind::kRefused);
    EXPECT_FALSE(fixture.outcomes()[0].retryable);
}

/// Reads all that was said so far.
Brakes brakes_of(DispatcherFixture& fixture) {
    Brakes brakes(fixture.log, {PartitionNumber(0)}, test_keys());
    brakes.step();
    EXPECT_TRUE(brakes.current());
    return brakes;
}

std::optional<std::string> against(DispatcherFixture& fixture) {
    return brakes_of(fixture).against(fixture.live(delete_orphan()), PartitionNumber(0));
}

// Symptom: after a clock had leapt an hour ahead and was set right, executors ignored every pause
// and every hold for an hour.
TEST(Brakes, WhatOnlyRestrictsIsTakenWhateverItsAge_S40) {
    for (const std::int64_t age : {3'600'000, -3'600'000}) {
        for (const RequestKind kind : {RequestKind::kPause, RequestKind::kHold}) {
            DispatcherFixture fixture;
            Request said = fixture.request(kind);
            said.issued_ms -= age;
            if (kind == RequestKind::kHold) said.scope.subject = "graph/wrapper-a";
            fixture.append(Topic::kRequests, trueup::testing::signed_bytes(said));
            EXPECT_NE(against(fixture), std::nullopt) << name_of(kind) << " " << age;
        }
    }
}

// What was recorded and is sent again stops at most what somebody has to let go again.
TEST(Brakes, AnOldPauseThatIsSentAgainPausesAgainOnceItIsForgotten) {
    DispatcherFixture fixture;
    const std::string recorded =
        trueup::testing::signed_bytes(fixture.request(RequestKind::kPause));
    fixture.append(Topic::kRequests, recorded);
    fixture.pass(Millis(1));
    fixture.say(RequestKind::kResume);
    fixture.append(Topic::kRequests, recorded);
    fixture.pass(Millis(1));
    EXPECT_EQ(against(fixture), std::nullopt) << "the same id";
    fixture.pass(kRemembered);
    fixture.append(Topic::kRequests, recorded);
    EXPECT_NE(against(fixture), std::nullopt);
}

TEST(Brakes, AWordAboutAnotherPolicyIsNoneAboutThisOne) {
    DispatcherFixture fixture;
    Request said = fixture.request(RequestKind::kPause);
    said.scope.policy = "processors";
    fixture.append(Topic::kRequests, trueup::testing::signed_bytes(said));
    said = fixture.request(RequestKind::kHold);
    said.scope.policy = "processors";
    said.scope.subject = "graph/wrapper-a";
    fixture.append(Topic::kRequests, trueup::testing::signed_bytes(said));
    fixture.pass(Millis(1));
    EXPECT_EQ(against(fixture), std::nullopt);
}

TEST(Brakes, AResumeEndsThePauseHoweverItsPolicyIsNamed) {
    const std::string policy = delete_orphan().policy;
    for (const bool named : {false, true}) {
        DispatcherFixture fixture;
        const Command before = fixture.live(delete_orphan());
        Request said = fixture.request(RequestKind::kPause);
        if (named) said.scope.policy = policy;
        fixture.append(Topic::kRequests, trueup::testing::signed_bytes(said));
        EXPECT_NE(against(fixture), std::nullopt);
        fixture.pass(Millis(1));
        said = fixture.request(RequestKind::kResume);
        if (!named) said.scope.policy = policy;
        fixture.append(Topic::kRequests, trueup::testing::signed_bytes(said));
        EXPECT_EQ(against(fixture), std::nullopt);
        EXPECT_EQ(brakes_of(fixture).against(before, PartitionNumber(0)),
                  "ordered before an operator's pause (olga)");
    }
}

// Symptom: an executor ended a hold by a word that the engine took for the end of a quarantine.
TEST(Brakes, AReleaseOfASourceEndsNoHold) {
    DispatcherFixture fixture;
    fixture.say(RequestKind::kHold, {}, "graph/wrapper-a");
    Request release = fixture.request(RequestKind::kRelease);
    release.scope.subject = "graph/wrapper-a";
    release.scope.source = "pods";
    fixture.append(Topic::kRequests, trueup::testing::signed_bytes(release));
    fixture.pass(Millis(1));
    EXPECT_NE(against(fixture), std::nullopt);
}

TEST(Brakes, AsManyHoldsAreFollowedAsTheEngineGrants) {
    DispatcherFixture fixture;
    for (std::uint64_t i = 0; i < kMostHolds; ++i) {
        fixture.say(RequestKind::kHold, {}, "graph/" + std::to_string(i));
    }
    fixture.say(RequestKind::kHold, {}, "graph/wrapper-a");
    fixture.pass(Millis(1));
    EXPECT_EQ(against(fixture), std::nullopt);
    fixture.say(RequestKind::kRelease, {}, "graph/7");
    fixture.say(RequestKind::kHold, {}, "graph/wrapper-a");
    fixture.pass(Millis(1));
    EXPECT_NE(against(fixture), std::nullopt);
}

// Symptom: a rule was set from enforce to observe while the process was stopped; started again, its
// executor took the command of before from the topic and deleted the pod.
TEST(Brakes, WhatWasOrderedBeforeItsRuleWasSetToObserveIsNotDone_S40) {
    DispatcherFixture fixture;
    fixture.emit(delete_orphan());
    Request activation = fixture.request(RequestKind::kActivation);
    activation.scope.rule = "orphaned_pod";
    activation.issued_ms -= 86'400'000;  // whatever its age
    fixture.append(Topic::kRequests, trueup::testing::signed_bytes(activation));
    fixture.step();
    expect_refused(fixture, "ordered before the rule was");
}

TEST(Brakes, WhatIsOrderedAfterwardsIsDone_S40) {
    DispatcherFixture fixture;
    Request activation = fixture.request(RequestKind::kActivation);
    activation.scope.rule = "orphaned_pod";
    fixture.append(Topic::kRequests, trueup::testing::signed_bytes(activation));
    fixture.pass(Millis(1));
    fixture.emit(delete_orphan());
    fixture.step();
    EXPECT_EQ(fixture.cluster.effects, 1U);
}

// ADR 34.
TEST(Brakes, WhatWasOrderedBeforeItsRuleWasEnabledOrDisabledIsNotDone) {
    for (const RequestKind kind : {RequestKind::kEnable, RequestKind::kDisable}) {
        for (const char* rule : {"orphaned_pod", "missing_pod", ""}) {
            DispatcherFixture fixture;
            const Command before = fixture.live(delete_orphan());
            Request said = fixture.request(kind);
            if (*rule != 0) said.rules = {{rule, {}}};
            if (kind == RequestKind::kDisable) said.issued_ms -= 86'400'000;  // whatever its age
            fixture.append(Topic::kRequests, trueup::testing::signed_bytes(said));
            const bool all = *rule == 0 && kind == RequestKind::kDisable;
            const bool meant = all || std::string(rule) == before.rule;
            EXPECT_EQ(brakes_of(fixture).against(before, PartitionNumber(0)).has_value(), meant)
                << name_of(kind) << " " << rule;
            fixture.pass(Millis(1));
            EXPECT_EQ(against(fixture), std::nullopt) << "ordered behind it";
        }
    }
}

TEST(Brakes, AnActivationIsAboutItsRuleAndEndsNoPause_S40) {
    DispatcherFixture fixture;
    Request activation = fixture.request(RequestKind::kActivation);
    activation.scope.rule = "missing_pod";
    fixture.append(Topic::kRequests, trueup::testing::signed_bytes(activation));
    EXPECT_EQ(against(fixture), std::nullopt) << "another rule's";
    fixture.say(RequestKind::kPause, "orphaned_pod");
    activation.scope.rule = "orphaned_pod";
    fixture.append(Topic::kRequests, trueup::testing::signed_bytes(activation));
    fixture.pass(Millis(1));
    EXPECT_EQ(against(fixture), "an operator's pause of the rule (olga)");
    fixture.append(Topic::kRequests, codec::encode_request(activation));
    fixture.say(RequestKind::kResume, "orphaned_pod");
    EXPECT_EQ(against(fixture), std::nullopt) << "nobody signed the second one";
}

TEST(Dispatcher, ACommandThatNobodySignedIsParkedAndNotEnded_4_15) {
    DispatcherFixture fixture;
    const Command command = fixture.live(delete_orphan());
    fixture.append(Topic::kCommands, codec::encode_command(command));
    fixture.step();
    EXPECT_EQ(fixture.cluster.effects, 0U);
    EXPECT_TRUE(fixture.outcomes().empty()) << "a forged twin must not end the true command";
    EXPECT_EQ(fixture.dispatcher().stats().unauthenticated, 1U);
    ASSERT_EQ(fixture.parked.size(), 1U);
    EXPECT_NE(fixture.parked[0].reason.find("unauthenticated"), std::string::npos);
    fixture.append(Topic::kCommands, trueup::testing::signed_bytes(command));
    fixture.step();
    EXPECT_EQ(fixture.cluster.effects, 1U);
}

}  // namespace
}  // namespace trueup::executors::testing
