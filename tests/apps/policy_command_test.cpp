// Proves apps/policy_command.h: what `trueup policy check` and `policy show` say of a file, beyond
// what its text alone is refused for.
#include "apps/policy_command.h"

#include "tests/support/temp_dir.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <filesystem>
#include <fstream>
#include <string>

namespace trueup::apps {
namespace {

constexpr const char* kPolicy = R"(policy: small
language: 1
subject: a pod
roles:
  pods: {kind: pod, key: name, fields: {phase: [Pending, Running, Failed]}}
  rows:
    kind: row
    key: pod
    live: {status: up}
    fields: {pod: text, status: [up, down], note: text}
rules:
  duplicate_claim: {finds: two of a name, when: duplicates, do: report}
  orphan:
    finds: pod without a row
    when: {pods: one, rows: none}
    since: first_seen
    grace: 1m
    acknowledge: [keyless]
    do: {delete: pods}
  failed:
    finds: row of a pod that failed
    when: {pods: {one: {phase: Failed}}, rows: {one: {status: up}}}
    do: {update: rows, set: {status: down, note: it failed}}
)";

class PolicyCommand : public ::testing::Test {
  protected:
    PolicyCommand() { write("small.yaml", kPolicy); }
    void write(const std::string& name, const std::string& text) {
        const std::filesystem::path path = dir / name;
        std::filesystem::create_directories(path.parent_path());
        std::ofstream(path) << text;
    }
    /// What `policy check -o json` says of the file.
    nlohmann::json checked(int code) {
        PolicyOptions options;
        options.files = {dir / "small.yaml"};
        options.format = OutputFormat::kJson;
        ::testing::internal::CaptureStdout();
        EXPECT_EQ(run_policy_check(options), code);
        return nlohmann::json::parse(::testing::internal::GetCapturedStdout());
    }
    std::string shown(const std::string& policy) {
        PolicyOptions options;
        options.policy = policy;
        ::testing::internal::CaptureStdout();
        EXPECT_EQ(run_policy_show(options), 0);
        return ::testing::internal::GetCapturedStdout();
    }

