// Proves engine/base/splitmix.h: the published sequence, on every platform, so that a seed repeats
// its run wherever it is tried.
#include "engine/base/splitmix.h"

#include <gtest/gtest.h>

namespace trueup {
namespace {

TEST(SplitMix64, DrawsThePublishedSequence) {
    SplitMix64 zero(0);
    EXPECT_EQ(zero.next(), 0xe220a8397b1dcdafU);
    EXPECT_EQ(zero.next(), 0x6e789e6aa1b965f4U);
    EXPECT_EQ(zero.next(), 0x06c45d188009454fU);
}

TEST(SplitMix64, ACopyGoesOnByItself) {
    SplitMix64 one(7);
    SplitMix64 other = one;
    EXPECT_EQ(one.next(), other.next());
    EXPECT_EQ(one.next(), other.next());
}

}  // namespace
}  // namespace trueup
