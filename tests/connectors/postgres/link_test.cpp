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
void pass_while_busy(Rig& rig, int seconds) {
    for (int i = 0; i < seconds; ++i) {
        rig.database.failures["start_wal"] = {"55006", kBusy};
        rig.pass(Millis(1000));
    }
}

TEST(PostgresLink, ASlotThatSomebodyElseReadsIsWaitedForAndAfterFiveSecondsSaid_S14) {
    Rig rig;
    rig.database.failures["start_wal"] = {"55006", kBusy};
    rig.start();
    EXPECT_EQ(rig.trouble(), "") << "a reader of ours may just be on its way out";
    EXPECT_FALSE(rig.connector->health().answering);
    pass_while_busy(rig, 4);
    EXPECT_EQ(rig.trouble(), "");
    pass_while_busy(rig, 1);
    EXPECT_EQ(rig.trouble(), std::string(kBusy) +
                                 "; retrying: stop that reader, or give this source its own slot");
    pass_while_busy(rig, 600);
    EXPECT_NE(rig.trouble().find("PID 7"), std::string::npos);
    EXPECT_EQ(rig.database.count("drop_slot trueup"), 0U) << "never taken from its reader";
    EXPECT_EQ(rig.kinds(), std::vector<Kind>{});
    rig.database.failures.clear();
    rig.pass(Millis(30'000));
    rig.say(pg_keepalive(0x900));
    EXPECT_EQ(rig.trouble(), "");
    EXPECT_EQ(rig.count(Kind::kSnapshotEnd), 1U);
}

// Each attempt was taken for a stream, so that the slot, moved by its reader, seemed to be made
// anew: one incarnation after the other.
TEST(PostgresLink, ASlotThatMovesWhileWeWaitForItIsNoReasonForANewIncarnation_S14) {
    Rig rig;
    rig.start();
    rig.database.fail(rig.database.wal_call, "55006", kBusy);
    rig.settle();
    for (int i = 0; i < 10; ++i) {
        rig.database.slot[1] = "0/20" + std::to_string(i);
        pass_while_busy(rig, 30);
        ASSERT_FALSE(rig.connector->needs_new_incarnation()) << rig.trouble();
    }
    EXPECT_NE(rig.trouble().find("PID 7"), std::string::npos) << rig.trouble();
}

TEST(PostgresLink, ASlotThatMovesOnceWeReliedOnItNeedsANewIncarnation_S14) {
    Rig rig;
    rig.start_and_copy();
    rig.database.fail(rig.database.wal_call, "57P01", "terminating connection");
    rig.settle();
    rig.database.slot[1] = "0/950";
    pass_while_busy(rig, 2);
    EXPECT_TRUE(rig.connector->needs_new_incarnation());
}

// Of a table that is unfit nobody reads the slot, so that it keeps more and more.
TEST(PostgresLink, HowMuchASlotKeepsIsToldOfAnUnfitTableToo) {
    Rig rig;
    rig.database.inspection[5] = "none";
    rig.database.inspection.resize(14);
    rig.database.inspection[12] = "extended";
    rig.database.inspection[13] = "4711";
    rig.start();
    EXPECT_NE(rig.trouble(), "");
    EXPECT_EQ(rig.connector->health().slot.wal_status, "extended");
    EXPECT_EQ(rig.connector->health().slot.retained_bytes, 4711U);
}

// Each change that was doubted withdrew the question that the one before had asked, and closed the
// session with it.
TEST(PostgresLink, ManyDoubtfulChangesAskOnce) {
    Rig rig;
    rig.start_and_copy();
    const std::size_t asked = rig.database.count("inspect");
    rig.database.answer_inspections = false;
    const PgTuple now = {pg_text("1"), pg_text("a"), pg_null(), pg_text("running")};
    for (Lsn lsn = 0xa00; lsn < 0xa00 + 50 * 0x10; lsn += 0x10) {
        rig.transaction(lsn, lsn + 8, {pg_update(9, 0, {}, now)});
    }
    EXPECT_EQ(rig.database.count("inspect"), asked + 1);
}

// A stream that said too little in each change had the server inspect the table without a pause.
TEST(PostgresLink, ADoubtThatLastsAsksLessAndLess) {
    Rig rig;
    rig.start_and_copy();
    const PgTuple now = {pg_text("1"), pg_text("a"), pg_null(), pg_text("running")};
    Lsn lsn = 0xa00;
    const auto asked = [&] { return rig.database.count("inspect"); };
    const auto doubt = [&] {
        rig.transaction(lsn, lsn + 8, {pg_update(9, 0, {}, now)});
        lsn += 0x10;
    };
    std::size_t before = asked();
    doubt();
    EXPECT_EQ(asked(), before + 1) << "the first one at once";
    for (int i = 0; i < 600; ++i) {
        rig.pass(Millis(100));
        doubt();
    }
    EXPECT_GE(asked(), before + 4);
    EXPECT_LE(asked(), before + 12) << "in a minute";
    for (int i = 0; i < 24; ++i) {
        rig.pass(Millis(10'000));
        rig.say(pg_keepalive(lsn));
    }
    before = asked();
    doubt();
    EXPECT_EQ(asked(), before + 1) << "a new one after a calm";
}

TEST(PostgresLink, AMissingPublicationIsNamedWithItsStatementAndRecovers) {
    Rig rig;
    rig.database.inspection[5] = "none";
    rig.start();
    EXPECT_EQ(rig.trouble(),
              "publication trueup does not exist: CREATE PUBLICATION \"trueup\" FOR TABLE "
              "\"public\".\"instances\";");
    rig.database.inspection[5] = "f";
    rig.pass(Millis(30'000));
    EXPECT_EQ(rig.trouble(),
              "publication trueup does not cover public.instances: ALTER PUBLICATION \"trueup\" "
              "ADD TABLE \"public\".\"instances\";");
    EXPECT_EQ(rig.database.count("ensure_slot trueup"), 0U) << "no slot that nobody would read";
    rig.database.inspection[5] = "t";
    rig.pass(Millis(30'000));
    rig.say(pg_keepalive(0x900));
    EXPECT_EQ(rig.trouble(), "");
    EXPECT_EQ(rig.count(Kind::kSnapshotEnd), 1U);
}

TEST(PostgresLink, APublicationThatIsDroppedUnderTheStreamIsNamedToo) {
    Rig rig;
    rig.start_and_copy();
    rig.database.inspection[5] = "none";
    rig.database.fail(rig.database.wal_call, "42704", "publication \"trueup\" does not exist");
    rig.settle();
    rig.pass(Millis(2'000));
    EXPECT_NE(rig.trouble().find("CREATE PUBLICATION \"trueup\""), std::string::npos);
    rig.facts.clear();
    rig.pass(Millis(60'000));
    EXPECT_EQ(rig.kinds(), std::vector<Kind>{}) << "nothing is concluded meanwhile";
    EXPECT_FALSE(rig.connector->needs_new_incarnation());
}

/// The SQL session is answered by a server that was promoted; the stream still hangs at the old
/// one.
void fail_over_behind_a_pool(Rig& rig) {
    rig.database.inspection[1] = "2";
    rig.database.answer_positions = false;
    rig.connector->marker_appended(from_millis<BrokerTime>(42), rig.now);
    rig.settle();
    rig.database.fail(rig.database.position_call, "",
                      "another server answers: 77/2 instead of 77/1", Next::kRefresh);
    rig.settle();
}

TEST(PostgresLink, AFailOverIsNoticedByTheProofAndProvesNothingMore_S14) {
    Rig rig;
    rig.start_and_copy();
    fail_over_behind_a_pool(rig);
    EXPECT_TRUE(rig.connector->needs_new_incarnation()) << "not only when the next minute is over";
    EXPECT_EQ(rig.trouble(),
              "another server or timeline answers (77/2 instead of 77/1); changes may be missing, "
              "so everything is read again");
    rig.facts.clear();
    rig.say(pg_keepalive(0x2000));
    rig.pass(Millis(60'000));
    EXPECT_EQ(rig.kinds(), std::vector<Kind>{}) << "nothing but Alive";
    rig.database.answer_positions = true;
    rig.start();
    EXPECT_NE(rig.trouble(), "") << "until the new stream says a word";
    rig.say(pg_keepalive(0x900));
    EXPECT_EQ(rig.trouble(), "");
    EXPECT_EQ(rig.count(Kind::kSnapshotEnd), 1U) << "a new epoch under the new incarnation";
}

TEST(PostgresLink, AnotherSystemIsNoticedByACopyThatFails_S14) {
    Rig rig;
    rig.database.answer_copies = false;
    rig.start_and_copy();
    rig.database.inspection[0] = "78";
    rig.database.fail(rig.database.copy_call, "", "another server answers: 78/1 instead of 77/1",
                      Next::kRefresh);
    rig.settle();
    EXPECT_TRUE(rig.connector->needs_new_incarnation());
    EXPECT_NE(rig.trouble().find("78/1 instead of 77/1"), std::string::npos) << rig.trouble();
}

// Details 14: whatever compares a row's times with now has to know the clock that wrote them.
TEST(PostgresLink, AProofBringsTheDatabasesOwnClockHoweverWrong_G4) {
    for (const std::int64_t wrong_by : {-600'000, 0, 600'000}) {
        Rig rig;
        const std::int64_t clock = 1'700'000'000'000 + wrong_by;
        rig.database.clock = std::to_string(clock);
        rig.start_and_copy();
        rig.connector->marker_appended(from_millis<BrokerTime>(42), rig.now);
        rig.say(pg_keepalive(0x1000));
        ASSERT_EQ(rig.count(Kind::kProgress), 1U);
        const Fact& progress = rig.facts.back();
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
