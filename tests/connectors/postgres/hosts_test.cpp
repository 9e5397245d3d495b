// Proves connectors/postgres/hosts.h, and that the transport goes by it: who may answer, and which
// host is asked. Sockets on loopback that never say a word stand for servers.
#include "connectors/postgres/hosts.h"

#include "connectors/postgres/transport.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace trueup::connectors::postgres {
namespace {

std::string flaw(const Keywords& keywords) {
    const Status judged = judge_tls(keywords);
    return judged ? std::string() : judged.error().what;
}

/// A port that takes connections and says nothing.
class Silent {
  public:
    Silent() {
        socket_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        socklen_t size = sizeof address;
        auto* const plain = reinterpret_cast<sockaddr*>(&address);
        EXPECT_EQ(::bind(socket_, plain, size), 0);
        EXPECT_EQ(::listen(socket_, 8), 0);
        EXPECT_EQ(::getsockname(socket_, plain, &size), 0);
        port = ntohs(address.sin_port);
    }
    ~Silent() { ::close(socket_); }
    Silent(const Silent&) = delete;
    Silent& operator=(const Silent&) = delete;
    bool was_called() const {
        const int caller = ::accept4(socket_, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
        if (caller >= 0) ::close(caller);
        return caller >= 0;
    }
    int port = 0;

  private:
    int socket_ = -1;
};

/// The error of a first call.
Error failure_of(const std::string& conninfo, bool any_tls = false) {
    auto database = LibpqDatabase::open(conninfo, any_tls).value();
    database->insert_lsn(1, {});
    std::vector<ports::DatabaseEvent> events;
    for (int i = 0; i < 300 && events.empty(); ++i) database->poll(Millis(100), events);
    return events.empty() ? Error{Next::kRetry, Code::kTimeout, "no answer"} : events.back().error;
}

TEST(PostgresHosts, OnlyAServerThatProvesWhoItIsOrThisMachineIsSpokenTo) {
    EXPECT_EQ(flaw({{"host", "db.example.com"}, {"sslmode", "verify-full"}}), "");
    for (const char* host : {"127.0.0.1", "localhost", "::1", "/run/postgresql", "@abstract", ""}) {
        EXPECT_EQ(flaw({{"host", host}, {"sslmode", "prefer"}}), "") << host;
    }
    EXPECT_EQ(flaw({{"host", "db.example.com"}, {"sslmode", "prefer"}}),
              "the connection to db.example.com has sslmode=prefer, which lets anyone on the "
              "network answer in the server's place, or read along; write sslmode=verify-full "
              "sslrootcert=FILE in the connection string, or add acknowledge: [sslmode]");
    for (const char* mode : {"disable", "allow", "require", "verify-ca"}) {
        EXPECT_NE(flaw({{"host", "db"}, {"sslmode", mode}}), "") << mode;
    }
    EXPECT_NE(flaw({{"host", "127.evil.example"}}), "");
    EXPECT_NE(flaw({{"host", "localhost,db"}}), "") << "each host counts";
    EXPECT_NE(flaw({{"host", "localhost"}, {"hostaddr", "10.0.0.1"}}), "") << "goes to the address";
    EXPECT_EQ(flaw({{"host", "db"}, {"hostaddr", "127.0.0.1"}}), "");
}

// Symptom: sslmode was libpq's `prefer`, and the password went to whoever answered.
TEST(PostgresHosts, WhatLibpqMakesOfServiceFilesAndTheEnvironmentCounts) {
    const std::string services =
        (std::filesystem::temp_directory_path() / ("trueup_services_" + std::to_string(getpid())))
            .string();
    std::ofstream(services) << "[far]\nhost=192.0.2.1\nsslmode=prefer\n";
    ::setenv("PGSERVICEFILE", services.c_str(), 1);
    const Error far = failure_of("service=far user=u password=p");
    EXPECT_EQ(far.next, Next::kStop);
    EXPECT_NE(far.what.find("192.0.2.1 has sslmode=prefer"), std::string::npos) << far.what;
    ::setenv("PGHOSTADDR", "192.0.2.2", 1);
    const Error moved = failure_of("host=localhost user=u password=p");
    EXPECT_NE(moved.what.find("sslmode=prefer"), std::string::npos) << moved.what;
    ::unsetenv("PGHOSTADDR");
    ::setenv("PGHOST", "192.0.2.3", 1);
    const Error filled = failure_of("host=127.0.0.1, port=1 user=u password=p");
    EXPECT_NE(filled.what.find("192.0.2.3 has sslmode=prefer"), std::string::npos) << filled.what;
    ::unsetenv("PGHOST");
    ::unsetenv("PGSERVICEFILE");
    std::filesystem::remove(services);
}

// Symptom: while the first host was silent, the second one was never asked: ten seconds later it
// was the first one's turn again.
TEST(PostgresHosts, AHostThatIsSilentIsFollowedByTheNextOne) {
    const Silent first;
    const Silent second;
    const Error failed =
        failure_of("host=127.0.0.1,127.0.0.1 port=" + std::to_string(first.port) + "," +
                   std::to_string(second.port) + " user=u password=secret connect_timeout=2");
    EXPECT_TRUE(first.was_called());
    EXPECT_TRUE(second.was_called());
    EXPECT_EQ(failed.what,
              "PostgreSQL gave no answer in 2 s; before it 127.0.0.1: gave no answer in 2 s");
    EXPECT_EQ(failed.next, Next::kRetry);
}

TEST(PostgresHosts, AHostThatRefusesIsFollowedByTheNextOne) {
    const Silent second;
    const Error failed = failure_of("host=127.0.0.1,127.0.0.1 port=1," +
                                    std::to_string(second.port) + " user=u connect_timeout=2");
    EXPECT_TRUE(second.was_called());
    EXPECT_NE(failed.what.find("efused"), std::string::npos) << failed.what;
}

TEST(PostgresHosts, EachHostIsTriedAsLibpqWouldTryAll) {
    const Keywords two = {{"host", "a,b"}, {"port", "1,2"}, {"service", "s"}, {"user", "u"}};
    auto targets = one_by_one(two);
    ASSERT_EQ(targets.size(), 2U);
    EXPECT_EQ(value_of(targets[0], "host") + value_of(targets[0], "port"), "a1");
    EXPECT_EQ(value_of(targets[1], "host") + value_of(targets[1], "port"), "b2");
    EXPECT_EQ(value_of(targets[1], "service"), "");
    EXPECT_EQ(value_of(targets[1], "user"), "u");
    Keywords with = two;
    with.emplace_back("target_session_attrs", "read-write");
    EXPECT_EQ(value_of(one_by_one(with)[1], "target_session_attrs"), "read-write");
    with.back().second = "prefer-standby";
    targets = one_by_one(with);
    ASSERT_EQ(targets.size(), 4U);
    EXPECT_EQ(value_of(targets[1], "target_session_attrs"), "standby");
    EXPECT_EQ(value_of(targets[2], "target_session_attrs"), "any");
    EXPECT_EQ(value_of(one_by_one({{"host", "a,b"}, {"port", "7"}})[1], "port"), "7");
    EXPECT_EQ(one_by_one({{"host", "a"}}).size(), 1U);
    EXPECT_EQ(one_by_one({}).size(), 1U);
    EXPECT_EQ(one_by_one({{"hostaddr", "10.0.0.1,10.0.0.2"}}).size(), 2U);
}

TEST(PostgresHosts, SeveralHostsShareTheTimeOfOne) {
    using std::chrono::seconds;
    EXPECT_EQ(connect_limit({}, 1), seconds(10));
    EXPECT_EQ(connect_limit({}, 2), seconds(3));
    EXPECT_EQ(connect_limit({{"connect_timeout", "1"}}, 2), seconds(2));
    EXPECT_EQ(connect_limit({{"connect_timeout", "20"}}, 1), seconds(20));
}

}  // namespace
}  // namespace trueup::connectors::postgres
