// Proves apps/process.h: which shards an engine runs.
#include "apps/process.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <initializer_list>
#include <vector>

namespace trueup::apps {
namespace {

std::vector<PartitionNumber> shards(std::initializer_list<std::int32_t> numbers) {
    return {numbers.begin(), numbers.end()};
}

TEST(ParseShards, RangesAndNumbersAscendingEachOnce) {
    EXPECT_EQ(parse_shards("0-3", 8).value(), shards({0, 1, 2, 3}));
    EXPECT_EQ(parse_shards("7,2", 8).value(), shards({2, 7}));
    EXPECT_EQ(parse_shards("1-2,2-4,0", 8).value(), shards({0, 1, 2, 3, 4}));
}

TEST(ParseShards, NothingMeansAll) { EXPECT_EQ(parse_shards("", 3).value(), shards({0, 1, 2})); }

TEST(ParseShards, AnythingElseIsRefusedInOneSentence) {
    for (const char* text : {"4", "0-4", "3-1", "-1", "a", "1-", "1,,2", " 1", "0x1"}) {
        const auto shards = parse_shards(text, 4);
        ASSERT_FALSE(shards.ok()) << text;
        EXPECT_EQ(shards.error().what, "--shards is '" + std::string(text) +
                                           "'; write numbers from 0 to 3, as 0-3 or 0,2");
    }
}

}  // namespace
}  // namespace trueup::apps
