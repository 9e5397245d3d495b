// Proves what is read from a kubeconfig, how the API's URLs look, and that the access check names
// each failure in one sentence.
#include "connectors/kubernetes/access_check.h"
#include "connectors/kubernetes/kubeconfig.h"
#include "connectors/kubernetes/paths.h"
#include "tests/connectors/kubernetes/connector_fixture.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>

namespace trueup::testing {
namespace {

using connectors::ClusterAccess;

class Folder {
  public:
    Folder() {
        std::string name = (std::filesystem::temp_directory_path() / "trueup-XXXXXX").string();
        path_ = ::mkdtemp(name.data());
    }
    ~Folder() { std::filesystem::remove_all(path_); }
    Folder(const Folder&) = delete;
    Folder& operator=(const Folder&) = delete;

    std::string write(const std::string& name, const std::string& text) const {
        const std::string path = path_ + "/" + name;
        std::ofstream(path) << text;
        ::chmod(path.c_str(), 0600);
        return path;
    }
    const std::string& path() const { return path_; }

  private:
    std::string path_;
};

std::string config(const std::string& cluster, const std::string& user) {
    return "current-context: here\ncontexts:\n- name: other\n  context: {cluster: x, user: y}\n"
           "- name: here\n  context: {cluster: c, user: u, namespace: graph}\nclusters:\n- name: "
           "c\n"
           "  cluster: {" +
           cluster + "}\nusers:\n- name: u\n  user: {" + user + "}\n";
}

Result<ClusterAccess> read(const std::string& cluster, const std::string& user,
                           bool allow_insecure = false) {
    const Folder folder;
    folder.write("ca.pem", "CA");
    const std::string path = folder.write("config", config(cluster, user));
    return connectors::read_kubeconfig(path, "", allow_insecure);
}

// Symptom: a kubeconfig with a token in it was read although every account could do the same.
TEST(Kubeconfig, OneWithSecretsIsReadOnlyWhereNobodyElseMayReadIt) {
    const std::string exec =
        "exec: {apiVersion: client.authentication.k8s.io/v1, command: get-token, interactiveMode: "
        "Never}";
    for (const std::string& user :
         {std::string("token: t"),
          std::string("client-certificate-data: Q0VSVA==, client-key-data: S0VZ"),
          std::string("client-certificate: ca.pem, client-key: key.pem"), exec,
          std::string("tokenFile: token")}) {
        SCOPED_TRACE(user);
        const Folder folder;
        folder.write("ca.pem", "CA");
        const std::string key = folder.write("key.pem", "KEY");
        const std::string path = folder.write("config", config("server: 'https://h'", user));
        EXPECT_TRUE(connectors::read_kubeconfig(path).ok());
        const bool holds_none = user == exec || user.starts_with("tokenFile");
        ::chmod(path.c_str(), 0644);
        ::chmod(key.c_str(), 0644);
        const auto access = connectors::read_kubeconfig(path);
        EXPECT_EQ(access.ok(), holds_none);
        if (access.ok()) continue;
        EXPECT_NE(access.error().what.find("may be read by others; write chmod 600 "),
                  std::string::npos)
            << access.error().what;
    }
}

// Symptom: whoever could write to a kubeconfig without secrets chose the program that we ran.
TEST(Kubeconfig, OneThatOthersMayWriteToIsRefused) {
    const Folder folder;
    const std::string path =
        folder.write("config", config("server: 'https://h'", "tokenFile: token"));
    ::chmod(path.c_str(), 0664);
    EXPECT_NE(connectors::read_kubeconfig(path).error().what.find("may be written by others"),
              std::string::npos);
}

// Symptom: the variables of an exec plugin, a client secret among them, were for all to read.
TEST(Kubeconfig, OneWithVariablesOfAPluginIsASecret) {
    const Folder folder;
    const std::string path = folder.write(
        "config", config("server: 'https://h'",
                         "exec: {apiVersion: client.authentication.k8s.io/v1, command: get-token, "
                         "interactiveMode: Never, env: [{name: SECRET, value: s}]}"));
    EXPECT_TRUE(connectors::read_kubeconfig(path).ok());
    ::chmod(path.c_str(), 0644);
    EXPECT_NE(connectors::read_kubeconfig(path).error().what.find("may be read by others"),
              std::string::npos);
}

// Symptom: somebody's `kubectl config use-context` led a running process to another cluster's user.
TEST(Kubeconfig, IsReadAgainWithTheContextOfTheStart) {
    const Folder folder;
    const std::string text = config("server: 'https://h'", "token: t");
    const std::string path = folder.write("config", text);
    const auto access = connectors::read_kubeconfig(path);
    ASSERT_TRUE(access.ok()) << access.error().what;
    folder.write("config", "current-context: other" + text.substr(text.find('\n')));
    const auto again = access->again();
    ASSERT_TRUE(again.ok()) << again.error().what;
    EXPECT_EQ(again->token, "t");
}

TEST(Kubeconfig, FilesAreRelativeToItAndDataIsBase64) {
    const auto access = read("server: 'https://h:6443/', certificate-authority: ca.pem",
                             "client-certificate-data: Q0VSVA==, client-key-data: S0VZ, token: t");
    ASSERT_TRUE(access.ok()) << access.error().what;
    EXPECT_EQ(access->server, "https://h:6443");
    EXPECT_EQ(access->ca, "CA");
    EXPECT_EQ(access->cert, "CERT");
    EXPECT_EQ(access->key, "KEY");
    EXPECT_EQ(access->token, "t");
    EXPECT_EQ(access->name_space, "graph");
    EXPECT_TRUE(access->verify);
}

TEST(Kubeconfig, ATokenFileIsRelativeToItToo) {
    const auto access = read("server: 'https://h'", "tokenFile: tok");
    ASSERT_TRUE(access.ok());
    EXPECT_EQ(std::filesystem::path(access->token_file).filename(), "tok");
    EXPECT_TRUE(std::filesystem::path(access->token_file).is_absolute());
}

TEST(Kubeconfig, SkippingTlsVerificationIsRefusedUnlessAllowed) {
    const std::string cluster = "server: 'https://h', insecure-skip-tls-verify: true";
    EXPECT_FALSE(read(cluster, "token: t").ok());
    const auto allowed = read(cluster, "token: t", true);
    ASSERT_TRUE(allowed.ok());
    EXPECT_FALSE(allowed->verify);
}

TEST(Kubeconfig, WhatIsNotSupportedIsSaidClearlyAndSecretsAreNot) {
    const std::vector<std::array<std::string, 3>> cases{
        {"server: 'https://h'", "exec: {args: [a]}", "no command"},
        {"server: 'https://h'", "exec: {command: aws, apiVersion: x/v1alpha1}", "'aws' speaks 'x/"},
        {"server: 'https://h'",
         "exec: {command: aws, apiVersion: client.authentication.k8s.io/v1, interactiveMode: "
         "Always}",
         "'aws' needs a terminal"},
        {"server: 'https://h'",
         "exec: {command: aws, apiVersion: client.authentication.k8s.io/v1, env: [{value: hush}]}",
         "an env without a usable name"},
        {"server: 'https://h'",
         "token: hush, exec: {command: aws, apiVersion: client.authentication.k8s.io/v1}",
         "beside other credentials"},
        {"server: 'https://h'", "auth-provider: {name: gcp}", "'auth-provider'"},
        {"server: 'https://h'", "username: a, password: hush", "password"},
        {"server: 'https://h', proxy-url: 'http://p'", "token: hush", "proxy-url"},
        {"certificate-authority: ca.pem", "token: hush", "no server"},
        {"server: 'https://h', certificate-authority: none.pem", "token: hush", "none.pem"},
        {"server: 'https://h', certificate-authority-data: '%%'", "token: hush", "base64"},
        {"server: 'https://h'", "client-key-data: aHVzaA==", "certificate"},
        {"server: [", "token: hush", "not YAML"}};
    for (const auto& [cluster, user, said] : cases) {
        const auto access = read(cluster, user);
        ASSERT_FALSE(access.ok()) << said;
        EXPECT_NE(access.error().what.find(said), std::string::npos) << access.error().what;
        EXPECT_EQ(access.error().what.find("hush"), std::string::npos) << access.error().what;
    }
    EXPECT_FALSE(connectors::read_kubeconfig("/nowhere/config").ok());
    const Folder folder;
    EXPECT_FALSE(connectors::read_kubeconfig(folder.write("c", "- 1\n")).ok());
    EXPECT_FALSE(connectors::read_kubeconfig(folder.write("c", "a: 1\n")).ok());
    EXPECT_FALSE(
        connectors::read_kubeconfig(folder.write("c", config("server: 'https://h'", "")), "unknown")
            .ok());
}

TEST(Kubeconfig, AnExecPluginIsReadWithWhatItIsTold) {
    const auto access = read(
        "server: 'https://h', certificate-authority-data: Q0E=, extensions: [{name: "
        "client.authentication.k8s.io/exec, extension: {audience: \"7\", retries: 7, list: [a, "
        "true, ~]}}]",
        "exec: {apiVersion: client.authentication.k8s.io/v1beta1, command: ./bin/login, args: "
        "[--cluster, \"a b\"], env: [{name: PROFILE, value: blue}], provideClusterInfo: true, "
        "installHint: \"make\\nit\", interactiveMode: IfAvailable}");
    ASSERT_TRUE(access.ok()) << access.error().what;
    ASSERT_TRUE(access->exec);
    const connectors::ExecConfig& plugin = *access->exec;
    EXPECT_EQ(plugin.command, "./bin/login");
    EXPECT_TRUE(std::filesystem::path(plugin.program).is_absolute()) << "beside the kubeconfig";
    EXPECT_EQ(plugin.args, (std::vector<std::string>{"--cluster", "a b"}));
    EXPECT_EQ(plugin.env.at("PROFILE"), "blue");
    EXPECT_EQ(plugin.env.at("KUBERNETES_EXEC_INFO"),
              R"({"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1beta1",)"
              R"("spec":{"interactive":false,"cluster":{"server":"https://h",)"
              R"("certificate-authority-data":"Q0E=",)"
              R"("config":{"audience":"7","retries":7,"list":["a",true,null]}}}})");
    EXPECT_EQ(access->token, "");
}

TEST(Kubeconfig, APluginIsToldNothingOfTheClusterUnlessItAsks) {
    const auto access = read("server: 'https://h'",
                             "exec: {apiVersion: client.authentication.k8s.io/v1, command: login}");
    ASSERT_TRUE(access.ok()) << access.error().what;
    EXPECT_EQ(access->exec->program, "login") << "looked for in PATH";
    EXPECT_EQ(access->exec->env.at("KUBERNETES_EXEC_INFO"),
              R"({"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1",)"
              R"("spec":{"interactive":false}})");
}

TEST(Kubeconfig, APodFindsItsAccessMounted) {
    const Folder folder;
    folder.write("ca.crt", "CA");
    folder.write("token", "t\n");
    ::unsetenv("KUBERNETES_SERVICE_HOST");
    EXPECT_FALSE(connectors::in_cluster_access(folder.path()).ok());
    ::setenv("KUBERNETES_SERVICE_HOST", "fd00::1", 1);
    ::setenv("KUBERNETES_SERVICE_PORT", "443", 1);
    const auto access = connectors::in_cluster_access(folder.path());
    ASSERT_TRUE(access.ok());
    EXPECT_EQ(access->server, "https://[fd00::1]:443");
    EXPECT_EQ(access->ca, "CA");
    EXPECT_EQ(access->token_file, folder.path() + "/token");
}

TEST(KubernetesPaths, SelectorsAndTokensAreEncoded) {
    ports::ListPage list;
    list.resource.name_space = "graph";
    list.label_selector = "app in (a,b),x!=y";
    list.continue_token = "a+b/c=";
    EXPECT_EQ(connectors::list_path(list),
              "/api/v1/namespaces/graph/pods?labelSelector=app%20in%20%28a%2Cb%29%2Cx%21%3Dy"
              "&limit=500&continue=a%2Bb%2Fc%3D");
    ports::WatchFrom watch;
    watch.resource = {"/apis/lab.example/v1", "", "things"};
    watch.resource_version = "7";
    EXPECT_EQ(connectors::watch_path(watch),
              "/apis/lab.example/v1/things?watch=1&resourceVersion=7&timeoutSeconds=290"
              "&allowWatchBookmarks=true");
}

TEST(KubernetesPaths, ADeleteAlwaysCarriesBothPreconditions) {
    ports::DeleteObject request;
    request.name = "w1";
    request.uid = "u\"1";
    request.resource_version = "7";
    EXPECT_EQ(connectors::object_path(request.resource, "../x"), "/api/v1/pods/..%2Fx");
    EXPECT_EQ(connectors::delete_body(request),
              R"({"kind":"DeleteOptions","apiVersion":"v1","propagationPolicy":"Background",)"
              R"("preconditions":{"uid":"u\"1","resourceVersion":"7"}})");
    request.propagation = "orphan";
    EXPECT_NE(connectors::delete_body(request).find(R"("propagationPolicy":"Orphan",)"),
              std::string::npos);
}

