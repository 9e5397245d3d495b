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
    ConnectorFixture fixture;
    fixture.database.rows = {copied("4", "ab"), copied("5", "cd")};
    fixture.start();
    EXPECT_EQ(fixture.database.calls, (std::vector<std::string>{"inspect", "ensure_slot trueup",
                                                                "insert_lsn", "start_wal 0/0"}));
    EXPECT_TRUE(fixture.database.statuses.at(0).want_reply)
        << "a quiet server says nothing by itself";
    fixture.say(pg_keepalive(0x900));
    EXPECT_EQ(fixture.database.calls.at(4), "copy");
    EXPECT_EQ(fixture.kinds(),
              (std::vector<Kind>{Kind::kSnapshotBegin, Kind::kUpsert, Kind::kUpsert,
                                 Kind::kSnapshotEnd, Kind::kMarker}));
    const Fact& begin = fixture.facts.at(1);
    EXPECT_EQ(begin.version, (Version{0x800, 0}));
    const Fact& first = fixture.facts.at(2);
    EXPECT_TRUE(first.in_epoch);
    EXPECT_EQ(first.version, (Version{0x800, 0}));
    EXPECT_EQ(first.object_id, "public.instances/4");
    EXPECT_EQ(first.subject_key, "graph-instances/wrapper-ab");
    EXPECT_EQ(fixture.connector->health().epochs, 1U);
    EXPECT_TRUE(fixture.connector->health().answering) << fixture.trouble();
}

TEST(PostgresConnector, LiveItemsInAnEpochKeepTheirOwnVersion_Details_11) {
    ConnectorFixture fixture;
    fixture.database.answer_copies = false;
    fixture.start_and_copy();
    fixture.transaction(0xa00, 0xa30, {pg_insert(9, row("6", "ef"))});
    const auto live = std::find_if(fixture.facts.begin(), fixture.facts.end(),
                                   [](const Fact& f) { return f.kind == Kind::kUpsert; });
    ASSERT_NE(live, fixture.facts.end());
    EXPECT_FALSE(live->in_epoch);
    EXPECT_EQ(live->version, (Version{0xa00, 1}));
    EXPECT_EQ(fixture.count(Kind::kSnapshotEnd), 0U);
    fixture.database.end_copy();
    fixture.settle();
    EXPECT_EQ(fixture.count(Kind::kSnapshotEnd), 1U);
}

TEST(PostgresConnector, AsksTheServerOnlyAfterTheMarker_Design_4_4) {
    ConnectorFixture fixture;
    fixture.start_and_copy();
    ASSERT_EQ(fixture.count(Kind::kMarker), 1U);
    EXPECT_EQ(fixture.database.count("insert_lsn"), 1U) << "the comparison at the connect only";
    fixture.database.insert_position = "0/B00";
    fixture.connector->marker_appended(from_millis<BrokerTime>(42), fixture.now);
    fixture.database.statuses.clear();
    fixture.settle();
    EXPECT_EQ(fixture.database.count("insert_lsn"), 2U);
    ASSERT_FALSE(fixture.database.statuses.empty());
    EXPECT_TRUE(fixture.database.statuses.back().want_reply);
    fixture.say(pg_keepalive(0xaf8));
    EXPECT_EQ(fixture.count(Kind::kProgress), 0U) << "the stream is not there yet";
    fixture.say(pg_keepalive(0xb00));
    ASSERT_EQ(fixture.count(Kind::kProgress), 1U);
    EXPECT_EQ(fixture.facts.back().complete_as_of, from_millis<BrokerTime>(42));
    EXPECT_EQ(to_millis(fixture.facts.back().source_clock), 1700000000000);
}

TEST(PostgresConnector, ACommitIsPublishedBeforeTheProgressThatCoversIt_Design_4_4) {
    ConnectorFixture fixture;
    fixture.start_and_copy();
    fixture.database.insert_position = "0/B30";
    fixture.connector->marker_appended(from_millis<BrokerTime>(42), fixture.now);
    fixture.settle();
    fixture.facts.clear();
    fixture.database.stream(pg_wal(pg_begin(0xb00)));
    fixture.say(pg_keepalive(0xb30));
    EXPECT_TRUE(fixture.facts.empty()) << "inside of a transaction a keepalive proves nothing";
    fixture.database.stream(pg_wal(pg_commit(0xb00, 0xb30)));
    fixture.settle();
    EXPECT_EQ(fixture.kinds(), (std::vector<Kind>{Kind::kConfirm, Kind::kProgress}));
}

