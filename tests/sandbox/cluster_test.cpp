// Proves sandbox/world.h: lists, pages, selectors, preconditions and deletions of the cluster.
#include "engine/ports/selector.h"
#include "tests/sandbox/support.h"

#include <gtest/gtest.h>

namespace trueup::sandbox::testing {
namespace {

const Labels kWrapper{{"app", "ryugraph-wrapper"}};

class SandboxCluster : public ::testing::Test {
  protected:
    void make_pods(int n) {
        for (int i = 0; i < n; ++i) world.create_pod("p" + std::to_string(i), kWrapper, "Running");
    }
    ports::ListPage page(std::uint32_t limit, const std::string& token = {}) {
        ports::ListPage request;
        request.resource = ClusterClient::graph_pods();
        request.limit = limit;
        request.continue_token = token;
        return request;
    }
    Pod only_pod() { return world.truth().pods.at(0); }

    ManualClock clock;
    World world{7, clock};
    ClusterClient client{world};
};

TEST_F(SandboxCluster, ListsPodsLikeARealServer) {
    const std::string uid = world.create_pod("a\"b", {{"app", "x\\y"}}, "Running");
    const Answer answer = client.list(page(500));
    ASSERT_EQ(answer.status, 200);
    ASSERT_TRUE(answer.ended);
    const Json json(answer.body);
    EXPECT_EQ(json.text("/kind"), "PodList");
    EXPECT_EQ(json.text("/metadata/resourceVersion"), "1001");
    EXPECT_FALSE(json.has("/items/0/kind"));
    EXPECT_EQ(json.text("/items/0/metadata/name"), "a\"b");
    EXPECT_EQ(json.text("/items/0/metadata/labels/app"), "x\\y");
    EXPECT_EQ(json.text("/items/0/metadata/uid"), uid);
    EXPECT_EQ(json.text("/items/0/metadata/creationTimestamp"), "2026-03-04T10:00:05Z");
    EXPECT_EQ(json.text("/items/0/spec/nodeName"), "node-1");
    EXPECT_EQ(json.text("/items/0/status/phase"), "Running");
}

TEST_F(SandboxCluster, ASecondServerThatIsBehindAnswersFromThePast_S1) {
    ClusterClient second(world, true);
    make_pods(1);
    const ports::CallId watch = second.watch(1001);
    world.leave_second_behind(true);
    world.set_phase("p0", "Failed");
    world.create_pod("p1", kWrapper, "Running");
    const Json list(second.list(page(500)).body);
    EXPECT_EQ(list.text("/metadata/resourceVersion"), "1001");
    EXPECT_EQ(list.text("/items/0/status/phase"), "Running");
    EXPECT_FALSE(list.has("/items/1"));
    EXPECT_EQ(Json(client.list(page(500)).body).text("/metadata/resourceVersion"), "1003");
    EXPECT_TRUE(second.lines(watch).empty());
    EXPECT_EQ(second.get("p1").status, 404);
    EXPECT_EQ(second.erase("p0", list.text("/items/0/metadata/uid"), 1001).status, 409)
        << "what it writes goes to etcd all the same";
    world.leave_second_behind(false);
    EXPECT_EQ(second.lines(watch).size(), 2U);
    EXPECT_EQ(second.get("p1").status, 200);
}

TEST_F(SandboxCluster, PagesShowTheSnapshotOfTheFirstOne_S5) {
    make_pods(5);
    const Json first(client.list(page(2)).body);
    EXPECT_EQ(first.text("/metadata/resourceVersion"), "1005");
    EXPECT_EQ(first.number("/metadata/remainingItemCount"), 3);
    world.delete_pod("p2", 0);
    world.create_pod("p21", kWrapper, "Running");
    world.set_phase("p3", "Failed");
    const Json second(client.list(page(2, first.text("/metadata/continue"))).body);
    EXPECT_EQ(second.text("/metadata/resourceVersion"), "1005");
    EXPECT_EQ(second.text("/items/0/metadata/name"), "p2");
    EXPECT_EQ(second.text("/items/1/metadata/name"), "p3");
    EXPECT_EQ(second.text("/items/1/status/phase"), "Running");
    const Json third(client.list(page(2, second.text("/metadata/continue"))).body);
    EXPECT_EQ(third.text("/items/0/metadata/name"), "p4");
    EXPECT_EQ(third.count("/items"), 1U);
    EXPECT_FALSE(third.has("/metadata/continue"));
}

TEST_F(SandboxCluster, AnExpiredTokenGets410WithAnInconsistentOne_S5) {
    make_pods(4);
    const Json first(client.list(page(2)).body);
    world.delete_pod("p2", 0);
    world.compact();
    const Answer expired = client.list(page(2, first.text("/metadata/continue")));
    EXPECT_EQ(expired.status, 410);
    const Json status(expired.body);
    EXPECT_EQ(status.text("/reason"), "Expired");
    EXPECT_EQ(status.number("/code"), 410);
    const Json rest(client.list(page(2, status.text("/metadata/continue"))).body);
    EXPECT_EQ(rest.text("/metadata/resourceVersion"), "1005");
    EXPECT_EQ(rest.text("/items/0/metadata/name"), "p3");
}

TEST_F(SandboxCluster, OddListsAreRefusedLikeByARealServer) {
    make_pods(3);
    EXPECT_EQ(client.list(page(2, "rubbish")).status, 400);
    ports::ListPage odd = page(2);
    odd.label_selector = "app in (";
    EXPECT_EQ(client.list(odd).status, 400);
    ports::ListPage stale = page(2);
    stale.resource_version = "0";
    EXPECT_EQ(Json(client.list(stale).body).count("/items"), 3U) << "RV 0 ignores the limit";
    ports::ListPage nodes = page(2);
    nodes.resource.plural = "nodes";
    EXPECT_EQ(client.list(nodes).status, 404);
    ports::ListPage future = page(2);
    future.resource_version = "5000";
    client.port->list_page(99, future);
    EXPECT_EQ(client.answer(99).status, 0) << "it waits for that version first";
    clock.advance(Millis(3'000));
    EXPECT_EQ(client.answer(99).status, 504);
    EXPECT_EQ(Json(client.answer(99).body).text("/details/causes/0/reason"),
              "ResourceVersionTooLarge");
}

TEST(SandboxSelector, FollowsTheGrammar) {
    const Labels labels{{"app", "a"}, {"tier", "web"}};
    const auto matches = [&](const char* text) {
        const std::optional<ports::Selector> selector = ports::Selector::parse(text);
        return selector && selector->matches(labels);
    };
    for (const char* yes :
         {"", "app=a", "app==a", "app!=b", "other!=b", "app in (b, a)", "app notin (b,c)",
          "other notin (x)", "app", "!other", "app=a,tier in (web),!other"}) {
        EXPECT_TRUE(matches(yes)) << yes;
    }
    for (const char* no : {"app=b", "app!=a", "app in (b)", "app notin (a)", "other", "!app",
                           "app=a,tier=db", "other=a", "other in (a)"}) {
        EXPECT_TRUE(ports::Selector::parse(no).has_value()) << no;
        EXPECT_FALSE(matches(no)) << no;
    }
    for (const char* wrong : {"app in (a", "=a", "app within (a)", "a,,b", "!", "app=a b"}) {
        EXPECT_FALSE(ports::Selector::parse(wrong).has_value()) << wrong;
    }
}

TEST_F(SandboxCluster, DeletePreconditionsAnswer409And404_S1) {
    make_pods(1);
    const Pod pod = only_pod();
    const Answer uid = client.erase("p0", "someone-else", pod.resource_version);
    EXPECT_EQ(uid.status, 409);
    EXPECT_EQ(Json(uid.body).text("/reason"), "Conflict");
    EXPECT_NE(Json(uid.body).text("/message").find("UID in precondition"), std::string::npos);
    const Answer version = client.erase("p0", pod.uid, pod.resource_version - 1);
    EXPECT_EQ(version.status, 409);
    EXPECT_NE(Json(version.body).text("/message").find("ResourceVersion in precondition"),
              std::string::npos);
    const Answer gone = client.erase("nobody", pod.uid, pod.resource_version);
    EXPECT_EQ(gone.status, 404);
    EXPECT_EQ(Json(gone.body).text("/details/name"), "nobody");
    EXPECT_EQ(world.truth().pods.size(), 1U);

    const Answer accepted = client.erase("p0", pod.uid, pod.resource_version);
    EXPECT_EQ(accepted.status, 200);
    const Json marked(accepted.body);
    EXPECT_EQ(marked.text("/kind"), "Pod");
    EXPECT_EQ(marked.text("/metadata/deletionTimestamp"), "2026-03-04T10:00:35Z");
    const Pod terminating = only_pod();
    clock.advance(Millis(100));
    const Json again(client.erase("p0", pod.uid, terminating.resource_version).body);
    EXPECT_EQ(again.text("/metadata/deletionTimestamp"), "2026-03-04T10:00:35Z");

    const std::vector<Effect> effects = world.effects();
    ASSERT_EQ(effects.size(), 5U);
    EXPECT_EQ(effects[0].why, "409 uid");
    EXPECT_EQ(effects[1].why, "409 resourceVersion");
    EXPECT_EQ(effects[2].why, "404");
    EXPECT_TRUE(effects[3].accepted);
    EXPECT_EQ(effects[3].uid, pod.uid);
    EXPECT_EQ(effects[3].resource_version, std::to_string(pod.resource_version));
}

TEST_F(SandboxCluster, ADeleteWithoutPreconditionsDeletes) {
    make_pods(1);
    client.port->erase(99, {ClusterClient::graph_pods(), "p0", "", "", 30});
    EXPECT_TRUE(only_pod().deletion_ms.has_value());
}

TEST_F(SandboxCluster, PodsWithoutANodeOrFinishedGoAtOnce) {
    world.create_pod("pending", kWrapper, "Pending");
    world.create_pod("failed", kWrapper, "Failed");
    world.create_pod("done", kWrapper, "Succeeded");
    world.create_pod("running", kWrapper, "Running");
    for (const char* name : {"pending", "failed", "done", "running"}) world.delete_pod(name, 30);
    const Truth truth = world.truth();
    ASSERT_EQ(truth.pods.size(), 1U);
    EXPECT_EQ(truth.pods[0].name, "running");
    EXPECT_TRUE(truth.pods[0].deletion_ms.has_value());
}

TEST_F(SandboxCluster, AFinalizerHoldsATerminatingPod_S32) {
    make_pods(1);
    world.set_finalizers("p0", {"example.com/guard"});
    world.delete_pod("p0", 30);
    clock.advance(Millis(60'000));
    ASSERT_EQ(world.truth().pods.size(), 1U);
    EXPECT_EQ(only_pod().grace_seconds, 0);
    world.set_finalizers("p0", {});
    EXPECT_TRUE(world.truth().pods.empty());
}

TEST_F(SandboxCluster, APageMayLackSomeAndLookWhole_S5) {
    make_pods(9);
    world.fail_next(Op::kList, Failure::of(Failure::Kind::kShortPage));
    EXPECT_EQ(world.prepared(Op::kList), 1U);
    const Answer first = client.list(page(6));
    EXPECT_EQ(world.prepared(Op::kList), 0U);
    EXPECT_EQ(first.status, 200);
    EXPECT_EQ(Json(first.body).count("/items"), 4U);
    EXPECT_NE(first.body.find("continue"), std::string::npos);
    EXPECT_EQ(Json(client.list(page(500)).body).count("/items"), 9U);
}

TEST_F(SandboxCluster, AnAnswerMayLackTheLabels_S23) {
    make_pods(1);
    const std::string labels = R"("labels")";
    world.fail_next(Op::kList, Failure::of(Failure::Kind::kBare));
    world.fail_next(Op::kGet, Failure::of(Failure::Kind::kBare));
    for (const bool there : {false, true}) {
        const Answer list = client.list(page(6));
        EXPECT_EQ(Json(list.body).count("/items"), 1U);
        EXPECT_EQ(list.body.find(labels) != std::string::npos, there);
        const Answer one = client.get("p0");
        EXPECT_EQ(one.status, 200);
        EXPECT_EQ(one.body.find(labels) != std::string::npos, there);
    }
}

TEST_F(SandboxCluster, PreparedFailuresComeAsAskedFor_S3_S4) {
    make_pods(2);
    world.fail_next(Op::kList, Failure::http(429, 2'000));
    world.fail_next(Op::kList, Failure::of(Failure::Kind::kCutBody));
    world.fail_next(Op::kList, Failure::of(Failure::Kind::kNotJson));
    world.fail_next(Op::kList, Failure::of(Failure::Kind::kEmptyList));
    world.fail_next(Op::kList, Failure::of(Failure::Kind::kRefused));
    world.fail_next(Op::kList, Failure::http(401), 2);
    const Answer busy = client.list(page(500));
    EXPECT_EQ(busy.status, 429);
    EXPECT_EQ(busy.retry_after_ms, 2'000);
    EXPECT_EQ(Json(busy.body).number("/details/retryAfterSeconds"), 2);
    const Answer cut = client.list(page(500));
    EXPECT_TRUE(cut.failed && cut.status == 200 && !cut.body.empty());
    EXPECT_EQ(client.list(page(500)).body.substr(0, 6), "<html>");
    EXPECT_EQ(Json(client.list(page(500)).body).count("/items"), 0U);
    const Answer refused = client.list(page(500));
    EXPECT_TRUE(refused.failed && refused.status == 0);
    EXPECT_EQ(client.list(page(500)).status, 401);
    EXPECT_EQ(client.list(page(500)).status, 401);
    EXPECT_EQ(client.list(page(500)).status, 200);
}

TEST_F(SandboxCluster, ALostReplyIsALostReplyNotALostDelete_S38) {
    make_pods(1);
    world.fail_next(Op::kDelete, Failure::of(Failure::Kind::kLostReply));
    const Answer answer = client.erase("p0", only_pod().uid, only_pod().resource_version);
    EXPECT_TRUE(answer.failed);
    EXPECT_TRUE(only_pod().deletion_ms.has_value());
    EXPECT_TRUE(world.effects().at(0).accepted);
}

TEST_F(SandboxCluster, ARestartBreaksWhatIsUnderWay) {
    make_pods(1);
    world.fail_next(Op::kGet, Failure::of(Failure::Kind::kHang));
    client.port->get(50, {ClusterClient::graph_pods(), "p0"});
    const ports::CallId watch = client.watch(1'001);
    EXPECT_FALSE(client.answer(50).failed);
    world.restart_cluster();
    EXPECT_TRUE(client.answer(50).failed);
    EXPECT_TRUE(client.answer(watch).failed);
    EXPECT_EQ(client.list(page(500)).status, 200);
}

TEST_F(SandboxCluster, NothingFollowsACancel) {
    make_pods(1);
    client.port->list_page(7, page(500));
    const ports::CallId watch = client.watch(1'001);
    client.port->cancel(7);
    client.port->cancel(watch);
    client.port->cancel(1'234);
    world.set_phase("p0", "Failed");
    std::vector<ports::ClusterEvent> events;
    client.port->poll(Millis(0), events);
    EXPECT_TRUE(events.empty());
}

}  // namespace
}  // namespace trueup::sandbox::testing
