// What a policy's text is refused for, or warned of, would do harm: each file under
// tests/policies/wrong that only the checks keep from being used is used here all the same, and the
// story of its name under tests/policies/harm tells what comes of it. A text that only the
// configuration of its sources makes wrong lies beside its story (tests/apps/config/roles_test.cpp
// has what is said of it).
#include "apps/config/policy_file.h"
#include "apps/config/policy_reader.h"
#include "stories/player.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace trueup::stories {
namespace {

namespace fs = std::filesystem;

/// As it is read, whatever the checks would say of it; empty: it cannot be read.
std::optional<policy::Policy> unjudged(const fs::path& path) {
    const auto text = config::read_file(path.string(), "the policy", config::kMostPolicyBytes);
    if (!text) return std::nullopt;
    const Result<config::Tree> tree = config::read_tree(*text, path.string());
    if (!tree) return std::nullopt;
    policy::Policy policy;
    config::PolicyLines lines;
    config::Problems problems(path.string());
    config::PolicyReader(policy, lines, problems).read(*tree);
    if (!problems.none()) return std::nullopt;
    return policy;
}

/// Those that do no harm that a story could show.
const std::map<std::string, std::string>& harmless() {
    static const std::map<std::string, std::string> kHarmless{
        {"acknowledge_unknown", "a word that means nothing does nothing"},
        {"as_of_of_no_reference", "no plan compiles of it"},
        {"as_of_of_objects", "it waits for a word that does not come, or does less"},
        {"bound_by_nobody", "no plan compiles of it"},
        {"bound_by_none", "no plan compiles of it"},
        {"bound_in_a_circle", "no plan compiles of it"},
        {"now_puts_nothing_off", "an executor leaves alone what is there, and is asked for ever"},
        {"ends_in_two_ways", "no plan compiles of it"},
        {"creates_over_an_object", "no engine of this build carries it out"},
        {"creates_unnamed", "no engine of this build carries it out"},
        {"inserts_a_reference", "no engine of this build carries it out"},
        {"inserts_by_a_joined_key", "no engine of this build carries it out"},
        {"inserts_over_a_row", "no engine of this build carries it out"},
        {"inserts_unnamed", "no engine of this build carries it out"},
        {"never_reached", "it says less than its author thinks, and does no more"},
        {"never_true", "it does nothing"},
        {"surplus_without_worth", "which one is reported is left to chance"},
        {"undone_by_another",
         "its pod is of a builder, which no build has, so that one of both is off"},
        {"updates_what_it_deletes", "it is told as done, and nothing is written"},
        {"warns_about_nothing", "it finds nothing"},
        {"warns_acknowledged_nothing", "a word that means nothing does nothing"},
        {"warns_list_scan", "it costs the API server more"},
        {"warns_null_skipped", "it says less than its author thinks, and does no more"},
        {"warns_several_silences", "it does nothing"},
        {"warns_unread_claim", "it does nothing, and nobody is told why"},
        {"writes_a_reference", "no configuration lets an executor take what subjects share"},
    };
    return kHarmless;
}

std::vector<fs::path> in_order(const std::string& folder, const std::string& extension) {
    std::vector<fs::path> all;
    for (const auto& entry : fs::directory_iterator(folder)) {
        if (entry.path().extension() == extension) all.push_back(entry.path());
    }
    std::sort(all.begin(), all.end());
    return all;
}

const std::string kWrong = std::string(TRUEUP_WRONG_POLICIES) + "/wrong";
const std::string kHarm = std::string(TRUEUP_WRONG_POLICIES) + "/harm";

TEST(WithoutItsCheck, EachTextThatCanBeReadHasAStoryOfItsHarm) {
    for (const fs::path& path : in_order(kWrong, ".yaml")) {
        const std::string name = path.stem().string();
        const bool story = fs::exists(kHarm + "/" + name + ".scn");
        const bool listed = harmless().count(name) != 0;
        EXPECT_EQ(story || listed, unjudged(path).has_value())
            << name << ": write tests/policies/harm/" << name << ".scn, or why there is none";
        EXPECT_FALSE(story && listed) << name;
    }
}

class WithoutItsCheck : public ::testing::TestWithParam<fs::path> {};

TEST_P(WithoutItsCheck, ATextDoesTheHarmThatItsStoryTells) {
    const std::string name = GetParam().stem().string() + ".yaml";
    const std::string beside = kHarm + "/" + name;
    const std::string file = fs::exists(beside) ? beside : kWrong + "/" + name;
    std::optional<policy::Policy> policy = unjudged(file);
    ASSERT_TRUE(policy) << file;
    const Result<Story> story = Story::read(GetParam().string());
    ASSERT_TRUE(story) << story.error().what;
    const Trial trial = try_story(*story, *policy);
    EXPECT_EQ(trial.flaws, "") << trial.how;
}
INSTANTIATE_TEST_SUITE_P(Story, WithoutItsCheck, ::testing::ValuesIn(in_order(kHarm, ".scn")),
                         [](const auto& tested) { return tested.param.stem().string(); });

}  // namespace
}  // namespace trueup::stories