TEST(PostgresConnector, AnIdleServerOnAPageBoundaryProvesProgress_Details_14) {
    ConnectorFixture fixture;
    fixture.start_and_copy();
    fixture.database.insert_position = "0/2018";
    fixture.connector->marker_appended(from_millis<BrokerTime>(42), fixture.now);
    fixture.settle();
    fixture.say(pg_keepalive(0x2000));
    EXPECT_EQ(fixture.count(Kind::kProgress), 1U);
}

// Symptom: a server that was idle right behind a page header was taken for one that had gone back
// in time: its slot was dropped, and nothing was taken away any more until an operator vouched.
TEST(PostgresConnector, AnIdleServerOnAPageBoundaryDidNotGoBack_S14) {
    ConnectorFixture fixture;
    fixture.start_and_copy();
    fixture.say(pg_keepalive(0x2018));
    fixture.database.insert_position = "0/2018";
    fixture.connector->marker_appended(from_millis<BrokerTime>(42), fixture.now);
    fixture.settle();
    EXPECT_FALSE(fixture.connector->needs_new_incarnation());
    EXPECT_EQ(fixture.count(Kind::kProgress), 1U);
}

TEST(PostgresConnector, UrgesEachSecondAndCountsAsStaleAfter15s_Details_14) {
    ConnectorFixture fixture;
    fixture.start_and_copy();
    fixture.database.insert_position = "0/B00";
    fixture.connector->marker_appended(from_millis<BrokerTime>(42), fixture.now);
    fixture.settle();
    fixture.database.statuses.clear();
    for (int second = 0; second < 14; ++second) fixture.pass(Millis(1000));
    EXPECT_GE(std::count_if(fixture.database.statuses.begin(), fixture.database.statuses.end(),
                            [](const auto& status) { return status.want_reply; }),
              14);
    EXPECT_TRUE(fixture.connector->health().answering) << fixture.trouble();
    fixture.pass(Millis(1000));
    EXPECT_FALSE(fixture.connector->health().answering);
    EXPECT_EQ(fixture.facts.back().kind, Kind::kAlive);
    fixture.say(pg_keepalive(0xb00));
    EXPECT_EQ(fixture.count(Kind::kProgress), 1U) << "late, and still true";
    EXPECT_TRUE(fixture.connector->health().answering);
}

TEST(PostgresConnector, NoProgressBeforeTheFirstEpochIsComplete_Design_4_3) {
    ConnectorFixture fixture;
    fixture.database.answer_copies = false;
    fixture.start_and_copy();
    fixture.pass(Millis(20000));
    EXPECT_EQ(fixture.count(Kind::kMarker), 0U);
    EXPECT_GE(fixture.count(Kind::kAlive), 2U);
    fixture.database.end_copy();
    fixture.settle();
    EXPECT_EQ(fixture.count(Kind::kMarker), 1U);
}

TEST(PostgresConnector, ThePaceSetsTheHeartbeat_Details_7) {
    ConnectorFixture fixture;
    fixture.database.answer_copies = false;
    fixture.start_and_copy();
    fixture.connector->pace_progress(Millis(2000));
    fixture.facts.clear();
    for (int i = 0; i < 10; ++i) fixture.pass(Millis(1000));
    EXPECT_EQ(fixture.count(Kind::kAlive), 5U);
}

TEST(PostgresConnector, ACopyThatIsCutHasNoEndAndComesAgain) {
    ConnectorFixture fixture;
    fixture.database.answer_copies = false;
    fixture.database.rows = {copied("4", "ab")};
    fixture.start_and_copy();
    fixture.database.fail(fixture.database.copy_call, "57P01", "terminating connection");
    fixture.settle();
    EXPECT_EQ(fixture.count(Kind::kSnapshotEnd), 0U);
    EXPECT_NE(fixture.trouble().find("terminating"), std::string::npos);
    fixture.database.answer_copies = true;
    fixture.pass(Millis(1000));
    EXPECT_EQ(fixture.database.count("copy"), 2U);
    EXPECT_EQ(fixture.count(Kind::kSnapshotBegin), 2U);
    EXPECT_EQ(fixture.count(Kind::kSnapshotEnd), 1U);
    EXPECT_EQ(fixture.trouble(), "");
}

