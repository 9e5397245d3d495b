// Proves what the HTTP transport promises to the machines above it, on a small server of its own.
#include "connectors/kubernetes/transport.h"

#include "connectors/kubernetes/kubeconfig.h"
#include "connectors/kubernetes/settings.h"
#include "connectors/kubernetes/unary_call.h"
#include "engine/base/version.h"
#include "tests/support/manual_clock.h"
#include "tests/support/temp_dir.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <array>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <mutex>
#include <thread>

namespace trueup::testing {
namespace {

using connectors::ClusterAccess;
using connectors::HttpCluster;
using connectors::HttpRequest;
using Kind = ports::ClusterEvent::Kind;

/// Answers each connection with the bytes that the test prepared for the path, then closes it. What
/// it gets wrong: one request per connection, requests are read up to the first empty line only.
class Server {
  public:
    Server() : listener_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        socklen_t size = sizeof(address);
        auto* generic = static_cast<sockaddr*>(static_cast<void*>(&address));
        EXPECT_EQ(::bind(listener_, generic, size), 0);
        EXPECT_EQ(::listen(listener_, 16), 0);
        EXPECT_EQ(::getsockname(listener_, generic, &size), 0);
        url_ = "http://127.0.0.1:" + std::to_string(ntohs(address.sin_port));
        thread_ = std::thread([this] { serve(); });
    }
    ~Server() {
        stopping_ = true;
        ::shutdown(listener_, SHUT_RDWR);
        thread_.join();
        ::close(listener_);
        for (const int held : held_) ::close(held);
    }
    Server(const Server&) = delete;
    Server& operator=(const Server&) = delete;

    /// `hold`: the connection stays open after the answer.
    void answer(std::string bytes, bool hold = false) {
        const std::lock_guard<std::mutex> lock(mutex_);
        answer_ = std::move(bytes);
        hold_ = hold;
    }
    /// Each connection is closed before anything was read.
    void hang_up() { hang_up_ = true; }
    std::string request() {
        const std::lock_guard<std::mutex> lock(mutex_);
        return request_;
    }
    const std::string& url() const { return url_; }

  private:
    void serve() {
        while (!stopping_) {
            const int peer = ::accept(listener_, nullptr, nullptr);
            if (peer < 0) return;
            if (hang_up_) {
                ::close(peer);
                continue;
            }
            std::string text;
            std::array<char, 4096> buffer{};
            while (text.find("\r\n\r\n") == std::string::npos) {
                const ssize_t got = ::recv(peer, buffer.data(), buffer.size(), 0);
                if (got <= 0) break;
                text.append(buffer.data(), static_cast<std::size_t>(got));
            }
            const std::lock_guard<std::mutex> lock(mutex_);
            request_ = text;
            (void)::send(peer, answer_.data(), answer_.size(), MSG_NOSIGNAL);
            if (hold_) {
                held_.push_back(peer);
            } else {
                ::close(peer);
            }
        }
    }

