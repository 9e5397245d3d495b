// Proves that authorities, certificates and tokens that are replaced while a connector runs are
// used without a restart, and that a certificate of a stranger is not: on a small TLS server of its
// own.
#include "connectors/kubernetes/connector.h"
#include "connectors/kubernetes/kubeconfig.h"
#include "connectors/kubernetes/transport.h"
#include "tests/connectors/kubernetes/connector_fixture.h"
#include "tests/support/certificate.h"
#include "tests/support/manual_clock.h"
#include "tests/support/temp_dir.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <openssl/ssl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <thread>

namespace trueup::testing {
namespace {

using connectors::ClusterAccess;
using connectors::HttpCluster;
using connectors::KubernetesConnector;
using connectors::KubernetesSettings;
using test_support::Authority;

constexpr Millis kBeyondAReading{121'000};

/// As much of an API server as a connector needs: each watch has one new pod, and ends. Each
/// connection is answered once, under the certificate that is presented by then.
class Server {
  public:
    explicit Server(Authority::Issued issued)
        : listener_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)), issued_(std::move(issued)) {
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        socklen_t size = sizeof(address);
        auto* generic = static_cast<sockaddr*>(static_cast<void*>(&address));
        EXPECT_EQ(::bind(listener_, generic, size), 0);
        EXPECT_EQ(::listen(listener_, 16), 0);
        EXPECT_EQ(::getsockname(listener_, generic, &size), 0);
        url_ = "https://127.0.0.1:" + std::to_string(ntohs(address.sin_port));
        thread_ = std::thread([this] {
            for (;;) {
                const int peer = ::accept(listener_, nullptr, nullptr);
                if (peer < 0) return;
                serve(peer);
                ::close(peer);
            }
        });
    }
    ~Server() {
        ::shutdown(listener_, SHUT_RDWR);
        thread_.join();
        ::close(listener_);
    }
    Server(const Server&) = delete;
    Server& operator=(const Server&) = delete;

    const std::string& url() const { return url_; }
    void present(Authority::Issued issued) {
        const std::lock_guard<std::mutex> lock(mutex_);
        issued_ = std::move(issued);
    }
    /// Requests whose sender had accepted the certificate.
    int answered() const { return answered_; }
    std::string last_request() {
        const std::lock_guard<std::mutex> lock(mutex_);
        return request_;
    }

  private:
    struct Closes {
        void operator()(SSL* ssl) const { SSL_free(ssl); }
        void operator()(SSL_CTX* context) const { SSL_CTX_free(context); }
    };

    std::unique_ptr<SSL_CTX, Closes> context() {
        const std::lock_guard<std::mutex> lock(mutex_);
        std::unique_ptr<SSL_CTX, Closes> made(SSL_CTX_new(TLS_server_method()));
        const auto read = [](const std::string& pem, auto reads) {
            BIO* bio = BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size()));
            auto* object = reads(bio, nullptr, nullptr, nullptr);
            BIO_free(bio);
            return object;
        };
        X509* cert = read(issued_.cert, PEM_read_bio_X509);
        EVP_PKEY* key = read(issued_.key, PEM_read_bio_PrivateKey);
        EXPECT_EQ(SSL_CTX_use_certificate(made.get(), cert), 1);
        EXPECT_EQ(SSL_CTX_use_PrivateKey(made.get(), key), 1);
        X509_free(cert);
        EVP_PKEY_free(key);
        return made;
    }
    void serve(int peer) {
        const auto with = context();
        const std::unique_ptr<SSL, Closes> ssl(SSL_new(with.get()));
        SSL_set_fd(ssl.get(), peer);
        if (SSL_accept(ssl.get()) != 1) return;
        std::string text;
        std::array<char, 4096> buffer{};
        while (text.find("\r\n\r\n") == std::string::npos) {
            const int got = SSL_read(ssl.get(), buffer.data(), static_cast<int>(buffer.size()));
            if (got <= 0) return;
            text.append(buffer.data(), static_cast<std::size_t>(got));
        }
        const bool watch = text.find("watch=1") != std::string::npos;
        if (watch) pods_.push_back({"w" + std::to_string(pods_.size()), 51 + pods_.size()});
        const std::string body =
            watch ? line("ADDED", pods_.back()) : page(50 + pods_.size(), pods_);
        {
            const std::lock_guard<std::mutex> lock(mutex_);
            request_ = text;
        }
        ++answered_;
        const std::string answer = "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: " +
                                   std::to_string(body.size()) + "\r\n\r\n" + body;
        SSL_write(ssl.get(), answer.data(), static_cast<int>(answer.size()));
        SSL_shutdown(ssl.get());
    }

    int listener_;
    std::string url_;
    std::mutex mutex_;
    Authority::Issued issued_;
    std::string request_;
    std::vector<Pod> pods_;
    std::atomic<int> answered_{0};
    std::thread thread_;
};

