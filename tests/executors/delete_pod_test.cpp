// Proves design §4.12, 4.13 and details 17: a pod is deleted exactly, checked live, read back.
#include "tests/executors/execution_fixture.h"

#include <gtest/gtest.h>

namespace trueup::executors::testing {
namespace {

TEST(DeletePod, ChecksTheOtherSideThenGetsThenDeletesExactly_S1) {
    ExecutionFixture fixture;
    const Outcome outcome = fixture.run(delete_orphan());
    EXPECT_EQ(outcome.kind, OutcomeKind::kDone);
    EXPECT_EQ(outcome.command_id, CommandId({0, 1}));
    EXPECT_EQ(outcome.subject, "graph/wrapper-a");
    EXPECT_EQ(outcome.executor, "fixture");
    EXPECT_EQ(outcome.check_to_write_micros, 2'000);  // two round trips of 1 ms
    EXPECT_EQ(fixture.database.calls, std::vector<std::string>{"SELECT key=wrapper-a"});
    EXPECT_EQ(fixture.database.last_key_expression, "coalesce(pod_name, 'wrapper-' || url_slug)");
    EXPECT_EQ(
        fixture.cluster.calls,
        (std::vector<std::string>{"GET wrapper-a", "DELETE wrapper-a uid=uid-a rv=1 grace=30"}));
}

TEST(DeletePod, AnotherAccountDeletesWhatTheSourceRead) {
    ExecutionFixture fixture;
    FakeCluster writer;
    writer.pods = fixture.cluster.pods;
    fixture.context.sources.pods.at("pods").writer = &writer;
    EXPECT_EQ(fixture.run(delete_orphan()).kind, OutcomeKind::kDone);
    EXPECT_EQ(fixture.cluster.calls, std::vector<std::string>{"GET wrapper-a"});
    EXPECT_EQ(writer.calls, std::vector<std::string>{"DELETE wrapper-a uid=uid-a rv=1 grace=30"});
}

// A kubeconfig to delete with that led to another cluster had the pod be gone, as there was none
// there.
TEST(DeletePod, ThatAPodIsGoneIsTheWordOfWhoWasRead) {
    ExecutionFixture fixture;
    FakeCluster writer;  // has no such pod
    fixture.context.sources.pods.at("pods").writer = &writer;
    const Outcome outcome = fixture.run(delete_orphan());
    EXPECT_EQ(outcome.kind, OutcomeKind::kFailed) << outcome.detail;
    EXPECT_TRUE(outcome.retryable);
    EXPECT_TRUE(says(outcome, "DELETE pod wrapper-a: it is not there")) << outcome.detail;
    EXPECT_FALSE(fixture.cluster.pods.at("wrapper-a").deleting);

    ExecutionFixture gone;
    FakeCluster same;
    gone.context.sources.pods.at("pods").writer = &same;
    same.before_delete = [&] { gone.cluster.pods.clear(); };
    EXPECT_EQ(gone.run(delete_orphan()).kind, OutcomeKind::kDone);
}

TEST(DeletePod, WhatIsNoPodIsDeletedOnlyByACommandThatSaysSo_G7) {
    ExecutionFixture fixture;
    fixture.cluster.pods["wrapper-a"] = {.kind = "Service"};
    const Outcome refused = fixture.run(delete_orphan());
    EXPECT_EQ(refused.kind, OutcomeKind::kFailed);
    EXPECT_TRUE(says(refused, "the answer is a Service")) << refused.detail;
    EXPECT_FALSE(fixture.cluster.pods.at("wrapper-a").deleting);
    Command command = delete_orphan();
    command.draft.action.kind = Action::Kind::kDeleteObject;
    EXPECT_EQ(fixture.run(command).kind, OutcomeKind::kDone);
    EXPECT_TRUE(fixture.cluster.pods.at("wrapper-a").deleting);
}

TEST(DeletePod, RefusesWhenARowOwnsThePodNow_S6) {
    ExecutionFixture fixture;
    fixture.database.rows["7"].columns["pod_name"] = "wrapper-a";
    const Outcome outcome = fixture.run(delete_orphan());
    EXPECT_EQ(outcome.kind, OutcomeKind::kRefused);
    EXPECT_EQ(outcome.detail, "none(rows, key = wrapper-a): row 7 has it now");
    EXPECT_TRUE(fixture.cluster.calls.empty());
}

TEST(DeletePod, RefusesAnotherUidUnderTheName_S1_S2) {
    ExecutionFixture fixture;
    fixture.cluster.pods["wrapper-a"].uid = "uid-b";
    const Outcome outcome = fixture.run(delete_orphan());
    EXPECT_EQ(outcome.kind, OutcomeKind::kRefused);
    EXPECT_EQ(outcome.detail, "recreated: uid is now uid-b");
    EXPECT_EQ(fixture.cluster.count("DELETE"), 0U);
    EXPECT_EQ(fixture.cluster.effects, 0U);
}

TEST(DeletePod, ThePodRecreatedBetweenGetAndDeleteLivesOn_S1) {
    ExecutionFixture fixture;
    fixture.cluster.before_delete = [&] {
        fixture.cluster.pods["wrapper-a"].uid = "uid-b";
        fixture.cluster.pods["wrapper-a"].version = 9;
    };
    const Outcome outcome = fixture.run(delete_orphan());
    EXPECT_EQ(outcome.kind, OutcomeKind::kRefused);
    EXPECT_EQ(outcome.detail, "recreated: uid is now uid-b");
    EXPECT_EQ(fixture.cluster.effects, 0U);
    EXPECT_EQ(fixture.cluster.count("DELETE"), 1U);
}

TEST(DeletePod, GoneIsAlreadyDone_S10) {
    ExecutionFixture fixture;
    fixture.cluster.pods.clear();
    EXPECT_EQ(fixture.run(delete_orphan()).kind, OutcomeKind::kAlreadyDone);
}

TEST(DeletePod, A404ThatIsNotTheServersWordIsNoAbsence_S3) {
    for (const std::string body :
         {"404 page not found",
          R"({"kind":"Status","reason":"NotFound","details":{},)"
          R"("message":"the server could not find the requested resource"})"}) {
        ExecutionFixture fixture;
        fixture.cluster.upset_gets.push_back({404, body});
        const Outcome outcome = fixture.run(delete_orphan());
        EXPECT_EQ(outcome.kind, OutcomeKind::kFailed) << body;
        EXPECT_TRUE(outcome.retryable);
    }
}

TEST(DeletePod, TerminatingIsAlreadyDone_G24) {
    ExecutionFixture fixture;
    fixture.cluster.pods["wrapper-a"].deleting = true;
    EXPECT_EQ(fixture.run(delete_orphan()).kind, OutcomeKind::kAlreadyDone);
    EXPECT_EQ(fixture.cluster.count("DELETE"), 0U);
}

TEST(DeletePod, AHoldIsAVetoAsLabelAndAsAnnotation_S24) {
    for (const bool as_label : {true, false}) {
        ExecutionFixture fixture;
        FakePod& pod = fixture.cluster.pods["wrapper-a"];
        (as_label ? pod.label : pod.annotation) = "trueup.io/hold";
        Command command = delete_orphan();
        command.draft.read_set.resize(1);  // also when the rule forgot to name it
        const Outcome outcome = fixture.run(command);
        EXPECT_EQ(outcome.kind, OutcomeKind::kRefused);
        EXPECT_TRUE(says(outcome, "veto")) << outcome.detail;
        EXPECT_EQ(fixture.cluster.count("DELETE"), 0U);
    }
}

TEST(DeletePod, WithoutAnyLabelNobodyCanRuleOutAHold_S23) {
    ExecutionFixture fixture;
    fixture.context.sources.pods.at("pods").selector = *ports::Selector::parse("app");
    const Outcome outcome = fixture.run(delete_orphan());
    EXPECT_EQ(outcome.kind, OutcomeKind::kRefused);
    EXPECT_TRUE(says(outcome, "is unknown")) << outcome.detail;
    fixture.cluster.pods["wrapper-a"].label = "app";
    EXPECT_EQ(fixture.run(delete_orphan()).kind, OutcomeKind::kDone);
}

TEST(DeletePod, AHoldSetBetweenGetAndDeleteIsSeen_S24) {
    ExecutionFixture fixture;
    fixture.cluster.before_delete = [&] {
        fixture.cluster.pods["wrapper-a"].annotation = "trueup.io/hold";
        ++fixture.cluster.pods["wrapper-a"].version;
    };
    const Outcome outcome = fixture.run(delete_orphan());
    EXPECT_EQ(outcome.kind, OutcomeKind::kRefused);
    EXPECT_TRUE(says(outcome, "veto")) << outcome.detail;
    EXPECT_EQ(fixture.cluster.effects, 0U);
}

TEST(DeletePod, StatusChurnIsReadAndTriedAgain_S38) {
    ExecutionFixture fixture;
    int churn = 3;
    fixture.cluster.before_delete = [&] {
        if (churn-- > 0) ++fixture.cluster.pods["wrapper-a"].version;
    };
    EXPECT_EQ(fixture.run(delete_orphan()).kind, OutcomeKind::kDone);
    EXPECT_EQ(fixture.cluster.count("DELETE"), 4U);
    EXPECT_EQ(fixture.database.count("SELECT"), 4U);  // the whole read set each time
    EXPECT_EQ(fixture.cluster.effects, 1U);
}

TEST(DeletePod, ARowThatComesDuringTheChurnSavesThePod_S6) {
    ExecutionFixture fixture;
    fixture.cluster.before_delete = [&] {
        ++fixture.cluster.pods["wrapper-a"].version;
        fixture.database.rows["7"].columns["pod_name"] = "wrapper-a";
    };
    EXPECT_EQ(fixture.run(delete_orphan()).kind, OutcomeKind::kRefused);
    EXPECT_EQ(fixture.cluster.effects, 0U);
}

TEST(DeletePod, EndlessChurnGivesUp_S38) {
    ExecutionFixture fixture;
    fixture.cluster.before_delete = [&] { ++fixture.cluster.pods["wrapper-a"].version; };
    const Outcome outcome = fixture.run(delete_orphan());
    EXPECT_EQ(outcome.kind, OutcomeKind::kFailed);
    EXPECT_TRUE(outcome.retryable);
    EXPECT_EQ(fixture.cluster.count("DELETE"), 6U);
}

TEST(DeletePod, GoneAtTheDeleteIsAlreadyDone_S38) {
    ExecutionFixture fixture;
    fixture.cluster.before_delete = [&] { fixture.cluster.pods.clear(); };
    EXPECT_EQ(fixture.run(delete_orphan()).kind, OutcomeKind::kAlreadyDone);
}

TEST(DeletePod, HeldByAFinalizerIsSaid_S39) {
    ExecutionFixture fixture;
    fixture.cluster.pods["wrapper-a"].finalizer = true;
    const Outcome outcome = fixture.run(delete_orphan());
    EXPECT_EQ(outcome.kind, OutcomeKind::kDone);
    EXPECT_EQ(outcome.detail, "accepted; held by finalizers");
}

TEST(DeletePod, WhatTheServerRejectsIsFinalOthersAreNot_S3) {
    struct Case {
        int status;
        bool retryable;
    };
    for (const Case c : {Case{401, true}, Case{403, true}, Case{429, true}, Case{500, true},
                         Case{503, true}, Case{400, false}}) {
        ExecutionFixture on_get;
        on_get.cluster.upset_gets.push_back({c.status, ""});
        const Outcome got = on_get.run(delete_orphan());
        EXPECT_EQ(got.kind, OutcomeKind::kFailed) << c.status;
        EXPECT_EQ(got.retryable, c.retryable) << c.status;
        EXPECT_EQ(on_get.cluster.count("DELETE"), 0U);

        ExecutionFixture on_delete;
        on_delete.cluster.upset_deletes.push_back({c.status, ""});
        const Outcome deleted = on_delete.run(delete_orphan());
        EXPECT_EQ(deleted.kind, OutcomeKind::kFailed) << c.status;
        EXPECT_EQ(deleted.retryable, c.retryable) << c.status;
        EXPECT_TRUE(says(deleted, "the server says Upset")) << deleted.detail;
        EXPECT_EQ(on_delete.cluster.count("DELETE"), 1U);
    }
}

// An API server that had just started knew nobody's rights yet, and each command to it failed for
// good.
TEST(DeletePod, ForbiddenIsFinalAfterFiveMinutesOfNothingElse_S3) {
    for (const bool on_get : {true, false}) {
        ExecutionFixture fixture;
        const auto forbidden = [&] {
            auto& upset = on_get ? fixture.cluster.upset_gets : fixture.cluster.upset_deletes;
            upset.push_back({403, ""});
            const Outcome outcome = fixture.run(delete_orphan());
            EXPECT_EQ(outcome.kind, OutcomeKind::kFailed);
            return outcome.retryable;
        };
        EXPECT_TRUE(forbidden());
        fixture.now += Millis(299'000);
        EXPECT_TRUE(forbidden());
        fixture.now += Millis(2'000);
        EXPECT_FALSE(forbidden()) << "a right is missing";
        fixture.now += Millis(601'000);
        EXPECT_TRUE(forbidden()) << "the last one was long ago";
        EXPECT_EQ(fixture.run(delete_orphan()).kind, OutcomeKind::kDone);
        fixture.cluster.pods["wrapper-a"] = {};
        EXPECT_TRUE(forbidden()) << "something else was heard";
    }
}

TEST(DeletePod, ThatItMayReadSaysNothingOfItsRightToDelete_S3) {
    ExecutionFixture fixture;
    fixture.cluster.upset_deletes.push_back({403, ""});
    EXPECT_TRUE(fixture.run(delete_orphan()).retryable);
    fixture.now += Millis(301'000);
    fixture.cluster.upset_deletes.push_back({403, ""});
    EXPECT_FALSE(fixture.run(delete_orphan()).retryable) << "each was read well before";
}

// One pod that an admission webhook keeps was tried for ever, as others were deleted meanwhile, and
// each try used up the budget.
TEST(DeletePod, WhatIsSaidOfAnotherPodDoesNotMakeARefusalYoung) {
    ExecutionFixture fixture;
    const auto forbidden = [&] {
        fixture.cluster.upset_deletes.push_back({403, ""});
        return fixture.run(delete_orphan()).retryable;
    };
    const auto another_is_deleted = [&] {
        Command other = delete_orphan(9);
        other.draft.target.name = "wrapper-b";
        fixture.cluster.pods["wrapper-b"] = {};
        EXPECT_EQ(fixture.run(other).kind, OutcomeKind::kDone);
    };
    EXPECT_TRUE(forbidden());
    fixture.now += Millis(150'000);
    another_is_deleted();
    EXPECT_TRUE(forbidden());
    fixture.now += Millis(151'000);
    another_is_deleted();
    EXPECT_FALSE(forbidden());
}

// A service that an admission webhook keeps has the name of its instance's pod, and each answer
// about the pod made the refusal young again.
TEST(DeletePod, WhatIsSaidOfAnotherKindOfTheSameNameDoesNotMakeARefusalYoung) {
    FakeCluster cluster;
    cluster.pods["wrapper-a"] = {};
    AsyncCalls calls{Millis{1'000}};
    SteadyTime now = from_millis<SteadyTime>(1'000);
    const auto ask = [&](const char* plural, int status) {
        if (status != 0) cluster.upset_gets.push_back({status, ""});
        calls.get(1, cluster, {{"/api/v1", "graph", plural}, "wrapper-a"}, now);
        calls.poll(Millis{0});
        const std::vector<Answer> answers = calls.take(now);
        EXPECT_EQ(answers.size(), 1U);
        return !answers.empty() && answers[0].for_good;
    };
    EXPECT_FALSE(ask("services", 403));
    now += Millis(301'000);
    EXPECT_FALSE(ask("pods", 0));
    EXPECT_TRUE(ask("services", 403));
}

TEST(DeletePod, ATimeoutThatWasCarriedOutIsReadBack_S38) {
    for (const int status : {0, 504}) {
        ExecutionFixture fixture;
        fixture.cluster.upset_deletes.push_back({status, "", true});
        const Outcome outcome = fixture.run(delete_orphan());
        EXPECT_EQ(outcome.kind, OutcomeKind::kDone) << status;
        EXPECT_TRUE(says(outcome, "read back: terminating")) << outcome.detail;
        EXPECT_EQ(fixture.cluster.count("DELETE"), 1U);
        EXPECT_EQ(fixture.cluster.effects, 1U);
    }
}

TEST(DeletePod, ATimeoutThatWasNotCarriedOutIsTriedAgain_S38) {
    ExecutionFixture fixture;
    fixture.cluster.upset_deletes.push_back({0, ""});
    EXPECT_EQ(fixture.run(delete_orphan()).kind, OutcomeKind::kDone);
    EXPECT_EQ(fixture.cluster.count("DELETE"), 2U);
    EXPECT_EQ(fixture.database.count("SELECT"), 2U);
    EXPECT_EQ(fixture.cluster.effects, 1U);
}

// A proxy's page with status 200 counted as a deletion: the row was marked stopping, and its pod
// ran on for ever.
TEST(DeletePod, A200ThatIsNotTheServersWordIsNoDeletion_S3) {
    for (const char* page : {"<html>Please log in to the network.</html>", "", "{}",
                             R"({"kind":"Status","status":"Failure"})"}) {
        ExecutionFixture fixture;
        fixture.cluster.upset_deletes.push_back({200, page});
        EXPECT_EQ(fixture.run(delete_orphan()).kind, OutcomeKind::kDone) << page;
        EXPECT_EQ(fixture.cluster.count("DELETE"), 2U) << page;
        EXPECT_EQ(fixture.cluster.effects, 1U) << page;
    }
}

TEST(DeletePod, ASuccessWithoutTheObjectIsADeletion_S38) {
    ExecutionFixture fixture;
    fixture.cluster.upset_deletes.push_back({200, R"({"kind":"Status","status":"Success"})", true});
    EXPECT_EQ(fixture.run(delete_orphan()).kind, OutcomeKind::kDone);
    EXPECT_EQ(fixture.cluster.count("DELETE"), 1U);
}

TEST(DeletePod, ReadBackFindsItGoneOrReplaced_S38) {
    for (const bool replaced : {false, true}) {
        ExecutionFixture fixture;
        fixture.cluster.upset_deletes.push_back({0, ""});
        fixture.cluster.before_delete = [&] {
            fixture.cluster.pods.clear();
            if (replaced) fixture.cluster.pods["wrapper-a"].uid = "uid-b";
        };
        const Outcome outcome = fixture.run(delete_orphan());
        EXPECT_EQ(outcome.kind, OutcomeKind::kDone);
        EXPECT_TRUE(says(outcome, "it is gone")) << outcome.detail;
        EXPECT_EQ(fixture.cluster.count("DELETE"), 1U);
    }
}

TEST(DeletePod, AResultThatCannotBeReadBackIsNeverAssumed_S38) {
    ExecutionFixture fixture;
    fixture.cluster.upset_deletes.push_back({0, ""});
    fixture.cluster.before_delete = [&] { fixture.cluster.upset_gets.assign(9, {0, ""}); };
    const Outcome outcome = fixture.run(delete_orphan());
    EXPECT_EQ(outcome.kind, OutcomeKind::kFailed);
    EXPECT_TRUE(outcome.retryable);
    EXPECT_TRUE(says(outcome, "unknown")) << outcome.detail;
}

TEST(DeletePod, AnOtherSideThatDoesNotAnswerIsNoAbsence_S3) {
    ExecutionFixture fixture;
    fixture.database.upset_reads.push_back({});
    const Outcome outcome = fixture.run(delete_orphan());
    EXPECT_EQ(outcome.kind, OutcomeKind::kFailed);
    EXPECT_TRUE(outcome.retryable);
    EXPECT_TRUE(fixture.cluster.calls.empty());
}

TEST(DeletePod, ASilentServerIsGivenUpAfterTheTimeout_S3) {
    ExecutionFixture fixture;
    Upset silence;
    silence.silent = true;
    fixture.cluster.upset_gets.push_back(silence);
    const auto execution = fixture.begin(delete_orphan());
    fixture.pump(*execution);
    EXPECT_FALSE(execution->outcome().has_value());
    fixture.now += Millis(15'000);
    fixture.pump(*execution);
    ASSERT_TRUE(execution->outcome().has_value());
    EXPECT_EQ(execution->outcome()->kind, OutcomeKind::kFailed);
    EXPECT_EQ(fixture.cluster.cancelled.size(), 1U);
}

TEST(DeletePod, ChecksAgainWhenTheWriteWasHeldForLong_S24) {
    ExecutionFixture fixture;
    fixture.permitted = Permit::kWait;
    const auto execution = fixture.begin(delete_orphan());
    fixture.pump(*execution);
    EXPECT_TRUE(execution->blocked());
    fixture.database.rows["7"].columns["pod_name"] = "wrapper-a";
    fixture.now += Millis(2'001);
    fixture.permitted = Permit::kGo;
    execution->advance(fixture.now);
    fixture.pump(*execution);
    ASSERT_TRUE(execution->outcome().has_value());
    EXPECT_EQ(execution->outcome()->kind, OutcomeKind::kRefused);
    EXPECT_EQ(fixture.cluster.count("DELETE"), 0U);
}

TEST(DeletePod, ShortlyHeldWritesGoOutWithoutAnotherCheck) {
    ExecutionFixture fixture;
    fixture.permitted = Permit::kWait;
    const auto execution = fixture.begin(delete_orphan());
    fixture.pump(*execution);
    fixture.now += Millis(500);
    fixture.permitted = Permit::kGo;
    execution->advance(fixture.now);
    fixture.pump(*execution);
    EXPECT_EQ(execution->outcome()->kind, OutcomeKind::kDone);
    EXPECT_EQ(execution->outcome()->check_to_write_micros, 502'000);
    EXPECT_EQ(fixture.database.count("SELECT"), 1U);
}

TEST(DeletePod, ChecksThatTakeTooLongAreRepeatedThenGivenUp) {
    ExecutionFixture fixture;
    fixture.per_answer = Millis(1'500);
    const Outcome outcome = fixture.run(delete_orphan());
    EXPECT_EQ(outcome.kind, OutcomeKind::kFailed);
    EXPECT_TRUE(outcome.retryable);
    EXPECT_EQ(fixture.cluster.count("DELETE"), 0U);
}

TEST(DeletePod, ExpiryBetweenCheckAndWriteWritesNothing_S38) {
    ExecutionFixture fixture;
    fixture.permitted = Permit::kExpired;
    EXPECT_EQ(fixture.run(delete_orphan()).kind, OutcomeKind::kExpired);
    EXPECT_EQ(fixture.cluster.count("DELETE"), 0U);
}

TEST(DeletePod, ATargetOutsideOfTheNamespaceIsNotTouched) {
    ExecutionFixture fixture;
    Command command = delete_orphan();
    command.draft.target.name_space = "elsewhere";
    const Outcome outcome = fixture.run(command);
    EXPECT_EQ(outcome.kind, OutcomeKind::kFailed);
    EXPECT_FALSE(outcome.retryable);
    EXPECT_TRUE(fixture.cluster.calls.empty());
}

}  // namespace
}  // namespace trueup::executors::testing
