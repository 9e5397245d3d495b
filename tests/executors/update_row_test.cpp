// Proves design §4.12, 4.13 and details 16: a row is written compare-and-set, checked live, read
// back.
#include "tests/executors/bench.h"

#include <gtest/gtest.h>

namespace trueup::executors::testing {
namespace {

TEST(UpdateRow, ChecksThePodThenWritesUnderEveryGuard_S6) {
    Bench bench;
    bench.row_without_pod();
    const Outcome outcome = bench.run(fail_row());
    EXPECT_EQ(outcome.kind, OutcomeKind::kDone);
    EXPECT_EQ(outcome.check_to_write_micros, 2'000);
    EXPECT_EQ(bench.cluster.calls, std::vector<std::string>{"GET wrapper-a"});
    EXPECT_EQ(bench.database.calls,
              (std::vector<std::string>{"SELECT pk=7", "UPDATE pk=7 xmin=1"}));
    std::map<std::string, std::optional<std::string>> guards;
    for (const auto& guard : bench.database.last_guards) guards[guard.column] = guard.value;
    EXPECT_EQ(guards, (std::map<std::string, std::optional<std::string>>{{"status", "running"},
                                                                         {"pod_name", "wrapper-a"},
                                                                         {"url_slug", "a"},
                                                                         {"hold", std::nullopt}}));
    EXPECT_EQ(bench.database.rows["7"].columns["status"], "failed");
    EXPECT_EQ(bench.database.rows["7"].columns["error_code"], "UNEXPECTED_TERMINATION");
}

TEST(UpdateRow, ATargetInDoubtIsNotAsked) {
    Bench bench;
    bench.row_without_pod();
    bench.context.sources.rows["rows"].doubt = "it has not answered yet";
    const Outcome outcome = bench.run(fail_row());
    EXPECT_EQ(outcome.kind, OutcomeKind::kFailed);
    EXPECT_TRUE(outcome.retryable);
    EXPECT_EQ(outcome.detail, "source rows: it has not answered yet");
    EXPECT_TRUE(bench.database.calls.empty());
}

// One role had to read the log, the table and write: whoever had its password had all of it.
TEST(UpdateRow, AnotherRoleWritesWhatTheSourceRead) {
    Bench bench;
    bench.row_without_pod();
    FakeDatabase writer;
    writer.rows = bench.database.rows;
    bench.context.sources.rows.at("rows").writer = &writer;
    const Outcome outcome = bench.run(fail_row());
    EXPECT_EQ(outcome.kind, OutcomeKind::kDone) << outcome.detail;
    EXPECT_EQ(bench.database.calls, std::vector<std::string>{"SELECT pk=7"});
    EXPECT_EQ(writer.calls, std::vector<std::string>{"UPDATE pk=7 xmin=1"});
    EXPECT_EQ(writer.rows["7"].columns["status"], "failed");
}

// A connection to write with that led to another database could write to a row of the same key
// there.
TEST(UpdateRow, NothingIsWrittenToAnotherDatabaseThanTheOneThatWasRead) {
    Bench bench;
    bench.row_without_pod();
    FakeDatabase writer;
    writer.rows = bench.database.rows;
    writer.place = "7/2/graph";  // a copy of it that was promoted
    bench.context.sources.rows.at("rows").writer = &writer;
    const Outcome outcome = bench.run(fail_row());
    EXPECT_EQ(outcome.kind, OutcomeKind::kFailed);
    EXPECT_FALSE(outcome.retryable);
    EXPECT_TRUE(says(outcome,
                     "nothing was written: the connection of executors.update_row reaches "
                     "another database (7/2/graph) than the source's (7/1/graph)"))
        << outcome.detail;
    EXPECT_EQ(writer.effects + bench.database.effects, 0U);
}

TEST(UpdateRow, RefusesWhenThePodIsThere_G22) {
    Bench bench;
    bench.row_without_pod();
    bench.cluster.pods["wrapper-a"].uid = "uid-z";
    const Outcome outcome = bench.run(fail_row());
    EXPECT_EQ(outcome.kind, OutcomeKind::kRefused);
    EXPECT_EQ(outcome.detail, "none(pods, name = wrapper-a): there is one, uid uid-z");
    EXPECT_TRUE(bench.database.calls.empty());
}

TEST(UpdateRow, AnErrorOfTheApiIsNoAbsence_S3) {
    for (const int status : {0, 401, 403, 404, 500}) {
        Bench bench;
        bench.row_without_pod();
        bench.cluster.upset_gets.push_back({status, ""});
        const Outcome outcome = bench.run(fail_row());
        EXPECT_EQ(outcome.kind, OutcomeKind::kFailed) << status;
        EXPECT_TRUE(outcome.retryable) << status;
        EXPECT_EQ(bench.database.effects, 0U);
    }
}

TEST(UpdateRow, RefusesNamingThePredicateThatDoesNotHold_S36) {
    Bench bench;
    bench.row_without_pod();
    bench.database.rows["7"].columns["status"] = "stopping";
    const Outcome outcome = bench.run(fail_row());
    EXPECT_EQ(outcome.kind, OutcomeKind::kRefused);
    EXPECT_EQ(outcome.detail,
              "field(rows, public.instances/7, status = running): it is stopping now");
}

TEST(UpdateRow, NullIsAValueOfItsOwn_S7) {
    Bench bench;
    bench.row_without_pod();
    bench.database.rows["7"].columns["pod_name"] = std::nullopt;
    EXPECT_EQ(bench.run(fail_row()).kind, OutcomeKind::kRefused);
    Command command = fail_row();
    command.draft.read_set[2].value = std::nullopt;
    EXPECT_EQ(bench.run(command).kind, OutcomeKind::kDone);
}

TEST(UpdateRow, AMissingRowIsRefused_S10) {
    Bench bench;
    bench.cluster.pods.clear();
    const Outcome outcome = bench.run(fail_row());
    EXPECT_EQ(outcome.kind, OutcomeKind::kRefused);
    EXPECT_EQ(outcome.detail, "the row is gone");
}

TEST(UpdateRow, ARepeatIsAlreadyDone_G17_S38) {
    Bench bench;
    bench.row_without_pod();
    EXPECT_EQ(bench.run(fail_row()).kind, OutcomeKind::kDone);
    EXPECT_EQ(bench.run(fail_row()).kind, OutcomeKind::kAlreadyDone);
    EXPECT_EQ(bench.database.effects, 1U);
}

TEST(UpdateRow, AHoldOnTheRowIsAVeto_S24) {
    Bench bench;
    bench.row_without_pod();
    bench.database.rows["7"].columns["hold"] = "true";
    const Outcome outcome = bench.run(fail_row());
    EXPECT_EQ(outcome.kind, OutcomeKind::kRefused);
    EXPECT_TRUE(says(outcome, "veto")) << outcome.detail;
    bench.database.rows["7"].columns["hold"] = "false";
    EXPECT_EQ(bench.run(fail_row()).kind, OutcomeKind::kDone);
}

TEST(UpdateRow, AHarmlessChangeUnderTheWriteIsTriedAgain_S38) {
    Bench bench;
    bench.row_without_pod();
    int churn = 2;
    bench.database.before_update = [&] {
        if (churn-- > 0) ++bench.database.rows["7"].xmin;
    };
    EXPECT_EQ(bench.run(fail_row()).kind, OutcomeKind::kDone);
    EXPECT_EQ(bench.database.count("UPDATE"), 3U);
    EXPECT_EQ(bench.cluster.count("GET"), 3U);  // the whole read set each time
    EXPECT_EQ(bench.database.effects, 1U);
}

TEST(UpdateRow, AChangeUnderTheWriteThatMattersIsRefused_S38) {
    Bench bench;
    bench.row_without_pod();
    bench.database.before_update = [&] {
        bench.database.rows["7"].columns["status"] = "stopping";
        ++bench.database.rows["7"].xmin;
    };
    EXPECT_EQ(bench.run(fail_row()).kind, OutcomeKind::kRefused);
    EXPECT_EQ(bench.database.effects, 0U);
}

TEST(UpdateRow, WhatSomebodyElseWroteIsAlreadyDone_S38) {
    Bench bench;
    bench.row_without_pod();
    bench.database.before_update = [&] {
        FakeRow& row = bench.database.rows["7"];
        row.columns["status"] = "failed";
        row.columns["error_code"] = "UNEXPECTED_TERMINATION";
        ++row.xmin;
    };
    EXPECT_EQ(bench.run(fail_row()).kind, OutcomeKind::kAlreadyDone);
    EXPECT_EQ(bench.database.effects, 0U);
}

TEST(UpdateRow, EndlessChurnGivesUp_S38) {
    Bench bench;
    bench.row_without_pod();
    bench.database.before_update = [&] { ++bench.database.rows["7"].xmin; };
    const Outcome outcome = bench.run(fail_row());
    EXPECT_EQ(outcome.kind, OutcomeKind::kFailed);
    EXPECT_TRUE(outcome.retryable);
    EXPECT_EQ(bench.database.count("UPDATE"), 6U);
    EXPECT_EQ(bench.database.effects, 0U);
}

// An UPDATE was queued behind a SELECT that hung, and written when its checks were 15 s old and its
// command had expired.
TEST(UpdateRow, AWriteThatIsKeptIsNotSentOnceItsChecksAreOld_S24) {
    Bench bench;
    bench.row_without_pod();
    bench.database.update_kept = Millis(15'000);
    bench.database.before_update = [&] { bench.permitted = Permit::kExpired; };
    bench.run(fail_row());
    EXPECT_EQ(bench.database.effects, 0U);
}

TEST(UpdateRow, FailuresAreTakenByTheirSqlClass) {
    struct Case {
        const char* sqlstate;
        bool retryable;
    };
    for (const Case c : {Case{"40001", true}, Case{"53300", true}, Case{"55P03", true},
                         Case{"42501", false}, Case{"23514", false}, Case{"42P01", false}}) {
        Bench on_write;
        on_write.row_without_pod();
        on_write.database.upset_updates.push_back({0, "", false, false, c.sqlstate});
        const Outcome written = on_write.run(fail_row());
        EXPECT_EQ(written.kind, OutcomeKind::kFailed) << c.sqlstate;
        EXPECT_EQ(written.retryable, c.retryable) << c.sqlstate;
        EXPECT_EQ(says(written, "GRANT"), std::string(c.sqlstate) == "42501") << written.detail;
    }
    for (const Case c : {Case{"", true}, Case{"08006", true}, Case{"57P01", true},
                         Case{"42501", false}, Case{"42703", false}}) {
        Bench on_read;
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
        Bench bench;
        bench.row_without_pod();
        bench.database.upset_updates.push_back({0, "", true, false, sqlstate});
        const Outcome outcome = bench.run(fail_row());
        EXPECT_EQ(outcome.kind, OutcomeKind::kDone) << sqlstate;
        EXPECT_TRUE(says(outcome, "read back")) << outcome.detail;
        EXPECT_EQ(bench.database.count("UPDATE"), 1U);
        EXPECT_EQ(bench.database.effects, 1U);
    }
}

TEST(UpdateRow, ALostUpdateThatWasNotCarriedOutIsTriedAgain_S38) {
    Bench bench;
    bench.row_without_pod();
    bench.database.upset_updates.push_back({});
    EXPECT_EQ(bench.run(fail_row()).kind, OutcomeKind::kDone);
    EXPECT_EQ(bench.database.count("UPDATE"), 2U);
    EXPECT_EQ(bench.database.effects, 1U);
}

TEST(UpdateRow, AResultThatCannotBeReadBackIsNeverAssumed_S38) {
    Bench bench;
    bench.row_without_pod();
    bench.database.upset_updates.push_back({});
    bench.database.before_update = [&] { bench.database.upset_reads.assign(9, {}); };
    const Outcome outcome = bench.run(fail_row());
    EXPECT_EQ(outcome.kind, OutcomeKind::kFailed);
    EXPECT_TRUE(outcome.retryable);
    EXPECT_TRUE(says(outcome, "unknown")) << outcome.detail;
}

TEST(UpdateRow, DriftIsWrittenOnlyWhileThatVeryPodHasFailed_G3) {
    Bench bench;
    bench.row_without_pod();
    bench.cluster.pods["wrapper-a"].phase = "Failed";
    EXPECT_EQ(bench.run(fail_drifted_row()).kind, OutcomeKind::kDone);
    EXPECT_EQ(bench.cluster.count("GET"), 1U);  // one read for both predicates

    bench.row_without_pod();
    bench.cluster.pods["wrapper-a"].phase = "Running";
    EXPECT_EQ(bench.run(fail_drifted_row()).detail,
              "field(pods, uid-a, phase = Failed): it is Running now");
    bench.cluster.pods["wrapper-a"].phase = "Failed";
    bench.cluster.pods["wrapper-a"].uid = "uid-b";
    EXPECT_EQ(bench.run(fail_drifted_row()).detail,
              "exists(pods, uid-a): recreated: uid is now uid-b");
    bench.cluster.pods.clear();
    EXPECT_EQ(bench.run(fail_drifted_row()).detail, "exists(pods, uid-a): the object is gone");
    EXPECT_EQ(bench.database.effects, 1U);
}

TEST(UpdateRow, ATargetOfAnotherTableIsNotTouched) {
    Bench bench;
    bench.row_without_pod();
    Command command = fail_row();
    command.draft.target.object_id = "public.accounts/7";
    const Outcome outcome = bench.run(command);
    EXPECT_EQ(outcome.kind, OutcomeKind::kFailed);
    EXPECT_FALSE(outcome.retryable);
    EXPECT_EQ(bench.database.effects, 0U);
}

}  // namespace
}  // namespace trueup::executors::testing