// A pod that says 300 s was deleted with 30.
TEST(KubernetesPaths, ADeleteHasAGracePeriodOnlyWhereOneIsGiven) {
    ports::DeleteObject request;
    EXPECT_EQ(connectors::delete_body(request).find("gracePeriodSeconds"), std::string::npos);
    for (const std::uint32_t seconds : {0U, 5U}) {
        request.grace_period_seconds = seconds;
        EXPECT_NE(connectors::delete_body(request).find(
                      "\"gracePeriodSeconds\":" + std::to_string(seconds) + ","),
                  std::string::npos);
    }
}

TEST(KubernetesPaths, APatchAlwaysCarriesBothPreconditions) {
    ports::PatchObject request;
    request.resource = {"/apis/lab.example/v1", "space", "boxes"};
    request.name = "b1";
    request.uid = "u1";
    request.resource_version = "7";
    request.sets = {{{"spec", "limits", "cpu"}, "2", true},
                    {{"metadata", "labels", "a.b/c"}, "x\"y", false},
                    {{"spec", "limits", "memory"}, std::nullopt, false},
                    {{"data"}, "true", false},
                    {{"metadata", "uid"}, "u2", false}};
    EXPECT_EQ(connectors::patch_path(request),
              "/apis/lab.example/v1/namespaces/space/boxes/b1?fieldManager=trueup");
    EXPECT_EQ(connectors::patch_body(request),
              R"({"data":"true","metadata":{"labels":{"a.b/c":"x\"y"},"resourceVersion":"7",)"
              R"("uid":"u1"},"spec":{"limits":{"cpu":2,"memory":null}}})");
    EXPECT_EQ(connectors::create_path({request.resource, "b1", "{}"}),
              "/apis/lab.example/v1/namespaces/space/boxes?fieldManager=trueup&"
              "fieldValidation=Strict");
    request.subresource = "status";
    EXPECT_EQ(connectors::patch_path(request),
              "/apis/lab.example/v1/namespaces/space/boxes/b1/status?fieldManager=trueup");
}

