// Proves connectors/postgres/connector.h and link.h: connecting, epochs, progress, fencing
// (design §4.2-4.4, details 11 and 14, S14-S17).
#include "tests/connectors/postgres/connector_fixture.h"

#include <gtest/gtest.h>

namespace trueup::connectors::postgres {
namespace {

using namespace test_support;
using Kind = Fact::Kind;

TEST(PostgresConnector, RefusesSettingsWithoutColumns) {
    FakeDatabase database;
    Settings settings = instances();
    settings.columns.clear();
    EXPECT_FALSE(PostgresConnector::open(settings, database).ok());
}

TEST(PostgresConnector, StreamsFirstAndCopiesBesideIt_Design_4_3) {
    Rig rig;
    rig.database.rows = {copied("4", "ab"), copied("5", "cd")};
    rig.start();
    EXPECT_EQ(rig.database.calls, (std::vector<std::string>{"inspect", "ensure_slot trueup",
                                                            "insert_lsn", "start_wal 0/0"}));
    EXPECT_TRUE(rig.database.statuses.at(0).want_reply) << "a quiet server says nothing by itself";
    rig.say(pg_keepalive(0x900));
    EXPECT_EQ(rig.database.calls.at(4), "copy");
    EXPECT_EQ(rig.kinds(), (std::vector<Kind>{Kind::kSnapshotBegin, Kind::kUpsert, Kind::kUpsert,
                                              Kind::kSnapshotEnd, Kind::kMarker}));
    const Fact& begin = rig.facts.at(1);
    EXPECT_EQ(begin.version, (Version{0x800, 0}));
    const Fact& first = rig.facts.at(2);
    EXPECT_TRUE(first.in_epoch);
    EXPECT_EQ(first.version, (Version{0x800, 0}));
    EXPECT_EQ(first.object_id, "public.instances/4");
    EXPECT_EQ(first.subject_key, "graph-instances/wrapper-ab");
    EXPECT_EQ(rig.connector->health().epochs, 1U);
    EXPECT_TRUE(rig.connector->health().answering) << rig.trouble();
}

TEST(PostgresConnector, LiveItemsInAnEpochKeepTheirOwnVersion_Details_11) {
    Rig rig;
    rig.database.answer_copies = false;
    rig.start_and_copy();
    rig.transaction(0xa00, 0xa30, {pg_insert(9, row("6", "ef"))});
    const auto live = std::find_if(rig.facts.begin(), rig.facts.end(),
                                   [](const Fact& f) { return f.kind == Kind::kUpsert; });
    ASSERT_NE(live, rig.facts.end());
    EXPECT_FALSE(live->in_epoch);
    EXPECT_EQ(live->version, (Version{0xa00, 1}));
    EXPECT_EQ(rig.count(Kind::kSnapshotEnd), 0U);
    rig.database.end_copy();
    rig.settle();
    EXPECT_EQ(rig.count(Kind::kSnapshotEnd), 1U);
}

TEST(PostgresConnector, AsksTheServerOnlyAfterTheMarker_Design_4_4) {
    Rig rig;
    rig.start_and_copy();
    ASSERT_EQ(rig.count(Kind::kMarker), 1U);
    EXPECT_EQ(rig.database.count("insert_lsn"), 1U) << "the comparison at the connect only";
    rig.database.insert_position = "0/B00";
    rig.connector->marker_appended(from_millis<BrokerTime>(42), rig.now);
    rig.database.statuses.clear();
    rig.settle();
    EXPECT_EQ(rig.database.count("insert_lsn"), 2U);
    ASSERT_FALSE(rig.database.statuses.empty());
    EXPECT_TRUE(rig.database.statuses.back().want_reply);
    rig.say(pg_keepalive(0xaf8));
    EXPECT_EQ(rig.count(Kind::kProgress), 0U) << "the stream is not there yet";
    rig.say(pg_keepalive(0xb00));
    ASSERT_EQ(rig.count(Kind::kProgress), 1U);
    EXPECT_EQ(rig.facts.back().complete_as_of, from_millis<BrokerTime>(42));
    EXPECT_EQ(to_millis(rig.facts.back().source_clock), 1700000000000);
}

TEST(PostgresConnector, ACommitIsPublishedBeforeTheProgressThatCoversIt_Design_4_4) {
    Rig rig;
    rig.start_and_copy();
    rig.database.insert_position = "0/B30";
    rig.connector->marker_appended(from_millis<BrokerTime>(42), rig.now);
    rig.settle();
    rig.facts.clear();
    rig.database.stream(pg_wal(pg_begin(0xb00)));
    rig.say(pg_keepalive(0xb30));
    EXPECT_TRUE(rig.facts.empty()) << "inside of a transaction a keepalive proves nothing";
    rig.database.stream(pg_wal(pg_commit(0xb00, 0xb30)));
    rig.settle();
    EXPECT_EQ(rig.kinds(), (std::vector<Kind>{Kind::kConfirm, Kind::kProgress}));
}

TEST(PostgresConnector, AnIdleServerOnAPageBoundaryProvesProgress_Details_14) {
    Rig rig;
    rig.start_and_copy();
    rig.database.insert_position = "0/2018";
    rig.connector->marker_appended(from_millis<BrokerTime>(42), rig.now);
    rig.settle();
    rig.say(pg_keepalive(0x2000));
    EXPECT_EQ(rig.count(Kind::kProgress), 1U);
}

// Symptom: a server that was idle right behind a page header was taken for one that had gone back
// in time: its slot was dropped, and nothing was taken away any more until an operator vouched.
TEST(PostgresConnector, AnIdleServerOnAPageBoundaryDidNotGoBack_S14) {
    Rig rig;
    rig.start_and_copy();
    rig.say(pg_keepalive(0x2018));
    rig.database.insert_position = "0/2018";
    rig.connector->marker_appended(from_millis<BrokerTime>(42), rig.now);
    rig.settle();
    EXPECT_FALSE(rig.connector->needs_new_incarnation());
    EXPECT_EQ(rig.count(Kind::kProgress), 1U);
}

TEST(PostgresConnector, UrgesEachSecondAndCountsAsStaleAfter15s_Details_14) {
    Rig rig;
    rig.start_and_copy();
    rig.database.insert_position = "0/B00";
    rig.connector->marker_appended(from_millis<BrokerTime>(42), rig.now);
    rig.settle();
    rig.database.statuses.clear();
    for (int second = 0; second < 14; ++second) rig.pass(Millis(1000));
    EXPECT_GE(std::count_if(rig.database.statuses.begin(), rig.database.statuses.end(),
                            [](const auto& status) { return status.want_reply; }),
              14);
    EXPECT_TRUE(rig.connector->health().answering) << rig.trouble();
    rig.pass(Millis(1000));
    EXPECT_FALSE(rig.connector->health().answering);
    EXPECT_EQ(rig.facts.back().kind, Kind::kAlive);
    rig.say(pg_keepalive(0xb00));
    EXPECT_EQ(rig.count(Kind::kProgress), 1U) << "late, and still true";
    EXPECT_TRUE(rig.connector->health().answering);
}

TEST(PostgresConnector, NoProgressBeforeTheFirstEpochIsComplete_Design_4_3) {
    Rig rig;
    rig.database.answer_copies = false;
    rig.start_and_copy();
    rig.pass(Millis(20000));
    EXPECT_EQ(rig.count(Kind::kMarker), 0U);
    EXPECT_GE(rig.count(Kind::kAlive), 2U);
    rig.database.end_copy();
    rig.settle();
    EXPECT_EQ(rig.count(Kind::kMarker), 1U);
}

TEST(PostgresConnector, ThePaceSetsTheHeartbeat_Details_7) {
    Rig rig;
    rig.database.answer_copies = false;
    rig.start_and_copy();
    rig.connector->pace_progress(Millis(2000));
    rig.facts.clear();
    for (int i = 0; i < 10; ++i) rig.pass(Millis(1000));
    EXPECT_EQ(rig.count(Kind::kAlive), 5U);
}

TEST(PostgresConnector, ACopyThatIsCutHasNoEndAndComesAgain) {
    Rig rig;
    rig.database.answer_copies = false;
    rig.database.rows = {copied("4", "ab")};
    rig.start_and_copy();
    rig.database.fail(rig.database.copy_call, "57P01", "terminating connection");
    rig.settle();
    EXPECT_EQ(rig.count(Kind::kSnapshotEnd), 0U);
    EXPECT_NE(rig.trouble().find("terminating"), std::string::npos);
    rig.database.answer_copies = true;
    rig.pass(Millis(1000));
    EXPECT_EQ(rig.database.count("copy"), 2U);
    EXPECT_EQ(rig.count(Kind::kSnapshotBegin), 2U);
    EXPECT_EQ(rig.count(Kind::kSnapshotEnd), 1U);
    EXPECT_EQ(rig.trouble(), "");
}

TEST(PostgresConnector, AnExpressionThatTheServerReadsOtherwiseEndsTheCopy) {
    Rig rig;
    rig.database.rows = {copied("4", "ab")};
    rig.database.rows[0].back() = "wrapper-ab   ";
    rig.start_and_copy();
    EXPECT_EQ(rig.count(Kind::kSnapshotEnd), 0U);
    EXPECT_NE(rig.trouble().find("type text"), std::string::npos);
}

TEST(PostgresConnector, ConfirmsOnlyWhatIsDurable_Design_4_2) {
    Rig rig;
    rig.start();
    rig.transaction(0xa00, 0xa30, {pg_insert(9, row("6", "ef"))});
    rig.pass(Millis(10000));
    EXPECT_EQ(rig.database.statuses.back().flushed, 0U);
    rig.connector->delivered(0xa30);
    rig.settle();
    EXPECT_EQ(rig.database.statuses.back().flushed, 0xa30U);
    rig.connector->delivered(0xfff);
    rig.settle();
    EXPECT_EQ(rig.database.statuses.back().flushed, 0xa30U) << "a number that was never given out";
}

TEST(PostgresConnector, AQuietTableConfirmsKeepalives) {
    Rig rig;
    rig.start();
    rig.say(pg_keepalive(0x900, true));
    EXPECT_EQ(rig.database.statuses.back().flushed, 0x900U) << "replied at once";
    rig.transaction(0xa00, 0xa30, {pg_insert(9, row("6", "ef"))});
    rig.facts.clear();
    rig.say(pg_keepalive(0xc00, true));
    EXPECT_EQ(rig.database.statuses.back().flushed, 0x900U) << "a commit is outstanding";
    ASSERT_EQ(rig.count(Kind::kConfirm), 1U);
    rig.say(pg_keepalive(0xc10));
    EXPECT_EQ(rig.count(Kind::kConfirm), 1U) << "at most one a second";
    rig.connector->delivered(0xa30);
    rig.connector->delivered(0xc00);
    rig.settle();
    EXPECT_EQ(rig.database.statuses.back().flushed, 0xc00U);
}

TEST(PostgresConnector, ResumesFromItsOwnDurablePosition_S14) {
    Rig rig;
    rig.start_and_copy();
    rig.transaction(0xa00, 0xa30, {pg_insert(9, row("6", "ef"))});
    rig.connector->delivered(0xa30);
    rig.transaction(0xb00, 0xb30, {pg_insert(9, row("7", "gh"))});
    rig.database.slot[1] = "0/200";  // A crash set the slot back; ours is ahead.
    rig.database.fail(rig.database.wal_call, "57P01", "terminating connection");
    rig.settle();
    EXPECT_FALSE(rig.connector->health().answering);
    rig.facts.clear();
    rig.pass(Millis(1000));
    EXPECT_EQ(rig.database.calls.back(), "start_wal 0/A30");
    EXPECT_FALSE(rig.connector->needs_new_incarnation());
    EXPECT_EQ(rig.count(Kind::kRemove) + rig.count(Kind::kSnapshotBegin), 0U) << "no false absence";
    rig.say(pg_keepalive(0xb00));
    EXPECT_EQ(rig.database.count("copy"), 1U) << "the epoch of this incarnation still holds";
}

/// Runs an incarnation, breaks the stream, and says whether it asks for a new one.
bool fenced_after(Rig& rig) {
    rig.database.fail(rig.database.wal_call, "08006", "connection lost");
    rig.settle();
    rig.pass(Millis(2000));
    rig.facts.clear();
    rig.pass(Millis(30000));
    EXPECT_EQ(rig.kinds(), std::vector<Kind>{}) << "nothing but Alive once fenced";
    return rig.connector->needs_new_incarnation();
}

TEST(PostgresConnector, AnotherServerNeedsANewIncarnation_S14) {
    Rig rig;
    rig.start_and_copy();
    rig.database.inspection[1] = "2";  // promoted
    EXPECT_TRUE(fenced_after(rig));
    EXPECT_EQ(rig.database.count("drop_slot trueup"), 0U);
    rig.start();
    EXPECT_FALSE(rig.connector->needs_new_incarnation());
    EXPECT_EQ(rig.database.count("drop_slot trueup"), 1U);
    EXPECT_EQ(rig.database.calls.back(), "start_wal 0/0");
    rig.say(pg_keepalive(0x900));
    EXPECT_EQ(rig.database.count("copy"), 2U) << "a new epoch under the new incarnation";
}

TEST(PostgresConnector, ALostSlotNeedsANewIncarnation_S14) {
    Rig rig;
    rig.start_and_copy();
    rig.database.failures["start_wal"] = {
        "55000",
        "cannot read from logical replication slot \"trueup\" (This slot has been invalidated "
        "because it exceeded the maximum reserved size.)"};
    EXPECT_TRUE(fenced_after(rig));
    Rig other;
    other.start_and_copy();
    other.database.slot[2] = "lost";
    EXPECT_TRUE(fenced_after(other));
}

TEST(PostgresConnector, ARecreatedSlotNeedsANewIncarnation_S14) {
    Rig rig;
    rig.start_and_copy();
    rig.pass(Millis(10000));
    ASSERT_EQ(rig.database.statuses.back().flushed, 0x900U);
    rig.database.slot[1] = "0/950";  // Nobody else may confirm: it was dropped and made anew.
    EXPECT_TRUE(fenced_after(rig));
}

TEST(PostgresConnector, ARewoundLogNeedsANewIncarnation_S14) {
    Rig rig;
    rig.start_and_copy();
    rig.pass(Millis(10000));
    rig.database.insert_position = "0/700";
    rig.database.slot[1] = "0/600";
    EXPECT_TRUE(fenced_after(rig));
    Rig live;
    live.start_and_copy();
    live.database.insert_position = "0/700";
    live.connector->marker_appended(from_millis<BrokerTime>(1), live.now);
    live.settle();
    EXPECT_TRUE(live.connector->needs_new_incarnation());
    EXPECT_EQ(live.count(Kind::kProgress), 0U);
}

/// What the begin of the epoch said that came last.
std::optional<bool> rewound(const Rig& rig) {
    std::optional<bool> said;
    for (const Fact& fact : rig.facts) {
        if (fact.kind == Kind::kSnapshotBegin) said = fact.rewound;
    }
    return said;
}

/// A new incarnation up to its first epoch, whose copy is cut, or not; what its begin said.
std::optional<bool> rewound_anew(Rig& rig, bool cut = false) {
    rig.facts.clear();
    rig.database.answer_copies = !cut;
    rig.start();
    rig.say(pg_keepalive(0x900));
    EXPECT_EQ(rig.count(Kind::kSnapshotEnd), cut ? 0U : 1U);
    return rewound(rig);
}

TEST(PostgresConnector, AnEpochSaysThatTheDatabaseWentBack_S14) {
    const auto promote = [](Rig& rig) { rig.database.inspection[1] = "2"; };
    const auto replace = [](Rig& rig) { rig.database.inspection[0] = "78"; };
    const auto restore = [](Rig& rig) {
        rig.pass(Millis(10'000));  // so that a position is confirmed
        rig.database.insert_position = "0/700";
        rig.database.slot[1] = "0/600";
    };
    for (const auto& happens : std::vector<std::function<void(Rig&)>>{promote, replace, restore}) {
        for (const bool in_an_incarnation : {true, false}) {
            Rig rig;
            rig.start_and_copy();
            EXPECT_EQ(rewound(rig), false);
            happens(rig);
            if (in_an_incarnation) {
                EXPECT_TRUE(fenced_after(rig));
            }
            EXPECT_EQ(rewound_anew(rig), true) << in_an_incarnation;
        }
    }
}

TEST(PostgresConnector, AHoleInTheStreamIsNoRewind_S14) {
    Rig rig;
    rig.start_and_copy();
    rig.database.slot[2] = "lost";
    EXPECT_TRUE(fenced_after(rig));
    rig.database.slot[2] = "reserved";
    EXPECT_EQ(rewound_anew(rig), false);
}

TEST(PostgresConnector, ARewindIsSaidUntilAnEpochWithItIsPublished_S14) {
    Rig rig;
    rig.start_and_copy();
    rig.database.inspection[1] = "2";
    EXPECT_TRUE(fenced_after(rig));
    EXPECT_EQ(rewound_anew(rig, true), true) << "the copy is cut";
    EXPECT_EQ(rewound_anew(rig), true) << "it ends, and the log loses that";
    EXPECT_EQ(rewound_anew(rig), true);
    ASSERT_EQ(rig.count(Kind::kMarker), 1U);
    rig.connector->marker_appended(from_millis<BrokerTime>(1), rig.now);
    rig.facts.clear();
    rig.connector->relist();
    rig.settle();
    EXPECT_EQ(rewound(rig), false) << "the log has it";
}

TEST(PostgresConnector, APublicationMadeAnewNeedsANewSlot_S14) {
    Rig rig;
    rig.start_and_copy();
    rig.database.fail(rig.database.wal_call, "42704", "publication \"trueup\" does not exist");
    rig.settle();
    EXPECT_FALSE(rig.connector->needs_new_incarnation()) << "it may come back";
    rig.database.failures["start_wal"] = {"42704", "publication \"trueup\" does not exist"};
    rig.pass(Millis(2000));
    EXPECT_TRUE(rig.connector->needs_new_incarnation());
}

TEST(PostgresConnector, SaysWhichStatementMendsTheTable) {
    Rig rig;
    rig.database.inspection[3] = "d";
    rig.start();
    EXPECT_EQ(rig.trouble(),
              "the replica identity of public.instances does not log which name a deleted row had: "
              "ALTER TABLE \"public\".\"instances\" REPLICA IDENTITY FULL;");
    rig.database.inspection[3] = "f";
    rig.database.inspection[5] = "rows";
    rig.pass(Millis(5000));
    EXPECT_NE(rig.trouble().find("only some rows"), std::string::npos);
    rig.database.inspection[5] = "t";
    rig.pass(Millis(10000));
    EXPECT_EQ(rig.database.calls.back(), "start_wal 0/0") << "mended without a restart";
}

TEST(PostgresConnector, ATableThatStopsBeingPublishedIsReadAnew) {
    Rig rig;
    rig.start_and_copy();
    rig.connector->marker_appended(from_millis<BrokerTime>(1), rig.now);
    rig.say(pg_keepalive(0x1000));
    ASSERT_EQ(rig.count(Kind::kProgress), 1U);
    rig.database.inspection[5] = "f";
    rig.pass(Millis(60000));
    EXPECT_NE(rig.trouble().find("does not cover"), std::string::npos);
    rig.facts.clear();
    rig.pass(Millis(30000));
    EXPECT_EQ(rig.kinds(), std::vector<Kind>{});
    rig.database.inspection[5] = "t";
    rig.pass(Millis(60000));
    EXPECT_EQ(rig.count(Kind::kSnapshotEnd), 1U) << "what was not streamed is only in the table";
    EXPECT_EQ(rig.trouble(), "");
}

// Symptom: a table was out of its publication for a while, in which the stream broke; once both
// were mended, what was written meanwhile was missing and counted as proven absent.
TEST(PostgresConnector, ATableThatIsMendedWhileTheStreamIsDownIsReadAnew) {
    Rig rig;
    rig.start_and_copy();
    rig.database.inspection[5] = "f";
    rig.pass(Millis(60'000));
    ASSERT_NE(rig.trouble().find("does not cover"), std::string::npos);
    rig.database.inspection[5] = "t";
    rig.facts.clear();
    rig.database.fail(rig.database.wal_call, "57P01", "terminating connection");
    rig.settle();
    rig.pass(Millis(5'000));
    rig.say(pg_keepalive(0x1000));
    EXPECT_EQ(rig.count(Kind::kSnapshotEnd), 1U);
    EXPECT_EQ(rig.trouble(), "");
}

// Symptom: the table's check and the answer to a proof's question came together, and the proof went
// out by what the check had just found, before what was missing was read.
TEST(PostgresConnector, AProofEndsWithTheCheckThatFindsTheTableAltered) {
    Rig rig;
    rig.start_and_copy();
    rig.say(pg_keepalive(0x1000));
    rig.connector->marker_appended(from_millis<BrokerTime>(42), rig.now);
    rig.database.published = "table 1, altered";
    rig.database.answer_copies = false;
    rig.pass(Millis(60'000));
    EXPECT_GE(rig.database.count("inspect"), 2U);
    EXPECT_EQ(rig.count(Kind::kSnapshotBegin), 2U);
    EXPECT_EQ(rig.count(Kind::kProgress), 0U);
}

TEST(PostgresConnector, AnotherPrimaryKeyThatTheNextConnectionFindsMeansOtherObjects) {
    Rig rig;
    rig.start_and_copy();
    rig.facts.clear();
    rig.database.inspection[4] = "url_slug";
    rig.database.fail(rig.database.wal_call, "57P01", "terminating connection");
    rig.settle();
    rig.pass(Millis(5'000));
    rig.say(pg_keepalive(0x1000));
    EXPECT_EQ(rig.count(Kind::kSnapshotEnd), 1U);
}

TEST(PostgresConnector, ADroppedColumnEndsFreshnessUntilAnEpoch) {
    Rig rig;
    rig.start_and_copy();
    rig.transaction(0xa00, 0xa30, {pg_insert(9, row("6", "ef"))});
    rig.database.failures["copy"] = {"42703", "column \"status\" does not exist"};
    rig.database.stream(pg_wal(pg_begin(0xb00)));
    rig.database.stream(pg_wal(
        pg_relation(9, "public", "instances", 'f', {{"id", true}, {"url_slug"}, {"pod_name"}})));
    rig.database.stream(pg_wal(pg_insert(9, {pg_text("7"), pg_text("x"), pg_null()})));
    rig.database.stream(pg_wal(pg_commit(0xb00, 0xb30)));
    rig.settle();
    EXPECT_NE(rig.trouble().find("no column status"), std::string::npos);
    EXPECT_GE(rig.database.count("inspect"), 2U) << "looked again at once";
    rig.facts.clear();
    rig.database.consistent_point = 0xc00;
    rig.pass(Millis(5000));
    EXPECT_EQ(rig.count(Kind::kSnapshotEnd), 1U);
    EXPECT_EQ(rig.trouble(), "") << "the copy found the column";
}

TEST(PostgresConnector, ATruncateOvertakesARunningCopy_S16) {
    Rig rig;
    rig.database.answer_copies = false;
    rig.start_and_copy();
    rig.transaction(0xa00, 0xa30, {pg_truncate({9})});
    EXPECT_EQ(rig.database.count("cancel copy"), 1U);
    EXPECT_EQ(rig.kinds(),
              (std::vector<Kind>{Kind::kSnapshotBegin, Kind::kSnapshotBegin, Kind::kSnapshotEnd,
                                 Kind::kConfirm, Kind::kSnapshotBegin}));
    EXPECT_EQ(rig.database.count("copy"), 2U);
    EXPECT_EQ(rig.count(Kind::kMarker), 0U);
    rig.database.end_copy();
    rig.settle();
    EXPECT_EQ(rig.count(Kind::kMarker), 1U);
}

TEST(PostgresConnector, AnAuditEpochRunsBesideTheStream_S15) {
    Rig rig;
    rig.start_and_copy();
    rig.database.answer_copies = false;
    rig.connector->relist();
    rig.settle();
    EXPECT_EQ(rig.count(Kind::kSnapshotBegin), 2U);
    rig.transaction(0xa00, 0xa30, {pg_delete(9, 'O', row("4", "ab"))});
    EXPECT_EQ(rig.count(Kind::kRemove), 1U);
    rig.connector->marker_appended(from_millis<BrokerTime>(1), rig.now);
    rig.settle();
    rig.say(pg_keepalive(0x1000));
    EXPECT_EQ(rig.count(Kind::kProgress), 1U) << "the stream proves it without the audit";
    rig.database.end_copy();
    rig.settle();
    EXPECT_EQ(rig.connector->health().epochs, 2U);
}

TEST(PostgresConnector, ARestartReadsACompleteEpochAgain_S15) {
    Rig rig;
    rig.start_and_copy();
    rig.facts.clear();
    rig.database.rows = {copied("5", "cd")};
    rig.start_and_copy();
    EXPECT_EQ(rig.kinds(), (std::vector<Kind>{Kind::kSnapshotBegin, Kind::kUpsert,
                                              Kind::kSnapshotEnd, Kind::kMarker}));
}

TEST(PostgresConnector, BytesThatDoNotDecodeEndTheConnectionNotTheProcess) {
    Rig rig;
    rig.start_and_copy();
    rig.say("w\x01\x02");
    EXPECT_EQ(rig.database.calls.back(), "cancel stream");
    EXPECT_NE(rig.trouble().find("does not decode"), std::string::npos);
    rig.pass(Millis(1000));
    EXPECT_EQ(rig.database.calls.back(), "start_wal 0/900");
}

TEST(PostgresConnector, ASilentStreamIsConnectedAnew) {
    Rig rig;
    rig.start_and_copy();
    for (int i = 0; i < 19; ++i) rig.pass(Millis(10000));
    EXPECT_EQ(rig.database.count("cancel stream"), 1U);
}

// A forgotten transaction kept a source from its first list, and nothing said so.
TEST(PostgresConnector, ACopyThatWaitsForATransactionSaysWhichOnesThereAre) {
    Rig rig;
    rig.database.give_snapshots = false;
    rig.start_and_copy();
    rig.pass(Millis(4'000));
    EXPECT_EQ(rig.trouble(), "");
    rig.pass(Millis(2'000));
    EXPECT_EQ(rig.trouble(), kNoSnapshotYet);
    rig.database.fail(rig.database.copy_call, "55P03", "canceling statement due to lock timeout");
    rig.pass(Millis(1));
    EXPECT_NE(rig.trouble().find(kNoSnapshotYet), std::string::npos) << "and it is tried again";
}

// A server that decoded a huge transaction of other tables said nothing for minutes, was cut off,
// began with it again, and was cut off again, for ever.
TEST(PostgresConnector, ASilenceThatFollowsOneIsBorneForLonger) {
    Rig rig;
    rig.start_and_copy();
    std::vector<std::size_t> cut_at;  // in tens of seconds
    for (std::size_t i = 1; i <= 200; ++i) {
        rig.pass(Millis(10'000));
        const bool connected = !cut_at.empty() && cut_at.back() + 1 == i;
        if (connected) rig.say(test_support::pg_keepalive(0x900));  // it greets
        if (rig.database.count("cancel stream") > cut_at.size()) cut_at.push_back(i);
    }
    ASSERT_EQ(cut_at.size(), 3U);
    EXPECT_EQ(cut_at[0], 18U);
    EXPECT_GE(cut_at[1] - cut_at[0], 36U);
    EXPECT_GE(cut_at[2] - cut_at[1], 72U);
    for (int i = 0; i < 20; ++i) {  // it reads what it has read before
        rig.pass(Millis(10'000));
        rig.say(test_support::pg_keepalive(0x900));
    }
    for (int i = 0; i < 100; ++i) rig.pass(Millis(10'000));
    EXPECT_EQ(rig.database.count("cancel stream"), 3U) << "it is borne for 24 minutes now";
    rig.say(test_support::pg_keepalive(0x901));  // it is behind that
    for (int i = 0; i < 19; ++i) rig.pass(Millis(10'000));
    EXPECT_EQ(rig.database.count("cancel stream"), 4U) << "for three minutes again";
}

// Each normal start warned that it waits for the slot.
TEST(PostgresConnector, ASlotThatIsMadeInTimeIsNoTrouble) {
    Rig rig;
    rig.database.answer_slots = false;
    rig.start();
    EXPECT_EQ(rig.trouble(), "");
    rig.pass(Millis(4999));
    EXPECT_EQ(rig.trouble(), "");
    rig.pass(Millis(1));
    EXPECT_NE(rig.trouble().find("waiting for slot"), std::string::npos) << rig.trouble();
}

// A source stayed stale for ever: the check of its table hung, and held up every question after it.
TEST(PostgresConnector, ACheckOfTheTableThatStaysUnansweredIsWithdrawnAndRepeated_S3) {
    Rig rig;
    rig.start_and_copy();
    rig.database.answer_inspections = false;
    const auto talk = [&](int seconds) {  // the stream goes on meanwhile
        for (int i = 0; i < seconds; i += 10) {
            rig.pass(Millis(10000));
            rig.say(pg_keepalive(0x900));
        }
    };
    talk(60);
    EXPECT_EQ(rig.database.count("inspect"), 2U);
    EXPECT_EQ(rig.database.count("cancel"), 0U);
    talk(60);
    EXPECT_EQ(rig.database.count("cancel"), 1U);
    talk(60);
    EXPECT_EQ(rig.database.count("inspect"), 3U);
    EXPECT_EQ(rig.database.count("cancel stream"), 0U);
}

TEST(PostgresConnector, ADroppedColumnIsNotEvenRead_Design_4_15) {
    FakeDatabase database;
    Settings settings = instances();
    settings.fields.named = {{"status", ports::Treatment::kDrop}};
    Rig rig(settings);
    rig.database.rows = {{"4", std::nullopt, "ab", "wrapper-ab"}};  // id, pod_name, url_slug, key
    rig.start_and_copy();
    EXPECT_EQ(rig.connector->health().epochs, 1U) << rig.trouble();
    EXPECT_FALSE(ObjectView(rig.facts.at(2).object).find("status").has_value());
}

TEST(PostgresConnector, APrimaryKeyNamesItsRowAsItIsOrNotAtAll_Design_4_15) {
    for (const auto& [column, named] : {std::pair("id", true), std::pair("session_token", false)}) {
        Settings settings = instances();
        if (named) settings.fields.named = {{column, ports::Treatment::kHash}};
        Rig rig(settings);
        rig.database.inspection[4] = column;
        rig.start_and_copy();
        EXPECT_EQ(rig.trouble(),
                  "column " + std::string(column) +
                      " is in the primary key of public.instances, which is published in clear "
                      "text and cannot be hashed or dropped; write fields: {" +
                      column + ": map} if its text may be published");
        EXPECT_EQ(rig.count(Kind::kUpsert), 0U);
    }
}

}  // namespace
}  // namespace trueup::connectors::postgres
