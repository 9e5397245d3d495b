// Proves apps/wishes.h: what shards wish reaches connectors of other processes, and only theirs.
#include "apps/wishes.h"

#include "engine/codec/request_codec.h"
#include "tests/support/memory_log.h"

#include <gtest/gtest.h>

#include <set>

namespace trueup::apps {
namespace {

const codec::KeyRing kKeys(std::vector<codec::Key>{{"k", "a secret of sixteen bytes"}});
const codec::KeyRing kForeign(std::vector<codec::Key>{{"k", "somebody else's own secret"}});

SteadyTime at(std::int64_t ms) { return SteadyTime(Millis(ms)); }

class WishesTest : public ::testing::Test {
  protected:
    WishesTest() { read(at(0)); }

    std::set<std::string> read(SteadyTime now) {
        std::set<std::string> epochs;
        const Status step = reader_.step(now, [&](const auto& name) { epochs.insert(name); });
        EXPECT_TRUE(step.ok());
        return epochs;
    }

    testing::MemoryLog log_;
    WishReader reader_{log_, 2, kKeys};
};

TEST_F(WishesTest, AWishForAnEpochNamesItsSource) {
    WishSender(log_, 1, kKeys).say(at(0), false, {"pods"});
    EXPECT_EQ(read(at(1)), std::set<std::string>{"pods"});
    EXPECT_EQ(read(at(2)), std::set<std::string>{});
    EXPECT_FALSE(reader_.hurry(at(2)));
}

TEST_F(WishesTest, HurryLastsAWhileAndIsRepeatedWhileItIsMeant) {
    WishSender sender(log_, 0, kKeys);
    for (const std::int64_t ms : {0, 1'000, 2'000, 3'000}) sender.say(at(ms), true, {});
    EXPECT_EQ(log_.records({Topic::kRequests, 0}).size(), 2U);  // at 0 s and at 3 s
    read(at(3'000));
    EXPECT_TRUE(reader_.hurry(at(12'999)));
    EXPECT_FALSE(reader_.hurry(at(13'000)));
}

TEST_F(WishesTest, NobodyElseIsHeeded) {
    WishSender(log_, 0, kForeign).say(at(0), true, {"pods"});
    EXPECT_EQ(read(at(1)), std::set<std::string>{});
    EXPECT_FALSE(reader_.hurry(at(1)));
}

TEST_F(WishesTest, WhatWasWishedBeforeTheReaderIsOver) {
    WishSender(log_, 0, kKeys).say(at(0), true, {"pods"});
    WishReader late(log_, 2, kKeys);
    ASSERT_TRUE(late.step(at(1), [](const auto&) { ADD_FAILURE(); }).ok());
    EXPECT_FALSE(late.hurry(at(1)));
}

}  // namespace
}  // namespace trueup::apps