/// Answers each call of the check by a function of its kind; time passes with each poll.
class Answering final : public ports::Cluster, public ports::Clock {
  public:
    using Script = std::function<void(FakeCluster&, const Asked&)>;
    explicit Answering(Script script) : script_(std::move(script)) {}

    void list_page(ports::CallId call, const ports::ListPage& request) override {
        fake_.list_page(call, request);
        script_(fake_, fake_.asked().back());
    }
    void watch(ports::CallId call, const ports::WatchFrom& request) override {
        fake_.watch(call, request);
        script_(fake_, fake_.asked().back());
    }
    void get(ports::CallId call, const ports::GetObject& request) override {
        fake_.get(call, request);
        script_(fake_, fake_.asked().back());
    }
    void erase(ports::CallId, const ports::DeleteObject&) override {}
    void patch(ports::CallId, const ports::PatchObject&) override {}
    void create(ports::CallId, const ports::CreateObject&) override {}
    void cancel(ports::CallId call) override { fake_.cancel(call); }
    void poll(Millis max_wait, std::vector<ports::ClusterEvent>& out) override {
        now_ += max_wait;
        fake_.poll(max_wait, out);
    }
    SteadyTime steady_now() override { return now_; }
    std::int64_t wall_millis() override { return 0; }

  private:
    FakeCluster fake_;
    Script script_;
    SteadyTime now_{};
};

