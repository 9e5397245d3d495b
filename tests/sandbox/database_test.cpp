// Proves sandbox/world.h: reads, guarded updates, transactions and failures of the database.
#include "engine/world/row_text.h"
#include "tests/sandbox/support.h"

#include <gtest/gtest.h>

namespace trueup::sandbox::testing {
namespace {

class SandboxDatabase : public ::testing::Test {
  protected:
    SandboxDatabase() {
        one = world.insert_row(instance("a", "running"));
        two = world.insert_row(instance("b", "starting"));
    }
    static World::Settings settings() {
        World::Settings settings;
        settings.evaluate_key = [](const std::string& expression, const ColumnOf& column_of) {
            // What the tests call coalesce(pod_name, 'wrapper-' || url_slug).
            if (expression == "status") return *column_of("status");
            const std::optional<std::string>& name = *column_of("pod_name");
            return name ? name : std::optional("wrapper-" + **column_of("url_slug"));
        };
        return settings;
    }
    std::string xmin(const std::string& pk) { return *client.read(pk).rows.at(0).at(1); }

    ManualClock clock;
    World world{7, clock, settings()};
    DatabaseClient client{world};
    std::string one, two;
};

TEST_F(SandboxDatabase, InspectsLikePostgres15) {
    client.port->inspect(90, {{"public", "instances"}, "trueup"});
    client.port->inspect(91, {{"public", "elsewhere"}, "trueup"});
    EXPECT_EQ(client.answer(90).rows.at(0),
              (ports::SqlRow{"7000000000000000007", "1", "150020", "f", "id", "t", "logical",
                             "id,name,owner_username,owner_email,owner_slack_channel,url_slug,"
                             "status,pod_name,pod_ip,instance_url,error_code,error_message,"
                             "stack_trace,created_at,ttl,last_activity_at,inactivity_timeout,"
                             "memory_usage_bytes",
                             "", "r", "", "", "", "", "0"}));
    EXPECT_TRUE(client.answer(90).ended);
    EXPECT_EQ(client.answer(91).sqlstate, "42P01");
    client.port->inspect(92, {{"public", "instances"}, "another"});
    EXPECT_EQ(client.answer(92).rows.at(0).at(5), "none") << "there is no such publication";
}

TEST_F(SandboxDatabase, AFailOverLeavesTheRowsAndTakesTheSlots) {
    client.port->ensure_slot(90, {"trueup", "trueup"});
    EXPECT_TRUE(client.answer(90).ended);
    client.port->start_wal(91, {"trueup", "trueup", 0});
    world.fail_over();
    EXPECT_EQ(client.answer(91).sqlstate, "57P01");
    client.port->inspect(92, {{"public", "instances"}, "trueup"});
    EXPECT_EQ(client.answer(92).rows.at(0).at(1), "2") << "another timeline";
    client.port->start_wal(93, {"trueup", "trueup", 0});
    EXPECT_EQ(client.answer(93).sqlstate, "42704");
    client.port->drop_slot(94, "trueup");
    EXPECT_TRUE(client.answer(94).ended) << "what is not there is dropped";
    EXPECT_FALSE(client.read(one).rows.empty());
}

TEST_F(SandboxDatabase, ReadsByKeyOrByExpression) {
    EXPECT_EQ(client.read(one).rows, (std::vector<ports::SqlRow>{{"1", "730", "running"}}));
    EXPECT_TRUE(client.read("99").rows.empty());
    world.update_row(two, {{"pod_name", std::nullopt}});
    client.port->read_rows(90, {{"public", "instances"},
                                {"id"},
                                {"pod_name", "url_slug"},
                                std::nullopt,
                                "coalesce(pod_name, 'wrapper-' || url_slug)",
                                "wrapper-b"});
    EXPECT_EQ(client.answer(90).rows,
              (std::vector<ports::SqlRow>{{"2", "732", std::nullopt, "b"}}));
    client.port->read_rows(91, {{"public", "instances"}, {"id"}, {"colour"}, one, {}, {}});
    EXPECT_EQ(client.answer(91).sqlstate, "42703");
}

TEST_F(SandboxDatabase, ReadsByTheNameInAColumn) {
    world.update_row(two, {{"pod_name", " graph/wrapper-b\n"}});
    const auto named = [this](ports::CallId call, const std::string& column) {
        client.port->read_rows(call, {{"public", "instances"},
                                      {"id"},
                                      {"status"},
                                      std::nullopt,
                                      world::named_in_sql(column),
                                      "wrapper-b"});
        return client.answer(call);
    };
    const auto found = named(90, "pod_name");
    ASSERT_EQ(found.rows.size(), 1U);
    EXPECT_EQ(found.rows[0].at(0), two);
    EXPECT_TRUE(named(91, "error_code").rows.empty()) << "null names nothing";
    EXPECT_EQ(named(92, "colour").sqlstate, "42703");
}

TEST_F(SandboxDatabase, AnUpdateNeedsItsXminAndEveryGuard) {
    const std::string seen = xmin(one);
    world.update_row(one, {{"ttl", "1h"}});
    const std::vector<ports::ColumnValue> running{{"status", "running"}};
    const std::vector<ports::ColumnValue> failed{{"status", "failed"}};
    EXPECT_EQ(client.update(one, seen, running, failed).rows.at(0).at(0), "0");
    EXPECT_EQ(client.update(one, xmin(one), {{"pod_ip", "10.0.0.1"}}, failed).rows.at(0).at(0),
              "0");
    EXPECT_EQ(client.update("99", seen, running, failed).rows.at(0).at(0), "0");
    EXPECT_EQ(world.truth().rows.at(0).columns.at("status"), "running");
    const std::string now = xmin(one);
    EXPECT_EQ(
        client.update(one, now, {{"status", "running"}, {"pod_ip", {}}}, failed).rows.at(0).at(0),
        "1");
    EXPECT_EQ(world.truth().rows.at(0).columns.at("status"), "failed");
    EXPECT_NE(xmin(one), now);
    std::vector<std::string> said;
    for (const Effect& effect : world.effects()) {
        said.push_back(effect.pk + " " + (effect.accepted ? "done" : effect.why));
    }
    EXPECT_EQ(said, (std::vector<std::string>{"1 xmin", "1 guard pod_ip", "99 no row", "1 done"}));
}

TEST_F(SandboxDatabase, AnUpdateWhoseWhereLacksTheVersionUpdates) {
    world.update_row(one, {{"ttl", "1h"}});
    EXPECT_EQ(client.update(one, "", {}, {{"status", "failed"}}).rows.at(0).at(0), "1");
    EXPECT_EQ(world.truth().rows.at(0).columns.at("status"), "failed");
}

TEST_F(SandboxDatabase, ATransactionIsSeenAllAtOnceOrNeverWas) {
    {
        Transaction dropped = world.begin();
        dropped.insert_row(instance("x", "running"));
    }
    Transaction tx = world.begin();
    const std::string three = tx.insert_row(instance("c", "running"));
    tx.update_row(three, {{"status", "stopping"}});
    tx.delete_row(one);
    tx.update_row("99", {{"status", "failed"}});
    EXPECT_EQ(world.truth().rows.size(), 2U);
    EXPECT_EQ(tx.commit(), 3U) << "the row 99 was never there";
    const Truth truth = world.truth();
    ASSERT_EQ(truth.rows.size(), 2U);
    EXPECT_EQ(truth.rows[1].pk, "4") << "a sequence does not roll back";
    EXPECT_EQ(truth.rows[1].columns.at("status"), "stopping");
}

TEST_F(SandboxDatabase, MakingASlotWaitsForRunningTransactions) {
    Transaction tx = world.begin();
    tx.insert_row(instance("c", "running"));
    client.port->ensure_slot(90, {"s", "trueup"});
    const ports::CallId copy = client.copy({"id"}, "status");
    EXPECT_FALSE(client.answer(90).ended);
    Transaction later = world.begin();
    EXPECT_FALSE(client.answer(copy).ended);
    tx.commit();
    EXPECT_TRUE(client.answer(90).ended) << "a transaction begun later holds nobody up";
    EXPECT_EQ(client.answer(copy).rows.size(), 3U);
}

TEST_F(SandboxDatabase, FailuresOfTheSqlSession) {
    world.fail_next(Op::kRead, Failure::sql("40001"));
    world.fail_next(Op::kRead, Failure::of(Failure::Kind::kRefused));
    world.fail_next(Op::kUpdate, Failure::of(Failure::Kind::kLostReply));
    EXPECT_EQ(client.read(one).sqlstate, "40001");
    const DatabaseAnswer refused = client.read(one);
    EXPECT_TRUE(refused.failed && refused.sqlstate.empty());
    EXPECT_TRUE(client.update(one, xmin(one), {}, {{"status", "failed"}}).failed);
    EXPECT_EQ(world.truth().rows.at(0).columns.at("status"), "failed") << "done, reply lost (S38)";
}

TEST_F(SandboxDatabase, WhatHangsHoldsUpItsSessionUntilCancelled) {
    world.fail_next(Op::kRead, Failure::of(Failure::Kind::kHang));
    client.port->read_rows(90, {{"public", "instances"}, {"id"}, {}, one, {}, {}});
    client.port->read_rows(91, {{"public", "instances"}, {"id"}, {}, one, {}, {}});
    EXPECT_FALSE(client.answer(91).ended);
    client.port->cancel(90);
    EXPECT_TRUE(client.answer(91).ended);
    EXPECT_FALSE(client.answer(90).ended);
}

TEST_F(SandboxDatabase, AnUpdateThatWaitedForTooLongIsNotSent) {
    const std::string seen = xmin(one);
    world.fail_next(Op::kRead, Failure::of(Failure::Kind::kHang));
    client.port->read_rows(90, {{"public", "instances"}, {"id"}, {}, one, {}, {}});
    client.port->update_row(
        91, {{"public", "instances"}, {"id"}, one, seen, {}, {{"status", "failed"}}, Millis(500)});
    clock.advance(Millis(501));
    client.port->cancel(90);
    EXPECT_TRUE(client.answer(91).failed);
    EXPECT_EQ(world.truth().rows.at(0).columns.at("status"), "running");
}

TEST_F(SandboxDatabase, ARestartFailsWhatIsUnderWay) {
    world.fail_next(Op::kRead, Failure::of(Failure::Kind::kHang));
    client.port->read_rows(90, {{"public", "instances"}, {"id"}, {}, one, {}, {}});
    world.restart_database();
    EXPECT_EQ(client.answer(90).sqlstate, "57P01");
    EXPECT_EQ(client.read(one).rows.size(), 1U);
}

}  // namespace
}  // namespace trueup::sandbox::testing
