// Proves details 4 and design §4.1: the closed list of predicates, each over a fresh read.
#include "executors/read_set.h"

#include "tests/executors/execution_fixture.h"

#include <gtest/gtest.h>

namespace trueup::executors::testing {
namespace {

using Kind = Predicate::Kind;

/// What the other sides of a read set of one predicate come to; the target is row 7.
Standing others(const Sources& sources, std::vector<Predicate> predicates) {
    Command command = fail_row();
    command.draft.read_set = std::move(predicates);
    AsyncCalls calls(Millis(1'000));
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

Standing others(FakeCluster& cluster, FakeDatabase& database, std::vector<Predicate> predicates) {
    return others(sources_of(cluster, database), std::move(predicates));
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

TEST(ReadSet, FieldsOfAnObjectByPathAreReadWhereTheyStand) {
    World world;
    Sources sources = sources_of(world.cluster, world.database);
    const auto judge = [&](const char* path, std::optional<std::string> value) {
        sources.pods.at("pods").paths = {*policy::FieldPath::parse("phase", path)};
        return others(sources, {{Kind::kField, "pods", "uid-a", "phase", std::move(value)}});
    };
    expect_holds(judge("status.phase", "Running"));
    expect_holds(judge("metadata.name", "wrapper-a"));
    expect_refused(judge("metadata.name", "Running"),
                   "field(pods, uid-a, phase = Running): it is wrapper-a now");
    expect_holds(judge("spec.color", std::nullopt));
    expect_refused(judge("spec.color", "Running"),
                   "field(pods, uid-a, phase = Running): it is null now");
    expect_not_evaluated(judge("metadata", "Running"));
    expect_not_evaluated(judge("metadata", std::nullopt));
}

// ADR 60: an executor that was not restarted since the key changed asked who has the former one,
// saw nobody, and a pod was deleted whose row had come a moment before.
TEST(ReadSet, WhatIsKnownHereByAnotherMappingIsNotAskedFor) {
    World world;
    Sources sources = sources_of(world.cluster, world.database);
    const Predicate nobody{Kind::kNone, "rows", "", "key", "wrapper-z"};
    const auto judge = [&](const Predicate& predicate, const std::string& mapping) {
        return others(sources, {predicate, {Kind::kReadBy, "rows", "", "", mapping}});
    };
    sources.rows.at("rows").mapping = 0x0a;
    expect_holds(judge(nobody, "000000000000000a"));
    const Standing other = judge(nobody, "000000000000000b");
    EXPECT_EQ(other.kind, Standing::Kind::kFailed);
    EXPECT_TRUE(other.retryable) << "another executor may have it";
    EXPECT_EQ(other.reason,
              "read_by(rows, 000000000000000b): this executor has another configuration of the "
              "source than the engine; start anew whichever of the two has the older one");
    // By the former key another row has it: that refuses nothing for good.
    const Predicate taken{Kind::kNone, "rows", "", "key", "wrapper-b"};
    EXPECT_EQ(judge(taken, "000000000000000b").kind, Standing::Kind::kFailed);
    EXPECT_EQ(judge(taken, "000000000000000a").kind, Standing::Kind::kRefused);
    sources.rows.at("rows").mapping = 0;
    EXPECT_FALSE(judge(nobody, "000000000000000a").ok()) << "nobody says by which";
    expect_not_evaluated(world.judge({Kind::kReadBy, "ec2", "", "", "000000000000000a"}));
}

TEST(ReadSet, WhatCannotBeEvaluatedDoesNotHold_R1) {
    World world;
    expect_not_evaluated(world.judge({Kind::kField, "pods", "uid-a", "host_ip", "10.0.0.1"}));
    expect_not_evaluated(world.judge({Kind::kUnspecified, "pods", "uid-a", "", {}}));
    expect_not_evaluated(world.judge({Kind::kUnspecified, "rows", "public.instances/8", "", {}}));
    expect_not_evaluated(world.judge({Kind::kExists, "ec2", "i-1", "", {}}));
    expect_not_evaluated(world.judge({Kind::kNone, "pods", "", "phase", "Running"}));
    expect_not_evaluated(world.judge({Kind::kNone, "pods", "", "name", std::nullopt}));
    expect_not_evaluated(world.judge({Kind::kNone, "rows", "", "key", std::nullopt}));
    expect_not_evaluated(world.judge({Kind::kNone, "rows", "", "pod_name", std::nullopt}));
    expect_not_evaluated(world.judge({Kind::kNone, "rows", "", "pod_name", " wrapper-a/ "}));
    expect_not_evaluated(world.judge({Kind::kNoneBut, "pods", "uid-a", "phase", "Running"}));
    expect_not_evaluated(world.judge({Kind::kNoneBut, "pods", "uid-a", "name", std::nullopt}));
    expect_not_evaluated(world.judge({Kind::kNoneBut, "rows", "public.accounts/8", "key", "x"}));
    expect_not_evaluated(
        world.judge({Kind::kNoneBut, "rows", "public.instances/8", "key", std::nullopt}));
    expect_not_evaluated(world.judge({Kind::kExists, "rows", "public.accounts/8", "", {}}));
    expect_not_evaluated(world.judge({Kind::kField, "rows", "public.instances/8", "", "x"}));
}

TEST(ReadSet, WhoHasALabelIsListed) {
    World world;
    world.cluster.pods["wrapper-a"] = {.label = "worker", .says = "w-1"};
    world.cluster.pods["wrapper-b"] = {.uid = "uid-b", .label = "worker", .says = "w-1"};
    expect_holds(world.judge({Kind::kNone, "pods", "", "label.worker", "w-2"}));
    expect_refused(world.judge({Kind::kNone, "pods", "", "label.worker", "w-1"}),
                   "none(pods, label.worker = w-1): uid uid-a has it now");
    // Whoever is known may have it, and nobody who came since.
    expect_refused(world.judge({Kind::kOnly, "pods", "uid-a", "label.worker", "w-1"}),
                   "only(pods, label.worker = w-1, uid-a): uid uid-b has it now");
    expect_holds(world.judge({Kind::kOnly, "pods", "uid-a", "label.worker", "w-1", {"uid-b"}}));
    EXPECT_EQ(world.cluster.calls.back(), "LIST worker=w-1");
    expect_not_evaluated(world.judge({Kind::kNoneBut, "pods", "uid-a", "label.worker", "w-1"}));
}

TEST(ReadSet, AListThatIsNotWholeOrOfOthersIsNoAbsence_R2) {
    const auto upset = [](Upset answer) {
        World world;
        world.cluster.upset_lists.push_back(std::move(answer));
        return world.judge({Kind::kNone, "pods", "", "label.worker", "w-1"});
    };
    const auto list = [](const std::string& more) {
        return R"({"kind":"PodList","metadata":{"resourceVersion":"9")" + more;
    };
    const Upset fine{.status = 200, .body = list("},\"items\":[]}")};
    expect_holds(upset(fine));
    for (const std::string& body : {
             std::string("{}"),
             std::string("<html>"),
             std::string(R"({"kind":"Status","items":[],"metadata":{"resourceVersion":"9"}})"),
             list("}}"),
             list(",\"continue\":\"x\"},\"items\":[]}"),
             // Labels that are not shown say nothing, here or elsewhere (S23).
             list("},\"items\":[{\"metadata\":{\"uid\":\"u\"}}]}"),
         }) {
        const Standing standing = upset({.status = 200, .body = body});
        EXPECT_EQ(standing.kind, Standing::Kind::kFailed) << body;
    }
    for (const int status : {0, 403, 404, 410, 500}) {
        EXPECT_EQ(upset({.status = status}).kind, Standing::Kind::kFailed) << status;
    }
}

TEST(ReadSet, WhatNoLabelCanSayIsNotAskedFor_R1) {
    World world;
    for (const std::string value : {"", "a b", "-a", "a,b", "a!=b", "ü"}) {
        expect_not_evaluated(world.judge({Kind::kNone, "pods", "", "label.worker", value}));
    }
    expect_not_evaluated(world.judge({Kind::kNone, "pods", "", "label.worker", std::nullopt}));
    expect_not_evaluated(
        world.judge({Kind::kNone, "pods", "", "label.worker", std::string(64, 'a')}));
    EXPECT_TRUE(world.cluster.calls.empty());
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
    EXPECT_EQ(world.database.last_key_expression,
              R"(btrim(regexp_replace("pod_name"::text, '^.*/', ''), E' \t\n\r\f\x0B'))");
    expect_holds(world.judge({Kind::kNone, "rows", "", "Pod\"Name", "wrapper-z"}));
    EXPECT_EQ(world.database.last_key_expression,
              R"(btrim(regexp_replace("Pod""Name"::text, '^.*/', ''), E' \t\n\r\f\x0B'))");
    expect_refused(world.judge({Kind::kNone, "rows", "", "key", "wrapper-b"}),
                   "none(rows, key = wrapper-b): row 8 has it now");
    EXPECT_EQ(world.database.last_key_expression, "coalesce(pod_name, 'wrapper-' || url_slug)");
}

// Symptom: a live row that named its pod with a blank or a namespace did not protect it, since the
// one live look went by the key that such a row does not have.
TEST(ReadSet, ARowThatMayMeanTheNameHasIt_G1) {
    for (const char* said : {"wrapper-a", " wrapper-a", "wrapper-a\n", "graph/wrapper-a",
                             " graph/wrapper-a ", "graph/ wrapper-a"}) {
        World world;
        world.database.rows["9"].columns = {{"status", "running"}, {"pod_name", said}};
        expect_refused(world.judge({Kind::kNone, "rows", "", "pod_name", "wrapper-a"}),
                       "none(rows, pod_name = wrapper-a): row 9 has it now");
        // What is asked for may be dressed up as well.
        EXPECT_FALSE(world.judge({Kind::kNone, "rows", "", "pod_name", " graph/wrapper-a"}).ok());
    }
    for (const char* said : {"wrapper-ab", "wrapper-a/", "wrapper a", ""}) {
        World world;
        world.database.rows["9"].columns = {{"status", "running"}, {"pod_name", said}};
        expect_holds(world.judge({Kind::kNone, "rows", "", "pod_name", "wrapper-a"}));
    }
}

TEST(ReadSet, NoneButLetsTheOneObjectHaveTheName) {
    World world;
    world.cluster.pods["wrapper-a"].deleting = true;
    for (const char* field : {"name", "key"}) {
        expect_holds(world.judge({Kind::kNoneBut, "pods", "uid-a", field, "wrapper-a"}));
        expect_holds(world.judge({Kind::kNoneBut, "pods", "uid-a", field, "wrapper-z"}));
        EXPECT_EQ(world.judge({Kind::kNoneBut, "pods", "uid-b", field, "wrapper-a"}).kind,
                  Standing::Kind::kRefused);
    }
    expect_refused(
        world.judge({Kind::kNoneBut, "pods", "uid-b", "name", "wrapper-a"}),
        "none_but(pods, name = wrapper-a, uid-b): another object has taken the name: uid uid-a");
    world.database.rows["9"].columns = {{"pod_name", "wrapper-c"}};
    for (const char* field : {"key", "pod_name"}) {
        expect_holds(
            world.judge({Kind::kNoneBut, "rows", "public.instances/9", field, "wrapper-c"}));
        expect_holds(
            world.judge({Kind::kNoneBut, "rows", "public.instances/9", field, "wrapper-z"}));
        EXPECT_EQ(
            world.judge({Kind::kNoneBut, "rows", "public.instances/9", field, "wrapper-b"}).kind,
            Standing::Kind::kRefused);
    }
    world.database.rows["10"].columns = {{"pod_name", "wrapper-c"}};
    expect_refused(world.judge({Kind::kNoneBut, "rows", "public.instances/9", "key", "wrapper-c"}),
                   "none_but(rows, key = wrapper-c, public.instances/9): row 10 has it now");
}

// Symptom: a row was written for a pod that had left the selector since it was decided.
TEST(ReadSet, APodThatItsSelectorDoesNotMatchAnyMoreIsNone) {
    World world;
    const auto judge = [&](const char* selector) {
        Sources sources = sources_of(world.cluster, world.database);
        sources.pods.at("pods").selector = *ports::Selector::parse(selector);
        return others(sources, {{Kind::kField, "pods", "uid-a", "in_scope", "true"}});
    };
    expect_holds(judge(""));
    expect_holds(judge("!test"));
    expect_refused(judge("app=true"), "field(pods, uid-a, in_scope = true): it is false now");
    world.cluster.pods["wrapper-a"].label = "app";
    expect_holds(judge("app=true"));
    expect_refused(judge("app=other"), "field(pods, uid-a, in_scope = true): it is false now");
}

// Symptom: of an instance with an old row beside its own nothing was ever taken away: the command
// rested on that no other row has the key, and one was known to have it.
TEST(ReadSet, NoneButLetsThoseHaveTheNameThatWereBesideIt) {
    World world;
    for (const char* pk : {"9", "10", "11"}) {
        world.database.rows[pk].columns = {{"pod_name", "wrapper-c"}};
    }
    Predicate alone{Kind::kNoneBut, "rows", "public.instances/9", "key", "wrapper-c"};
    alone.besides = {"public.instances/10", "public.instances/11"};
    expect_holds(world.judge(alone));
    alone.besides = {"public.instances/10"};
    expect_refused(world.judge(alone),
                   "none_but(rows, key = wrapper-c, public.instances/9, public.instances/10): row "
                   "11 has it now");
}

// Symptom: the deletion of a pod had failed, and the pod had left the selector by then: its source
// showed it as gone, and its row was closed while it lived.
TEST(ReadSet, NoneButLetsNoPodLiveThatIsNotBeingDeleted) {
    World world;
    expect_refused(world.judge({Kind::kNoneBut, "pods", "uid-a", "name", "wrapper-a"}),
                   "none_but(pods, name = wrapper-a, uid-a): it is not being deleted");
}

TEST(ReadSet, NoneButOfTheTargetItselfIsReadByTheName) {
    World world;
    world.database.rows["7"].columns = {{"pod_name", "wrapper-a"}};
    expect_holds(world.judge({Kind::kNoneBut, "rows", "public.instances/7", "key", "wrapper-a"}));
    EXPECT_EQ(world.database.calls, std::vector<std::string>{"SELECT key=wrapper-a"});
    world.database.rows["8"].columns["pod_name"] = "wrapper-a";
    EXPECT_FALSE(
        world.judge({Kind::kNoneBut, "rows", "public.instances/7", "key", "wrapper-a"}).ok());
}

TEST(ReadSet, AnAbsenceThatWasNotSaidIsNone_S3) {
    for (const Kind kind : {Kind::kNone, Kind::kNoneBut}) {
        World world;
        world.cluster.upset_gets.push_back({404, "404 page not found"});
        const Standing standing = world.judge({kind, "pods", "uid-b", "name", "wrapper-z"});
        EXPECT_EQ(standing.kind, Standing::Kind::kFailed);
        EXPECT_TRUE(standing.retryable);
    }
}

// Symptom: a row that named its running pod with a blank was marked failed: no pod is called ` a`.
TEST(ReadSet, NoPodIsLookedUpByANameThatNoneCanHave_S3) {
    World world;
    for (const char* name : {" ", " wrapper-a", "wrapper-a\n", "graph/wrapper-a", "wrapper-a/"}) {
        expect_not_evaluated(world.judge({Kind::kNone, "pods", "", "name", name}));
        expect_not_evaluated(world.judge({Kind::kNoneBut, "pods", "uid-a", "name", name}));
    }
    EXPECT_TRUE(world.cluster.calls.empty());
}

// Symptom: with a key_label the name that was asked for is the label's value: a pod of that name
// can never exist, so that the look always held, and the row of a running pod was marked failed.
TEST(ReadSet, APodThatIsKnownByALabelIsNotLookedUpByItsName_S23) {
    World world;
    Sources sources = sources_of(world.cluster, world.database);
    sources.pods.at("pods").key_label = "instance-id";
    for (const Kind kind : {Kind::kNone, Kind::kNoneBut}) {
        for (const char* field : {"name", "key"}) {
            expect_not_evaluated(others(sources, {{kind, "pods", "uid-a", field, "7f3a"}}));
        }
    }
    EXPECT_TRUE(world.cluster.calls.empty());
    // A known object is named by its uid.
    expect_holds(others(sources, {{Kind::kExists, "pods", "uid-a", "name", "wrapper-a"}}));
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
    world.cluster.pods["wrapper-a"].says = "false";
    world.database.rows["8"].columns["hold"] = "0";
    expect_holds(world.judge({Kind::kNoVeto, "pods", "uid-a", "", {}}));
    expect_holds(world.judge({Kind::kNoVeto, "rows", "public.instances/8", "", {}}));
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
    EXPECT_TRUE(says_not_found(FakeCluster::not_found("a"), "a", "pods"));
    EXPECT_FALSE(says_not_found(FakeCluster::not_found("a"), "b", "pods"));
    EXPECT_FALSE(says_not_found(FakeCluster::status(404, "NotFound"), "a", "pods"));
    EXPECT_FALSE(says_not_found("not found", "a", "pods"));
    EXPECT_FALSE(says_not_found("404 page not found", "page", "pods"));
}

// A namespace that was missing, and was called as the pod, was taken for the pod's absence.
TEST(Pod, TheServersNotFoundNamesTheResource_S3) {
    EXPECT_FALSE(says_not_found(FakeCluster::not_found("a"), "a", "namespaces"));
    EXPECT_FALSE(says_not_found(R"({"kind":"Status","reason":"NotFound","details":{"name":"a"}})",
                                "a", "pods"));
}

TEST(Pod, MessagesAreOneShortLine) {
    EXPECT_EQ(message_of("two\nlines"), "two lines");
    EXPECT_LT(message_of(std::string(10'000, 'x')).size(), 400U);
}

}  // namespace
}  // namespace trueup::executors::testing