std::string check(Answering::Script script) {
    Answering server(std::move(script));
    ports::Resource pods;
    pods.name_space = "graph";
    const Status checked = connectors::check_access(server, pods, "app=w", server);
    return checked.ok() ? "" : checked.error().what;
}

/// All is well but the calls of one kind.
std::string check_but(Asked::Kind kind, int code, const std::string& body) {
    return check([=](FakeCluster& fake, const Asked& asked) {
        if (asked.kind == kind) {
            fake.answer(asked.call, code, body);
        } else if (asked.kind == Asked::Kind::kList) {
            fake.answer(asked.call, 200, page(50, {}));
        } else if (asked.kind == Asked::Kind::kGet) {
            fake.answer(asked.call, 404, status(404, "NotFound"));
        } else {
            fake.head(asked.call, 200);
        }
    });
}

TEST(KubernetesAccess, GoodAccessIsGood) { EXPECT_EQ(check_but(Asked::Kind::kErase, 0, ""), ""); }

TEST(KubernetesAccess, EachFailureIsNamed) {
    using Kind = Asked::Kind;
    const auto contains = [](const std::string& text, const std::string& part) {
        return text.find(part) != std::string::npos;
    };
    EXPECT_TRUE(contains(check_but(Kind::kList, 401, status(401, "Unauthorized")), "credentials"));
    EXPECT_TRUE(contains(check_but(Kind::kList, 403, status(403, "Forbidden")), "right to list"));
    EXPECT_TRUE(contains(check_but(Kind::kGet, 403, status(403, "Forbidden")), "right to get"));
    EXPECT_TRUE(contains(check_but(Kind::kWatch, 403, status(403, "Forbidden")), "right to watch"));
    EXPECT_TRUE(contains(check_but(Kind::kList, 404, "404 page not found"), "has no pods"));
    EXPECT_TRUE(contains(check_but(Kind::kList, 400, status(400, "BadRequest")), "selector"));
    EXPECT_TRUE(contains(check_but(Kind::kList, 200, "<html>"), "not a Kubernetes API server"));
    EXPECT_TRUE(contains(check_but(Kind::kList, 503, ""), "HTTP 503"));
    EXPECT_TRUE(contains(check([](FakeCluster& fake, const Asked& asked) {
                             fake.fail(asked.call, "connection refused");
                         }),
                         "does not answer: connection refused"));
    EXPECT_TRUE(contains(check([](FakeCluster& fake, const Asked& asked) {
                             fake.fail(asked.call, "TLS: self-signed certificate",
                                       Code::kUntrusted);
                         }),
                         "TLS certificate"));
    EXPECT_TRUE(contains(check([](FakeCluster& fake, const Asked& asked) {
                             fake.fail(asked.call, "credentials: the exec command 'aws' failed",
                                       Code::kDenied);
                         }),
                         "no credentials for the API server: the exec command 'aws' failed"));
    EXPECT_TRUE(contains(check([](FakeCluster&, const Asked&) {}), "does not answer"));
}

