// Proves that the stories beside each policy notice a mistake in any word of it: each mutant
// (stories/mutants.h) makes a story go otherwise, but for those that are listed here, with why.
#include "apps/config/policy_file.h"
#include "stories/hunt.h"
#include "tests/scenarios/shipped_stories.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <thread>
#include <vector>

namespace trueup::stories {
namespace {

struct Known {
    std::string policy;
    std::size_t least;               ///< mutants; fewer would ask for less than before
    std::vector<std::string> survive;  ///< none is added here without need
};

const std::vector<Known>& known() {
    static const std::vector<Known> kKnown{
        {"graph-instances", 0, {}},
        {"storage-instances", 0, {}},
        {"processors", 0, {}},
        {"ephemeral-runners", 0, {}},
        {"ec2-workers", 0, {}},
        {"examples/workers", 0, {}},
    };
    return kKnown;
}

class EachMutant : public ::testing::TestWithParam<Known> {};

TEST_P(EachMutant, IsNoticedByAStoryOrIsListed) {
    const std::string path = std::string(TRUEUP_POLICIES) + "/" + GetParam().policy + ".yaml";
    const auto file = config::load_policy(path);
    ASSERT_TRUE(file) << file.error().what;
    const Hunted hunted = hunt(file->policy, read_stories(GetParam().policy),
                               {std::max(1U, std::thread::hardware_concurrency()), nullptr});
    std::vector<std::string> survivors;
    for (const Mutant& mutant : hunted.survivors) survivors.push_back(mutant.text());
    EXPECT_EQ(survivors, GetParam().survive);
    EXPECT_GE(hunted.made, GetParam().least);
    RecordProperty("made", static_cast<int>(hunted.made));
    std::cout << hunted.made << " made, " << hunted.equal << " equal, " << hunted.refused
              << " refused, " << hunted.unable << " unable, " << hunted.noticed << " noticed, "
              << hunted.survivors.size() << " survive\n";
    for (const std::string& survivor : survivors) std::cout << "S " << survivor << '\n';
}

INSTANTIATE_TEST_SUITE_P(Policy, EachMutant, ::testing::ValuesIn(known()), [](const auto& tested) {
    std::string name = tested.param.policy;
    std::replace_if(
        name.begin(), name.end(), [](char c) { return std::isalnum(c) == 0; }, '_');
    return name;
});

}  // namespace
}  // namespace trueup::stories
