// Proves of connectors/postgres/transport.h what needs no server: a wait for it can be ended.
#include "connectors/postgres/transport.h"

#include <gtest/gtest.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <chrono>
#include <thread>
#include <vector>

namespace trueup::connectors::postgres {
namespace {

constexpr Millis kForEver = std::chrono::hours(1);

TEST(PostgresTransport, AWakeEndsThePollThatWaits) {
    const auto database = LibpqDatabase::open("host=127.0.0.1 port=1 dbname=none", false);
    ASSERT_TRUE(database.ok());
    std::vector<ports::DatabaseEvent> events;
    std::thread waker([&] { (*database)->wake(); });
    (*database)->poll(kForEver, events);  // nothing else ends it
    waker.join();
    EXPECT_TRUE(events.empty());
}

TEST(PostgresTransport, AWakeThatComesBeforeThePollEndsOne) {
    const auto database = LibpqDatabase::open("host=127.0.0.1 port=1 dbname=none", false);
    ASSERT_TRUE(database.ok());
    std::vector<ports::DatabaseEvent> events;
    (*database)->wake();
    (*database)->wake();
    (*database)->poll(kForEver, events);
    std::thread waker([&] { (*database)->wake(); });
    (*database)->poll(kForEver, events);
    waker.join();
    EXPECT_TRUE(events.empty());
}

// Two ports of one executor were looked at a thousand times a second in turn.
TEST(PostgresTransport, AWaitEndsForTheSocketOfAnotherPort) {
    const auto database = LibpqDatabase::open("host=127.0.0.1 port=1 dbname=none", false);
    ASSERT_TRUE(database.ok());
    const int socket = eventfd(0, EFD_CLOEXEC);
    std::vector<ports::DatabaseEvent> events;
    std::thread answer([&] { eventfd_write(socket, 1); });
    (*database)->poll_beside({{{socket, POLLIN, 0}}}, kForEver, events);  // nothing else ends it
    answer.join();
    (*database)->poll_beside({{}, Millis(0)}, kForEver, events);  // the other one is due
    ::close(socket);
    EXPECT_TRUE(events.empty());
}

}  // namespace
}  // namespace trueup::connectors::postgres