/// The check of a server that refuses one kind of call, and answers /readyz so; 0: not at all.
Next check_while(Asked::Kind refused, int code, int readyz) {
    Answering server([=](FakeCluster& fake, const Asked& asked) {
        if (asked.kind == Asked::Kind::kList && asked.list.resource.plural == "readyz") {
            EXPECT_EQ(connectors::list_path(asked.list), "/readyz");
            if (readyz != 0) fake.answer(asked.call, readyz, readyz == 200 ? "ok" : "not ok");
        } else if (asked.kind == refused) {
            fake.answer(asked.call, code, status(code, "Said"));
        } else if (asked.kind == Asked::Kind::kList) {
            fake.answer(asked.call, 200, page(50, {}));
        } else {
            fake.answer(asked.call, 404, not_found("trueup-access-check"));
        }
    });
    ports::Resource pods;
    pods.name_space = "graph";
    const Status checked = connectors::check_access(server, pods, "app=w", server);
    return checked.ok() ? Next::kSkip : checked.error().next;
}

// After a restart of the API server its first answers ended the process: no right to list pods.
TEST(KubernetesAccess, A403Or404IsFinalOnlyFromAServerThatSaysItIsReady) {
    using Kind = Asked::Kind;
    for (const int code : {403, 404}) {
        EXPECT_EQ(check_while(Kind::kList, code, 200), Next::kStop) << code;
        for (const int readyz : {500, 503, 403, 404, 0}) {
            EXPECT_EQ(check_while(Kind::kList, code, readyz), Next::kRetry) << code << readyz;
        }
    }
    EXPECT_EQ(check_while(Kind::kGet, 403, 200), Next::kStop);
    EXPECT_EQ(check_while(Kind::kGet, 403, 500), Next::kRetry);
    EXPECT_EQ(check_while(Kind::kWatch, 403, 200), Next::kStop);
    EXPECT_EQ(check_while(Kind::kWatch, 403, 500), Next::kRetry);
    EXPECT_EQ(check_while(Kind::kList, 401, 500), Next::kRetry);
    EXPECT_EQ(check_while(Kind::kList, 401, 200), Next::kStop);
    EXPECT_EQ(check_while(Kind::kList, 401, 401), Next::kStop) << "whoever is asked for what";
}