/// A connector over a kubeconfig that names its authority and its token by file.
class Installation {
  public:
    Installation() : old_("old"), server_(old_.issue()) {
        put("ca.crt", old_.pem());
        put("token", "t1\n");
        put("config",
            "current-context: h\ncontexts:\n- name: h\n  context: {cluster: c, user: u}\n"
            "clusters:\n- name: c\n  cluster: {server: '" +
                server_.url() + "', certificate-authority: ca.crt}\n" +
                "users:\n- name: u\n  user: {tokenFile: token}\n");
        auto access = connectors::read_kubeconfig(folder_ / "config");
        EXPECT_TRUE(access.ok()) << access.error().what;
        auto port = HttpCluster::open(std::move(*access), clock_);
        EXPECT_TRUE(port.ok()) << port.error().what;
        port_ = std::move(*port);
        KubernetesSettings settings;
        settings.resource.name_space = "graph";
        connector_ = std::make_unique<KubernetesConnector>(*port_, settings);
        connector_->restart(clock_.steady_now());
    }

    Server& server() { return server_; }
    const Authority& old() const { return old_; }

    /// In one step, as Kubernetes and certificate tools do.
    void put(const std::string& name, const std::string& text) {
        const std::string fresh = folder_ / (name + ".new");
        std::ofstream(fresh) << text;
        ::chmod(fresh.c_str(), 0600);
        std::filesystem::rename(fresh, folder_ / name);
    }
    std::string path(const std::string& name) const { return folder_ / name; }
    void pass(Millis time) { clock_.advance(time); }
    /// Does the connector state a pod that it had not stated before?
    bool goes_on(int steps = 200) {
        for (int step = 0; step < steps; ++step) {
            std::vector<Fact> facts;
            connector_->step(clock_.steady_now(), Millis(100), facts);
            clock_.advance(Millis(250));  // and so what it waits for is over in a few steps
            for (const Fact& fact : facts) {
                if (fact.kind == Fact::Kind::kUpsert) return true;
            }
        }
        return false;
    }
    /// Is a certificate refused? What was on its way before that is still taken.
    bool is_refused() {
        for (int step = 0; step < 200; ++step) {
            std::vector<Fact> facts;
            connector_->step(clock_.steady_now(), Millis(100), facts);
            if (trouble().find("TLS: ") != std::string::npos) return true;
            clock_.advance(Millis(250));
        }
        return false;
    }
    std::string trouble() const { return connector_->health().trouble; }
    std::uint64_t epochs() const { return connector_->health().epochs; }

  private:
    TempDir folder_;
    ManualClock clock_;
    Authority old_;
    Server server_;
    std::unique_ptr<HttpCluster> port_;
    std::unique_ptr<KubernetesConnector> connector_;
};