    int listener_;
    std::string url_;
    std::mutex mutex_;
    std::string answer_;
    std::string request_;
    bool hold_ = false;
    std::atomic<bool> stopping_{false};
    std::atomic<bool> hang_up_{false};
    std::vector<int> held_;
    std::thread thread_;
};

std::unique_ptr<HttpCluster> open(const Server& server) {
    ClusterAccess access;
    access.server = server.url();
    access.token = "secret";
    Result<std::unique_ptr<HttpCluster>> cluster = HttpCluster::open(access);
    EXPECT_TRUE(cluster.ok());
    return std::move(*cluster);
}

/// Polls until the call ended, or until `enough` events came.
std::vector<ports::ClusterEvent> events(HttpCluster& cluster, std::size_t enough = 1000) {
    std::vector<ports::ClusterEvent> found;
    for (int i = 0; i < 200 && found.size() < enough; ++i) {
        cluster.poll(Millis(100), found);
        if (!found.empty() &&
            (found.back().kind == Kind::kEnd || found.back().kind == Kind::kFailed)) {
            break;
        }
    }
    return found;
}
std::string body(const std::vector<ports::ClusterEvent>& events) {
    std::string text;
    for (const auto& event : events) text += event.data;
    return text;
}

TEST(KubernetesTransport, AWholeAnswerIsHeadDataAndEnd) {
    Server server;
    server.answer(
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n");
    const auto cluster = open(server);
    cluster->list_page(7, ports::ListPage{});
    const auto found = events(*cluster);
    ASSERT_GE(found.size(), 3U);
    EXPECT_EQ(found.front().kind, Kind::kHead);
    EXPECT_EQ(found.front().status, 200);
    EXPECT_EQ(found.front().call, 7U);
    EXPECT_EQ(body(found), "abcde");
    EXPECT_EQ(found.back().kind, Kind::kEnd);
    EXPECT_NE(server.request().find("GET /api/v1/pods?limit=500 HTTP/1.1"), std::string::npos);
    EXPECT_NE(server.request().find("Authorization: Bearer secret"), std::string::npos);
}

TEST(KubernetesTransport, ACutBodyIsFailedNeverEnd_S5) {
    for (const char* cut :
         {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n",
          "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n9\r\nabc",
          "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc", "HTTP/1.1 200", ""}) {
        Server server;
        server.answer(cut);
        const auto cluster = open(server);
        cluster->list_page(1, ports::ListPage{});
        const auto found = events(*cluster);
        ASSERT_FALSE(found.empty());
        EXPECT_EQ(found.back().kind, Kind::kFailed) << cut;
        EXPECT_FALSE(found.back().error.what.empty());
    }
}

TEST(KubernetesTransport, RetryAfterIsReadAndRedirectsAreNotFollowed) {
    Server server;
    server.answer("HTTP/1.1 429 Slow\r\nRetry-After: 17\r\nContent-Length: 0\r\n\r\n");
    const auto cluster = open(server);
    cluster->list_page(1, ports::ListPage{});
    auto found = events(*cluster);
    ASSERT_FALSE(found.empty());
    EXPECT_EQ(found.front().status, 429);
    EXPECT_EQ(found.front().retry_after_ms, 17'000);
    server.answer("HTTP/1.1 302 Found\r\nLocation: /elsewhere\r\nContent-Length: 0\r\n\r\n");
    cluster->list_page(2, ports::ListPage{});
    found = events(*cluster);
    ASSERT_FALSE(found.empty());
    EXPECT_EQ(found.front().status, 302);
    EXPECT_EQ(server.request().find("elsewhere"), std::string::npos);
}

TEST(KubernetesTransport, AWatchTellsItsHeadAtOnceAndNothingAfterCancel) {
    Server server;
    server.answer("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", true);
    const auto cluster = open(server);
    ports::WatchFrom watch;
    watch.resource_version = "5";
    cluster->watch(1, watch);
    const auto found = events(*cluster, 1);
    ASSERT_EQ(found.size(), 1U);
    EXPECT_EQ(found.front().kind, Kind::kHead);
    cluster->cancel(1);
    cluster->cancel(99);
    std::vector<ports::ClusterEvent> more;
    cluster->poll(Millis(50), more);
    EXPECT_TRUE(more.empty());
}

TEST(KubernetesTransport, AWakeEndsThePollThatWaits) {
    Server server;
    server.answer("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", true);
    const auto cluster = open(server);
    cluster->watch(1, {});
    ASSERT_EQ(events(*cluster, 1).size(), 1U);
    constexpr Millis kLong{60'000};
    std::vector<ports::ClusterEvent> more;
    cluster->wake();  // before it
    cluster->poll(kLong, more);
    std::thread waker([&] { cluster->wake(); });
    cluster->poll(kLong, more);
    waker.join();
    EXPECT_TRUE(more.empty());
}

TEST(KubernetesTransport, AWaitEndsForTheSocketOfAnotherPort) {
    Server server;
    server.answer("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", true);
    const auto cluster = open(server);
    cluster->watch(1, {});
    ASSERT_EQ(events(*cluster, 1).size(), 1U);
    constexpr Millis kLong{60'000};
    const int socket = eventfd(0, EFD_CLOEXEC);
    std::vector<ports::ClusterEvent> more;
    std::thread answer([&] { eventfd_write(socket, 1); });
    cluster->poll_beside({{{socket, POLLIN, 0}}}, kLong, more);
    answer.join();
    cluster->poll_beside({{}, Millis(0)}, kLong, more);  // the other one is due
    ::close(socket);
    EXPECT_TRUE(more.empty());
}

TEST(KubernetesTransport, SaysWhichSocketsAThreadMayWaitForInAnotherPlace) {
    Server quiet;
    quiet.answer("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", true);
    Server server;
    server.answer("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}");
    const auto cluster = open(quiet);
    const auto other = open(server);
    cluster->watch(1, {});
    ASSERT_EQ(events(*cluster, 1).size(), 1U);
    other->get(2, ports::GetObject{{}, "w1"});
    // The watch is silent: it is the other one's answer that ends each of these waits.
    std::vector<ports::ClusterEvent> silent;
    std::vector<ports::ClusterEvent> answered;
    while (answered.empty() || answered.back().kind != Kind::kEnd) {
        other->poll(Millis(0), answered);
        ports::Interest interest;
        if (answered.empty() && other->interest(interest)) {
            EXPECT_FALSE(interest.sockets.empty());
            cluster->poll_beside(interest, Millis(60'000), silent);
        }
    }
    EXPECT_TRUE(silent.empty());
    ports::Interest idle;
    EXPECT_TRUE(open(server)->interest(idle)) << "it waits for nothing";
    EXPECT_TRUE(idle.sockets.empty());
}

TEST(KubernetesTransport, LoopbackIsNeverAskedThroughAProxy) {
    ::setenv("http_proxy", "http://127.0.0.1:1", 1);
    Server server;
    server.answer("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}");
    const auto cluster = open(server);
    cluster->get(1, ports::GetObject{{}, "w1"});
    EXPECT_EQ(body(events(*cluster)), "{}");
    ::unsetenv("http_proxy");
}

TEST(KubernetesTransport, ARefusedConnectionIsFailed_S3) {
    ClusterAccess access;
    {
        const Server server;
        access.server = server.url();
    }
    const auto cluster = HttpCluster::open(access);
    ASSERT_TRUE(cluster.ok());
    (*cluster)->list_page(1, ports::ListPage{});
    const auto found = events(**cluster);
    ASSERT_EQ(found.size(), 1U);
    EXPECT_EQ(found.front().kind, Kind::kFailed);
    // `after 3 ms` was another sentence than `after 4 ms`, and the log had each attempt as news.
    EXPECT_NE(found.front().error.what.find("Failed to connect"), std::string::npos)
        << found.front().error.what;
    EXPECT_EQ(found.front().error.what.find(" ms"), std::string::npos) << found.front().error.what;
}

TEST(KubernetesTransport, ATokenIsReadAgainAfter401) {
    const std::string path = (::testing::TempDir() + "/trueup-token-" + std::to_string(::getpid()));
    std::ofstream(path) << "first\n";
    Server server;
    server.answer("HTTP/1.1 401 No\r\nContent-Length: 0\r\n\r\n");
    ClusterAccess access;
    access.server = server.url();
    access.token_file = path;
    const auto cluster = HttpCluster::open(access);
    ASSERT_TRUE(cluster.ok());
    (*cluster)->list_page(1, ports::ListPage{});
    events(**cluster);
    EXPECT_NE(server.request().find("Bearer first\r\n"), std::string::npos);
    std::ofstream(path) << "second\n";
    (*cluster)->list_page(2, ports::ListPage{});
    events(**cluster);
    EXPECT_NE(server.request().find("Bearer second\r\n"), std::string::npos);
    std::remove(path.c_str());
}

/// A cluster whose credentials a shell script prints.
std::unique_ptr<HttpCluster> open_with_plugin(const Server& server, const std::string& script,
                                              ports::Clock& clock = ports::system_clock()) {
    ClusterAccess access;
    access.server = server.url();
    access.exec.emplace();
    access.exec->command = "login";
    access.exec->program = "/bin/sh";
    access.exec->args = {"-c", script};
    access.exec->api_version = "client.authentication.k8s.io/v1";
    Result<std::unique_ptr<HttpCluster>> cluster = HttpCluster::open(access, clock);
    EXPECT_TRUE(cluster.ok());
    return std::move(*cluster);
}

/// The command that prints a token, which may be an expression of the shell.
std::string print_token(const std::string& token) {
    return "echo '{\"kind\":\"ExecCredential\",\"apiVersion\":"
           "\"client.authentication.k8s.io/v1\",\"status\":{\"token\":\"'" +
           token + "'\"}}'";
}

TEST(KubernetesTransport, CallsWaitForThePluginsTokenAndNobodyWaitsForThem) {
    Server server;
    server.answer("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
    const auto cluster = open_with_plugin(server, "sleep 0.2; " + print_token("printed"));
    cluster->list_page(1, ports::ListPage{});
    cluster->list_page(2, ports::ListPage{});
    cluster->cancel(1);
    std::vector<ports::ClusterEvent> none;
    cluster->poll(Millis(0), none);
    EXPECT_TRUE(none.empty());
    EXPECT_EQ(server.request(), "");
    const auto found = events(*cluster);
    ASSERT_FALSE(found.empty());
    EXPECT_EQ(found.front().call, 2U) << "the other was cancelled while it waited";
    EXPECT_EQ(found.back().kind, Kind::kEnd);
    EXPECT_NE(server.request().find("Bearer printed\r\n"), std::string::npos);
}

TEST(KubernetesTransport, A401RunsThePluginAgain) {
    const TempDir folder;
    ManualClock clock;
    Server server;
    server.answer("HTTP/1.1 401 No\r\nContent-Length: 0\r\n\r\n");
    const std::string runs = folder / "runs";
    const auto cluster = open_with_plugin(
        server, "echo >> " + runs + "; " + print_token("$(wc -l < " + runs + ")"), clock);
    cluster->list_page(1, ports::ListPage{});
    events(*cluster);
    EXPECT_NE(server.request().find("Bearer 1\r\n"), std::string::npos) << server.request();
    clock.advance(Millis(5'000));
    cluster->list_page(2, ports::ListPage{});
    events(*cluster);
    EXPECT_NE(server.request().find("Bearer 2\r\n"), std::string::npos) << server.request();
    server.answer("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
    clock.advance(Millis(5'000));
    cluster->list_page(3, ports::ListPage{});
    events(*cluster);
    cluster->list_page(4, ports::ListPage{});
    events(*cluster);
    EXPECT_NE(server.request().find("Bearer 3\r\n"), std::string::npos) << server.request();
}

TEST(KubernetesTransport, APluginThatFailsFailsTheCallsThatWait_S3) {
    const Server server;
    const auto cluster = open_with_plugin(server, "echo 'no session' >&2; exit 2");
    cluster->get(1, ports::GetObject{{}, "w1"});
    const auto found = events(*cluster);
    ASSERT_EQ(found.size(), 1U);
    EXPECT_EQ(found.front().kind, Kind::kFailed);
    EXPECT_EQ(found.front().error.code, Code::kDenied);
    EXPECT_EQ(found.front().error.what,
              "credentials: the kubeconfig's exec command 'login' ended with 2: no session");
}

TEST(KubernetesTransport, ADeleteSendsItsPreconditions) {
    Server server;
    server.answer("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
    const auto cluster = open(server);
    ports::DeleteObject request;
    request.resource.name_space = "graph";
    request.name = "w1";
    request.uid = "u";
    request.resource_version = "7";
    cluster->erase(1, request);
    events(*cluster);
    EXPECT_NE(server.request().find("DELETE /api/v1/namespaces/graph/pods/w1 HTTP/1.1"),
              std::string::npos);
}

/// What comes of a DELETE that may be sent for 50 ms yet.
std::string end_of_hurried_delete(HttpCluster& cluster) {
    ports::DeleteObject request;
    request.resource.name_space = "graph";
    request.name = "w1";
    request.send_within = Millis(50);
    cluster.erase(1, request);
    const auto found = events(cluster);
    const bool failed = found.size() == 1 && found.front().kind == Kind::kFailed;
    return failed ? found.front().error.what : "sent";
}

// A DELETE waited for a login, and was sent when what it was decided on was long over.
TEST(KubernetesTransport, ADeleteThatWaitedForThePluginForTooLongIsNotSent_S24) {
    Server server;
    server.answer("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
    const auto cluster = open_with_plugin(server, "sleep 0.2; " + print_token("printed"));
    EXPECT_EQ(end_of_hurried_delete(*cluster), "not sent: the deadline had passed");
    EXPECT_EQ(server.request(), "");
    cluster->get(2, ports::GetObject{{}, "w1"});
    EXPECT_EQ(events(*cluster).back().kind, Kind::kEnd) << "reads wait as before";
}

TEST(KubernetesTransport, ADeleteWhoseConnectionTakesTooLongIsNotSent_S24) {
    const Server server;  // which says nothing to a handshake
    ClusterAccess access;
    access.server = "https" + server.url().substr(4);
    const auto cluster = HttpCluster::open(access);
    ASSERT_TRUE(cluster.ok());
    const std::string end = end_of_hurried_delete(**cluster);
    const std::string beginning = "not sent: no connection within ";
    ASSERT_TRUE(end.starts_with(beginning)) << end;
    EXPECT_LE(std::stoi(end.substr(beginning.size())), 50) << end;
}

TEST(KubernetesTransport, PlainHttpIsOnlyForLoopback) {
    for (const char* url : {"http://example.com", "ftp://127.0.0.1", "127.0.0.1:80", "",
                            "http://localhost.example.com"}) {
        ClusterAccess access;
        access.server = url;
        EXPECT_FALSE(HttpCluster::open(access).ok()) << url;
    }
}

std::string kubeconfig(const Server& server, const std::string& more, const std::string& token) {
    return "current-context: h\ncontexts:\n- name: h\n  context: {cluster: c, user: u}\n"
           "clusters:\n- name: c\n  cluster: {server: '" +
           server.url() + "', certificate-authority-data: " + more +
           "}\nusers:\n- name: u\n  user: {token: " + token + "}\n";
}

// Symptom: an authority, a client certificate or a token that was replaced in the kubeconfig was
// not used before a restart, and everything was stale until then.
TEST(KubernetesTransport, WhatTheKubeconfigSaysIsReadAgainAfterARefusal) {
    const TempDir folder;
    const std::string path = folder / "config";
    const auto write = [&](const std::string& text) {
        std::ofstream(path) << text;
        ::chmod(path.c_str(), 0600);
    };
    Server server;
    server.answer("HTTP/1.1 401 Unauthorized\r\nContent-Length: 0\r\n\r\n");
    write(kubeconfig(server, "Q0E=", "old"));
    Result<ClusterAccess> access = connectors::read_kubeconfig(path);
    ASSERT_TRUE(access.ok()) << access.error().what;
    const std::function<Result<ClusterAccess>()> again = access->again;
    auto cluster = HttpCluster::open(std::move(*access));
    ASSERT_TRUE(cluster.ok());
    (*cluster)->get(1, {ports::Resource{}, "w1"});
    events(**cluster);
    EXPECT_NE(server.request().find("Bearer old"), std::string::npos);
    write("half of a kubeconf");
    (*cluster)->get(2, {ports::Resource{}, "w1"});
    events(**cluster);
    EXPECT_NE(server.request().find("Bearer old"), std::string::npos) << "the last one stays";
    write(kubeconfig(server, "TkVX", "new"));
    (*cluster)->get(3, {ports::Resource{}, "w1"});
    events(**cluster);
    EXPECT_NE(server.request().find("Bearer new"), std::string::npos);
    EXPECT_EQ(again()->ca, "NEW");
}

// Symptom: a kubeconfig that named another server was read before every call, and nobody was told
// that it was not used.
TEST(KubernetesTransport, AnotherServerIsToldOnceAndNotGoneTo) {
    Server server;
    server.answer("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
    ClusterAccess access;
    access.server = server.url();
    int reads = 0;
    std::vector<std::string> told;
    access.say = [&](const std::string& what) { told.push_back(what); };
    access.again = [&]() -> Result<ClusterAccess> {
        ++reads;
        ClusterAccess other;
        other.server = "https://elsewhere";
        return other;
    };
    auto cluster = HttpCluster::open(std::move(access));
    ASSERT_TRUE(cluster.ok());
    const auto get = [&](ports::CallId call) {
        (*cluster)->get(call, {ports::Resource{}, "w1"});
        events(**cluster);
    };
    get(1);
    EXPECT_EQ(reads, 0);
    server.answer("HTTP/1.1 401 Unauthorized\r\nContent-Length: 0\r\n\r\n");
    get(2);
    get(3);
    EXPECT_EQ(reads, 1) << "after the refusal";
    server.answer("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
    get(4);
    get(5);
    EXPECT_EQ(reads, 2) << "and not before each call";
    ASSERT_EQ(told.size(), 1U);
    EXPECT_NE(told[0].find("https://elsewhere: restart to use it"), std::string::npos) << told[0];
}

/// So many zeros, packed.
std::string packed_zeros(std::size_t count) {
    z_stream stream{};
    EXPECT_EQ(::deflateInit2(&stream, 9, Z_DEFLATED, MAX_WBITS + 16, 9, Z_DEFAULT_STRATEGY), Z_OK);
    std::string packed(count / 500, '\0');
    std::vector<unsigned char> zeros(std::size_t{1} << 20U);
    stream.next_out = reinterpret_cast<unsigned char*>(packed.data());
    stream.avail_out = static_cast<unsigned>(packed.size());
    for (std::size_t left = count; left > 0; left -= zeros.size()) {
        stream.next_in = zeros.data();
        stream.avail_in = static_cast<unsigned>(zeros.size());
        EXPECT_EQ(::deflate(&stream, left == zeros.size() ? Z_FINISH : Z_NO_FLUSH),
                  left == zeros.size() ? Z_STREAM_END : Z_OK);
    }
    packed.resize(stream.total_out);
    ::deflateEnd(&stream);
    return packed;
}

std::string packed_answer(const std::string& packed) {
    return "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: " +
           std::to_string(packed.size()) + "\r\n\r\n" + packed;
}

TEST(KubernetesTransport, AListIsAskedForPackedAndNamesWhoAsks) {
    Server server;
    server.answer(packed_answer(packed_zeros(std::size_t{1} << 20U)));
    const auto cluster = open(server);
    cluster->list_page(1, ports::ListPage{});
    const auto found = events(*cluster);
    ASSERT_FALSE(found.empty());
    EXPECT_EQ(found.back().kind, Kind::kEnd);
    EXPECT_EQ(body(found), std::string(std::size_t{1} << 20U, '\0'));
    const std::string agent = std::string("User-Agent: trueup/") + kVersion + "\r\n";
    EXPECT_NE(server.request().find(agent), std::string::npos) << server.request();
    EXPECT_NE(server.request().find("Accept-Encoding: gzip\r\n"), std::string::npos);
}

// Symptom: an answer of a megabyte that unpacks to a gigabyte was unpacked whole before anybody
// looked at its size.
TEST(KubernetesTransport, APackedAnswerIsUnpackedUpToWhatCallersTake) {
    constexpr std::size_t kUnpacked = std::size_t{600} << 20U;
    Server server;
    server.answer(packed_answer(packed_zeros(kUnpacked)));
    const auto cluster = open(server);
    cluster->list_page(1, ports::ListPage{});
    std::size_t unpacked = 0;
    Kind last = Kind::kHead;
    for (int i = 0; i < 200 && last != Kind::kFailed && last != Kind::kEnd; ++i) {
        std::vector<ports::ClusterEvent> found;
        cluster->poll(Millis(100), found);
        for (const auto& event : found) unpacked += event.data.size();
        if (!found.empty()) last = found.back().kind;
    }
    EXPECT_EQ(last, Kind::kFailed);
    EXPECT_GT(unpacked, connectors::kMaxBody) << "its caller sees that it is too large";
    EXPECT_LT(unpacked, connectors::kMaxBody + (std::size_t{2} << 20U));
}

// Symptom: a page that was silent failed before its caller gave it up for being too long, so that
// none was ever asked for in smaller pages.
TEST(KubernetesTransport, CallersGiveASilentPageUpFirst) {
    EXPECT_GT(connectors::kStall, connectors::KubernetesSettings{}.call_timeout);
}

// Symptom: a server that was just being started, and reset the handshake, was said to have a
// certificate that is not accepted, which ended the process.
TEST(KubernetesTransport, AHandshakeThatBreaksIsTriedAgainAndNoVerdictOnACertificate) {
    Server server;
    server.hang_up();
    ClusterAccess access;
    access.server = "https" + server.url().substr(4);
    auto cluster = HttpCluster::open(access);
    ASSERT_TRUE(cluster.ok());
    (*cluster)->get(1, {ports::Resource{}, "w1"});
    const std::vector<ports::ClusterEvent> found = events(**cluster);
    ASSERT_FALSE(found.empty());
    EXPECT_EQ(found.back().kind, Kind::kFailed);
    EXPECT_EQ(found.back().error.next, Next::kRetry) << found.back().error.what;
    EXPECT_EQ(found.back().error.code, Code::kUnavailable);
}

}  // namespace
}  // namespace trueup::testing
