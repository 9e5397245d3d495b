// Proves engine/base/suggest.h: the word that was probably meant.
#include "engine/base/suggest.h"

#include <gtest/gtest.h>

namespace trueup {
namespace {

TEST(Suggest, NearestIsWhatWasProbablyMeant) {
    const std::vector<std::string> known{"grace", "create_window", "mode"};
    EXPECT_EQ(nearest("gracee", known), "grace");
    EXPECT_EQ(nearest("craete_window", known), "create_window");
    EXPECT_EQ(nearest("createwindow", known), "create_window");
    EXPECT_EQ(nearest("Mode", known), "mode");
    EXPECT_EQ(nearest("colour", known), "");
    EXPECT_EQ(nearest("a", {"b"}), "");
    EXPECT_EQ(nearest(std::string(10'000, 'x'), known), "");
}

TEST(Suggest, TheOnlyOneThatBeginsLikeItIsMeantToo) {
    EXPECT_EQ(nearest("orphan", {"orphaned_pod", "missing_pod"}), "orphaned_pod");
    EXPECT_EQ(nearest("source", {"source_lag_seconds", "source_answering_seconds"}), "");
    EXPECT_EQ(nearest("policy", {"version", "policies", "sources"}), "policies");
}

TEST(Suggest, WithoutANearOneAllAreNamed) {
    EXPECT_EQ(did_you_mean("gracee", {"grace", "mode"}), "did you mean 'grace'?");
    EXPECT_EQ(did_you_mean("colour", {"grace", "mode"}), "known are grace and mode");
}

}  // namespace
}  // namespace trueup
