// Proves engine/base/named.h: what is named is told apart by the compiler and costs nothing.
#include "engine/base/named.h"

#include "engine/base/id.h"

#include <gtest/gtest.h>

#include <compare>
#include <cstdint>
#include <functional>
#include <type_traits>
#include <unordered_set>

namespace trueup {
namespace {

using Apple = Named<Hash128, struct AppleTag>;
using Pear = Named<Hash128, struct PearTag>;
using Count = Named<std::int32_t, struct CountTag>;

TEST(Named, IsNeitherItsValueNorAnotherName) {
    EXPECT_FALSE((std::is_convertible_v<Hash128, Apple>));
    EXPECT_FALSE((std::is_convertible_v<Apple, Hash128>));
    EXPECT_FALSE((std::is_constructible_v<Apple, Pear>));
    EXPECT_FALSE((std::is_assignable_v<Apple&, Pear>));
    EXPECT_FALSE((std::is_assignable_v<Apple&, Hash128>));
    EXPECT_FALSE((std::is_invocable_v<std::equal_to<>, Apple, Pear>));
}

TEST(Named, IsMadeOfItsValueWhereThatIsWritten) {
    const Apple apple({1, 2});
    EXPECT_EQ(apple.value(), (Hash128{1, 2}));
    EXPECT_EQ(Apple(apple.value()), apple);
}

TEST(Named, ComparesAsItsValueDoes) {
    EXPECT_LT(Apple({1, 9}), Apple({2, 0}));
    EXPECT_EQ(Count(3) <=> Count(3), std::strong_ordering::equal);
    EXPECT_GT(Count(4), Count(-4));
}

TEST(Named, WithoutAValueItIsNone) {
    EXPECT_TRUE(Apple().none());
    EXPECT_FALSE(Apple({0, 1}).none());
    EXPECT_EQ(Count().value(), 0);
}

TEST(Named, HashesAsItsValueDoes) {
    std::unordered_set<Count> seen{Count(1), Count(2), Count(1)};
    EXPECT_EQ(seen.size(), 2U);
}

TEST(Named, IsNoLargerAndCopiedAsItsValueIs) {
    EXPECT_EQ(sizeof(Apple), sizeof(Hash128));
    EXPECT_TRUE(std::is_trivially_copyable_v<Apple>);
    constexpr Count kFolded(7);
    static_assert(kFolded.value() == 7);
}

}  // namespace
}  // namespace trueup