    trueup::testing::TempDir dir;
};

TEST_F(PolicyCommand, ARuleThatActsNeedsAStoryOnceThereAreSome) {
    const auto alone = checked(0);
    ASSERT_EQ(alone["warnings"].size(), 1U) << alone.dump();
    EXPECT_NE(alone["warnings"][0].get<std::string>().find("there are no stories beside it"),
              std::string::npos);
    write("small/orphan.scn", "# x\n=> 60s commanded orphan w-1 a\n");
    write("small/failed.scn", "# A failed pod is suspected\n=> 5s suspected failed w-1 a: grace\n");
    const auto said = checked(2);
    ASSERT_EQ(said["errors"].size(), 1U) << said.dump();
    EXPECT_EQ(said["errors"][0],
              (dir / "small.yaml") + ":20: failed: no story in " + (dir / "small") +
                  " has a command of it, so nothing shows what it does; write one, or write "
                  "acknowledge: [no_story]");
    write("small/failed.scn", "# x\n      => 5s commanded failed w-1 a\n");
    EXPECT_EQ(checked(0)["warnings"], nlohmann::json::array());
}

TEST_F(PolicyCommand, WhoKnowsThatThereIsNoStorySaysSo) {
    write("small/orphan.scn", "# x\n=> 60s commanded orphan w-1 a\n");
    write("small.yaml", std::string(kPolicy) + "    acknowledge: [no_story]\n");
    EXPECT_EQ(checked(0)["errors"], nlohmann::json::array());
}

TEST_F(PolicyCommand, EveryPolicyThatIsCarriedHasAStoryOfEachRuleThatActs) {
    for (const char* folder : {TRUEUP_POLICIES, TRUEUP_POLICIES "/examples"}) {
        for (const auto& entry : std::filesystem::directory_iterator(folder)) {
            if (entry.path().extension() != ".yaml") continue;
            PolicyOptions options;
            options.files = {entry.path().string()};
            EXPECT_EQ(run_policy_check(options), 0) << entry.path();
        }
    }
}

TEST_F(PolicyCommand, WhatIsCountedHoldsWithinOneShard) {
    PolicyOptions options;
    options.files = {TRUEUP_POLICIES "/graph-instances.yaml"};
    options.config = dir / "trueup.yaml";
    const auto said = [&](int partitions) {
        write("trueup.yaml",
              "version: 1\nstate_dir: " + (dir / "state") +
                  "\nbus: {kafka: {bootstrap: b, partitions: " + std::to_string(partitions) +
                  "}}\nsources:\n"
                  "  pods: {kubernetes: {in_cluster: true, namespace: a, selector: a}}\n"
                  "  rows: {postgres: {conninfo_env: D, table: t, publication: p}}\n"
                  "policies:\n"
                  "  - {name: g, use: graph-instances, roles: {pods: pods, rows: rows}}\n");
        ::testing::internal::CaptureStdout();
        EXPECT_EQ(run_policy_check(options), 0);
        return ::testing::internal::GetCapturedStdout();
    };
    EXPECT_EQ(said(1).find("one_shard"), std::string::npos);
    const std::string several = said(4);
    EXPECT_NE(several.find("orphaned_pod: it asks while uncorrelated_rows is not 0, and a count "
                           "holds within one shard only, but " +
                           options.config +
                           " has 4 of them (one_shard); where it is to act write "
                           "bus.kafka.partitions: 1 there, or take ask_while out\n"),
              std::string::npos)
        << several;
}

TEST_F(PolicyCommand, WhatNoConfigurationCanRunIsWarnedOf) {
    // A policy was written, its stories passed, and only `config check` refused it: its key was one
    // that no source knows, and a role was one that nobody can play.
    std::string text = kPolicy;
    text.replace(text.find("key: pod\n"), 9, "key: lower(pod)\n");
    text.insert(text.find("rules:"), "  machines: {kind: ec2, key: id}\n");
    write("small.yaml", text);
    std::string all;
    const auto said = checked(0);
    for (const auto& each : said["warnings"]) all += each.get<std::string>() + '\n';
    const std::string refused = "; `trueup config check` refuses it\n";
    EXPECT_NE(all.find("the key of rows is lower(pod): it uses lower(...)"), std::string::npos)
        << all;
    EXPECT_NE(all.find("role machines needs EC2 instances, and this release has no source of such" +
                       refused),
              std::string::npos)
        << all;
}

TEST_F(PolicyCommand, TheRightsThatAFileNeedsAreNamed) {
    EXPECT_EQ(checked(0)["needs"], (nlohmann::json{"pods: get, list, watch; delete",
                                                   "rows: SELECT; UPDATE (note, status)"}));
}

TEST_F(PolicyCommand, ShowEndsWithWhatIsPublishedAndWhatIsNeeded) {
    const std::string text = shown(dir / "small.yaml");
    EXPECT_TRUE(
        text.ends_with("\npublishes pods: name, phase\n"
                       "publishes rows: pod, status\n"
                       "needs     pods: get, list, watch; delete\n"
                       "needs     rows: SELECT; UPDATE (note, status)\n"
                       "looks up  rows: WHERE CASE WHEN btrim(\"pod\"::text, E' "
                       "\\t\\n\\r\\f\\x0B') <> '' THEN \"pod\"::text END = NAME\n"))
        << text;
    EXPECT_EQ(text.find("overlap "), std::string::npos) << text;
    const std::string shipped = shown("graph-instances");
    EXPECT_NE(shipped.find("\noverlap   ttl_expired and inactive may be found of one subject; the "
                           "first command wins\n"),
              std::string::npos)
        << shipped;
}

}  // namespace
}  // namespace trueup::apps
