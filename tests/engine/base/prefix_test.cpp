// Proves engine/base/prefix.h.
#include "engine/base/prefix.h"

#include "engine/base/splitmix.h"

#include <gtest/gtest.h>

#include <string>

namespace trueup {
namespace {

TEST(Prefix, IsOrderedAsTextsAre) {
    SplitMix64 random(7);
    const auto text = [&random] {
        std::string made;
        for (std::uint64_t size = random.next() % 12; size > 0; --size) {
            made += static_cast<char>("ab\xff\x01"[random.next() % 4]);
        }
        return made;
    };
    for (int i = 0; i < 20'000; ++i) {
        const std::string a = text();
        const std::string b = text();
        if (prefix_of(a) < prefix_of(b)) {
            EXPECT_LT(a, b);
        }
        if (a.substr(0, 8) == b.substr(0, 8)) {
            EXPECT_EQ(prefix_of(a), prefix_of(b));
        }
        const bool told_apart = a.size() == b.size() && a.size() <= 8;
        if (told_apart && prefix_of(a) == prefix_of(b)) {
            EXPECT_EQ(a, b);
        }
    }
}

TEST(Prefix, OfAShortTextTheRestIsZeros) {
    EXPECT_EQ(prefix_of(""), 0U);
    EXPECT_EQ(prefix_of("a"), 0x6100000000000000U);
    EXPECT_EQ(prefix_of("abcde"), 0x6162636465000000U);
    EXPECT_EQ(prefix_of("abcdefgh"), prefix_of("abcdefghi"));
}

}  // namespace
}  // namespace trueup
