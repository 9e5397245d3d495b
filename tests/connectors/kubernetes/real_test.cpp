// Proves the connector against a real API server: what the scripted one of the unit tests assumes
// is what Kubernetes does. Needs KUBECONFIG (an admin's) and TRUEUP_TEST_NAMESPACE; tools/check
// sets them, `tools/services/kube up` starts a server.
#include "connectors/kubernetes/access_check.h"
#include "connectors/kubernetes/connector.h"
#include "connectors/kubernetes/kubeconfig.h"
#include "connectors/kubernetes/paths.h"
#include "connectors/kubernetes/transport.h"
#include "engine/base/json_string.h"
#include "engine/model/object.h"
#include "engine/ports/clock.h"
#include "tests/support/temp_dir.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

namespace trueup::testing {
namespace {

using connectors::ClusterAccess;
using connectors::HttpCluster;
using connectors::HttpRequest;
using connectors::KubernetesConnector;
using connectors::KubernetesSettings;

struct Reply {
    int status = 0;
    std::string body;
};

/// A real server, its namespace, and one connector with its own cluster port.
class RealKubernetes : public ::testing::Test {
  protected:
    void SetUp() override {
        const char* config = std::getenv("KUBECONFIG");
        const char* space = std::getenv("TRUEUP_TEST_NAMESPACE");
        ASSERT_TRUE(config != nullptr && space != nullptr)
            << "set KUBECONFIG and TRUEUP_TEST_NAMESPACE; `tools/services/kube up` starts an API "
               "server and names the kubeconfig in KUBE_ADMIN_CONFIG";
        Result<ClusterAccess> access = connectors::read_kubeconfig(config);
        ASSERT_TRUE(access.ok()) << access.error().what;
        access_ = *access;
        admin_ = connect();
        space_ = space;
        run_ = "r" + std::to_string(::getpid()) + "-" +
               std::to_string(ports::system_clock().wall_millis() % 1'000'000);
        call("POST", "/api/v1/namespaces",
             R"({"kind":"Namespace","apiVersion":"v1","metadata":{"name":")" + space_ + R"("}})");
        settings_.resource.name_space = space_;
        settings_.label_selector = "run=" + run_;
        settings_.subject_prefix = "g/";
        settings_.page_limit = 2;
    }
    void TearDown() override {
        for (const std::string& name : created_) remove(name);
    }

    std::unique_ptr<HttpCluster> connect() {
        Result<std::unique_ptr<HttpCluster>> cluster = HttpCluster::open(access_);
        EXPECT_TRUE(cluster.ok());
        return std::move(*cluster);
    }

    Reply call(const std::string& method, const std::string& path, const std::string& body,
               const std::string& type = "application/json") {
        admin_->send(1, HttpRequest{method, path, type, body});
        Reply reply;
        for (int i = 0; i < 300; ++i) {
            std::vector<ports::ClusterEvent> events;
            admin_->poll(Millis(100), events);
            for (const auto& event : events) {
                if (event.kind == ports::ClusterEvent::Kind::kHead) reply.status = event.status;
                reply.body += event.data;
                if (event.kind == ports::ClusterEvent::Kind::kEnd) return reply;
                if (event.kind == ports::ClusterEvent::Kind::kFailed) return Reply{};
            }
        }
        return Reply{};
    }
    std::string pods() const { return "/api/v1/namespaces/" + space_ + "/pods"; }
    std::string name(const std::string& short_name) const { return run_ + "-" + short_name; }

    void create(const std::string& short_name, const std::string& more = "") {
        const Reply reply =
            call("POST", pods(),
                 R"({"kind":"Pod","apiVersion":"v1","metadata":{"name":")" + name(short_name) +
                     R"(","labels":{"run":")" + run_ + R"("})" + more +
                     R"(},"spec":{"containers":[{"name":"c","image":"i"}]}})");
        EXPECT_EQ(reply.status, 201) << reply.body;
        created_.insert(short_name);
    }
    void patch(const std::string& short_name, const std::string& body,
               const std::string& part = "") {
        const Reply reply = call("PATCH", pods() + "/" + name(short_name) + part, body,
                                 "application/merge-patch+json");
        EXPECT_EQ(reply.status, 200) << reply.body;
    }
    void remove(const std::string& short_name) {
        call("DELETE", pods() + "/" + name(short_name), R"({"gracePeriodSeconds":0})");
    }