TEST(PostgresConnector, AnExpressionThatTheServerReadsOtherwiseEndsTheCopy) {
    ConnectorFixture fixture;
    fixture.database.rows = {copied("4", "ab")};
    fixture.database.rows[0].back() = "wrapper-ab   ";
    fixture.start_and_copy();
    EXPECT_EQ(fixture.count(Kind::kSnapshotEnd), 0U);
    EXPECT_NE(fixture.trouble().find("type text"), std::string::npos);
}

TEST(PostgresConnector, ConfirmsOnlyWhatIsDurable_Design_4_2) {
    ConnectorFixture fixture;
    fixture.start();
    fixture.transaction(0xa00, 0xa30, {pg_insert(9, row("6", "ef"))});
    fixture.pass(Millis(10000));
    EXPECT_EQ(fixture.database.statuses.back().flushed, 0U);
    fixture.connector->delivered(0xa30);
    fixture.settle();
    EXPECT_EQ(fixture.database.statuses.back().flushed, 0xa30U);
    fixture.connector->delivered(0xfff);
    fixture.settle();
    EXPECT_EQ(fixture.database.statuses.back().flushed, 0xa30U)
        << "a number that was never given out";
}

TEST(PostgresConnector, AQuietTableConfirmsKeepalives) {
    ConnectorFixture fixture;
    fixture.start();
    fixture.say(pg_keepalive(0x900, true));
    EXPECT_EQ(fixture.database.statuses.back().flushed, 0x900U) << "replied at once";
    fixture.transaction(0xa00, 0xa30, {pg_insert(9, row("6", "ef"))});
    fixture.facts.clear();
    fixture.say(pg_keepalive(0xc00, true));
    EXPECT_EQ(fixture.database.statuses.back().flushed, 0x900U) << "a commit is outstanding";
    ASSERT_EQ(fixture.count(Kind::kConfirm), 1U);
    fixture.say(pg_keepalive(0xc10));
    EXPECT_EQ(fixture.count(Kind::kConfirm), 1U) << "at most one a second";
    fixture.connector->delivered(0xa30);
    fixture.connector->delivered(0xc00);
    fixture.settle();
    EXPECT_EQ(fixture.database.statuses.back().flushed, 0xc00U);
}

TEST(PostgresConnector, ResumesFromItsOwnDurablePosition_S14) {
    ConnectorFixture fixture;
    fixture.start_and_copy();
    fixture.transaction(0xa00, 0xa30, {pg_insert(9, row("6", "ef"))});
    fixture.connector->delivered(0xa30);
    fixture.transaction(0xb00, 0xb30, {pg_insert(9, row("7", "gh"))});
    fixture.database.slot[1] = "0/200";  // A crash set the slot back; ours is ahead.
    fixture.database.fail(fixture.database.wal_call, "57P01", "terminating connection");
    fixture.settle();
    EXPECT_FALSE(fixture.connector->health().answering);
    fixture.facts.clear();
    fixture.pass(Millis(1000));
    EXPECT_EQ(fixture.database.calls.back(), "start_wal 0/A30");
    EXPECT_FALSE(fixture.connector->needs_new_incarnation());
    EXPECT_EQ(fixture.count(Kind::kRemove) + fixture.count(Kind::kSnapshotBegin), 0U)
        << "no false absence";
    fixture.say(pg_keepalive(0xb00));
    EXPECT_EQ(fixture.database.count("copy"), 1U) << "the epoch of this incarnation still holds";
}

/// Runs an incarnation, breaks the stream, and says whether it asks for a new one.
bool fenced_after(ConnectorFixture& fixture) {
    fixture.database.fail(fixture.database.wal_call, "08006", "connection lost");
    fixture.settle();
    fixture.pass(Millis(2000));
    fixture.facts.clear();
    fixture.pass(Millis(30000));
    EXPECT_EQ(fixture.kinds(), std::vector<Kind>{}) << "nothing but Alive once fenced";
    return fixture.connector->needs_new_incarnation();
}