// Symptom: after the authority of a cluster was replaced every connector was stale for ever.
TEST(KubernetesRotation, AnAuthorityThatIsReplacedWhileAConnectorRunsIsUsed) {
    Installation here;
    ASSERT_TRUE(here.goes_on()) << here.trouble();
    const std::uint64_t epochs = here.epochs();
    const Authority fresh("new");
    here.put("ca.crt", fresh.pem());
    here.server().present(fresh.issue());
    EXPECT_TRUE(here.goes_on()) << here.trouble();
    EXPECT_TRUE(here.goes_on()) << here.trouble();
    EXPECT_EQ(here.epochs(), epochs) << "and from where it was, without a list";
}

TEST(KubernetesRotation, ACertificateOfTheSameAuthorityIsAcceptedAtOnce) {
    Installation here;
    ASSERT_TRUE(here.goes_on()) << here.trouble();
    here.server().present(here.old().issue());
    EXPECT_TRUE(here.goes_on()) << here.trouble();
}

TEST(KubernetesRotation, ACertificateOfAnotherAuthorityIsRefusedAndNothingIsSentToIt) {
    for (const char* name :
         {"stranger", "old"}) {  // the second by its name the one that is trusted
        SCOPED_TRACE(name);
        Installation here;
        ASSERT_TRUE(here.goes_on()) << here.trouble();
        here.server().present(Authority(name).issue());
        EXPECT_TRUE(here.is_refused()) << here.trouble();
        const int before = here.server().answered();
        here.pass(kBeyondAReading);
        EXPECT_FALSE(here.goes_on(20));
        EXPECT_EQ(here.server().answered(), before) << "no token was shown to it";
        here.server().present(here.old().issue());
        EXPECT_TRUE(here.goes_on()) << here.trouble();
    }
}

TEST(KubernetesRotation, AnAuthorityThatIsTakenAwayIsNotTrustedAfterTwoMinutes) {
    Installation here;
    ASSERT_TRUE(here.goes_on()) << here.trouble();
    const Authority fresh("new");
    here.put("ca.crt", fresh.pem());
    here.pass(kBeyondAReading);
    EXPECT_TRUE(here.is_refused()) << "the server has the old certificate still";
    here.server().present(fresh.issue());
    EXPECT_TRUE(here.goes_on()) << here.trouble();
}

TEST(KubernetesRotation, ATokenThatIsReplacedIsUsedWithinAMinute) {
    Installation here;
    ASSERT_TRUE(here.goes_on()) << here.trouble();
    EXPECT_NE(here.server().last_request().find("Bearer t1\r"), std::string::npos);
    here.put("token", "t2\n");
    here.pass(Millis(61'000));
    ASSERT_TRUE(here.goes_on()) << here.trouble();
    ASSERT_TRUE(here.goes_on()) << here.trouble();
    EXPECT_NE(here.server().last_request().find("Bearer t2\r"), std::string::npos);
}

// Symptom: a pipe in place of a token or an authority held its source up for ever.
TEST(KubernetesRotation, APipeInPlaceOfAFileIsRefusedAndTheLastTokenStays) {
    Installation here;
    ASSERT_TRUE(here.goes_on()) << here.trouble();
    const TempDir folder;
    const std::string pipe = folder / "pipe";
    ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
    ClusterAccess access;
    access.server = here.server().url();
    access.token_file = pipe;
    EXPECT_EQ(HttpCluster::open(access).error().what,
              "cannot read " + pipe + ": it is not a regular file");
    for (const char* name : {"ca.crt", "token"}) {
        std::filesystem::remove(here.path(name));
        ASSERT_EQ(::mkfifo(here.path(name).c_str(), 0600), 0);
    }
    here.pass(kBeyondAReading);
    EXPECT_TRUE(here.goes_on()) << here.trouble();
    EXPECT_TRUE(here.goes_on()) << here.trouble();
    EXPECT_NE(here.server().last_request().find("Bearer t1\r"), std::string::npos);
}

}  // namespace
}  // namespace trueup::testing
