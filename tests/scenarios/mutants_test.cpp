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
         279,
         {// The text that is written needs the name, and waits for it.
          "rules.missing_pod.when.rows.one.pod_name: is left out",
          // Nothing is taken away for a row beside which another one may be live (ADR 41).
          "rules.ttl_expired.when.rows: `one` becomes `some`",
          "rules.inactive.when.rows: `one` becomes `some`",
          // A report leans on nobody, so that it asks nobody since when.
          "rules.stopping_with_pod.since: is left out",
          // As of ttl_expired.
          "rules.termination_requested.when.rows: `one` becomes `some`"}},
        {"storage-instances",
         134,
         {// No pattern asks for one of them.
          "roles.instances.several: is left out", "roles.orphans.several: is left out",
          // Of two objects the line above these is unknown already.
          "conditions.orphan.first[3].if.objects: `one` becomes `some`",
          "conditions.orphan.first[4].if.objects: `one` becomes `some`",
          "conditions.orphan.first[5].if.objects: `one` becomes `some`",
          // What is being deleted is not retracted either.
          "rules.stale_record.when.orphans.some.deleting: is left out"}},
        {"processors",
         196,
         {// Nothing is taken away for a row beside which another one may be live (ADR 41).
          "rules.ended_pod.when.wanted: `one` becomes `some`",
          "rules.changed_spec.when.wanted: `one` becomes `some`",
          // What has no key is alone.
          "rules.nameless_pod.when.pods: `some` becomes `one`",
          "rules.surplus_pod.when.wanted: `one` becomes `some`"}},
        {"ephemeral-runners",
         83,
         {// No pattern asks for one of them.
          "roles.pods.several: is left out",
          // Where no line fits a condition is false.
          "conditions.used_up.first[2]: is left out",
          // Of two runners nobody knows whose the failures are.
          "rules.failed_runner.when.runners: `one` becomes `some`",
          // What is being deleted is not deleted again, by any rule.
          "rules.failed_runner.when.runners.one.deleting: is left out"}},
        {"ec2-workers", 84, {}},
        {"examples/workers",
         102,
         {// Nothing is taken away for a row beside which another one may be live (ADR 41).
          "rules.leftover_pod.when.rows: `one` becomes `some`",
          "rules.stuck_draining.when.rows: `one` becomes `some`"}},
        {"examples/tenants",
         115,
         {// Of two rows nobody knows which one is meant, whatever they say.
          "roles.rows.live.state: is left out",
          // Nothing is set in an object for a row beside which another one may be live (ADR 50).
          "rules.plan_drift.when.rows: `one` becomes `some`",
          // Nor is anything created for one (ADR 55).
          "rules.lost_tenant.when.rows: `one` becomes `some`",
          // Its grace counts from the first detection, and it has no create window.
          "rules.deleted_tenant.since: is first_seen",
          // Nothing that a namespace says is read, so that nothing of it is ever news.
          "rules.orphaned_namespace.since: is left out"}},
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
