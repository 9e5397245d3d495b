// Proves that each guard of the executors is needed: the test of its name fails without it
// (docs/guards.md; tests/guards/mutants.sh switches them off one by one).
#include "executors/read_set.h"
#include "tests/executors/dispatcher_fixture.h"

#include <gtest/gtest.h>

#include <functional>

namespace trueup::executors::testing {
namespace {

// Design §4.12 (1).
TEST(Guard, Guard_ledger_AKnownIdIsNotCarriedOutAgain) {
    DispatcherFixture fixture;
    fixture.emit(delete_orphan());
    fixture.step();
    fixture.restart();
    fixture.cluster.pods["wrapper-a"] = {};  // as if the delete had been undone
    fixture.step();
    EXPECT_EQ(fixture.cluster.count("DELETE"), 1U);
}

// Design §4.12 (1): the outcomes are read before the first command.
TEST(Guard, Guard_ledger_first_NoCommandIsTakenWhileTheOutcomesCannotBeRead) {
    DispatcherFixture fixture;
    fixture.step(2);  // learns the broker's time, and reads what is there
    fixture.emit(delete_orphan());
    fixture.log.fail_reads(2);  // of the requests, then of the outcomes
    fixture.step(1);
    const DispatcherStats stats = fixture.dispatcher().stats();
    EXPECT_TRUE(stats.clock_fresh);
    EXPECT_EQ(stats.pending + stats.running, 0U);
}

// Design §4.12 (2).
TEST(Guard, Guard_live_check_ARowThatCameSinceSavesThePod) {
    ExecutionFixture fixture;
    fixture.database.rows["7"].columns["pod_name"] = "wrapper-a";
    EXPECT_EQ(fixture.run(delete_orphan()).kind, OutcomeKind::kRefused);
    EXPECT_EQ(fixture.cluster.effects, 0U);
}

// Design §4.12 (2): what the rule read of the target itself.
TEST(Guard, Guard_target_check_ARowThatMovedOnIsNotOverwritten) {
    ExecutionFixture fixture;
    fixture.row_without_pod();
    fixture.database.rows["7"].columns["status"] = "stopping";
    EXPECT_EQ(fixture.run(fail_row()).kind, OutcomeKind::kRefused);
    EXPECT_EQ(fixture.database.effects, 0U);
}

// Design §4.12 (2): vetoes, also where the rule forgot to name them.
TEST(Guard, Guard_hold_check_AHoldOnTheObjectIsAVeto) {
    ExecutionFixture fixture;
    fixture.cluster.pods["wrapper-a"].label = "trueup.io/hold";
    Command deletion = delete_orphan();
    deletion.draft.read_set.resize(1);
    fixture.run(deletion);
    EXPECT_EQ(fixture.cluster.effects, 0U);

    fixture.row_without_pod();
    fixture.database.rows["7"].columns["hold"] = "true";
    Command update = fail_row();
    update.draft.read_set.resize(3);
    fixture.run(update);
    EXPECT_EQ(fixture.database.effects, 0U);
}

// docs/adr/0058: what is retracted was created by a command, and nobody acts when it goes.
TEST(Guard, Guard_record_check_WhatNoCommandCreatedIsNotRetracted) {
    ExecutionFixture fixture;
    Command command = delete_orphan();
    command.draft.action.kind = Action::Kind::kRetractRecord;
    fixture.run(command);
    EXPECT_EQ(fixture.cluster.effects, 0U);
}

// Design §4.12 (2): a source's scope is part of what is read again.
TEST(Guard, Guard_still_selected_APodThatLeftTheSelectorIsNoneOfOurs) {
    ExecutionFixture fixture;
    fixture.context.sources.pods.at("pods").selector = *ports::Selector::parse("app=w");
    fixture.cluster.pods["wrapper-a"].label = "of";
    fixture.run(delete_orphan());
    EXPECT_EQ(fixture.cluster.effects, 0U);
}

// Design §4.12 (2): pauses, asked right before the write.
TEST(Guard, Guard_permit_check_WhatIsHeldRightBeforeTheWriteIsNotWritten) {
    DispatcherFixture fixture;
    fixture.settings.before_write = [](const Command&) { return false; };
    fixture.emit(delete_orphan());
    fixture.step();
    EXPECT_EQ(fixture.cluster.count("DELETE"), 0U);
}

// Design §4.12: the time between check and write is bounded.
TEST(Guard, Guard_check_age_AnAnswerOlderThanTwoSecondsIsNoCheck) {
    ExecutionFixture fixture;
    fixture.per_answer = Millis(2'500);
    fixture.run(delete_orphan());
    EXPECT_EQ(fixture.cluster.count("DELETE"), 0U);
}

/// What comes of row 7 when it changes between each SELECT and UPDATE, and back again.
std::size_t effects_after(const std::function<void(FakeRow&)>& change) {
    ExecutionFixture fixture;
    fixture.row_without_pod();
    fixture.database.before_read = [&fixture, columns = fixture.database.rows["7"].columns] {
        fixture.database.rows["7"].columns = columns;
    };
    fixture.database.before_update = [&] { change(fixture.database.rows["7"]); };
    fixture.run(fail_row());
    return fixture.database.effects;
}

// Design §4.12 (3): every column that the rule read. A restored database may give an xmin again.
TEST(Guard, Guard_row_precondition_AnotherStatusUnderTheSameXminIsNotOverwritten) {
    EXPECT_EQ(effects_after([](FakeRow& row) { row.columns["status"] = "stopping"; }), 0U);
}

// Design §4.12 (3): the correlation column included.
TEST(Guard, Guard_row_key_precondition_ARowThatMeansAnotherPodByNowIsNotWritten) {
    EXPECT_EQ(effects_after([](FakeRow& row) { row.columns["url_slug"] = "b"; }), 0U);
}

// docs/adr/0056: whether what is not there was made, and deleted since, nobody can tell.
TEST(Guard, Guard_created_once_APostWithoutAnAnswerIsNotSentAgain) {
    ExecutionFixture fixture;
    Command command = delete_orphan();
    command.draft.target = {"pods", "wrapper-b", "wrapper-b", ""};
    command.draft.action.kind = Action::Kind::kCreateObject;
    command.draft.action.sets = {{"spec", R"({"containers":[]})", false, true}};
    command.draft.read_set = {{Predicate::Kind::kNone, "pods", "", "name", "wrapper-b"}};
    fixture.cluster.upset_creates = {{.carried_out = false}};
    fixture.run(command);
    EXPECT_EQ(fixture.cluster.count("POST"), 1U);
}

// docs/adr/0060: who asks by another key sees nothing that says anything.
TEST(Guard, Guard_looks_by_the_same_key_AnExecutorOfAnotherConfigurationDoesNothing) {
    FakeCluster cluster;
    FakeDatabase database;
    const Sources sources = sources_of(cluster, database);
    Command command = delete_orphan();
    command.draft.read_set = {{Predicate::Kind::kReadBy, "rows", "", "", "000000000000000b"}};
    AsyncCalls calls(Millis(1'000));
    ReadSet read_set(command, sources, calls, 1);
    read_set.start(SteadyTime{});
    EXPECT_FALSE(read_set.others().ok());
}

// Design §8: executors follow the requests.
TEST(Guard, Guard_executor_follows_brakes_WhatWasOrderedBeforeAPauseIsNotDone) {
    DispatcherFixture fixture;
    fixture.emit(delete_orphan());
    fixture.pass(Millis(1));
    fixture.say(RequestKind::kPause);
    fixture.step();
    EXPECT_EQ(fixture.cluster.effects, 0U);
}

}  // namespace
}  // namespace trueup::executors::testing
