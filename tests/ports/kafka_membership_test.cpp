// Proves connectors/kafka/membership.h on a real broker: the members of a group have each partition
// once, and what one leaves the others get.
#include "connectors/kafka/membership.h"
#include "tests/ports/kafka_broker.h"

#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <thread>

namespace trueup::connectors::kafka {
namespace {

constexpr std::int32_t kPartitions = 2;  // of kafka_broker.h

std::unique_ptr<Membership> must_join(const Settings& settings) {
    auto joined = Membership::join(settings, "executors", Topic::kCommands);
    if (!joined.ok()) throw std::runtime_error(joined.error().what);
    return std::move(joined).value();
}

int owned(const Membership& member) {
    int count = 0;
    for (std::int32_t p = 0; p < kPartitions; ++p) count += member.has(PartitionNumber(p)) ? 1 : 0;
    return count;
}

/// The broker waits a few seconds for members of a new group.
bool comes_true(const std::function<bool()>& wanted) {
    const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (!wanted()) {
        if (std::chrono::steady_clock::now() > limit) return false;
        std::this_thread::yield();
    }
    return true;
}

TEST(KafkaMembership, TheMembersHaveEachPartitionOnceAndOneThatLeavesGivesItsBack) {
    const Settings settings = fresh_settings();
    make_topics(settings, {Topic::kCommands});
    const auto first = must_join(settings);
    EXPECT_TRUE(comes_true([&] { return owned(*first) == 2; }));
    {
        const auto second = must_join(settings);
        EXPECT_TRUE(comes_true([&] { return owned(*first) == 1 && owned(*second) == 1; }));
        EXPECT_NE(first->has(PartitionNumber(0)), second->has(PartitionNumber(0)));
        const auto third = must_join(settings);  // more than there are partitions
        EXPECT_TRUE(comes_true([&] {
            const int all = owned(*first) + owned(*second) + owned(*third);
            return all == 2 && owned(*first) < 2 && owned(*second) < 2 && owned(*third) < 2;
        }));
    }
    EXPECT_TRUE(comes_true([&] { return owned(*first) == 2; }));
    EXPECT_EQ(first->trouble(), "");
}

}  // namespace
}  // namespace trueup::connectors::kafka