TEST(PostgresConnector, AnotherServerNeedsANewIncarnation_S14) {
    ConnectorFixture fixture;
    fixture.start_and_copy();
    fixture.database.inspection[1] = "2";  // promoted
    EXPECT_TRUE(fenced_after(fixture));
    EXPECT_EQ(fixture.database.count("drop_slot trueup"), 0U);
    fixture.start();
    EXPECT_FALSE(fixture.connector->needs_new_incarnation());
    EXPECT_EQ(fixture.database.count("drop_slot trueup"), 1U);
    EXPECT_EQ(fixture.database.calls.back(), "start_wal 0/0");
    fixture.say(pg_keepalive(0x900));
    EXPECT_EQ(fixture.database.count("copy"), 2U) << "a new epoch under the new incarnation";
}

TEST(PostgresConnector, ALostSlotNeedsANewIncarnation_S14) {
    ConnectorFixture fixture;
    fixture.start_and_copy();
    fixture.database.failures["start_wal"] = {
        "55000",
        "cannot read from logical replication slot \"trueup\" (This slot has been invalidated "
        "because it exceeded the maximum reserved size.)"};
    EXPECT_TRUE(fenced_after(fixture));
    ConnectorFixture other;
    other.start_and_copy();
    other.database.slot[2] = "lost";
    EXPECT_TRUE(fenced_after(other));
}

TEST(PostgresConnector, ARecreatedSlotNeedsANewIncarnation_S14) {
    ConnectorFixture fixture;
    fixture.start_and_copy();
    fixture.pass(Millis(10000));
    ASSERT_EQ(fixture.database.statuses.back().flushed, 0x900U);
    fixture.database.slot[1] = "0/950";  // Nobody else may confirm: it was dropped and made anew.
    EXPECT_TRUE(fenced_after(fixture));
}

TEST(PostgresConnector, ARewoundLogNeedsANewIncarnation_S14) {
    ConnectorFixture fixture;
    fixture.start_and_copy();
    fixture.pass(Millis(10000));
    fixture.database.insert_position = "0/700";
    fixture.database.slot[1] = "0/600";
    EXPECT_TRUE(fenced_after(fixture));
    ConnectorFixture live;
    live.start_and_copy();
    live.database.insert_position = "0/700";
    live.connector->marker_appended(from_millis<BrokerTime>(1), live.now);
    live.settle();
    EXPECT_TRUE(live.connector->needs_new_incarnation());
    EXPECT_EQ(live.count(Kind::kProgress), 0U);
}

/// What the begin of the epoch said that came last.
std::optional<bool> rewound(const ConnectorFixture& fixture) {
    std::optional<bool> said;
    for (const Fact& fact : fixture.facts) {
        if (fact.kind == Kind::kSnapshotBegin) said = fact.rewound;
    }
    return said;
}

/// A new incarnation up to its first epoch, whose copy is cut, or not; what its begin said.
std::optional<bool> rewound_anew(ConnectorFixture& fixture, bool cut = false) {
    fixture.facts.clear();
    fixture.database.answer_copies = !cut;
    fixture.start();
    fixture.say(pg_keepalive(0x900));
    EXPECT_EQ(fixture.count(Kind::kSnapshotEnd), cut ? 0U : 1U);
    return rewound(fixture);
}

