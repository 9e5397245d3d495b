// Proves that each guard of the executors is needed: the test of its name fails without it
// (docs/guards.md; tests/guards/mutants.sh switches them off one by one).
#include "tests/executors/desk.h"

#include <gtest/gtest.h>

#include <functional>

namespace trueup::executors::testing {
namespace {

// Design §4.12 (1).
TEST(Guard, Guard_ledger_AKnownIdIsNotCarriedOutAgain) {
    Desk desk;
    desk.emit(delete_orphan());
    desk.step();
    desk.restart();
    desk.cluster.pods["wrapper-a"] = {};  // as if the delete had been undone
    desk.step();
    EXPECT_EQ(desk.cluster.count("DELETE"), 1U);
}

// Design §4.12 (1): the outcomes are read before the first command.
TEST(Guard, Guard_ledger_first_NoCommandIsTakenWhileTheOutcomesCannotBeRead) {
    Desk desk;
    desk.step(2);  // learns the broker's time, and reads what is there
    desk.emit(delete_orphan());
    desk.log.fail_reads(2);  // of the requests, then of the outcomes
    desk.step(1);
    const DispatcherStats stats = desk.dispatcher().stats();
    EXPECT_TRUE(stats.clock_fresh);
    EXPECT_EQ(stats.pending + stats.running, 0U);
}

// Design §4.12 (2).
TEST(Guard, Guard_live_check_ARowThatCameSinceSavesThePod) {
    Bench bench;
    bench.database.rows["7"].columns["pod_name"] = "wrapper-a";
    EXPECT_EQ(bench.run(delete_orphan()).kind, OutcomeKind::kRefused);
    EXPECT_EQ(bench.cluster.effects, 0U);
}

// Design §4.12 (2): what the rule read of the target itself.
TEST(Guard, Guard_target_check_ARowThatMovedOnIsNotOverwritten) {
    Bench bench;
    bench.row_without_pod();
    bench.database.rows["7"].columns["status"] = "stopping";
    EXPECT_EQ(bench.run(fail_row()).kind, OutcomeKind::kRefused);
    EXPECT_EQ(bench.database.effects, 0U);
}

// Design §4.12 (2): vetoes, also where the rule forgot to name them.
TEST(Guard, Guard_hold_check_AHoldOnTheObjectIsAVeto) {
    Bench bench;
    bench.cluster.pods["wrapper-a"].label = "trueup.io/hold";
    Command deletion = delete_orphan();
    deletion.draft.read_set.resize(1);
    bench.run(deletion);
    EXPECT_EQ(bench.cluster.effects, 0U);

    bench.row_without_pod();
    bench.database.rows["7"].columns["hold"] = "true";
    Command update = fail_row();
    update.draft.read_set.resize(3);
    bench.run(update);
    EXPECT_EQ(bench.database.effects, 0U);
}

// Design §4.12 (2): a source's scope is part of what is read again.
TEST(Guard, Guard_still_selected_APodThatLeftTheSelectorIsNoneOfOurs) {
    Bench bench;
    bench.context.sources.pods.at("pods").selector = *ports::Selector::parse("app=w");
    bench.cluster.pods["wrapper-a"].label = "of";
    bench.run(delete_orphan());
    EXPECT_EQ(bench.cluster.effects, 0U);
}

// Design §4.12 (2): pauses, asked right before the write.
TEST(Guard, Guard_permit_check_WhatIsHeldRightBeforeTheWriteIsNotWritten) {
    Desk desk;
    desk.settings.before_write = [](const Command&) { return false; };
    desk.emit(delete_orphan());
    desk.step();
    EXPECT_EQ(desk.cluster.count("DELETE"), 0U);
}

// Design §4.12: the time between check and write is bounded.
TEST(Guard, Guard_check_age_AnAnswerOlderThanTwoSecondsIsNoCheck) {
    Bench bench;
    bench.per_answer = Millis(2'500);
    bench.run(delete_orphan());
    EXPECT_EQ(bench.cluster.count("DELETE"), 0U);
}

/// What comes of row 7 when it changes between each SELECT and UPDATE, and back again.
std::size_t effects_after(const std::function<void(FakeRow&)>& change) {
    Bench bench;
    bench.row_without_pod();
    bench.database.before_read = [&bench, columns = bench.database.rows["7"].columns] {
        bench.database.rows["7"].columns = columns;
    };
    bench.database.before_update = [&] { change(bench.database.rows["7"]); };
    bench.run(fail_row());
    return bench.database.effects;
}

// Design §4.12 (3): every column that the rule read. A restored database may give an xmin again.
TEST(Guard, Guard_row_precondition_AnotherStatusUnderTheSameXminIsNotOverwritten) {
    EXPECT_EQ(effects_after([](FakeRow& row) { row.columns["status"] = "stopping"; }), 0U);
}

// Design §4.12 (3): the correlation column included.
TEST(Guard, Guard_row_key_precondition_ARowThatMeansAnotherPodByNowIsNotWritten) {
    EXPECT_EQ(effects_after([](FakeRow& row) { row.columns["url_slug"] = "b"; }), 0U);
}

// Design §8: executors follow the requests.
TEST(Guard, Guard_executor_follows_brakes_WhatWasOrderedBeforeAPauseIsNotDone) {
    Desk desk;
    desk.emit(delete_orphan());
    desk.pass(Millis(1));
    desk.say(RequestKind::kPause);
    desk.step();
    EXPECT_EQ(desk.cluster.effects, 0U);
}

}  // namespace
}  // namespace trueup::executors::testing
