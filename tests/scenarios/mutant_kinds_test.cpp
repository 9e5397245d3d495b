// Proves stories/mutants.h and hunt.h on a policy that has one of each: every word is left out or
// changed once, by itself, and is named where it stands.
#include "apps/config/policy_file.h"
#include "stories/hunt.h"
#include "stories/player.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>
#include <string>
#include <vector>

namespace trueup::stories {
namespace {

constexpr const char* kPolicy = R"(policy: small
language: 1
subject: a pod
stale_after: 2m
roles:
  pods: {kind: pod, key: name, fields: {phase: [Failed, Running]}}
  rows: {kind: row, key: pod, live: {state: {not: [DONE, LOST]}}, fields: {state: text, pod: text, tries: number}}
counts:
  free_rows: {subjects: {rows: {some: {state: NEW}}, pods: none}}
rules:
  orphan:
    finds: pod without a row
    when: {pods: one, rows: none}
    since: first_seen
    grace: 2m
    create_window: 1m
    ask_while: free_rows
    do: {delete: pods, grace_period: 5s}
  lost:
    finds: row without a pod
    when: {rows: {one: {state: [BUSY, NEW], tries: {over: 3}}}, pods: none}
    grace: 1m
    do: {update: rows, set: {state: LOST}}
)";

Shared<policy::Policy> small() {
    auto file = config::parse_policy(kPolicy, "small.yaml");
    EXPECT_TRUE(file) << file.error().what;
    return std::move(file->policy);
}

std::vector<std::string> told(const std::vector<Mutant>& mutants) {
    std::vector<std::string> all;
    for (const Mutant& mutant : mutants) all.push_back(mutant.text());
    return all;
}

TEST(Mutants, LeaveOutOrChangeEachWordOnce) {
    const std::vector<std::string> expected{
        "stale_after: is left out",
        "roles.pods.fields.phase: 'Failed' is left out",
        "roles.pods.fields.phase: 'Running' is left out",
        "roles.rows.live.state: is left out",
        "roles.rows.live.state: `not` is left out",
        "roles.rows.live.state: 'DONE' is left out",
        "roles.rows.live.state: 'LOST' is left out",
        "counts.free_rows.subjects.rows: is left out",
        "counts.free_rows.subjects.rows: `some` becomes `none`",
        "counts.free_rows.subjects.rows.some.state: is left out",
        "counts.free_rows.subjects.rows.some.state: is asked with `not`",
        "counts.free_rows.subjects.pods: is left out",
        "counts.free_rows.subjects.pods: `none` becomes `one`",
        "counts.free_rows.subjects.pods: `none` becomes `some`",
        "rules.orphan.mode: is off",
        "rules.orphan.grace: is left out",
        "rules.orphan.grace: is twice as long",
        "rules.orphan.create_window: is left out",
        "rules.orphan.create_window: is twice as long",
        "rules.orphan.since: is left out",
        "rules.orphan.when.pods: is left out",
        "rules.orphan.when.pods: `one` becomes `some`",
        "rules.orphan.when.pods: `one` becomes `none`",
        "rules.orphan.when.rows: is left out",
        "rules.orphan.when.rows: `none` becomes `one`",
        "rules.orphan.when.rows: `none` becomes `some`",
        "rules.orphan.ask_while: is left out",
        "rules.orphan.do: only reports",
        "rules.orphan.do.grace_period: is left out",
        "rules.lost.mode: is off",
        "rules.lost.grace: is left out",
        "rules.lost.grace: is twice as long",
        "rules.lost.create_window: is left out",
        "rules.lost.create_window: is twice as long",
        "rules.lost.since: is first_seen",
        "rules.lost.when.rows: is left out",
        "rules.lost.when.rows: `one` becomes `some`",
        "rules.lost.when.rows: `one` becomes `none`",
        "rules.lost.when.rows.one.state: is left out",
        "rules.lost.when.rows.one.state: is asked with `not`",
        "rules.lost.when.rows.one.state: 'BUSY' is left out",
        "rules.lost.when.rows.one.state: 'NEW' is left out",
        "rules.lost.when.rows.one.tries: is left out",
        "rules.lost.when.rows.one.tries: is asked with `not`",
        "rules.lost.when.rows.one.tries: `over` becomes `at_least`",
        "rules.lost.when.pods: is left out",
        "rules.lost.when.pods: `none` becomes `one`",
        "rules.lost.when.pods: `none` becomes `some`",
        "rules.lost.do: only reports",
        "rules.lost.do.set.state: is left out",
        "rules.lost.do.set.state: is null",
    };
    EXPECT_EQ(told(mutants_of(*small())), expected);
}

TEST(Mutants, EachIsAnotherPolicyAndNoneIsMadeTwice) {
    const Shared<policy::Policy> sound = small();
    const std::vector<Mutant> mutants = mutants_of(*sound);
    for (const Mutant& mutant : mutants) EXPECT_NE(mutant.policy, *sound) << mutant.text();
    for (std::size_t i = 0; i < mutants.size(); ++i) {
        for (std::size_t k = i + 1; k < mutants.size(); ++k) {
            EXPECT_NE(mutants[i].policy, mutants[k].policy)
                << mutants[i].text() << " and " << mutants[k].text();
        }
    }
}

TEST(Hunt, NamesWhatNoStoryNotices) {
    std::istringstream text(
        "0s known all\n100s quiet\n100s pod w-1 uid=a phase=Running\n215s quiet\n"
        "=> 100s suspected orphan w-1 a: grace\n225s quiet\n"
        "=> 220s commanded orphan w-1 a\n=> 220s delete_pod w-1 a set grace_period=5s\n");
    const Result<Story> story = Story::read(text, "a.scn");
    ASSERT_TRUE(story) << story.error().what;
    ASSERT_EQ(play(*story, small()).flaws("a.scn"), "");
    const Hunted hunted = hunt(small(), {*story}, {2, nullptr});
    const std::vector<std::string> survivors = told(hunted.survivors);
    const auto survives = [&](const std::string& which) {
        return std::find(survivors.begin(), survivors.end(), which) != survivors.end();
    };
    EXPECT_FALSE(survives("rules.orphan.grace: is left out"));
    EXPECT_FALSE(survives("rules.orphan.grace: is twice as long"));
    EXPECT_FALSE(survives("rules.orphan.do.grace_period: is left out"));
    EXPECT_FALSE(survives("rules.orphan.when.pods: is left out"));
    EXPECT_TRUE(survives("rules.orphan.ask_while: is left out"));
    EXPECT_TRUE(survives("rules.lost.grace: is left out"));
    EXPECT_EQ(hunted.made, 51U);
    EXPECT_EQ(hunted.played() + hunted.equal + hunted.refused + hunted.unable, hunted.made);
}

TEST(Hunt, EndsWhenItIsAskedTo) {
    std::istringstream text("0s known all\n=> nothing\n");
    const Result<Story> story = Story::read(text, "a.scn");
    ASSERT_TRUE(story) << story.error().what;
    // One story a thousand times over: nothing is noticed for long enough to be asked.
    const std::vector<Story> many(1'000, *story);
    const Hunted hunted =
        hunt(small(), many, {1, [](std::size_t /*done*/, std::size_t /*of*/) { return false; }});
    EXPECT_TRUE(hunted.stopped);
    EXPECT_LT(hunted.played(), hunted.made);
}

}  // namespace
}  // namespace trueup::stories
