// Proves engine/base/id.h: identities are the same on every machine (design §3, §5).
#include "engine/base/id.h"

#define XXH_INLINE_ALL
#define XXH_VECTOR XXH_SCALAR
#include <gtest/gtest.h>
#include <xxhash.h>

#include <cstdint>
#include <string>
#include <type_traits>

namespace trueup {
namespace {

// From the unit tests of Kafka's Java client.
TEST(Murmur2, AgreesWithKafkasJavaClient) {
    const auto murmur = [](std::string_view key) {
        return static_cast<std::int32_t>(murmur2(key));
    };
    EXPECT_EQ(murmur("21"), -973932308);
    EXPECT_EQ(murmur("foobar"), -790332482);
    EXPECT_EQ(murmur("a-little-bit-long-string"), -985981536);
    EXPECT_EQ(murmur("a-little-bit-longer-string"), -1486304829);
    EXPECT_EQ(murmur("lkjh234lh9fiuh90y23oiuhsafujhadof229phr9h19h89h8"), -58897971);
    EXPECT_EQ(murmur("abc"), 479470107);
}

TEST(Murmur2, PartitionsAreNeverNegative) {
    for (int i = 0; i < 1000; ++i) {
        const std::int32_t partition = partition_of("key-" + std::to_string(i), 7).value();
        EXPECT_GE(partition, 0);
        EXPECT_LT(partition, 7);
    }
    EXPECT_EQ(partition_of("foobar", 1), PartitionNumber(0));
    EXPECT_EQ(partition_of("21", 16).value(), (-973932308 & 0x7fffffff) % 16);
}

TEST(Hash128, IsTheSameOnEveryMachine) {
    // XXH3-128 of nothing, and of one byte, as xxhash's own specification lists them.
    EXPECT_EQ(to_hex(hash128("")), "99aa06d3014798d86001c324468d497f");
    EXPECT_NE(hash128("a"), hash128("b"));
    EXPECT_NE(hash128("a", 1), hash128("a", 2));
}

// By whichever instructions the processor has: a journal is read on another one.
TEST(Hash128, IsTheSameByWideInstructionsAndByNone) {
    std::string bytes;
    for (std::size_t size = 0; size < 9'000; size += size < 300 ? 1 : 61) {
        while (bytes.size() < size) bytes += static_cast<char>(bytes.size() * 131 >> 3U);
        for (const std::uint64_t seed : {std::uint64_t{0}, std::uint64_t{1} << 40U}) {
            const XXH128_hash_t scalar = XXH3_128bits_withSeed(bytes.data(), size, seed);
            ASSERT_EQ(hash128({bytes.data(), size}, seed), (Hash128{scalar.high64, scalar.low64}))
                << size;
        }
    }
}

TEST(Hash128, CombineDependsOnTheOrder) {
    const Hash128 a = hash128("a");
    const Hash128 b = hash128("b");
    EXPECT_NE(combine(a, b), combine(b, a));
    EXPECT_EQ(combine(a, b), combine(a, b));
}

TEST(Hash128, SumsCarryAndDoNotDependOnTheOrder) {
    Hash128 sum{0, ~std::uint64_t{0}};
    sum += Hash128{0, 1};
    EXPECT_EQ(sum, (Hash128{1, 0}));
    sum -= Hash128{0, 1};
    EXPECT_EQ(sum, (Hash128{0, ~std::uint64_t{0}}));

    Hash128 forward;
    Hash128 backward;
    for (int i = 0; i < 100; ++i) forward += hash128(std::to_string(i));
    for (int i = 99; i >= 0; --i) backward += hash128(std::to_string(i));
    EXPECT_EQ(forward, backward);
    for (int i = 0; i < 100; ++i) backward -= hash128(std::to_string(i));
    EXPECT_TRUE(backward.none());
}

TEST(Hash128, HexGoesBothWays) {
    const Hash128 id{0x0123456789abcdef, 0xfedcba9876543210};
    EXPECT_EQ(to_hex(id), "0123456789abcdeffedcba9876543210");
    EXPECT_EQ(hash_from_hex(to_hex(id)), id);
    EXPECT_EQ(hash_from_hex("00000000000000000000000000000000"), Hash128{});
}

TEST(Hash128, NothingElseIsHex) {
    EXPECT_FALSE(hash_from_hex(""));
    EXPECT_FALSE(hash_from_hex("0123456789ABCDEFfedcba9876543210"));
    EXPECT_FALSE(hash_from_hex("0123456789abcdeffedcba987654321"));
    EXPECT_FALSE(hash_from_hex("0123456789abcdeffedcba98765432100"));
    EXPECT_FALSE(hash_from_hex("0123456789abcdef fedcba987654321"));
}

TEST(Offset, IsNoCountAndGoesOnByItsFunctions) {
    EXPECT_FALSE((std::is_convertible_v<std::int64_t, Offset>));
    EXPECT_FALSE((std::is_convertible_v<Offset, std::int64_t>));
    EXPECT_EQ(next(kNoOffset), kFirstOffset);
    EXPECT_EQ(previous(kFirstOffset), kNoOffset);
    EXPECT_EQ(further(Offset(5), -2), Offset(3));
    EXPECT_EQ(distance(Offset(3), Offset(5)), 2);
    EXPECT_EQ(distance(Offset(5), Offset(3)), -2);
    EXPECT_LT(kFirstOffset, kBeyondOffsets);
}

}  // namespace
}  // namespace trueup
