// Proves core/evaluate.h, and what counts and ledgers are by core/facts.h, against the naive reader
// of texts over random policies: whatever a policy asks, both say the same of every rule, count and
// end of random worlds. TRUEUP_RANDOM_POLICIES: how many (10,000 is the long form);
// TRUEUP_RANDOM_SEED: the first one.
#include "tests/scenarios/both_readers.h"
#include "tests/scenarios/tell_policy.h"

#include <gtest/gtest.h>

#include <iostream>
#include <random>

namespace trueup::testing {
namespace {

constexpr std::size_t kWorlds = 8;  ///< of each policy

TEST(RandomPolicies, MeanWhatTheNaiveReaderSays) {
    const std::size_t policies = as_told("TRUEUP_RANDOM_POLICIES", 1'500);
    const std::size_t first = as_told("TRUEUP_RANDOM_SEED", std::random_device{}());
    std::cout << policies << " policies from seed " << first << std::endl;
    Shares shares;
    std::size_t wrong = 0;
    for (std::size_t seed = first; seed < first + policies && wrong < 5; ++seed) {
        const policy::Policy text = naive::random_policy(seed);
        RandomWorlds worlds(text, seed);
        const Result<core::Plan> plan = core::compile(text, worlds.settings());
        ASSERT_TRUE(plan) << "seed " << seed << ": " << plan.error().what;
        for (std::size_t i = 0; i < kWorlds; ++i) {
            const RandomWorld world = worlds.draw();
            const std::string what = disagreement(text, *plan, worlds.settings(), world, shares);
            if (what.empty()) continue;
            ++wrong;
            ADD_FAILURE() << "seed " << seed << ", world " << i << ": " << what << '\n'
                          << told(text, worlds.settings(), world);
            break;
        }
    }
    std::cout << shares.told() << std::endl;
    if (wrong > 0) return;
    // Where hardly any rule comes to its end, equality says nothing.
    EXPECT_GT(shares.acts * 100, shares.all() * 3);
    EXPECT_GT(shares.waits * 100, shares.all() * 3);
    EXPECT_GT(shares.abstains * 100, shares.all() * 5);
    EXPECT_GT(shares.healthy * 100, shares.all() * 20);
    EXPECT_GT(shares.counted, policies / 5);
    EXPECT_GT(shares.ended, policies / 20);
}

}  // namespace
}  // namespace trueup::testing
