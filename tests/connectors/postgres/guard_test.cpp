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
void ask(ConnectorFixture& fixture, const std::string& position) {
    fixture.start_and_copy();
    fixture.database.insert_position = position;
    fixture.connector->marker_appended(from_millis<BrokerTime>(42), fixture.now);
    fixture.settle();
}

// Design §4.1: an error is never an absence.
TEST(Guard, Guard_postgres_whole_copy_ACopyThatIsCutHasNoEnd) {
    ConnectorFixture fixture;
    fixture.database.answer_copies = false;
    fixture.database.rows = {copied("4", "ab")};
    fixture.start_and_copy();
    fixture.database.fail(fixture.database.copy_call, "57P01", "terminating connection");
    fixture.settle();
    EXPECT_EQ(fixture.count(Kind::kSnapshotEnd), 0U);
}

// Design §4.2: what is not in our log is not confirmed, or the server would not send it again.
TEST(Guard, Guard_postgres_confirms_durable_AKeepaliveConfirmsNoCommitOnItsWay) {
    ConnectorFixture fixture;
    fixture.start();
    fixture.transaction(0xa00, 0xa30, {pg_insert(9, row("6", "ef"))});
    fixture.say(pg_keepalive(0xc00, true));
    EXPECT_EQ(fixture.database.statuses.back().flushed, 0U);
}

// Design §4.2: no progress over a hole.
TEST(Guard, Guard_postgres_no_hole_ARowThatCouldNotBeReadEndsTheProofs) {
    ConnectorFixture fixture;
    ask(fixture, "0/900");
    fixture.say(pg_keepalive(0x1000));
    fixture.database.stream(pg_wal(pg_begin(0x1100)));
    fixture.database.stream(pg_wal(
        pg_relation(9, "public", "instances", 'f', {{"id", true}, {"url_slug"}, {"pod_name"}})));
    fixture.database.stream(pg_wal(pg_insert(9, {pg_text("7"), pg_text("x"), pg_null()})));
    fixture.database.stream(pg_wal(pg_commit(0x1100, 0x1130)));
    fixture.settle();
    fixture.facts.clear();
    fixture.pass(Millis(20'000));
    EXPECT_EQ(fixture.count(Kind::kMarker), 0U);
}

// Design §4.3: what was proven of one server says nothing of another (S14).
TEST(Guard, Guard_postgres_same_server_AFailOverProvesNothingMore) {
    ConnectorFixture fixture;
    fixture.start_and_copy();
    fixture.database.inspection[1] = "2";
    fixture.database.insert_position = "0/1000";
    fixture.database.fail(fixture.database.wal_call, "57P01", "terminating connection");
    fixture.settle();
    fixture.pass(Millis(1'000));
    fixture.connector->marker_appended(from_millis<BrokerTime>(42), fixture.now);
    fixture.say(pg_keepalive(0x1000));
    fixture.pass(Millis(20'000));
    fixture.connector->marker_appended(from_millis<BrokerTime>(43), fixture.now);
    fixture.say(pg_keepalive(0x1000));
    EXPECT_EQ(fixture.count(Kind::kProgress), 0U);
}

// Design §4.1: what was left out of the publication for a while is in no stream: unknown, not
// absent.
TEST(Guard, Guard_postgres_same_publication_WhatWasLeftOutForAWhileIsReadBeforeAProof) {
    ConnectorFixture fixture;
    ask(fixture, "0/1000");
    fixture.say(pg_keepalive(0x1000));
    fixture.facts.clear();
    fixture.database.published = "table 1, altered twice";  // between two looks at the table
    fixture.database.answer_copies = false;
    fixture.pass(Millis(20'000));
    fixture.connector->marker_appended(from_millis<BrokerTime>(43), fixture.now);
    fixture.say(pg_keepalive(0x2000));
    EXPECT_EQ(fixture.count(Kind::kProgress), 0U);
    fixture.pass(Millis(1'000));
    EXPECT_EQ(fixture.count(Kind::kSnapshotBegin), 1U) << "it is read anew at once";
    fixture.database.insert_position = "0/3000";
    fixture.database.end_copy();
    fixture.settle();
    fixture.connector->marker_appended(from_millis<BrokerTime>(44), fixture.now);
    fixture.say(pg_keepalive(0x3000));
    EXPECT_EQ(fixture.count(Kind::kProgress), 1U);
}

// Design §4.3: progress counts only after the first complete epoch.
TEST(Guard, Guard_postgres_epoch_first_TheStreamAloneProvesNothing) {
    ConnectorFixture fixture;
    fixture.database.answer_copies = false;
    fixture.start_and_copy();
    fixture.pass(Millis(20'000));
    EXPECT_EQ(fixture.count(Kind::kMarker), 0U);
}

// Design §4.4: everything up to the answer is published first.
TEST(Guard, Guard_postgres_catches_up_AStreamThatIsBehindProvesNothing) {
    ConnectorFixture fixture;
    ask(fixture, "0/B00");
    fixture.say(pg_keepalive(0xaf8));
    EXPECT_EQ(fixture.count(Kind::kProgress), 0U);
}

// Design §4.4: a commit that is coming in is not published yet.
TEST(Guard, Guard_postgres_commit_first_AKeepaliveInsideATransactionProvesNothing) {
    ConnectorFixture fixture;
    ask(fixture, "0/B30");
    fixture.facts.clear();
    fixture.database.stream(pg_wal(pg_begin(0xb00)));
    fixture.say(pg_keepalive(0xb30));
    EXPECT_EQ(fixture.count(Kind::kProgress), 0U);
}

}  // namespace
}  // namespace trueup::connectors::postgres
