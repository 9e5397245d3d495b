// Proves design §4.12, 4.13 and details 16: a row is written compare-and-set, checked live, read
// back.
#include "tests/executors/execution_fixture.h"

#include <gtest/gtest.h>

namespace trueup::executors::testing {
namespace {

TEST(UpdateRow, ChecksThePodThenWritesUnderEveryGuard_S6) {
    ExecutionFixture fixture;
    fixture.row_without_pod();
    const Outcome outcome = fixture.run(fail_row());
    EXPECT_EQ(outcome.kind, OutcomeKind::kDone);
    EXPECT_EQ(outcome.check_to_write_micros, 2'000);
    EXPECT_EQ(fixture.cluster.calls, std::vector<std::string>{"GET wrapper-a"});
    EXPECT_EQ(fixture.database.calls,
              (std::vector<std::string>{"SELECT pk=7", "UPDATE pk=7 xmin=1"}));
    std::map<std::string, std::optional<std::string>> guards;
    for (const auto& guard : fixture.database.last_guards) guards[guard.column] = guard.value;
    EXPECT_EQ(guards, (std::map<std::string, std::optional<std::string>>{{"status", "running"},
                                                                         {"pod_name", "wrapper-a"},
                                                                         {"url_slug", "a"},
                                                                         {"hold", std::nullopt}}));
    EXPECT_EQ(fixture.database.rows["7"].columns["status"], "failed");
    EXPECT_EQ(fixture.database.rows["7"].columns["error_code"], "UNEXPECTED_TERMINATION");
}

TEST(UpdateRow, ATargetInDoubtIsNotAsked) {
    ExecutionFixture fixture;
    fixture.row_without_pod();
    fixture.context.sources.rows["rows"].doubt = "it has not answered yet";
    const Outcome outcome = fixture.run(fail_row());
    EXPECT_EQ(outcome.kind, OutcomeKind::kFailed);
    EXPECT_TRUE(outcome.retryable);
    EXPECT_EQ(outcome.detail, "source rows: it has not answered yet");
    EXPECT_TRUE(fixture.database.calls.empty());
}

// One role had to read the log, the table and write: whoever had its password had all of it.
TEST(UpdateRow, AnotherRoleWritesWhatTheSourceRead) {
    ExecutionFixture fixture;
    fixture.row_without_pod();
    FakeDatabase writer;
    writer.rows = fixture.database.rows;
    fixture.context.sources.rows.at("rows").writer = &writer;
    const Outcome outcome = fixture.run(fail_row());
    EXPECT_EQ(outcome.kind, OutcomeKind::kDone) << outcome.detail;
    EXPECT_EQ(fixture.database.calls, std::vector<std::string>{"SELECT pk=7"});
    EXPECT_EQ(writer.calls, std::vector<std::string>{"UPDATE pk=7 xmin=1"});
    EXPECT_EQ(writer.rows["7"].columns["status"], "failed");
}

// It was carried out and called a failure: what tells the place was read as a column.
TEST(UpdateRow, WhatAnotherRoleWroteIsReadBack) {
    ExecutionFixture fixture;
    fixture.row_without_pod();
    FakeDatabase writer;
    writer.rows = fixture.database.rows;
    writer.upset_updates.push_back({0, "", true, false, "08006"});
    fixture.context.sources.rows.at("rows").writer = &writer;
    writer.before_update = [&] {
        fixture.database.rows["7"].columns["status"] = "failed";
        fixture.database.rows["7"].columns["error_code"] = "UNEXPECTED_TERMINATION";
    };
    const Outcome outcome = fixture.run(fail_row());
    EXPECT_EQ(outcome.kind, OutcomeKind::kDone) << outcome.detail;
    EXPECT_TRUE(says(outcome, "read back")) << outcome.detail;
}

// A connection to write with that led to another database could write to a row of the same key
// there.
TEST(UpdateRow, NothingIsWrittenToAnotherDatabaseThanTheOneThatWasRead) {
    ExecutionFixture fixture;
    fixture.row_without_pod();
    FakeDatabase writer;
    writer.rows = fixture.database.rows;
    writer.place = "7/2/graph";  // a copy of it that was promoted
    fixture.context.sources.rows.at("rows").writer = &writer;
    const Outcome outcome = fixture.run(fail_row());
    EXPECT_EQ(outcome.kind, OutcomeKind::kFailed);
    EXPECT_FALSE(outcome.retryable);
    EXPECT_TRUE(says(outcome,
                     "nothing was written: the connection of executors.update_row reaches "
                     "another database (7/2/graph) than the source's (7/1/graph)"))
        << outcome.detail;
    EXPECT_EQ(writer.effects + fixture.database.effects, 0U);
}

TEST(UpdateRow, RefusesWhenThePodIsThere_G22) {
    ExecutionFixture fixture;
    fixture.row_without_pod();
    fixture.cluster.pods["wrapper-a"].uid = "uid-z";
    const Outcome outcome = fixture.run(fail_row());
    EXPECT_EQ(outcome.kind, OutcomeKind::kRefused);
    EXPECT_EQ(outcome.detail, "none(pods, name = wrapper-a): there is one, uid uid-z");
    EXPECT_TRUE(fixture.database.calls.empty());
}

TEST(UpdateRow, AnErrorOfTheApiIsNoAbsence_S3) {
    for (const int status : {0, 401, 403, 404, 500}) {
        ExecutionFixture fixture;
        fixture.row_without_pod();
        fixture.cluster.upset_gets.push_back({status, ""});
        const Outcome outcome = fixture.run(fail_row());
        EXPECT_EQ(outcome.kind, OutcomeKind::kFailed) << status;
        EXPECT_TRUE(outcome.retryable) << status;
        EXPECT_EQ(fixture.database.effects, 0U);
    }
}

TEST(UpdateRow, RefusesNamingThePredicateThatDoesNotHold_S36) {
    ExecutionFixture fixture;
    fixture.row_without_pod();
    fixture.database.rows["7"].columns["status"] = "stopping";
    const Outcome outcome = fixture.run(fail_row());
    EXPECT_EQ(outcome.kind, OutcomeKind::kRefused);
    EXPECT_EQ(outcome.detail,
              "field(rows, public.instances/7, status = running): it is stopping now");
}

TEST(UpdateRow, NullIsAValueOfItsOwn_S7) {
    ExecutionFixture fixture;
    fixture.row_without_pod();
    fixture.database.rows["7"].columns["pod_name"] = std::nullopt;
    EXPECT_EQ(fixture.run(fail_row()).kind, OutcomeKind::kRefused);
    Command command = fail_row();
    command.draft.read_set[2].value = std::nullopt;
    EXPECT_EQ(fixture.run(command).kind, OutcomeKind::kDone);
}

TEST(UpdateRow, AMissingRowIsRefused_S10) {
    ExecutionFixture fixture;
    fixture.cluster.pods.clear();
    const Outcome outcome = fixture.run(fail_row());
    EXPECT_EQ(outcome.kind, OutcomeKind::kRefused);
    EXPECT_EQ(outcome.detail, "the row is gone");
}

TEST(UpdateRow, ARepeatIsAlreadyDone_G17_S38) {
    ExecutionFixture fixture;
    fixture.row_without_pod();
    EXPECT_EQ(fixture.run(fail_row()).kind, OutcomeKind::kDone);
    EXPECT_EQ(fixture.run(fail_row()).kind, OutcomeKind::kAlreadyDone);
    EXPECT_EQ(fixture.database.effects, 1U);
}

// A time of issue that the server spells its own way, or that an earlier command wrote, was written
// again and again.
TEST(UpdateRow, ARowThatHasAllButTheTimeOfIssueIsAlreadyDone) {
    ExecutionFixture fixture;
    fixture.row_without_pod();
    Command command = fail_row();
    command.draft.action.sets.push_back({"ended_at", "2026-11-26T10:00:00.000Z", true});
    EXPECT_EQ(fixture.run(command).kind, OutcomeKind::kDone);
    EXPECT_EQ(fixture.database.rows["7"].columns["ended_at"], "2026-11-26T10:00:00.000Z");
    fixture.database.rows["7"].columns["ended_at"] = "2026-11-26 10:00:00+00";
    EXPECT_EQ(fixture.run(command).kind, OutcomeKind::kAlreadyDone);
    EXPECT_EQ(fixture.database.effects, 1U);
}

// It was called done without a write, and ordered again for ever.
TEST(UpdateRow, ATimeThatIsMissingIsWrittenWhateverElseIsThere) {
    ExecutionFixture fixture;
    fixture.row_without_pod();
    Command command = fail_row();
    command.draft.action.sets = {{"status", "running"},
                                 {"ended_at", "2026-11-26T10:00:00.000Z", true}};
    fixture.database.rows["7"].columns["ended_at"] = std::nullopt;
    EXPECT_EQ(fixture.run(command).kind, OutcomeKind::kDone);
    EXPECT_EQ(fixture.database.rows["7"].columns["ended_at"], "2026-11-26T10:00:00.000Z");
    EXPECT_EQ(fixture.run(command).kind, OutcomeKind::kAlreadyDone);
}

TEST(UpdateRow, ATimeOfIssueAloneIsNeverThereAlready) {
    ExecutionFixture fixture;
    fixture.row_without_pod();
    Command command = fail_row();
    command.draft.action.sets = {{"ended_at", "2026-11-26T10:00:00.000Z", true}};
    EXPECT_EQ(fixture.run(command).kind, OutcomeKind::kDone);
}

TEST(UpdateRow, AHoldOnTheRowIsAVeto_S24) {
    ExecutionFixture fixture;
    fixture.row_without_pod();
    fixture.database.rows["7"].columns["hold"] = "true";
    const Outcome outcome = fixture.run(fail_row());
    EXPECT_EQ(outcome.kind, OutcomeKind::kRefused);
    EXPECT_TRUE(says(outcome, "veto")) << outcome.detail;
    fixture.database.rows["7"].columns["hold"] = "false";
    EXPECT_EQ(fixture.run(fail_row()).kind, OutcomeKind::kDone);
}

TEST(UpdateRow, AHarmlessChangeUnderTheWriteIsTriedAgain_S38) {
    ExecutionFixture fixture;
    fixture.row_without_pod();
    int churn = 2;
    fixture.database.before_update = [&] {
        if (churn-- > 0) ++fixture.database.rows["7"].xmin;
    };
    EXPECT_EQ(fixture.run(fail_row()).kind, OutcomeKind::kDone);
    EXPECT_EQ(fixture.database.count("UPDATE"), 3U);
    EXPECT_EQ(fixture.cluster.count("GET"), 3U);  // the whole read set each time
    EXPECT_EQ(fixture.database.effects, 1U);
}

TEST(UpdateRow, AChangeUnderTheWriteThatMattersIsRefused_S38) {
    ExecutionFixture fixture;
    fixture.row_without_pod();
    fixture.database.before_update = [&] {
        fixture.database.rows["7"].columns["status"] = "stopping";
        ++fixture.database.rows["7"].xmin;
    };
    EXPECT_EQ(fixture.run(fail_row()).kind, OutcomeKind::kRefused);
    EXPECT_EQ(fixture.database.effects, 0U);
}

TEST(UpdateRow, WhatSomebodyElseWroteIsAlreadyDone_S38) {
    ExecutionFixture fixture;
    fixture.row_without_pod();
    fixture.database.before_update = [&] {
        FakeRow& row = fixture.database.rows["7"];
        row.columns["status"] = "failed";
        row.columns["error_code"] = "UNEXPECTED_TERMINATION";
        ++row.xmin;
    };
    EXPECT_EQ(fixture.run(fail_row()).kind, OutcomeKind::kAlreadyDone);
    EXPECT_EQ(fixture.database.effects, 0U);
}

TEST(UpdateRow, EndlessChurnGivesUp_S38) {
    ExecutionFixture fixture;
    fixture.row_without_pod();
    fixture.database.before_update = [&] { ++fixture.database.rows["7"].xmin; };
    const Outcome outcome = fixture.run(fail_row());
    EXPECT_EQ(outcome.kind, OutcomeKind::kFailed);
    EXPECT_TRUE(outcome.retryable);
    EXPECT_EQ(fixture.database.count("UPDATE"), 6U);
    EXPECT_EQ(fixture.database.effects, 0U);
}

// An UPDATE was queued behind a SELECT that hung, and written when its checks were 15 s old and its
// command had expired.
TEST(UpdateRow, AWriteThatIsKeptIsNotSentOnceItsChecksAreOld_S24) {
    ExecutionFixture fixture;
    fixture.row_without_pod();
    fixture.database.update_kept = Millis(15'000);
    fixture.database.before_update = [&] { fixture.permitted = Permit::kExpired; };
    fixture.run(fail_row());
    EXPECT_EQ(fixture.database.effects, 0U);
}

TEST(UpdateRow, FailuresAreTakenByTheirSqlClass) {
    struct Case {
        const char* sqlstate;
        bool retryable;
    };
    for (const Case c : {Case{"40001", true}, Case{"53300", true}, Case{"55P03", true},
                         Case{"42501", false}, Case{"23514", false}, Case{"42P01", false}}) {
        ExecutionFixture on_write;
        on_write.row_without_pod();
        on_write.database.upset_updates.push_back({0, "", false, false, c.sqlstate});
        const Outcome written = on_write.run(fail_row());
        EXPECT_EQ(written.kind, OutcomeKind::kFailed) << c.sqlstate;
        EXPECT_EQ(written.retryable, c.retryable) << c.sqlstate;
        EXPECT_EQ(says(written, "GRANT"), std::string(c.sqlstate) == "42501") << written.detail;
    }
    for (const Case c : {Case{"", true}, Case{"08006", true}, Case{"57P01", true},
                         Case{"42501", false}, Case{"42703", false}}) {
        ExecutionFixture on_read;
        on_read.row_without_pod();
        on_read.database.upset_reads.push_back({0, "", false, false, c.sqlstate});
        const Outcome read = on_read.run(fail_row());
        EXPECT_EQ(read.kind, OutcomeKind::kFailed) << c.sqlstate;
        EXPECT_EQ(read.retryable, c.retryable) << c.sqlstate;
        EXPECT_EQ(on_read.database.effects, 0U);
    }
}

TEST(UpdateRow, AConnectionLostAfterTheUpdateIsReadBack_S38) {
    for (const std::string sqlstate : {"", "08006", "57P01", "40003"}) {
        ExecutionFixture fixture;
        fixture.row_without_pod();
        fixture.database.upset_updates.push_back({0, "", true, false, sqlstate});
        const Outcome outcome = fixture.run(fail_row());
        EXPECT_EQ(outcome.kind, OutcomeKind::kDone) << sqlstate;
        EXPECT_TRUE(says(outcome, "read back")) << outcome.detail;
        EXPECT_EQ(fixture.database.count("UPDATE"), 1U);
        EXPECT_EQ(fixture.database.effects, 1U);
    }
}

TEST(UpdateRow, ALostUpdateThatWasNotCarriedOutIsTriedAgain_S38) {
    ExecutionFixture fixture;
    fixture.row_without_pod();
    fixture.database.upset_updates.push_back({});
    EXPECT_EQ(fixture.run(fail_row()).kind, OutcomeKind::kDone);
    EXPECT_EQ(fixture.database.count("UPDATE"), 2U);
    EXPECT_EQ(fixture.database.effects, 1U);
}

TEST(UpdateRow, AResultThatCannotBeReadBackIsNeverAssumed_S38) {
    ExecutionFixture fixture;
    fixture.row_without_pod();
    fixture.database.upset_updates.push_back({});
    fixture.database.before_update = [&] { fixture.database.upset_reads.assign(9, {}); };
    const Outcome outcome = fixture.run(fail_row());
    EXPECT_EQ(outcome.kind, OutcomeKind::kFailed);
    EXPECT_TRUE(outcome.retryable);
    EXPECT_TRUE(says(outcome, "unknown")) << outcome.detail;
}

TEST(UpdateRow, DriftIsWrittenOnlyWhileThatVeryPodHasFailed_G3) {
    ExecutionFixture fixture;
    fixture.row_without_pod();
    fixture.cluster.pods["wrapper-a"].phase = "Failed";
    EXPECT_EQ(fixture.run(fail_drifted_row()).kind, OutcomeKind::kDone);
    EXPECT_EQ(fixture.cluster.count("GET"), 1U);  // one read for both predicates

    fixture.row_without_pod();
    fixture.cluster.pods["wrapper-a"].phase = "Running";
    EXPECT_EQ(fixture.run(fail_drifted_row()).detail,
              "field(pods, uid-a, phase = Failed): it is Running now");
    fixture.cluster.pods["wrapper-a"].phase = "Failed";
    fixture.cluster.pods["wrapper-a"].uid = "uid-b";
    EXPECT_EQ(fixture.run(fail_drifted_row()).detail,
              "exists(pods, uid-a): recreated: uid is now uid-b");
    fixture.cluster.pods.clear();
    EXPECT_EQ(fixture.run(fail_drifted_row()).detail, "exists(pods, uid-a): the object is gone");
    EXPECT_EQ(fixture.database.effects, 1U);
}

TEST(UpdateRow, ATargetOfAnotherTableIsNotTouched) {
    ExecutionFixture fixture;
    fixture.row_without_pod();
    Command command = fail_row();
    command.draft.target.object_id = "public.accounts/7";
    const Outcome outcome = fixture.run(command);
    EXPECT_EQ(outcome.kind, OutcomeKind::kFailed);
    EXPECT_FALSE(outcome.retryable);
    EXPECT_EQ(fixture.database.effects, 0U);
}

}  // namespace
}  // namespace trueup::executors::testing
