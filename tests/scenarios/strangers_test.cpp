// Policies as people need them whose trouble stands in public issue trackers: each is written as
// its author would write it. It is carried out in its stories, or refused with the sentence in its
// first line (`# LINE: sentence`); what this release lacks for it stands in its comment.
#include "apps/config/policy_file.h"
#include "stories/player.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace trueup::stories {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kFewest = 10;

std::vector<fs::path> in_order(const fs::path& folder, const std::string& extension) {
    std::vector<fs::path> all;
    if (!fs::exists(folder)) return all;
    for (const auto& entry : fs::directory_iterator(folder)) {
        if (entry.path().extension() == extension) all.push_back(entry.path());
    }
    std::sort(all.begin(), all.end());
    return all;
}

std::vector<fs::path> strangers() { return in_order(TRUEUP_STRANGERS, ".yaml"); }

class StrangersPolicy : public ::testing::TestWithParam<fs::path> {};

TEST_P(StrangersPolicy, IsCarriedOutAsItsStoriesTellOrSaysWhatIsMissing) {
    std::ifstream file(GetParam());
    std::string first;
    std::getline(file, first);
    const auto policy = config::load_policy(GetParam().string());
    const fs::path folder = fs::path(GetParam()).replace_extension();
    if (!policy) {
        const std::string where = GetParam().string() + ":";
        EXPECT_EQ(policy.error().what,
                  where + first.substr(std::min<std::size_t>(2, first.size())));
        EXPECT_FALSE(fs::exists(folder)) << "stories that nobody can play";
        return;
    }
    const std::vector<fs::path> stories = in_order(folder, ".scn");
    EXPECT_GE(stories.size(), 3U);
    for (const fs::path& path : stories) {
        if (path.stem() == "world") continue;
        const Result<Story> story = Story::read(path.string());
        ASSERT_TRUE(story) << story.error().what;
        const Trial trial = try_story(*story, policy->policy);
        EXPECT_EQ(trial.flaws, "") << path << ": " << trial.how;
    }
}

// Texts of our own, played the same way: what several sources of a role tell counts together, and
// what many subjects share is looked up.
INSTANTIATE_TEST_SUITE_P(OfClusters, StrangersPolicy,
                         ::testing::ValuesIn(in_order(TRUEUP_CLUSTERS, ".yaml")),
                         [](const auto& tested) { return tested.param.stem().string(); });
// And what is created from a template.
INSTANTIATE_TEST_SUITE_P(OfTemplates, StrangersPolicy,
                         ::testing::ValuesIn(in_order(TRUEUP_TEMPLATES, ".yaml")),
                         [](const auto& tested) { return tested.param.stem().string(); });
INSTANTIATE_TEST_SUITE_P(Of, StrangersPolicy, ::testing::ValuesIn(strangers()),
                         [](const auto& tested) { return tested.param.stem().string(); });

TEST(StrangersPolicies, AreTenAtLeast) { EXPECT_GE(strangers().size(), kFewest); }

}  // namespace
}  // namespace trueup::stories
