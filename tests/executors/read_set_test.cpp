// Proves details 4 and design §4.1: the closed list of predicates, each over a fresh read.
#include "executors/read_set.h"

#include "tests/executors/bench.h"

#include <gtest/gtest.h>

namespace trueup::executors::testing {
namespace {

using Kind = Predicate::Kind;

/// What the other sides of a read set of one predicate come to; the target is row 7.
Standing others(FakeCluster& cluster, FakeDatabase& database, std::vector<Predicate> predicates) {
    Command command = fail_row();
    command.draft.read_set = std::move(predicates);
    const Sources sources = sources_of(cluster, database);
    Calls calls(Millis(1'000));
    ReadSet read_set(command, sources, calls, 1);
    read_set.start(SteadyTime{});
    while (!read_set.complete()) {
        calls.poll(Millis(0));
        for (Answer& answer : calls.take(SteadyTime{})) {
            EXPECT_TRUE(read_set.answered(answer));
        }
    }
    return read_set.others();
}

struct World {
    FakeCluster cluster;
    FakeDatabase database;
    World() {
        cluster.pods["wrapper-a"] = {};
        database.rows["8"].columns = {{"status", "running"}, {"pod_name", "wrapper-b"}};
    }
    Standing judge(Predicate predicate) {
        return others(cluster, database, {std::move(predicate)});
    }
};

void expect_holds(const Standing& standing) { EXPECT_TRUE(standing.ok()) << standing.reason; }
void expect_refused(const Standing& standing, const std::string& why) {
    EXPECT_EQ(standing.kind, Standing::Kind::kRefused);
    EXPECT_EQ(standing.reason, why);
}
void expect_not_evaluated(const Standing& standing) {
    EXPECT_EQ(standing.kind, Standing::Kind::kFailed) << standing.reason;
    EXPECT_FALSE(standing.retryable);
    EXPECT_NE(standing.reason.find("cannot be evaluated"), std::string::npos) << standing.reason;
}

TEST(ReadSet, FieldsOfAPodByTheirWellKnownNames) {
    World world;
    world.cluster.pods["wrapper-a"].label = "app";
    expect_holds(world.judge({Kind::kField, "pods", "uid-a", "phase", "Running"}));
    expect_holds(world.judge({Kind::kField, "pods", "uid-a", "namespace", "graph"}));
    expect_holds(world.judge({Kind::kField, "pods", "uid-a", "label.app", "true"}));
    expect_holds(world.judge({Kind::kField, "pods", "uid-a", "label.tier", std::nullopt}));
    expect_holds(world.judge({Kind::kField, "pods", "uid-a", "node", std::nullopt}));
    expect_holds(world.judge({Kind::kField, "pods", "uid-a", "deleting", std::nullopt}));
    expect_refused(world.judge({Kind::kField, "pods", "uid-a", "deleting", "true"}),
                   "field(pods, uid-a, deleting = true): it is null now");
}

TEST(ReadSet, WhatCannotBeEvaluatedDoesNotHold_R1) {
    World world;
    expect_not_evaluated(world.judge({Kind::kField, "pods", "uid-a", "in_scope", "true"}));
    expect_not_evaluated(world.judge({Kind::kUnspecified, "pods", "uid-a", "", {}}));
    expect_not_evaluated(world.judge({Kind::kUnspecified, "rows", "public.instances/8", "", {}}));
    expect_not_evaluated(world.judge({Kind::kExists, "ec2", "i-1", "", {}}));
    expect_not_evaluated(world.judge({Kind::kNone, "pods", "", "phase", "Running"}));
    expect_not_evaluated(world.judge({Kind::kNone, "pods", "", "name", std::nullopt}));
    expect_not_evaluated(world.judge({Kind::kNone, "rows", "", "key", std::nullopt}));
    expect_not_evaluated(world.judge({Kind::kExists, "rows", "public.accounts/8", "", {}}));
    expect_not_evaluated(world.judge({Kind::kField, "rows", "public.instances/8", "", "x"}));
}

TEST(ReadSet, AnotherRowIsReadByItsKey) {
    World world;
    expect_holds(world.judge({Kind::kExists, "rows", "public.instances/8", "", {}}));
    expect_holds(world.judge({Kind::kField, "rows", "public.instances/8", "status", "running"}));
    expect_refused(world.judge({Kind::kField, "rows", "public.instances/8", "status", "failed"}),
                   "field(rows, public.instances/8, status = failed): it is running now");
    expect_refused(world.judge({Kind::kExists, "rows", "public.instances/9", "", {}}),
                   "exists(rows, public.instances/9): the object is gone");
    EXPECT_EQ(world.database.calls.front(), "SELECT pk=8");
}

TEST(ReadSet, NoneByAPlainColumnOrByTheWholeExpression) {
    World world;
    expect_holds(world.judge({Kind::kNone, "rows", "", "pod_name", "wrapper-z"}));
    EXPECT_EQ(world.database.last_key_expression, "pod_name");
    expect_holds(world.judge({Kind::kNone, "rows", "", "Pod\"Name", "wrapper-z"}));
    EXPECT_EQ(world.database.last_key_expression, "\"Pod\"\"Name\"");
    expect_refused(world.judge({Kind::kNone, "rows", "", "key", "wrapper-b"}),
                   "none(rows, key = wrapper-b): row 8 has it now");
    EXPECT_EQ(world.database.last_key_expression, "coalesce(pod_name, 'wrapper-' || url_slug)");
}

TEST(ReadSet, AVetoOnAnotherSideCounts_S24) {
    World world;
    expect_holds(world.judge({Kind::kNoVeto, "pods", "uid-a", "", {}}));
    expect_holds(world.judge({Kind::kNoVeto, "rows", "public.instances/8", "", {}}));
    expect_holds(world.judge({Kind::kNoVeto, "rows", "public.instances/9", "", {}}));  // gone
    world.cluster.pods["wrapper-a"].annotation = "trueup.io/hold";
    world.database.rows["8"].columns["hold"] = "t";
    EXPECT_FALSE(world.judge({Kind::kNoVeto, "pods", "uid-a", "", {}}).ok());
    EXPECT_FALSE(world.judge({Kind::kNoVeto, "rows", "public.instances/8", "", {}}).ok());
}

TEST(ReadSet, OneReadPerObjectAndTheRefusalBeatsTheFailure) {
    World world;
    world.database.upset_reads.push_back({});
    const Standing standing =
        others(world.cluster, world.database,
               {{Kind::kField, "rows", "public.instances/8", "status", "running"},
                {Kind::kField, "rows", "public.instances/8", "pod_name", "wrapper-b"},
                {Kind::kExists, "pods", "uid-a", "name", "wrapper-a"},
                {Kind::kField, "pods", "uid-a", "phase", "Failed"}});
    expect_refused(standing, "field(pods, uid-a, phase = Failed): it is Running now");
    EXPECT_EQ(world.database.calls, std::vector<std::string>{"SELECT pk=8"});
    EXPECT_EQ(world.cluster.calls, std::vector<std::string>{"GET wrapper-a"});
}

TEST(ReadSet, ThePodsNameComesFromTheReadSetThenTheTargetThenTheSubject) {
    World world;
    world.cluster.pods["pod-z"].uid = "uid-z";
    expect_holds(
        others(world.cluster, world.database, {{Kind::kExists, "pods", "uid-z", "name", "pod-z"}}));
    expect_holds(world.judge({Kind::kExists, "pods", "uid-a", "", {}}));
    EXPECT_EQ(world.cluster.calls.back(), "GET wrapper-a");
}

TEST(Pod, OnlyAWholePodIsAPod_S3) {
    EXPECT_FALSE(decode_pod("").ok());
    EXPECT_FALSE(decode_pod("<html>").ok());
    EXPECT_FALSE(decode_pod("{}").ok());
    EXPECT_FALSE(decode_pod(FakeCluster::status(200, "Success")).ok());
    EXPECT_FALSE(decode_pod(R"({"kind":"Pod","metadata":{"name":"a","uid":"u"}})").ok());
    EXPECT_FALSE(
        decode_pod(R"({"kind":"Pod","metadata":{"name":"a","uid":7,"resourceVersion":"1"}})").ok());
    const auto pod = decode_pod(FakeCluster::json("a", FakePod{}));
    ASSERT_TRUE(pod.ok());
    EXPECT_EQ(pod.value().uid, "uid-a");
}

TEST(Pod, TheServersNotFoundNamesTheObject_S3) {
    EXPECT_TRUE(says_not_found(FakeCluster::not_found("a"), "a"));
    EXPECT_FALSE(says_not_found(FakeCluster::not_found("a"), "b"));
    EXPECT_FALSE(says_not_found(FakeCluster::status(404, "NotFound"), "a"));
    EXPECT_FALSE(says_not_found("not found", "a"));
}

TEST(Pod, MessagesAreOneShortLine) {
    EXPECT_EQ(message_of("two\nlines"), "two lines");
    EXPECT_LT(message_of(std::string(10'000, 'x')).size(), 400U);
}

}  // namespace
}  // namespace trueup::executors::testing
