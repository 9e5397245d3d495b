// Proves that each guard of the PostgreSQL connector is needed: the test of its name fails without
// it (docs/guards.md; tests/guards/mutants.sh switches them off one by one).
#include "connectors/postgres/statements.h"
#include "tests/connectors/postgres/connector_fixture.h"

#include <gtest/gtest.h>

namespace trueup::connectors::postgres {
namespace {

using namespace test_support;
using Kind = Fact::Kind;

/// The marker is in, and the server answers with this position.
void ask(Rig& rig, const std::string& position) {
    rig.start_and_copy();
    rig.database.insert_position = position;
    rig.connector->marker_appended(from_millis<BrokerTime>(42), rig.now);
    rig.settle();
}

// Design §4.1: an error is never an absence.
TEST(Guard, Guard_postgres_whole_copy_ACopyThatIsCutHasNoEnd) {
    Rig rig;
    rig.database.answer_copies = false;
    rig.database.rows = {copied("4", "ab")};
    rig.start_and_copy();
    rig.database.fail(rig.database.copy_call, "57P01", "terminating connection");
    rig.settle();
    EXPECT_EQ(rig.count(Kind::kSnapshotEnd), 0U);
}

// Design §4.2: what is not in our log is not confirmed, or the server would not send it again.
TEST(Guard, Guard_postgres_confirms_durable_AKeepaliveConfirmsNoCommitOnItsWay) {
    Rig rig;
    rig.start();
    rig.transaction(0xa00, 0xa30, {pg_insert(9, row("6", "ef"))});
    rig.say(pg_keepalive(0xc00, true));
    EXPECT_EQ(rig.database.statuses.back().flushed, 0U);
}

// Design §4.2: no progress over a hole.
TEST(Guard, Guard_postgres_no_hole_ARowThatCouldNotBeReadEndsTheProofs) {
    Rig rig;
    ask(rig, "0/900");
    rig.say(pg_keepalive(0x1000));
    rig.database.stream(pg_wal(pg_begin(0x1100)));
    rig.database.stream(pg_wal(
        pg_relation(9, "public", "instances", 'f', {{"id", true}, {"url_slug"}, {"pod_name"}})));
    rig.database.stream(pg_wal(pg_insert(9, {pg_text("7"), pg_text("x"), pg_null()})));
    rig.database.stream(pg_wal(pg_commit(0x1100, 0x1130)));
    rig.settle();
    rig.facts.clear();
    rig.pass(Millis(20'000));
    EXPECT_EQ(rig.count(Kind::kMarker), 0U);
}

// Design §4.3: what was proven of one server says nothing of another (S14).
TEST(Guard, Guard_postgres_same_server_AFailOverProvesNothingMore) {
    Rig rig;
    rig.start_and_copy();
    rig.database.inspection[1] = "2";
    rig.database.insert_position = "0/1000";
    rig.database.fail(rig.database.wal_call, "57P01", "terminating connection");
    rig.settle();
    rig.pass(Millis(1'000));
    rig.connector->marker_appended(from_millis<BrokerTime>(42), rig.now);
    rig.say(pg_keepalive(0x1000));
    rig.pass(Millis(20'000));
    rig.connector->marker_appended(from_millis<BrokerTime>(43), rig.now);
    rig.say(pg_keepalive(0x1000));
    EXPECT_EQ(rig.count(Kind::kProgress), 0U);
}

// Design §4.1: what was left out of the publication for a while is in no stream: unknown, not
// absent.
TEST(Guard, Guard_postgres_same_publication_WhatWasLeftOutForAWhileIsReadBeforeAProof) {
    Rig rig;
    ask(rig, "0/1000");
    rig.say(pg_keepalive(0x1000));
    rig.facts.clear();
    rig.database.published = "table 1, altered twice";  // between two looks at the table
    rig.database.answer_copies = false;
    rig.pass(Millis(20'000));
    rig.connector->marker_appended(from_millis<BrokerTime>(43), rig.now);
    rig.say(pg_keepalive(0x2000));
    EXPECT_EQ(rig.count(Kind::kProgress), 0U);
    rig.pass(Millis(1'000));
    EXPECT_EQ(rig.count(Kind::kSnapshotBegin), 1U) << "it is read anew at once";
    rig.database.insert_position = "0/3000";
    rig.database.end_copy();
    rig.settle();
    rig.connector->marker_appended(from_millis<BrokerTime>(44), rig.now);
    rig.say(pg_keepalive(0x3000));
    EXPECT_EQ(rig.count(Kind::kProgress), 1U);
}

// Design §4.3: progress counts only after the first complete epoch.
TEST(Guard, Guard_postgres_epoch_first_TheStreamAloneProvesNothing) {
    Rig rig;
    rig.database.answer_copies = false;
    rig.start_and_copy();
    rig.pass(Millis(20'000));
    EXPECT_EQ(rig.count(Kind::kMarker), 0U);
}

// Design §4.4: everything up to the answer is published first.
TEST(Guard, Guard_postgres_catches_up_AStreamThatIsBehindProvesNothing) {
    Rig rig;
    ask(rig, "0/B00");
    rig.say(pg_keepalive(0xaf8));
    EXPECT_EQ(rig.count(Kind::kProgress), 0U);
}

// Design §4.4: a commit that is coming in is not published yet.
TEST(Guard, Guard_postgres_commit_first_AKeepaliveInsideATransactionProvesNothing) {
    Rig rig;
    ask(rig, "0/B30");
    rig.facts.clear();
    rig.database.stream(pg_wal(pg_begin(0xb00)));
    rig.say(pg_keepalive(0xb30));
    EXPECT_EQ(rig.count(Kind::kProgress), 0U);
}

}  // namespace
}  // namespace trueup::connectors::postgres
