// Proves engine/runtime/source_hints.h: what shards need reaches connectors of other processes, and
// only theirs.
#include "engine/runtime/source_hints.h"

#include "engine/codec/request_codec.h"
#include "tests/support/manual_clock.h"
#include "tests/support/memory_log.h"

#include <gtest/gtest.h>

#include <set>

namespace trueup::runtime {
namespace {

const codec::KeyRing kKeys(std::vector<codec::Key>{{"k", "a secret of sixteen bytes"}});
const codec::KeyRing kForeign(std::vector<codec::Key>{{"k", "somebody else's own secret"}});

SteadyTime at(std::int64_t ms) { return SteadyTime(Millis(ms)); }

class SourceHintsTest : public ::testing::Test {
  protected:
    SourceHintsTest() { read(at(0)); }

    std::set<std::string> read(SteadyTime now) {
        std::set<std::string> epochs;
        const Status step = reader_.step(now, [&](const auto& name) { epochs.insert(name); });
        EXPECT_TRUE(step.ok());
        return epochs;
    }

    SourceHintSender sender(std::int32_t shard, const codec::KeyRing& keys = kKeys) {
        return {log_, PartitionNumber(shard), keys, clock_, 1};
    }

    trueup::testing::ManualClock clock_;
    trueup::testing::MemoryLog log_;
    SourceHintReader reader_{log_, 2, kKeys};
};

TEST_F(SourceHintsTest, AHintForAnEpochNamesItsSource) {
    sender(1).say(false, {"pods"});
    EXPECT_EQ(read(at(1)), std::set<std::string>{"pods"});
    EXPECT_EQ(read(at(2)), std::set<std::string>{});
    EXPECT_FALSE(reader_.hurry(at(2)));
}

TEST_F(SourceHintsTest, HurryLastsAWhileAndIsRepeatedWhileItIsMeant) {
    SourceHintSender shard = sender(0);
    for (int second = 0; second <= 3; ++second) {
        shard.say(true, {});
        clock_.advance(Millis{1'000});
    }
    EXPECT_EQ(log_.records({Topic::kRequests, PartitionNumber(0)}).size(),
              2U);  // at 0 s and at 3 s
    read(at(3'000));
    EXPECT_TRUE(reader_.hurry(at(12'999)));
    EXPECT_FALSE(reader_.hurry(at(13'000)));
}

TEST_F(SourceHintsTest, NobodyElseIsHeeded) {
    sender(0, kForeign).say(true, {"pods"});
    EXPECT_EQ(read(at(1)), std::set<std::string>{});
    EXPECT_FALSE(reader_.hurry(at(1)));
}

TEST_F(SourceHintsTest, WhatWasSaidBeforeTheReaderIsOver) {
    sender(0).say(true, {"pods"});
    SourceHintReader late(log_, 2, kKeys);
    ASSERT_TRUE(late.step(at(1), [](const auto&) { ADD_FAILURE(); }).ok());
    EXPECT_FALSE(late.hurry(at(1)));
}

}  // namespace
}  // namespace trueup::runtime