std::optional<bool> asked_for_namespace(int code, const std::string& body) {
    Answering server([&](FakeCluster& fake, const Asked& asked) {
        EXPECT_EQ(asked.kind, Asked::Kind::kGet);
        fake.answer(asked.call, code, body);
    });
    return connectors::namespace_exists(server, "graph", server);
}

TEST(KubernetesAccess, ANamespaceIsMissingOnlyWhenTheServerNamesIt) {
    const std::string not_found =
        R"({"kind":"Status","apiVersion":"v1","status":"Failure","reason":"NotFound","code":404,)"
        R"("message":"namespaces \"graph\" not found",)"
        R"("details":{"name":"graph","kind":"namespaces"}})";
    EXPECT_EQ(asked_for_namespace(200, R"({"kind":"Namespace"})"), true);
    EXPECT_EQ(asked_for_namespace(404, not_found), false);
    EXPECT_EQ(asked_for_namespace(404, "404 page not found"), std::nullopt);
    EXPECT_EQ(asked_for_namespace(403, status(403, "Forbidden")), std::nullopt);
}

TEST(KubernetesAccess, RightsAreAsTheServerSaysThemselves) {
    FakeCluster fake;
    Answering clock([](FakeCluster&, const Asked&) {});
    std::vector<std::string> posted;
    std::vector<std::string> answers{R"({"status":{"allowed":true}})",
                                     R"({"status":{"allowed":false}})"};
    const connectors::Post post = [&](ports::CallId call, std::string_view path, std::string body) {
        EXPECT_EQ(path, "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews");
        fake.answer(call, 201, answers[posted.size()]);
        posted.push_back(std::move(body));
    };
    ports::Resource ingresses{"/apis/networking.k8s.io/v1", "graph", "ingresses"};
    EXPECT_EQ(connectors::missing_verbs(fake, post, ingresses, {"get", "delete"}, clock),
              std::vector<std::string>{"delete"});
    EXPECT_EQ(posted[1],
              R"({"apiVersion":"authorization.k8s.io/v1","kind":"SelfSubjectAccessReview",)"
              R"("spec":{"resourceAttributes":{"namespace":"graph","verb":"delete",)"
              R"("group":"networking.k8s.io","resource":"ingresses"}}})");
    answers = {"<html>"};
    posted.clear();
    EXPECT_EQ(connectors::missing_verbs(fake, post, ingresses, {"get"}, clock), std::nullopt);
}

}  // namespace
}  // namespace trueup::testing
