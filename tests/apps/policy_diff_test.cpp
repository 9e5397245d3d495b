// Proves apps/policy_diff.h: what a changed text changes is said part by part, and what has to be
// enabled again is what the engine would wait for.
#include "apps/policy_diff.h"

#include "apps/config/policy_file.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace trueup::apps {
namespace {

constexpr const char* kText = R"(policy: small
language: 1
subject: a pod
roles:
  pods: {kind: pod, key: name, fields: {phase: [Pending, Running, Failed]}}
  rows:
    kind: row
    key: pod
    live: {status: up}
    fields: {pod: text, status: [up, down], owner: text}
counts:
  nameless: {subjects: {rows: {some: {pod: null}}}}
requests: {drain: {owner: rows.owner}}
rules:
  orphan:
    finds: pod without a row
    when: {pods: one, rows: none}
    since: first_seen
    grace: 1m
    ask_while: nameless
    do: {delete: pods, grace_period: 30s}
  failed:
    finds: row of a pod that failed
    when: {pods: {one: {phase: Failed}}, rows: {one: {status: up}}}
    do: {update: rows, set: {status: down}}
  told:
    finds: a row that is down
    when: {rows: {one: {status: down}}}
    do: report
)";

policy::Policy parsed(std::string text,
                      const std::vector<std::pair<std::string, std::string>>& edits) {
    for (const auto& [from, to] : edits) {
        const std::size_t at = text.find(from);
        EXPECT_NE(at, std::string::npos) << from;
        text.replace(at, from.size(), to);
    }
    auto file = config::parse_policy(text, "small.yaml");
    EXPECT_TRUE(file) << file.error().what;
    return file->policy;
}

std::vector<PartDiff> after(const std::vector<std::pair<std::string, std::string>>& edits) {
    return differences(parsed(kText, {}), parsed(kText, edits));
}

const PartDiff& part(const std::vector<PartDiff>& all, const std::string& name) {
    for (const PartDiff& each : all) {
        if (each.part == name) return each;
    }
    ADD_FAILURE() << "nothing is said of " << name;
    static const PartDiff kNone;
    return kNone;
}

TEST(PolicyDiff, OfTheSameTextIsEmpty) { EXPECT_TRUE(after({}).empty()); }

TEST(PolicyDiff, AnOperatorsTimesNeedNoNewWord) {
    const auto all = after({{"grace: 1m", "grace: 2m"}});
    ASSERT_EQ(all.size(), 1U);
    EXPECT_EQ(all[0].part, "rule orphan");
    EXPECT_FALSE(all[0].enable_again);
    ASSERT_EQ(all[0].before.size(), 1U);
    EXPECT_NE(all[0].before[0].find("grace 1m"), std::string::npos);
    EXPECT_NE(all[0].now[0].find("grace 2m"), std::string::npos);
}

// Each is in no line of the rule's own `when`, or was in no line at all.
TEST(PolicyDiff, WhatHasToBeEnabledAgainIsSaidWhateverChanged) {
    const std::vector<std::pair<std::string, std::string>> edits{
        {"grace_period: 30s", "grace_period: 31s"},
        {"    ask_while: nameless\n", "    acknowledge: [keyless]\n"},
        {"{some: {pod: null}}", "{some: {pod: null, status: up}}"},
        {"live: {status: up}", "live: {status: [up, down]}"},
        {"key: pod\n", "key: coalesce(pod, owner)\n"},
    };
    for (const auto& edit : edits) {
        const auto all = after({edit});
        EXPECT_TRUE(part(all, "rule orphan").enable_again) << edit.second;
        std::size_t lines = 0;
        for (const PartDiff& each : all) lines += each.before.size() + each.now.size();
        EXPECT_GT(lines, 0U) << "it can be seen what it was: " << edit.second;
    }
}

TEST(PolicyDiff, ARightThatIsNewIsSaid) {
    const auto all = after({{"set: {status: down}", "set: {status: down, owner: null}"}});
    const PartDiff& needs = part(all, "needs rows");
    ASSERT_EQ(needs.now.size(), 1U);
    EXPECT_NE(needs.now[0].find("UPDATE (owner, status)"), std::string::npos) << needs.now[0];
}

TEST(PolicyDiff, TheSqlOfAKeyIsSaid) {
    const auto all = after({{"key: pod\n", "key: coalesce(pod, owner)\n"}});
    EXPECT_NE(part(all, "looks up rows").now[0].find("coalesce"), std::string::npos);
}

TEST(PolicyDiff, RulesComeAndGoByTheirNames) {
    const auto all = after({{"  failed:\n", "  broken:\n"}});
    const PartDiff& added = part(all, "rule broken");
    EXPECT_EQ(added.change, PartDiff::Change::kAdded);
    EXPECT_TRUE(added.acts);
    EXPECT_EQ(part(all, "rule failed").change, PartDiff::Change::kRemoved);
}

TEST(PolicyDiff, OfARuleThatReportsNobodyHasToEnableAnything) {
    const auto all =
        after({{"{one: {status: down}}}\n    do: report", "{one: {status: up}}}\n    do: report"}});
    EXPECT_FALSE(part(all, "rule told").enable_again);
}

}  // namespace
}  // namespace trueup::apps
