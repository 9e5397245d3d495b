// Proves sandbox/world.h: slots, copies and the bytes of the replication stream.
#include "sandbox/pgoutput.h"
#include "tests/sandbox/support.h"

#include <gtest/gtest.h>

#include <set>

namespace trueup::sandbox::testing {
namespace {

World::Settings small_table(char identity) {
    World::Settings settings;
    settings.columns = {{"id", 20}, {"status"}, {"pod_name"}, {"stack_trace"}};
    settings.replica_identity = identity;
    settings.toast_bytes = 10;
    settings.copy_batch = 2;
    return settings;
}

class SandboxReplication : public ::testing::Test {
  protected:
    SandboxReplication() { client.ensure_slot(); }
    std::vector<WalMessage> messages(ports::CallId call) {
        std::vector<WalMessage> read;
        for (const std::string& bytes : client.answer(call).wal) read.push_back(read_wal(bytes));
        client.answer(call).wal.clear();
        return read;
    }
    std::string next_outline(ports::CallId call) {
        return outline(std::exchange(client.answer(call).wal, {}));
    }
    static Row row(const std::string& status) { return {{"status", status}, {"pod_name", "p"}}; }

    ManualClock clock;
    World world{7, clock, small_table('f')};
    DatabaseClient client{world};
};

TEST_F(SandboxReplication, StreamsEachKindOfChange_S16) {
    const ports::CallId stream = client.stream();
    const std::string pk = world.insert_row(row("running"));
    const std::string trace = "a trace longer than ten bytes";
    world.update_row(pk, {{"stack_trace", trace}});
    world.update_row(pk, {{"status", "failed"}});
    world.delete_row(pk);
    const std::vector<WalMessage> got = messages(stream);
    ASSERT_EQ(got.size(), 13U);
    EXPECT_EQ(got[0].kind, 'B');
    EXPECT_EQ(got[0].xid, 730U);
    EXPECT_EQ(got[1].kind, 'R');
    EXPECT_EQ(got[1].start, 0U);
    EXPECT_EQ(got[1].relation, "public.instances");
    EXPECT_EQ(got[1].columns,
              (std::vector<std::string>{"id", "status", "pod_name", "stack_trace"}));
    EXPECT_EQ(got[2].kind, 'I');
    EXPECT_EQ(got[2].after, (std::vector<std::string>{"1", "running", "p", "NULL"}));
    EXPECT_EQ(got[3].kind, 'C');
    EXPECT_EQ(got[3].commit_lsn, got[0].commit_lsn);
    EXPECT_GT(got[3].end_lsn, got[3].commit_lsn);
    EXPECT_EQ(got[8].old_kind, 'O');
    EXPECT_EQ(got[8].before, (std::vector<std::string>{"1", "running", "p", trace}));
    EXPECT_EQ(got[8].after, (std::vector<std::string>{"1", "failed", "p", "UNCHANGED"}));
    EXPECT_EQ(got[11].kind, 'D');
    EXPECT_EQ(got[11].before, (std::vector<std::string>{"1", "failed", "p", trace}));
    EXPECT_EQ(got[12].end_lsn, world.truth().lsn);
}

TEST_F(SandboxReplication, RelationComesOncePerConnectionAndAfterATruncate) {
    const ports::CallId first = client.stream();
    world.insert_row(row("a"));
    world.insert_row(row("b"));
    world.truncate_table();
    world.insert_row(row("c"));
    EXPECT_EQ(next_outline(first), "B R I(1) C B I(2) C B T C B R I(3) C");
    EXPECT_EQ(world.truth().rows.size(), 1U);
    client.port->cancel(first);
    const ports::CallId second = client.stream();
    world.change_row_pk("3", "8");
    EXPECT_EQ(next_outline(second), "B R I(1) C B I(2) C B T C B R I(3) C B U(8) C")
        << "nothing was confirmed";
}

TEST_F(SandboxReplication, DefaultIdentitySendsOnlyTheKey_S16) {
    World keyed(7, clock, small_table('d'));
    DatabaseClient other(keyed);
    other.ensure_slot();
    const ports::CallId stream = other.stream();
    keyed.insert_row(row("a"));
    keyed.update_row("1", {{"status", "b"}});
    keyed.change_row_pk("1", "5");
    keyed.delete_row("5");
    std::vector<WalMessage> got;
    for (const std::string& bytes : other.answer(stream).wal) got.push_back(read_wal(bytes));
    EXPECT_EQ(got[5].old_kind, '-');
    EXPECT_EQ(got[8].old_kind, 'K');
    EXPECT_EQ(got[8].before, (std::vector<std::string>{"1", "NULL", "NULL", "NULL"}));
    EXPECT_EQ(got[11].before, (std::vector<std::string>{"5", "NULL", "NULL", "NULL"}));
}

TEST_F(SandboxReplication, StartsAtTheLaterOfAskedAndConfirmed) {
    const ports::CallId first = client.stream();
    world.insert_row(row("a"));
    const ports::Lsn after_one = world.truth().lsn;
    world.insert_row(row("b"));
    client.port->wal_status(first, after_one, after_one, false);
    client.port->cancel(first);
    const ports::CallId second = client.stream(1);
    EXPECT_EQ(next_outline(second), "B R I(2) C");
    client.port->cancel(second);
    const ports::CallId third = client.stream(world.truth().lsn);
    world.insert_row(row("c"));
    EXPECT_EQ(next_outline(third), "B R I(3) C");
}

TEST_F(SandboxReplication, ACrashRewindsTheConfirmedPosition) {
    const ports::CallId first = client.stream();
    world.insert_row(row("a"));
    client.port->wal_status(first, world.truth().lsn, world.truth().lsn, false);
    world.restart_database(true);
    EXPECT_TRUE(client.answer(first).failed);
    const ports::CallId second = client.stream();
    client.answer(first).wal.clear();
    EXPECT_EQ(next_outline(second), "B R I(1) C") << "a confirmed transaction comes again";
}

TEST_F(SandboxReplication, KeepalivesTellHowFarTheServerIs) {
    const ports::CallId stream = client.stream();
    world.insert_row(row("a"));
    messages(stream);
    world.write_wal_elsewhere(100);
    client.port->insert_lsn(90, {});
    const std::string lsn = *client.answer(90).rows.at(0).at(0);
    const std::vector<WalMessage> moved = messages(stream);
    ASSERT_EQ(moved.size(), 1U);
    EXPECT_EQ(moved[0].envelope, 'k');
    EXPECT_FALSE(moved[0].reply_now);
    EXPECT_EQ(lsn_text(moved[0].end), lsn);
    EXPECT_TRUE(messages(stream).empty());
    client.port->wal_status(stream, 0, 0, true);
    ASSERT_EQ(messages(stream).size(), 1U);
    clock.advance(Millis(30'000));
    const std::vector<WalMessage> ping = messages(stream);
    ASSERT_EQ(ping.size(), 1U);
    EXPECT_TRUE(ping[0].reply_now);
    clock.advance(Millis(30'000));
    EXPECT_TRUE(client.answer(stream).failed) << "wal_sender_timeout without a word from us";
}

TEST_F(SandboxReplication, WhatIsWrittenWhileTheTableIsNotPublishedIsInNoStream) {
    const auto published = [this](ports::CallId call) {
        client.port->insert_lsn(call, {});
        return *client.answer(call).rows.at(0).at(3);
    };
    const std::string before = published(90);
    const ports::CallId stream = client.stream();
    world.publish_table(false);
    world.insert_row(row("a"));
    world.publish_table(true);
    const std::vector<WalMessage> passed = messages(stream);
    ASSERT_EQ(passed.size(), 1U);
    EXPECT_EQ(passed[0].envelope, 'k') << "its position is passed in silence";
    EXPECT_NE(published(91), before) << "though all is again as it was";
    world.insert_row(row("b"));
    EXPECT_EQ(messages(stream)[0].envelope, 'w');
}

TEST_F(SandboxReplication, OneReaderPerSlot) {
    const ports::CallId first = client.stream();
    DatabaseClient other(world);
    EXPECT_EQ(other.answer(other.stream()).sqlstate, "55006");
    client.port->cancel(first);
    EXPECT_FALSE(other.answer(other.stream()).failed);
}

TEST_F(SandboxReplication, LostDroppedAndKilled_S14) {
    const ports::CallId killed = client.stream();
    world.kill_walsender();
    EXPECT_EQ(client.answer(killed).sqlstate, "57P01");
    world.fail_next(Op::kStartWal, Failure::of(Failure::Kind::kWalsenderKilled));
    const ports::CallId dying = client.stream();
    world.insert_row(row("a"));
    EXPECT_TRUE(client.answer(dying).failed);
    EXPECT_EQ(client.answer(dying).wal.size(), 1U);
    world.fail_next(Op::kStartWal, Failure::of(Failure::Kind::kSlotLost));
    EXPECT_EQ(client.answer(client.stream()).sqlstate, "55000");
    EXPECT_EQ(client.ensure_slot().rows.at(0).at(2), "lost");
    world.drop_slot();
    EXPECT_EQ(client.answer(client.stream()).sqlstate, "42704");
    EXPECT_EQ(client.ensure_slot().rows.at(0).at(2), "reserved");
}

TEST_F(SandboxReplication, CopyAndStreamLeaveNoGapAndNoDouble) {
    const ports::CallId stream = client.stream();
    for (int i = 0; i < 5; ++i) world.insert_row(row("before"));
    const ports::CallId copy = client.copy({"id", "status"}, "pod_name");
    for (int i = 0; i < 5; ++i) world.insert_row(row("after"));
    world.update_row("2", {{"status", "changed"}});
    const DatabaseAnswer& copied = client.answer(copy);
    EXPECT_TRUE(copied.ended);
    ASSERT_EQ(copied.rows.size(), 5U);
    EXPECT_EQ(copied.rows[1], (ports::SqlRow{"2", "before", "p"}));

    std::multiset<std::string> live;
    ports::Lsn commit = 0;
    for (const WalMessage& message : messages(stream)) {
        if (message.kind == 'B') commit = message.commit_lsn;
        const bool change = message.kind == 'I' || message.kind == 'U';
        if (change && commit >= copied.snapshot) {
            live.insert(std::string(1, message.kind) + message.after[0]);
        }
    }
    EXPECT_EQ(live, (std::multiset<std::string>{"I10", "I6", "I7", "I8", "I9", "U2"}));
}

TEST_F(SandboxReplication, ACutCopyNeverEnds_S5) {
    for (int i = 0; i < 6; ++i) world.insert_row(row("a"));
    world.fail_next(Op::kCopy, Failure::of(Failure::Kind::kCutBody));
    const DatabaseAnswer& cut = client.answer(client.copy({"id"}, "id"));
    EXPECT_EQ(cut.rows.size(), 3U);
    EXPECT_TRUE(cut.failed);
    EXPECT_FALSE(cut.ended);
}

}  // namespace
}  // namespace trueup::sandbox::testing