    void begin() {
        port_ = connect();
        connector_ = std::make_unique<KubernetesConnector>(*port_, settings_);
        connector_->pace_progress(Millis(2000));
        connector_->restart(clock_.steady_now());
    }
    /// Steps until `done` says so of a fact; every marker is appended at once. False after 30 s.
    bool until(const std::function<bool(const Fact&)>& done) {
        const SteadyTime deadline = clock_.steady_now() + Millis(30'000);
        while (clock_.steady_now() < deadline) {
            std::vector<Fact> facts;
            connector_->step(clock_.steady_now(), Millis(200), facts);
            bool found = false;
            for (const Fact& fact : facts) {
                seen_.push_back(fact);
                found = found || done(fact);
                if (fact.kind != Fact::Kind::kMarker) continue;
                marked_ = from_millis<BrokerTime>(to_millis(marked_) + 1);
                connector_->marker_appended(marked_, clock_.steady_now());
            }
            if (found) return true;
        }
        ADD_FAILURE() << "not within 30 s; health: " << connector_->health().trouble;
        return false;
    }
    bool until_fact(Fact::Kind kind) {
        return until([kind](const Fact& fact) { return fact.kind == kind; });
    }
    bool until_object(Fact::Kind kind, const std::string& short_name, const std::string& field = "",
                      const std::string& value = "") {
        const std::string key = "g/" + name(short_name);
        return until([&](const Fact& fact) {
            return fact.kind == kind && fact.subject_key == key &&
                   (field.empty() || ObjectView(fact.object).is(field, value));
        });
    }

    ClusterAccess access_;
    KubernetesSettings settings_;
    std::string space_;
    std::string run_;
    std::set<std::string> created_;
    std::unique_ptr<HttpCluster> admin_;
    std::unique_ptr<HttpCluster> port_;
    std::unique_ptr<KubernetesConnector> connector_;
    ports::Clock& clock_ = ports::system_clock();
    BrokerTime marked_{};
    std::vector<Fact> seen_;
};

TEST_F(RealKubernetes, AnEpochOfSeveralPagesThenTheLiveStream) {
    create("a");
    create("b");
    create("c");
    begin();
    ASSERT_TRUE(until_fact(Fact::Kind::kSnapshotEnd));
    std::set<std::string> keys;
    for (const Fact& fact : seen_) {
        if (fact.kind == Fact::Kind::kUpsert && fact.in_epoch) keys.insert(fact.subject_key);
    }
    EXPECT_EQ(keys, (std::set<std::string>{"g/" + name("a"), "g/" + name("b"), "g/" + name("c")}));
    create("d");
    ASSERT_TRUE(until_object(Fact::Kind::kUpsert, "d", "phase", "Pending"));
    patch("d", R"({"status":{"phase":"Failed"}})", "/status");
    ASSERT_TRUE(until_object(Fact::Kind::kUpsert, "d", "phase", "Failed"));
    remove("d");
    ASSERT_TRUE(until_object(Fact::Kind::kRemove, "d"));
}

TEST_F(RealKubernetes, ALostLabelIsNoAbsenceAndTheEndIsNoticedAllTheSame) {
    create("a");
    begin();
    ASSERT_TRUE(until_fact(Fact::Kind::kSnapshotEnd));
    patch("a", R"({"metadata":{"labels":{"run":"other"}}})");
    ASSERT_TRUE(until_object(Fact::Kind::kUpsert, "a", "in_scope", "false"));
    patch("a", R"({"metadata":{"labels":{"run":")" + run_ + R"("}}})");
    ASSERT_TRUE(until([&](const Fact& fact) {
        return fact.kind == Fact::Kind::kUpsert && !ObjectView(fact.object).find("in_scope");
    }));
    patch("a", R"({"metadata":{"labels":{"run":"other"}}})");
    ASSERT_TRUE(until_object(Fact::Kind::kUpsert, "a", "in_scope", "false"));
    remove("a");
    connector_->relist();
    ASSERT_TRUE(until_object(Fact::Kind::kRemove, "a"));
}

TEST_F(RealKubernetes, AFinalizerKeepsAPodThatIsBeingDeleted) {
    create("a", R"(,"finalizers":["trueup.io/test"])");
    begin();
    ASSERT_TRUE(until_fact(Fact::Kind::kSnapshotEnd));
    remove("a");
    ASSERT_TRUE(until_object(Fact::Kind::kUpsert, "a", "deleting", "true"));
    patch("a", R"({"metadata":{"finalizers":null}})");
    ASSERT_TRUE(until_object(Fact::Kind::kRemove, "a"));
}

TEST_F(RealKubernetes, ProgressIsProvenOnAnIdleStreamWhileOthersWrite) {
    create("a");
    begin();
    ASSERT_TRUE(until_fact(Fact::Kind::kProgress));
    // Writes outside the selector move the server's version on, and ours not.
    for (int round = 0; round < 3; ++round) {
        const Reply reply =
            call("POST", "/api/v1/namespaces/" + space_ + "/configmaps",
                 R"({"kind":"ConfigMap","apiVersion":"v1","metadata":{"generateName":"x-"}})");
        EXPECT_EQ(reply.status, 201);
        const BrokerTime before = marked_;
        ASSERT_TRUE(until([before](const Fact& fact) {
            return fact.kind == Fact::Kind::kProgress && fact.complete_as_of > before;
        }));
    }
    EXPECT_EQ(connector_->health().epochs, 1U) << "no proof needed an epoch";
}

TEST_F(RealKubernetes, AnAuditRunsBesideTheWatch) {
    create("a");
    begin();
    ASSERT_TRUE(until_fact(Fact::Kind::kSnapshotEnd));
    connector_->relist();
    ASSERT_TRUE(until_fact(Fact::Kind::kSnapshotEnd));
    create("b");
    ASSERT_TRUE(until_object(Fact::Kind::kUpsert, "b"));
}

TEST_F(RealKubernetes, DeletePreconditionsAreTheServersOwn) {
    create("a");
    begin();
    ASSERT_TRUE(until_fact(Fact::Kind::kSnapshotEnd));
    const Fact& seen = seen_[1];
    const auto erase = [&](const std::string& uid, const std::string& version) {
        admin_->erase(9, ports::DeleteObject{settings_.resource, name("a"), uid, version, 0});
        int answered = 0;
        for (int i = 0; i < 100; ++i) {
            std::vector<ports::ClusterEvent> events;
            admin_->poll(Millis(100), events);
            for (const auto& event : events) {
                if (event.kind == ports::ClusterEvent::Kind::kHead) answered = event.status;
                if (event.kind == ports::ClusterEvent::Kind::kEnd) return answered;
            }
        }
        return -1;
    };
    const std::string version = std::to_string(seen.version.hi);
    EXPECT_EQ(erase("another-uid", version), 409);
    EXPECT_EQ(erase(seen.object_id, "1"), 409);
    EXPECT_EQ(erase(seen.object_id, version), 200);
    ASSERT_TRUE(until_object(Fact::Kind::kRemove, "a"));
}

TEST_F(RealKubernetes, TheAccessCheckNamesWhatIsMissing) {
    const auto check = [this](const ClusterAccess& access, const ports::Resource& resource,
                              const std::string& selector) {
        Result<std::unique_ptr<HttpCluster>> cluster = HttpCluster::open(access);
        if (!cluster) return cluster.error().what;
        const Status checked = connectors::check_access(**cluster, resource, selector);
        return checked.ok() ? std::string() : checked.error().what;
    };
    const auto contains = [](const std::string& text, const std::string& part) {
        return text.find(part) != std::string::npos;
    };
    const ports::Resource& resource = settings_.resource;
    EXPECT_EQ(check(access_, resource, settings_.label_selector), "");
    EXPECT_EQ(check(access_, resource, ""), "");
    EXPECT_TRUE(contains(check(access_, resource, "a=b=c"), "selector"));
    EXPECT_TRUE(contains(check(access_, {"/apis/none/v1", space_, "things"}, ""), "has no things"));
    ClusterAccess stranger = access_;
    stranger.cert.clear();
    stranger.key.clear();
    stranger.token = "unknown";
    EXPECT_TRUE(contains(check(stranger, resource, ""), "credentials"));
    ClusterAccess distrustful = access_;
    distrustful.ca.clear();
    EXPECT_TRUE(contains(check(distrustful, resource, ""), "TLS certificate"));
    ClusterAccess nowhere = access_;
    nowhere.server = "https://127.0.0.1:1";
    EXPECT_TRUE(contains(check(nowhere, resource, ""), "does not answer"));
}

TEST_F(RealKubernetes, TheCertificateOfAnExecPluginIsAccepted) {
    ASSERT_FALSE(access_.cert.empty()) << "KUBECONFIG is to hold a client certificate";
    const TempDir folder;
    std::ofstream(folder / "credential")
        << R"({"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1",)"
        << R"("status":{"clientCertificateData":)" << json_string(access_.cert)
        << R"(,"clientKeyData":)" << json_string(access_.key) << "}}";
    connectors::ExecConfig plugin;
    plugin.command = plugin.program = "cat";
    plugin.args = {folder / "credential"};
    plugin.api_version = "client.authentication.k8s.io/v1";
    access_.cert.clear();
    access_.key.clear();
    access_.exec = plugin;
    create("a");
    begin();
    ASSERT_TRUE(until_object(Fact::Kind::kUpsert, "a"));
    ASSERT_TRUE(until_fact(Fact::Kind::kProgress));
}

}  // namespace
}  // namespace trueup::testing
