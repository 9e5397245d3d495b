// Proves core/evaluate.h against the naive reader of texts (naive/naive_policy.h): over random
// subjects and sources the two say the same of each rule of each policy that is shipped.
#include "apps/config/policy_file.h"
#include "tests/scenarios/both_readers.h"
#include "tests/scenarios/tell_policy.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <random>
#include <string>
#include <vector>

namespace trueup::testing {
namespace {

std::vector<std::filesystem::path> policies() {
    std::vector<std::filesystem::path> all;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(TRUEUP_POLICIES)) {
        if (entry.path().extension() == ".yaml") all.push_back(entry.path());
    }
    std::sort(all.begin(), all.end());
    return all;
}

/// A rule that does something, and never did.
std::string idle(const policy::Policy& text, const Shares& shares) {
    for (const policy::Rule& rule : text.rules) {
        if (rule.name == "auto_deletion") continue;  // nine lines and three other objects deep
        const bool acts = rule.cases.front().acts();
        if (acts && shares.acted.count(rule.name) == 0) return rule.name;
    }
    return {};
}

class Evaluation : public ::testing::TestWithParam<std::filesystem::path> {};

TEST_P(Evaluation, SaysWhatTheNaiveReaderSays) {
    auto file = config::load_policy(GetParam().string());
    ASSERT_TRUE(file) << file.error().what;
    const policy::Policy& text = file->policy;
    const std::size_t first = as_told("TRUEUP_RANDOM_SEED", std::random_device{}());
    std::cout << "seed " << first << std::endl;
    Shares shares;
    // What acts seldom is given some more worlds.
    for (std::size_t seed = first;
         seed < first + 50 || (!idle(text, shares).empty() && seed < first + 500); ++seed) {
        RandomWorlds worlds(text, seed);
        const Result<core::Plan> plan = core::compile(text, worlds.settings());
        ASSERT_TRUE(plan) << plan.error().what;
        for (int i = 0; i < 60; ++i) {
            const RandomWorld world = worlds.draw();
            ASSERT_EQ(disagreement(text, *plan, worlds.settings(), world, shares), "")
                << "seed " << seed << ", world " << i << '\n'
                << told(text, worlds.settings(), world);
        }
    }
    std::cout << shares.told() << std::endl;
    EXPECT_EQ(idle(text, shares), "") << "never acted: these worlds are none for it";
}

INSTANTIATE_TEST_SUITE_P(Policies, Evaluation, ::testing::ValuesIn(policies()),
                         [](const auto& tested) {
                             std::string name = tested.param.stem().string();
                             std::replace(name.begin(), name.end(), '-', '_');
                             return name;
                         });

}  // namespace
}  // namespace trueup::testing
