// Proves S14 for the way to the stream: a slot that others read, a publication that is missing,
// another server behind the same address, and a server whose clock is wrong.
#include "connectors/postgres/statements.h"
#include "tests/connectors/postgres/connector_fixture.h"

#include <gtest/gtest.h>

namespace trueup::connectors::postgres {
namespace {

using namespace test_support;
using Kind = Fact::Kind;

constexpr const char* kBusy = "replication slot \"trueup\" is active for PID 7";

/// Time passes, second by second, while somebody else reads the slot.
void pass_while_busy(ConnectorFixture& fixture, int seconds) {
    for (int i = 0; i < seconds; ++i) {
        fixture.database.failures["start_wal"] = {"55006", kBusy};
        fixture.pass(Millis(1000));
    }
}

TEST(PostgresLink, ASlotThatSomebodyElseReadsIsWaitedForAndAfterFiveSecondsSaid_S14) {
    ConnectorFixture fixture;
    fixture.database.failures["start_wal"] = {"55006", kBusy};
    fixture.start();
    EXPECT_EQ(fixture.trouble(), "") << "a reader of ours may just be on its way out";
    EXPECT_FALSE(fixture.connector->health().answering);
    pass_while_busy(fixture, 4);
    EXPECT_EQ(fixture.trouble(), "");
    pass_while_busy(fixture, 1);
    EXPECT_EQ(
        fixture.trouble(),
        std::string(kBusy) + "; retrying: stop that reader, or give this source its own slot");
    pass_while_busy(fixture, 600);
    EXPECT_NE(fixture.trouble().find("PID 7"), std::string::npos);
    EXPECT_EQ(fixture.database.count("drop_slot trueup"), 0U) << "never taken from its reader";
    EXPECT_EQ(fixture.kinds(), std::vector<Kind>{});
    fixture.database.failures.clear();
    fixture.pass(Millis(30'000));
    fixture.say(pg_keepalive(0x900));
    EXPECT_EQ(fixture.trouble(), "");
    EXPECT_EQ(fixture.count(Kind::kSnapshotEnd), 1U);
}

// Each attempt was taken for a stream, so that the slot, moved by its reader, seemed to be made
// anew: one incarnation after the other.
TEST(PostgresLink, ASlotThatMovesWhileWeWaitForItIsNoReasonForANewIncarnation_S14) {
    ConnectorFixture fixture;
    fixture.start();
    fixture.database.fail(fixture.database.wal_call, "55006", kBusy);
    fixture.settle();
    for (int i = 0; i < 10; ++i) {
        fixture.database.slot[1] = "0/20" + std::to_string(i);
        pass_while_busy(fixture, 30);
        ASSERT_FALSE(fixture.connector->needs_new_incarnation()) << fixture.trouble();
    }
    EXPECT_NE(fixture.trouble().find("PID 7"), std::string::npos) << fixture.trouble();
}

TEST(PostgresLink, ASlotThatMovesOnceWeReliedOnItNeedsANewIncarnation_S14) {
    ConnectorFixture fixture;
    fixture.start_and_copy();
    fixture.database.fail(fixture.database.wal_call, "57P01", "terminating connection");
    fixture.settle();
    fixture.database.slot[1] = "0/950";
    pass_while_busy(fixture, 2);
    EXPECT_TRUE(fixture.connector->needs_new_incarnation());
}

// Of a table that is unfit nobody reads the slot, so that it keeps more and more.
TEST(PostgresLink, HowMuchASlotKeepsIsToldOfAnUnfitTableToo) {
    ConnectorFixture fixture;
    fixture.database.inspection[5] = "none";
    fixture.database.inspection.resize(14);
    fixture.database.inspection[12] = "extended";
    fixture.database.inspection[13] = "4711";
    fixture.start();
    EXPECT_NE(fixture.trouble(), "");
    EXPECT_EQ(fixture.connector->health().slot.wal_status, "extended");
    EXPECT_EQ(fixture.connector->health().slot.retained_bytes, 4711U);
}

// Each change that was doubted withdrew the question that the one before had asked, and closed the
// session with it.
TEST(PostgresLink, ManyDoubtfulChangesAskOnce) {
    ConnectorFixture fixture;
    fixture.start_and_copy();
    const std::size_t asked = fixture.database.count("inspect");
    fixture.database.answer_inspections = false;
    const PgTuple now = {pg_text("1"), pg_text("a"), pg_null(), pg_text("running")};
    for (Lsn lsn = 0xa00; lsn < 0xa00 + 50 * 0x10; lsn += 0x10) {
        fixture.transaction(lsn, lsn + 8, {pg_update(9, 0, {}, now)});
    }
    EXPECT_EQ(fixture.database.count("inspect"), asked + 1);
}

// A stream that said too little in each change had the server inspect the table without a pause.
TEST(PostgresLink, ADoubtThatLastsAsksLessAndLess) {
    ConnectorFixture fixture;
    fixture.start_and_copy();
    const PgTuple now = {pg_text("1"), pg_text("a"), pg_null(), pg_text("running")};
    Lsn lsn = 0xa00;
    const auto asked = [&] { return fixture.database.count("inspect"); };
    const auto doubt = [&] {
        fixture.transaction(lsn, lsn + 8, {pg_update(9, 0, {}, now)});
        lsn += 0x10;
    };
    std::size_t before = asked();
    doubt();
    EXPECT_EQ(asked(), before + 1) << "the first one at once";
    for (int i = 0; i < 600; ++i) {
        fixture.pass(Millis(100));
        doubt();
    }
    EXPECT_GE(asked(), before + 4);
    EXPECT_LE(asked(), before + 12) << "in a minute";
    for (int i = 0; i < 24; ++i) {
        fixture.pass(Millis(10'000));
        fixture.say(pg_keepalive(lsn));
    }
    before = asked();
    doubt();
    EXPECT_EQ(asked(), before + 1) << "a new one after a calm";
}

TEST(PostgresLink, AMissingPublicationIsNamedWithItsStatementAndRecovers) {
    ConnectorFixture fixture;
    fixture.database.inspection[5] = "none";
    fixture.start();
    EXPECT_EQ(fixture.trouble(),
              "publication trueup does not exist: CREATE PUBLICATION \"trueup\" FOR TABLE "
              "\"public\".\"instances\";");
    fixture.database.inspection[5] = "f";
    fixture.pass(Millis(30'000));
    EXPECT_EQ(fixture.trouble(),
              "publication trueup does not cover public.instances: ALTER PUBLICATION \"trueup\" "
              "ADD TABLE \"public\".\"instances\";");
    EXPECT_EQ(fixture.database.count("ensure_slot trueup"), 0U) << "no slot that nobody would read";
    fixture.database.inspection[5] = "t";
    fixture.pass(Millis(30'000));
    fixture.say(pg_keepalive(0x900));
    EXPECT_EQ(fixture.trouble(), "");
    EXPECT_EQ(fixture.count(Kind::kSnapshotEnd), 1U);
}

TEST(PostgresLink, APublicationThatIsDroppedUnderTheStreamIsNamedToo) {
    ConnectorFixture fixture;
    fixture.start_and_copy();
    fixture.database.inspection[5] = "none";
    fixture.database.fail(fixture.database.wal_call, "42704",
                          "publication \"trueup\" does not exist");
    fixture.settle();
    fixture.pass(Millis(2'000));
    EXPECT_NE(fixture.trouble().find("CREATE PUBLICATION \"trueup\""), std::string::npos);
    fixture.facts.clear();
    fixture.pass(Millis(60'000));
    EXPECT_EQ(fixture.kinds(), std::vector<Kind>{}) << "nothing is concluded meanwhile";
    EXPECT_FALSE(fixture.connector->needs_new_incarnation());
}

/// The SQL session is answered by a server that was promoted; the stream still hangs at the old
/// one.
void fail_over_behind_a_pool(ConnectorFixture& fixture) {
    fixture.database.inspection[1] = "2";
    fixture.database.answer_positions = false;
    fixture.connector->marker_appended(from_millis<BrokerTime>(42), fixture.now);
    fixture.settle();
    fixture.database.fail(fixture.database.position_call, "",
                          "another server answers: 77/2 instead of 77/1", Next::kRefresh);
    fixture.settle();
}

TEST(PostgresLink, AFailOverIsNoticedByTheProofAndProvesNothingMore_S14) {
    ConnectorFixture fixture;
    fixture.start_and_copy();
    fail_over_behind_a_pool(fixture);
    EXPECT_TRUE(fixture.connector->needs_new_incarnation())
        << "not only when the next minute is over";
    EXPECT_EQ(fixture.trouble(),
              "another server or timeline answers (77/2 instead of 77/1); changes may be missing, "
              "so everything is read again");
    fixture.facts.clear();
    fixture.say(pg_keepalive(0x2000));
    fixture.pass(Millis(60'000));
    EXPECT_EQ(fixture.kinds(), std::vector<Kind>{}) << "nothing but Alive";
    fixture.database.answer_positions = true;
    fixture.start();
    EXPECT_NE(fixture.trouble(), "") << "until the new stream says a word";
    fixture.say(pg_keepalive(0x900));
    EXPECT_EQ(fixture.trouble(), "");
    EXPECT_EQ(fixture.count(Kind::kSnapshotEnd), 1U) << "a new epoch under the new incarnation";
}

TEST(PostgresLink, AnotherSystemIsNoticedByACopyThatFails_S14) {
    ConnectorFixture fixture;
    fixture.database.answer_copies = false;
    fixture.start_and_copy();
    fixture.database.inspection[0] = "78";
    fixture.database.fail(fixture.database.copy_call, "",
                          "another server answers: 78/1 instead of 77/1", Next::kRefresh);
    fixture.settle();
    EXPECT_TRUE(fixture.connector->needs_new_incarnation());
    EXPECT_NE(fixture.trouble().find("78/1 instead of 77/1"), std::string::npos)
        << fixture.trouble();
}

// Details 14: whatever compares a row's times with now has to know the clock that wrote them.
TEST(PostgresLink, AProofBringsTheDatabasesOwnClockHoweverWrong_G4) {
    for (const std::int64_t wrong_by : {-600'000, 0, 600'000}) {
        ConnectorFixture fixture;
        const std::int64_t clock = 1'700'000'000'000 + wrong_by;
        fixture.database.clock = std::to_string(clock);
        fixture.start_and_copy();
        fixture.connector->marker_appended(from_millis<BrokerTime>(42), fixture.now);
        fixture.say(pg_keepalive(0x1000));
        ASSERT_EQ(fixture.count(Kind::kProgress), 1U);
        const Fact& progress = fixture.facts.back();
        EXPECT_EQ(to_millis(progress.source_clock), clock);
        EXPECT_EQ(to_millis(progress.complete_as_of), 42) << "what is proven is as of the marker";
    }
}

TEST(PostgresLink, ClockAndPositionComeOutOfOneStatement) {
    const std::string sql = insert_lsn_statement({}).sql;
    EXPECT_NE(sql.find("pg_current_wal_insert_lsn()"), std::string::npos);
    EXPECT_NE(sql.find("clock_timestamp()"), std::string::npos);
}

}  // namespace
}  // namespace trueup::connectors::postgres
