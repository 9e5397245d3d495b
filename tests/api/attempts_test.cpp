#include "api/attempts.h"

#include <gtest/gtest.h>

#include <string>

namespace trueup::api {
namespace {

TEST(Attempts, WhoFailsMoreThanTenTimesAMinuteWaitsForItsEnd) {
    Attempts attempts;
    for (unsigned i = 0; i < Attempts::kAMinute; ++i) {
        EXPECT_EQ(attempts.failed("10.0.0.1", 100).wait, 0) << i;
    }
    EXPECT_EQ(attempts.failed("10.0.0.1", 130).wait, 30);
    EXPECT_EQ(attempts.failed("10.0.0.2", 130).wait, 0) << "another address";
    EXPECT_EQ(attempts.failed("10.0.0.1", 160).wait, 0) << "a minute later";
}

TEST(Attempts, TheTableStaysSmallHoweverManyAddressesFail) {
    Attempts attempts;
    for (int i = 0; i < 5'000; ++i) attempts.failed(std::to_string(i), i / 100);
    EXPECT_EQ(attempts.size(), Attempts::kAddresses);
}

TEST(Attempts, TheLogIsToldAFewOfAnAddressAndHowManyItWasNotTold) {
    Attempts attempts;
    unsigned told = 0;
    for (int i = 0; i < 1'000; ++i) told += attempts.failed("10.0.0.1", 100).log ? 1U : 0U;
    EXPECT_EQ(told, Attempts::kAMinute + 1);
    const Attempts::Verdict later = attempts.failed("10.0.0.1", 160);
    EXPECT_TRUE(later.log);
    EXPECT_EQ(later.unlogged, 1'000 - told);
    for (int i = 0; i < 1'000; ++i) told += attempts.failed(std::to_string(i), 230).log ? 1U : 0U;
    EXPECT_EQ(told, Attempts::kAMinute + 1 + Attempts::kLogAMinute);
}

}  // namespace
}  // namespace trueup::api
