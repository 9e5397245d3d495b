// Proves that the stories beside each policy notice a mistake in any word of it: each mutant
// (stories/mutants.h) makes a story go otherwise, but for those that are listed here, with why.
#include "apps/config/policy_file.h"
#include "stories/hunt.h"
#include "tests/scenarios/shipped_stories.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <iostream>
#include <string>
#include <thread>
#include <vector>

namespace trueup::stories {
namespace {

struct Known {
    std::string policy;
    std::size_t least;                 ///< mutants; fewer would ask for less than before
    std::vector<std::string> survive;  ///< none is added here without need
};

const std::vector<Known>& known() {
    static const std::vector<Known> kKnown{
        {"graph-instances",
         280,
         {// A report leans on nobody, so that it asks nobody since when.
          "rules.stopping_with_pod.since: is left out"}},
        {"storage-instances",
         134,
         {// No pattern asks for one of them.
          "roles.instances.several: is left out", "roles.orphans.several: is left out"}},
        {"processors",
         196,
         {// What has no key is alone.
          "rules.nameless_pod.when.pods: `some` becomes `one`"}},
        {"ephemeral-runners",
         83,
         {// No pattern asks for one of them.
          "roles.pods.several: is left out",
          // Where no line fits a condition is false.
          "conditions.used_up.first[2]: is left out"}},
        {"ec2-workers", 84, {}},
        {"examples/workers", 113, {}},
        {"examples/tenants", 115, {}},
        {"examples/machines",
         88,
         {// Each rule asks for a running row by itself.
          "roles.rows.live.state: 'running' is left out"}},
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
    EXPECT_FALSE(hunted.stopped);
    EXPECT_EQ(hunted.made, hunted.equal + hunted.refused + hunted.unable + hunted.played());
    std::cout << GetParam().policy << ": " << hunted.made << " mutants, " << hunted.noticed
              << " noticed by a story, " << hunted.survivors.size() << " not, " << hunted.unable
              << " of rules that this build cannot carry out\n";
}

INSTANTIATE_TEST_SUITE_P(Policy, EachMutant, ::testing::ValuesIn(known()), [](const auto& tested) {
    std::string name = tested.param.policy;
    std::replace_if(
        name.begin(), name.end(), [](char c) { return std::isalnum(c) == 0; }, '_');
    return name;
});

}  // namespace
}  // namespace trueup::stories
