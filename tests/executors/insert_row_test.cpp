// Proves executors/insert_row.h: a row of a key is inserted where none has it, once, however many
// deliver the command.
#include "tests/executors/execution_fixture.h"

#include <gtest/gtest.h>

namespace trueup::executors::testing {
namespace {

/// The pod wrapper-a runs, and there is no row of its name: make one.
Command record_pod() {
    Command command = delete_orphan(4);
    command.rule = "unrecorded_pod";
    command.draft.target = {"rows", "wrapper-a", "wrapper-a", ""};
    command.draft.action = {};
    command.draft.action.kind = Action::Kind::kInsertRow;
    command.draft.action.sets = {{"pod_name", "wrapper-a"}, {"status", "running"}};
    command.draft.read_set = {
        {Predicate::Kind::kExists, "pods", "uid-a", "", std::nullopt},
        {Predicate::Kind::kField, "pods", "uid-a", "phase", "Running"},
        {Predicate::Kind::kNone, "rows", "", "key", "wrapper-a"},
        {Predicate::Kind::kNone, "rows", "", "pod_name", "wrapper-a"},
    };
    return command;
}

class InsertRow : public ::testing::Test, public ExecutionFixture {
  public:
    InsertRow() {
        cluster.pods["wrapper-a"].phase = "Running";
        RowSource& rows = context.sources.rows["rows"];
        rows.key_expression = "pod_name";
        rows.key_columns = {"pod_name"};
        rows.unique = "\"pod_name\"";
    }
    FakeRow& only_row() { return database.rows.begin()->second; }
};

TEST_F(InsertRow, ThePodIsReadThenTheRowsOfItsNameThenItIsInserted) {
    const Outcome outcome = run(record_pod());
    EXPECT_EQ(outcome.kind, OutcomeKind::kDone) << outcome.detail;
    EXPECT_EQ(cluster.calls, std::vector<std::string>{"GET wrapper-a"});
    EXPECT_EQ(database.calls, (std::vector<std::string>{"SELECT key=wrapper-a", "INSERT"}));
    ASSERT_EQ(database.rows.size(), 1U);
    EXPECT_EQ(only_row().columns["pod_name"], "wrapper-a");
    EXPECT_EQ(only_row().columns["status"], "running");
    // The statement looks once more, by each of the two, and the index stops who comes meanwhile.
    EXPECT_EQ(database.last_insert.unique, "\"pod_name\"");
    ASSERT_EQ(database.last_insert.none_of.size(), 2U);
    EXPECT_EQ(database.last_insert.none_of[0].expression, "pod_name");
    EXPECT_EQ(world::column_named_in(database.last_insert.none_of[1].expression), "pod_name");
}

TEST_F(InsertRow, ARepeatIsAlreadyDone) {
    EXPECT_EQ(run(record_pod()).kind, OutcomeKind::kDone);
    const Outcome again = run(record_pod());
    EXPECT_EQ(again.kind, OutcomeKind::kAlreadyDone);
    EXPECT_EQ(again.detail, "row new-1 has all values already");
    EXPECT_EQ(database.rows.size(), 1U);
}

TEST_F(InsertRow, ARowOfThatKeyIsLeftAlone) {
    for (const char* name : {"wrapper-a", " wrapper-a\n", "graph/wrapper-a"}) {
        database.rows["7"].columns = {{"pod_name", name}, {"status", "stopping"}};
        const Outcome outcome = run(record_pod());
        EXPECT_EQ(outcome.kind, OutcomeKind::kRefused);
        EXPECT_EQ(outcome.detail, "there is none of the key wrapper-a: row 7 has it now");
        EXPECT_EQ(database.effects, 0U) << name;
    }
}

TEST_F(InsertRow, TwoRowsOfThatKeyAreNotOurs) {
    database.rows["7"].columns = {{"pod_name", "wrapper-a"}, {"status", "running"}};
    database.rows["8"].columns = {{"pod_name", " wrapper-a"}, {"status", "running"}};
    EXPECT_EQ(run(record_pod()).kind, OutcomeKind::kRefused);
}

TEST_F(InsertRow, AnOwnersRowThatComesUnderTheWriteStays) {
    database.before_update = [&] {
        database.rows["7"].columns = {{"pod_name", "wrapper-a"}, {"status", "starting"}};
    };
    const Outcome outcome = run(record_pod());
    EXPECT_EQ(outcome.kind, OutcomeKind::kRefused) << outcome.detail;
    EXPECT_EQ(database.effects, 0U);
    EXPECT_EQ(database.rows.size(), 1U);
}

TEST_F(InsertRow, NothingIsInsertedForAPodThatIsGoneOrChanged) {
    cluster.pods["wrapper-a"].phase = "Failed";
    EXPECT_EQ(run(record_pod()).detail, "field(pods, uid-a, phase = Running): it is Failed now");
    cluster.pods.clear();
    EXPECT_EQ(run(record_pod()).kind, OutcomeKind::kRefused);
    EXPECT_EQ(database.calls, std::vector<std::string>{});
}

TEST_F(InsertRow, ATableWithoutAUniqueIndexGetsNothing) {
    database.upset_updates.push_back({0, "", false, false, "42P10"});
    const Outcome outcome = run(record_pod());
    EXPECT_EQ(outcome.kind, OutcomeKind::kFailed);
    EXPECT_FALSE(outcome.retryable);
    EXPECT_EQ(outcome.detail.substr(0, outcome.detail.rfind(':')),
              "INSERT public.instances of wrapper-a: nothing was written: two executors could "
              "insert it at once; make a unique index, neither partial nor deferrable, over "
              "(\"pod_name\")");
}

// It was tried again for ever, and said to have changed during the write.
TEST_F(InsertRow, WhatTheServerKeepsOutUnseenIsAFailureThatSaysSo) {
    database.keeps_out = true;
    const Outcome outcome = run(record_pod());
    EXPECT_EQ(outcome.kind, OutcomeKind::kFailed);
    EXPECT_FALSE(outcome.retryable);
    EXPECT_TRUE(says(outcome, "nothing was written, and no row of that key is in sight"))
        << outcome.detail;
    EXPECT_EQ(database.count("INSERT"), 1U);
}

TEST_F(InsertRow, AMissingRightIsNamed) {
    database.upset_updates.push_back({0, "", false, false, "42501"});
    const Outcome outcome = run(record_pod());
    EXPECT_FALSE(outcome.retryable);
    EXPECT_TRUE(says(outcome, "GRANT SELECT, INSERT on the table")) << outcome.detail;
}

TEST_F(InsertRow, AConnectionLostAfterTheInsertIsReadBack) {
    for (const bool carried_out : {true, false}) {
        database.rows.clear();
        database.calls.clear();
        database.upset_updates.push_back({0, "", carried_out, false, "08006"});
        const Outcome outcome = run(record_pod());
        EXPECT_EQ(outcome.kind, OutcomeKind::kDone) << outcome.detail;
        EXPECT_EQ(says(outcome, "read back"), carried_out) << outcome.detail;
        EXPECT_EQ(database.count("INSERT"), carried_out ? 1U : 2U);
        EXPECT_EQ(database.rows.size(), 1U);
    }
}

// Where there is no row that would tell the place, it has to be asked by itself.
TEST_F(InsertRow, AnotherRoleInsertsWhereTheSourceLooked) {
    FakeDatabase writer;
    context.sources.rows["rows"].writer = &writer;
    EXPECT_EQ(run(record_pod()).kind, OutcomeKind::kDone);
    EXPECT_EQ(database.calls, std::vector<std::string>{"SELECT key=wrapper-a"});
    EXPECT_EQ(writer.calls, std::vector<std::string>{"INSERT"});
    EXPECT_EQ(writer.last_insert.only_at, database.place);

    FakeDatabase elsewhere;
    elsewhere.place = "7/2/graph";
    context.sources.rows["rows"].writer = &elsewhere;
    const Outcome outcome = run(record_pod());
    EXPECT_EQ(outcome.kind, OutcomeKind::kFailed);
    EXPECT_TRUE(says(outcome, "the connection of executors.insert_row reaches another database"))
        << outcome.detail;
    EXPECT_TRUE(elsewhere.rows.empty());
}

// The connection was lost after the look, and a restored copy answered: the row went there.
TEST_F(InsertRow, NothingIsInsertedWhereNobodyLooked) {
    database.before_update = [&] { database.place = "7/2/graph"; };
    const Outcome outcome = run(record_pod());
    EXPECT_EQ(outcome.kind, OutcomeKind::kFailed);
    EXPECT_TRUE(outcome.retryable);
    EXPECT_TRUE(says(outcome,
                     "another database answers than the one that was looked at "
                     "(7/2/graph, not 7/1/graph)"))
        << outcome.detail;
    EXPECT_TRUE(database.rows.empty());
}

TEST_F(InsertRow, ARowThatATriggerGaveAnotherKeyIsNotCalledDone) {
    database.other_key = true;
    const Outcome outcome = run(record_pod());
    EXPECT_EQ(outcome.kind, OutcomeKind::kFailed);
    EXPECT_FALSE(outcome.retryable);
    EXPECT_TRUE(says(outcome, "a trigger made it a row of another key")) << outcome.detail;
}

TEST_F(InsertRow, ACommandThatDoesNotSayOfWhichKeyThereIsNoneDoesNothing) {
    Command command = record_pod();
    command.draft.read_set.resize(2);
    EXPECT_EQ(run(command).kind, OutcomeKind::kFailed);
    context.sources.rows["rows"].unique.clear();
    EXPECT_EQ(run(record_pod()).kind, OutcomeKind::kFailed);
    EXPECT_EQ(database.effects, 0U);
}

}  // namespace
}  // namespace trueup::executors::testing
