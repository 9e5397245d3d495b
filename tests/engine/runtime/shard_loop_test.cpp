// Proves engine/runtime/shard_loop.h.
#include "engine/runtime/shard_loop.h"

#include "engine/core/rule_text.h"
#include "tests/engine/runtime/shard_fixture.h"
#include "tests/engine/runtime/wrapped_store.h"

#include <gtest/gtest.h>

#include <memory>
#include <set>
#include <string>
#include <vector>

namespace trueup::runtime::testing {
namespace {

class ShardLoopTest : public ::testing::Test {
  protected:
    void open() {
        shard = fixture.open(&store);
        ShardLoopSettings settings;
        settings.on_quiet = [this](const ShardStatus& status, const auto& wanted) {
            awaited.push_back(status.proof_awaited);
            for (const std::string& source : wanted) listed_again.push_back(source);
        };
        settings.on_settings = [this](const Settings& before, const Settings& now) {
            stopped.push_back(core::stopped_rules(before, now));
            return hears;
        };
        settings.on_failure = [this](const Error& error) { failures.push_back(error.next); };
        loop = std::make_unique<ShardLoop>(*shard, fixture.log, std::move(settings));
    }
    void steps(int n) {
        for (int i = 0; i < n; ++i) loop->step(Millis{0});
    }

    void live() {
        for (int i = 0; i < 5; ++i) {
            fixture.pass(Millis{100});
            steps(1);
        }
    }

    WrappedStore store;
    ShardFixture fixture;
    std::unique_ptr<Shard> shard;
    std::unique_ptr<ShardLoop> loop;
    std::vector<bool> awaited;
    std::vector<std::string> listed_again;
    std::vector<Next> failures;
    std::vector<std::set<std::string>> stopped;
    bool hears = true;
};

TEST_F(ShardLoopTest, ARoundGoesOnUntilNothingIsLeftToDo) {
    open();
    fixture.all_known({pod("wrapper-a", "u1", 5)}, {});
    fixture.settle(*shard);
    fixture.pass(Millis{1'000});
    fixture.pods.say(pod("wrapper-b", "u2", 6));
    fixture.publish();
    steps(2);  // what is in the log is journaled by the first one and folded by the second
    EXPECT_EQ(shard->status().meta.subjects, 2U);
    EXPECT_FALSE(awaited.empty());
}

TEST_F(ShardLoopTest, ASourceThatOnlyAnEpochCanHealIsNamedOnce_S4) {
    open();
    std::vector<Fact> many;
    for (int i = 0; i < 20; ++i) {
        many.push_back(pod("w" + std::to_string(i), "u" + std::to_string(i), 5));
    }
    fixture.all_known(many, {});
    live();
    EXPECT_EQ(listed_again, std::vector<std::string>{});
    fixture.pods.say(epoch_begins(30)).say(epoch_ends());
    fixture.publish();
    live();
    EXPECT_EQ(listed_again, std::vector<std::string>{"pods"});
}

// Symptom: what a rule had ordered was carried out after it had left the policy, and so was what
// another engine had ordered by a former text for as long as it led.
TEST_F(ShardLoopTest, WhoLeadsSaysWhichRulesStoppedUntilThatIsHeard) {
    open();
    fixture.all_known({}, {});
    live();
    EXPECT_EQ(stopped.size(), 1U);
    loop.reset();
    ASSERT_TRUE(shard->stop().ok());
    shard.reset();
    Settings& policy = fixture.settings.policy;
    policy::Policy text = *policy.text;
    const std::string left = text.rules.back().name;
    text.rules.pop_back();
    policy.text = std::move(text);
    std::erase_if(policy.rules, [&](const RuleSettings& rule) { return rule.rule == left; });
    stopped.clear();
    hears = false;
    open();
    live();
    ASSERT_GT(stopped.size(), 1U);
    EXPECT_EQ(stopped.front().count(left), 1U);
    EXPECT_EQ(stopped.front().count("orphaned_pod"), 0U);
    hears = true;
    live();
    const std::size_t said = stopped.size();
    live();
    EXPECT_EQ(stopped.size(), said);
}

TEST_F(ShardLoopTest, AfterAStopItWaitsForNothing) {
    open();
    fixture.settle(*shard);
    fixture.log.block_in_wait(true);
    loop->begin_stop();
    loop->step(std::chrono::hours(1));  // comes back
    EXPECT_TRUE(awaited.empty());
}

TEST_F(ShardLoopTest, AfterAFailureItTriesAgain) {
    open();
    steps(3);
    fixture.log.fail_reads(1);
    steps(1);
    EXPECT_EQ(failures, std::vector<Next>{Next::kRetry});
    EXPECT_EQ(loop->fatal(), "");
    fixture.all_known({pod("wrapper-a", "u1", 5)}, {});
    live();
    EXPECT_EQ(shard->status().meta.subjects, 1U);
}

TEST_F(ShardLoopTest, AfterAFinalFailureItDoesNothingAndNeedsNothing) {
    open();
    live();
    store.before_apply = [] {
        return Status(Error{Next::kStop, Code::kUnavailable, "the disk is gone"});
    };
    fixture.all_known({pod("wrapper-a", "u1", 5)}, {});
    for (int i = 0; i < 10 && loop->fatal().empty(); ++i) {
        fixture.pass(Millis{1'000});
        steps(1);
    }
    ASSERT_NE(loop->fatal(), "");
    EXPECT_EQ(failures, std::vector<Next>{Next::kStop});
    ASSERT_FALSE(awaited.empty());
    EXPECT_FALSE(awaited.back());
    const std::size_t rounds = awaited.size();
    fixture.all_progress();
    live();
    EXPECT_EQ(awaited.size(), rounds);
    EXPECT_EQ(failures.size(), 1U);
}

}  // namespace
}  // namespace trueup::runtime::testing