TEST(PostgresConnector, AnEpochSaysThatTheDatabaseWentBack_S14) {
    const auto promote = [](ConnectorFixture& fixture) { fixture.database.inspection[1] = "2"; };
    const auto replace = [](ConnectorFixture& fixture) { fixture.database.inspection[0] = "78"; };
    const auto restore = [](ConnectorFixture& fixture) {
        fixture.pass(Millis(10'000));  // so that a position is confirmed
        fixture.database.insert_position = "0/700";
        fixture.database.slot[1] = "0/600";
    };
    for (const auto& happens :
         std::vector<std::function<void(ConnectorFixture&)>>{promote, replace, restore}) {
        for (const bool in_an_incarnation : {true, false}) {
            ConnectorFixture fixture;
            fixture.start_and_copy();
            EXPECT_EQ(rewound(fixture), false);
            happens(fixture);
            if (in_an_incarnation) {
                EXPECT_TRUE(fenced_after(fixture));
            }
            EXPECT_EQ(rewound_anew(fixture), true) << in_an_incarnation;
        }
    }
}

TEST(PostgresConnector, AHoleInTheStreamIsNoRewind_S14) {
    ConnectorFixture fixture;
    fixture.start_and_copy();
    fixture.database.slot[2] = "lost";
    EXPECT_TRUE(fenced_after(fixture));
    fixture.database.slot[2] = "reserved";
    EXPECT_EQ(rewound_anew(fixture), false);
}

TEST(PostgresConnector, ARewindIsSaidUntilAnEpochWithItIsPublished_S14) {
    ConnectorFixture fixture;
    fixture.start_and_copy();
    fixture.database.inspection[1] = "2";
    EXPECT_TRUE(fenced_after(fixture));
    EXPECT_EQ(rewound_anew(fixture, true), true) << "the copy is cut";
    EXPECT_EQ(rewound_anew(fixture), true) << "it ends, and the log loses that";
    EXPECT_EQ(rewound_anew(fixture), true);
    ASSERT_EQ(fixture.count(Kind::kMarker), 1U);
    fixture.connector->marker_appended(from_millis<BrokerTime>(1), fixture.now);
    fixture.facts.clear();
    fixture.connector->relist();
    fixture.settle();
    EXPECT_EQ(rewound(fixture), false) << "the log has it";
}

TEST(PostgresConnector, APublicationMadeAnewNeedsANewSlot_S14) {
    ConnectorFixture fixture;
    fixture.start_and_copy();
    fixture.database.fail(fixture.database.wal_call, "42704",
                          "publication \"trueup\" does not exist");
    fixture.settle();
    EXPECT_FALSE(fixture.connector->needs_new_incarnation()) << "it may come back";
    fixture.database.failures["start_wal"] = {"42704", "publication \"trueup\" does not exist"};
    fixture.pass(Millis(2000));
    EXPECT_TRUE(fixture.connector->needs_new_incarnation());
}

TEST(PostgresConnector, SaysWhichStatementMendsTheTable) {
    ConnectorFixture fixture;
    fixture.database.inspection[3] = "d";
    fixture.start();
    EXPECT_EQ(fixture.trouble(),
              "the replica identity of public.instances does not log which name a deleted row had: "
              "ALTER TABLE \"public\".\"instances\" REPLICA IDENTITY FULL;");
    fixture.database.inspection[3] = "f";
    fixture.database.inspection[5] = "rows";
    fixture.pass(Millis(5000));
    EXPECT_NE(fixture.trouble().find("only some rows"), std::string::npos);
    fixture.database.inspection[5] = "t";
    fixture.pass(Millis(10000));
    EXPECT_EQ(fixture.database.calls.back(), "start_wal 0/0") << "mended without a restart";
}

TEST(PostgresConnector, ATableThatStopsBeingPublishedIsReadAnew) {
    ConnectorFixture fixture;
    fixture.start_and_copy();
    fixture.connector->marker_appended(from_millis<BrokerTime>(1), fixture.now);
    fixture.say(pg_keepalive(0x1000));
    ASSERT_EQ(fixture.count(Kind::kProgress), 1U);
    fixture.database.inspection[5] = "f";
    fixture.pass(Millis(60000));
    EXPECT_NE(fixture.trouble().find("does not cover"), std::string::npos);
    fixture.facts.clear();
    fixture.pass(Millis(30000));
    EXPECT_EQ(fixture.kinds(), std::vector<Kind>{});
    fixture.database.inspection[5] = "t";
    fixture.pass(Millis(60000));
    EXPECT_EQ(fixture.count(Kind::kSnapshotEnd), 1U)
        << "what was not streamed is only in the table";
    EXPECT_EQ(fixture.trouble(), "");
}

// Symptom: a table was out of its publication for a while, in which the stream broke; once both
// were mended, what was written meanwhile was missing and counted as proven absent.
TEST(PostgresConnector, ATableThatIsMendedWhileTheStreamIsDownIsReadAnew) {
    ConnectorFixture fixture;
    fixture.start_and_copy();
    fixture.database.inspection[5] = "f";
    fixture.pass(Millis(60'000));
    ASSERT_NE(fixture.trouble().find("does not cover"), std::string::npos);
    fixture.database.inspection[5] = "t";
    fixture.facts.clear();
    fixture.database.fail(fixture.database.wal_call, "57P01", "terminating connection");
    fixture.settle();
    fixture.pass(Millis(5'000));
    fixture.say(pg_keepalive(0x1000));
    EXPECT_EQ(fixture.count(Kind::kSnapshotEnd), 1U);
    EXPECT_EQ(fixture.trouble(), "");
}

// Symptom: the table's check and the answer to a proof's question came together, and the proof went
// out by what the check had just found, before what was missing was read.
TEST(PostgresConnector, AProofEndsWithTheCheckThatFindsTheTableAltered) {
    ConnectorFixture fixture;
    fixture.start_and_copy();
    fixture.say(pg_keepalive(0x1000));
    fixture.connector->marker_appended(from_millis<BrokerTime>(42), fixture.now);
    fixture.database.published = "table 1, altered";
    fixture.database.answer_copies = false;
    fixture.pass(Millis(60'000));
    EXPECT_GE(fixture.database.count("inspect"), 2U);
    EXPECT_EQ(fixture.count(Kind::kSnapshotBegin), 2U);
    EXPECT_EQ(fixture.count(Kind::kProgress), 0U);
}

// Symptom: a question that the server left unanswered was forgotten with its proof and never
// withdrawn, and all that was asked on that connection later waited behind it for ever.
TEST(PostgresConnector, AQuestionOfAProofThatIsGivenUpIsWithdrawnWithIt) {
    ConnectorFixture fixture;
    fixture.start_and_copy();
    fixture.database.answer_positions = false;
    fixture.pass(Millis(30'000));
    fixture.say(pg_keepalive(0x1000));
    fixture.connector->marker_appended(from_millis<BrokerTime>(42), fixture.now);
    fixture.settle();
    const std::size_t asked = fixture.database.count("insert_lsn");
    fixture.database.published = "table 1, altered";  // which ends the proof
    for (int i = 0; i < 5; ++i) {
        fixture.pass(Millis(9'000));
        fixture.say(pg_keepalive(0x1000));
    }
    EXPECT_EQ(fixture.count(Kind::kSnapshotEnd), 2U);
    EXPECT_EQ(fixture.database.count("cancel"), 1U);
    fixture.connector->marker_appended(from_millis<BrokerTime>(43), fixture.now);
    fixture.settle();
    EXPECT_EQ(fixture.database.count("insert_lsn"), asked + 1);
    EXPECT_EQ(fixture.database.count("cancel"), 1U) << "the next one waits for its answer";
}

TEST(PostgresConnector, AnotherPrimaryKeyThatTheNextConnectionFindsMeansOtherObjects) {
    ConnectorFixture fixture;
    fixture.start_and_copy();
    fixture.facts.clear();
    fixture.database.inspection[4] = "url_slug";
    fixture.database.fail(fixture.database.wal_call, "57P01", "terminating connection");
    fixture.settle();
    fixture.pass(Millis(5'000));
    fixture.say(pg_keepalive(0x1000));
    EXPECT_EQ(fixture.count(Kind::kSnapshotEnd), 1U);
}

TEST(PostgresConnector, ADroppedColumnEndsFreshnessUntilAnEpoch) {
    ConnectorFixture fixture;
    fixture.start_and_copy();
    fixture.transaction(0xa00, 0xa30, {pg_insert(9, row("6", "ef"))});
    fixture.database.failures["copy"] = {"42703", "column \"status\" does not exist"};
    fixture.database.stream(pg_wal(pg_begin(0xb00)));
    fixture.database.stream(pg_wal(
        pg_relation(9, "public", "instances", 'f', {{"id", true}, {"url_slug"}, {"pod_name"}})));
    fixture.database.stream(pg_wal(pg_insert(9, {pg_text("7"), pg_text("x"), pg_null()})));
    fixture.database.stream(pg_wal(pg_commit(0xb00, 0xb30)));
    fixture.settle();
    EXPECT_NE(fixture.trouble().find("no column status"), std::string::npos);
    EXPECT_GE(fixture.database.count("inspect"), 2U) << "looked again at once";
    fixture.facts.clear();
    fixture.database.consistent_point = 0xc00;
    fixture.pass(Millis(5000));
    EXPECT_EQ(fixture.count(Kind::kSnapshotEnd), 1U);
    EXPECT_EQ(fixture.trouble(), "") << "the copy found the column";
}

TEST(PostgresConnector, ATruncateOvertakesARunningCopy_S16) {
    ConnectorFixture fixture;
    fixture.database.answer_copies = false;
    fixture.start_and_copy();
    fixture.transaction(0xa00, 0xa30, {pg_truncate({9})});
    EXPECT_EQ(fixture.database.count("cancel copy"), 1U);
    EXPECT_EQ(fixture.kinds(),
              (std::vector<Kind>{Kind::kSnapshotBegin, Kind::kSnapshotBegin, Kind::kSnapshotEnd,
                                 Kind::kConfirm, Kind::kSnapshotBegin}));
    EXPECT_EQ(fixture.database.count("copy"), 2U);
    EXPECT_EQ(fixture.count(Kind::kMarker), 0U);
    fixture.database.end_copy();
    fixture.settle();
    EXPECT_EQ(fixture.count(Kind::kMarker), 1U);
}

TEST(PostgresConnector, AnAuditEpochRunsBesideTheStream_S15) {
    ConnectorFixture fixture;
    fixture.start_and_copy();
    fixture.database.answer_copies = false;
    fixture.connector->relist();
    fixture.settle();
    EXPECT_EQ(fixture.count(Kind::kSnapshotBegin), 2U);
    fixture.transaction(0xa00, 0xa30, {pg_delete(9, 'O', row("4", "ab"))});
    EXPECT_EQ(fixture.count(Kind::kRemove), 1U);
    fixture.connector->marker_appended(from_millis<BrokerTime>(1), fixture.now);
    fixture.settle();
    fixture.say(pg_keepalive(0x1000));
    EXPECT_EQ(fixture.count(Kind::kProgress), 1U) << "the stream proves it without the audit";
    fixture.database.end_copy();
    fixture.settle();
    EXPECT_EQ(fixture.connector->health().epochs, 2U);
}

TEST(PostgresConnector, ARestartReadsACompleteEpochAgain_S15) {
    ConnectorFixture fixture;
    fixture.start_and_copy();
    fixture.facts.clear();
    fixture.database.rows = {copied("5", "cd")};
    fixture.start_and_copy();
    EXPECT_EQ(fixture.kinds(), (std::vector<Kind>{Kind::kSnapshotBegin, Kind::kUpsert,
                                                  Kind::kSnapshotEnd, Kind::kMarker}));
}

TEST(PostgresConnector, BytesThatDoNotDecodeEndTheConnectionNotTheProcess) {
    ConnectorFixture fixture;
    fixture.start_and_copy();
    fixture.say("w\x01\x02");
    EXPECT_EQ(fixture.database.calls.back(), "cancel stream");
    EXPECT_NE(fixture.trouble().find("does not decode"), std::string::npos);
    fixture.pass(Millis(1000));
    EXPECT_EQ(fixture.database.calls.back(), "start_wal 0/900");
}

TEST(PostgresConnector, ASilentStreamIsConnectedAnew) {
    ConnectorFixture fixture;
    fixture.start_and_copy();
    for (int i = 0; i < 19; ++i) fixture.pass(Millis(10000));
    EXPECT_EQ(fixture.database.count("cancel stream"), 1U);
}

// A forgotten transaction kept a source from its first list, and nothing said so.
TEST(PostgresConnector, ACopyThatWaitsForATransactionSaysWhichOnesThereAre) {
    ConnectorFixture fixture;
    fixture.database.give_snapshots = false;
    fixture.start_and_copy();
    fixture.pass(Millis(4'000));
    EXPECT_EQ(fixture.trouble(), "");
    fixture.pass(Millis(2'000));
    EXPECT_EQ(fixture.trouble(), kNoSnapshotYet);
    fixture.database.fail(fixture.database.copy_call, "55P03",
                          "canceling statement due to lock timeout");
    fixture.pass(Millis(1));
    EXPECT_NE(fixture.trouble().find(kNoSnapshotYet), std::string::npos) << "and it is tried again";
}

// A server that decoded a huge transaction of other tables said nothing for minutes, was cut off,
// began with it again, and was cut off again, for ever.
TEST(PostgresConnector, ASilenceThatFollowsOneIsBorneForLonger) {
    ConnectorFixture fixture;
    fixture.start_and_copy();
    std::vector<std::size_t> cut_at;  // in tens of seconds
    for (std::size_t i = 1; i <= 200; ++i) {
        fixture.pass(Millis(10'000));
        const bool connected = !cut_at.empty() && cut_at.back() + 1 == i;
        if (connected) fixture.say(test_support::pg_keepalive(0x900));  // it greets
        if (fixture.database.count("cancel stream") > cut_at.size()) cut_at.push_back(i);
    }
    ASSERT_EQ(cut_at.size(), 3U);
    EXPECT_EQ(cut_at[0], 18U);
    EXPECT_GE(cut_at[1] - cut_at[0], 36U);
    EXPECT_GE(cut_at[2] - cut_at[1], 72U);
    for (int i = 0; i < 20; ++i) {  // it reads what it has read before
        fixture.pass(Millis(10'000));
        fixture.say(test_support::pg_keepalive(0x900));
    }
    for (int i = 0; i < 100; ++i) fixture.pass(Millis(10'000));
    EXPECT_EQ(fixture.database.count("cancel stream"), 3U) << "it is borne for 24 minutes now";
    fixture.say(test_support::pg_keepalive(0x901));  // it is behind that
    for (int i = 0; i < 19; ++i) fixture.pass(Millis(10'000));
    EXPECT_EQ(fixture.database.count("cancel stream"), 4U) << "for three minutes again";
}

// Each normal start warned that it waits for the slot.
TEST(PostgresConnector, ASlotThatIsMadeInTimeIsNoTrouble) {
    ConnectorFixture fixture;
    fixture.database.answer_slots = false;
    fixture.start();
    EXPECT_EQ(fixture.trouble(), "");
    fixture.pass(Millis(4999));
    EXPECT_EQ(fixture.trouble(), "");
    fixture.pass(Millis(1));
    EXPECT_NE(fixture.trouble().find("waiting for slot"), std::string::npos) << fixture.trouble();
}

// A source stayed stale for ever: the check of its table hung, and held up every question after it.
TEST(PostgresConnector, ACheckOfTheTableThatStaysUnansweredIsWithdrawnAndRepeated_S3) {
    ConnectorFixture fixture;
    fixture.start_and_copy();
    fixture.database.answer_inspections = false;
    const auto talk = [&](int seconds) {  // the stream goes on meanwhile
        for (int i = 0; i < seconds; i += 10) {
            fixture.pass(Millis(10000));
            fixture.say(pg_keepalive(0x900));
        }
    };
    talk(60);
    EXPECT_EQ(fixture.database.count("inspect"), 2U);
    EXPECT_EQ(fixture.database.count("cancel"), 0U);
    talk(60);
    EXPECT_EQ(fixture.database.count("cancel"), 1U);
    talk(60);
    EXPECT_EQ(fixture.database.count("inspect"), 3U);
    EXPECT_EQ(fixture.database.count("cancel stream"), 0U);
}

TEST(PostgresConnector, ADroppedColumnIsNotEvenRead_Design_4_15) {
    FakeDatabase database;
    Settings settings = instances();
    settings.fields.named = {{"status", ports::Treatment::kDrop}};
    ConnectorFixture fixture(settings);
    fixture.database.rows = {
        {"4", std::nullopt, "ab", "wrapper-ab"}};  // id, pod_name, url_slug, key
    fixture.start_and_copy();
    EXPECT_EQ(fixture.connector->health().epochs, 1U) << fixture.trouble();
    EXPECT_FALSE(ObjectView(fixture.facts.at(2).object).find("status").has_value());
}

TEST(PostgresConnector, APrimaryKeyNamesItsRowAsItIsOrNotAtAll_Design_4_15) {
    for (const auto& [column, named] : {std::pair("id", true), std::pair("session_token", false)}) {
        Settings settings = instances();
        if (named) settings.fields.named = {{column, ports::Treatment::kHash}};
        ConnectorFixture fixture(settings);
        fixture.database.inspection[4] = column;
        fixture.start_and_copy();
        EXPECT_EQ(fixture.trouble(),
                  "column " + std::string(column) +
                      " is in the primary key of public.instances, which is published in clear "
                      "text and cannot be hashed or dropped; write fields: {" +
                      column + ": map} if its text may be published");
        EXPECT_EQ(fixture.count(Kind::kUpsert), 0U);
    }
}

}  // namespace
}  // namespace trueup::connectors::postgres
