// Proves apps/config/several.cpp: several policies of one file stay out of each other's way, and
// one that is wrong leaves the others alone.
#include "apps/config/describe.h"
#include "tests/apps/config/support.h"
#include "tests/support/temp_dir.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <string>
#include <vector>

namespace trueup::config {
namespace {

/// Two policies over two tables and two namespaces; lines 1 to 37.
std::string two() {
    return "version: 1\n"                                                           // 1
           "state_dir: /state\n"                                                    // 2
           "memory: 512MiB\n"                                                       // 3
           "sources:\n"                                                             // 4
           "  pods:\n"                                                              // 5
           "    kubernetes: {kubeconfig: /kube, namespace: eu, selector: a=b}\n"    // 6
           "  rows:\n"                                                              // 7
           "    postgres: {conninfo_env: EU, table: public.eu}\n"                   // 8
           "  us-pods:\n"                                                           // 9
           "    kubernetes: {kubeconfig: /kube, namespace: us, selector: a=b}\n"    // 10
           "  us-rows:\n"                                                           // 11
           "    postgres: {conninfo_env: US, table: public.us}\n"                   // 12
           "policies:\n"                                                            // 13
           "  - name: eu\n"                                                         // 14
           "    use: graph-instances\n"                                             // 15
           "    roles: {pods: pods, rows: rows}\n"                                  // 16
           "    keys:\n"                                                            // 17
           "      rows: pod_name\n"                                                 // 18
           "    rules: {orphaned_pod: {mode: enforce}}\n"                           // 19
           "  - name: us\n"                                                         // 20
           "    use: graph-instances\n"                                             // 21
           "    roles: {pods: us-pods, rows: us-rows}\n"                            // 22
           "    keys:\n"                                                            // 23
           "      rows: url_slug\n"                                                 // 24
           "    rules: {orphaned_pod: {mode: approve}}\n"                           // 25
           "executors:\n"                                                           // 26
           "  delete_pod: [{source: pods}, {source: us-pods, in_cluster: true}]\n"  // 27
           "  update_row: {source: rows}\n";                                        // 28
}

std::vector<std::string> names_of(const std::vector<SourceConfig>& sources) {
    std::vector<std::string> names;
    for (const SourceConfig& source : sources) names.push_back(source.name);
    return names;
}

TEST(ConfigSeveral, EachPolicyHasItsSourcesItsExecutorsAndPlacesOfItsOwn) {
    const std::vector<Config> each = of_each_policy(parsed(two()));
    ASSERT_EQ(each.size(), 2U);
    EXPECT_EQ(names_of(each[0].sources), (std::vector<std::string>{"pods", "rows"}));
    EXPECT_EQ(names_of(each[1].sources), (std::vector<std::string>{"us-pods", "us-rows"}));
    EXPECT_EQ(each[0].executors.size(), 2U);
    ASSERT_EQ(each[1].executors.size(), 1U);
    EXPECT_TRUE(each[1].executors[0].objects->in_cluster);
    EXPECT_FALSE(each[0].executor("pods")->objects.has_value()) << "the other one's account";
    EXPECT_EQ(each[0].state_dir, "/state/policies/eu");
    EXPECT_EQ(each[1].checkpoints, "/state/checkpoints/us");
    EXPECT_EQ(each[0].keys, "/state/keys") << "the process's";
    EXPECT_EQ(each[1].memory_bytes, std::uint64_t{256} << 20U);
    EXPECT_EQ(policy_settings(each[1]).policy, "us");
    EXPECT_EQ(policy_settings(each[1]).sources.size(), 2U);
}

TEST(ConfigSeveral, TopicsBeginWithThePrefixAndTheName) {
    const Config config =
        parsed(with(two(), "version: 1\n", "version: 1\nbus: {kafka: {bootstrap: \"a:1\"}}\n"));
    EXPECT_EQ(of_each_policy(config)[1].kafka->prefix, "trueup.us");
}

TEST(ConfigSeveral, OneAloneHasAFolderOfItsOwnToo) {
    const std::vector<Config> each = of_each_policy(parsed(sound()));
    ASSERT_EQ(each.size(), 1U);
    EXPECT_EQ(each[0].state_dir, "/var/lib/trueup/policies/graph-instances")
        << "or a second policy would move the first one";
}

TEST(ConfigSeveral, TwoOfOneNameWouldHaveOneJournal) {
    const std::string rest =
        "'; journal and topics are named after it ('.' and '_' are the same to brokers), so write "
        "another name";
    EXPECT_EQ(flaws(with(two(), "name: us", "name: eu")),
              "trueup.yaml:20: policies[1].name is 'eu', and another policy is 'eu" + rest);
    EXPECT_EQ(flaws(with(with(two(), "name: us", "name: e.u"), "name: eu", "name: e_u")),
              "trueup.yaml:20: policies[1].name is 'e.u', and another policy is 'e_u" + rest);
}

TEST(ConfigSeveral, AMetricOfTwoKindsIsWarnedOf) {
    Config config = parsed(two());
    policy::Metric metric;
    metric.name = "workers";
    metric.rule = "orphaned_pod";
    config.policies[0].exports.metrics = config.policies[1].exports.metrics = {metric};
    EXPECT_EQ(warnings(config).size(), warnings(parsed(two())).size());
    config.policies[1].exports.metrics[0].rule.clear();
    const std::vector<std::string> said = warnings(config);
    EXPECT_NE(std::find(said.begin(), said.end(),
                        "the metric workers is a counter in policy eu and a gauge in us, which is "
                        "not exported; write another name in one of their files"),
              said.end());
}

TEST(ConfigSeveral, EachHasAShareThatSuffices) {
    EXPECT_EQ(flaws(with(two(), "memory: 512MiB", "memory: 24MiB")),
              "trueup.yaml:3: memory 24MiB is too little for 2 policies; write at least 32MiB");
}

TEST(ConfigSeveral, ATopicsNameHasALimit) {
    const std::string kafka =
        "bus: {kafka: {bootstrap: \"a:1\", prefix: " + std::string(180, 'p') + "}}\n";
    EXPECT_EQ(flaws(with(with(two(), "version: 1\n", "version: 1\n" + kafka), "name: us",
                         "name: " + std::string(60, 'n'))),
              "trueup.yaml:21: policies[1].name and bus.kafka.prefix are longer together than the "
              "name of a topic can be; write at most 50 characters");
}

// Symptom (had it been taken): both connectors read one slot, and each saw half of the changes.
TEST(ConfigSeveral, ASlotHasOneReader) {
    EXPECT_EQ(
        flaws(with(with(two(), "rows: us-rows", "rows: rows"),
                   "  us-rows:\n    postgres: {conninfo_env: US, table: public.us}\n", "")),
        "trueup.yaml:20: policies[1].roles has 'rows' as rows, which policy eu reads already, and "
        "a "
        "slot has one reader; write another source of the same table, with a slot of its own");
}

TEST(ConfigSeveral, TwoThatMayDeleteTheSameObjectsAreRefusedUnlessThatIsMeant) {
    const std::string why =
        "trueup.yaml:25: policies[1].rules and those of policy eu may delete or set the same "
        "(sources us-pods and pods), and neither knows what the other does; write mode: observe, "
        "or acknowledge: [shared_objects.eu] if their selectors exclude each other";
    const std::string both = with(two(), "namespace: us", "namespace: eu");
    EXPECT_EQ(flaws(both), why);
    EXPECT_NE(flaws(with(two(), "namespace: us", "all_namespaces: true")).find(why),
              std::string::npos)
        << "in all namespaces";
    EXPECT_EQ(flaws(with(both, "mode: approve", "mode: observe")), "(sound)");
    EXPECT_EQ(flaws(with(both, "kubeconfig: /kube, namespace: eu, selector: a=b}\n  rows:",
                         "kubeconfig: /other, namespace: eu, selector: a=b}\n  rows:")),
              "(sound)")
        << "in another cluster";
    const Config meant =
        parsed(with(both, "approve}}\n", "approve}}\n    acknowledge: [shared_objects.eu]\n"));
    EXPECT_EQ(meant.policies[1].known, std::vector<std::string>{"shared_objects.eu"});
    EXPECT_EQ(flaws(with(both, "enforce}}\n", "enforce}}\n    acknowledge: [shared_objects.us]\n")),
              "(sound)")
        << "the other one may say it, too";
    EXPECT_EQ(
        flaws(with(two(), "approve}}\n", "approve}}\n    acknowledge: [shared_objects.asia]\n")),
        "trueup.yaml:26: policies[1].acknowledge names 'shared_objects.asia', and there is no "
        "other policy of that name; leave it out");
}

// Symptom (had it been taken): one policy queued the rows that the other one started, for ever.
TEST(ConfigSeveral, TwoThatSetOneColumnOfOneTableAreRefusedUnlessThatIsMeant) {
    std::string both = with(two(), "{conninfo_env: US, table: public.us}",
                            "{conninfo_env: EU, table: public.eu, slot: trueup_us}");
    both = with(both, "{orphaned_pod: {mode: enforce}}", "{missing_pod: {mode: enforce}}");
    both = with(both, "{orphaned_pod: {mode: approve}}", "{status_drift: {mode: enforce}}");
    both = with(both, "  update_row: {source: rows}\n",
                "  update_row: [{source: rows}, {source: us-rows}]\n");
    EXPECT_EQ(flaws(both),
              "trueup.yaml:25: policies[1].rules and those of policy eu may delete or set the same "
              "(sources us-rows and rows), and neither knows what the other does; write mode: "
              "observe, or acknowledge: [shared_objects.eu] if their selectors exclude each other");
    EXPECT_EQ(flaws(with(both, "table: public.eu, slot", "table: public.us, slot")), "(sound)");
}

TEST(ConfigSeveral, WhatActsOnASourceIsSaidOnceAndForEachSourceOfItsOwn) {
    EXPECT_EQ(flaws(with(two(), "{source: us-pods, in_cluster: true}", "{source: pods}")),
              "trueup.yaml:25: rules.orphaned_pod.mode is approve, and "
              "executors.delete_pod does not act on 'us-pods'; add it, as in delete_pod: [{source: "
              "NAME}, {source: us-pods}]\n"
              "trueup.yaml:27: executors.delete_pod[1].source names 'pods', which line 27 acts on "
              "already; leave one out");
}

/// What a process runs of such a file.
class SoundPolicies : public ::testing::Test {
  protected:
    Result<Config> load(const std::string& text) {
        std::ofstream(dir / "trueup.yaml") << text;
        return load_sound_policies(dir / "trueup.yaml");
    }
    testing::TempDir dir;
};

TEST_F(SoundPolicies, OneThatIsWrongLeavesTheOthersAlone_9_7) {
    const std::string text = with(two(), "rows: us-rows", "rows: us-row");
    const Result<Config> config = load(text);
    ASSERT_TRUE(config.ok()) << config.error().what;
    ASSERT_EQ(config->policies.size(), 1U);
    EXPECT_EQ(config->policies[0].name, "eu");
    ASSERT_EQ(config->left_out.size(), 1U);
    EXPECT_EQ(config->left_out[0].name, "us");
    EXPECT_EQ(
        config->left_out[0].why,
        dir / "trueup.yaml" +
            ":22: policies[1].roles.rows names the source 'us-row', which is not under sources; "
            "did you mean 'us-rows'?");
    EXPECT_EQ(of_each_policy(*config)[0].memory_bytes, std::uint64_t{256} << 20U)
        << "it keeps its share, whatever becomes of the other one";
    EXPECT_NE(flaws(text), "(sound)") << "`config check` takes it as a whole";
}

// Symptom (had the later one alone been refused): a new policy above an old one, over its
// namespace, ran in its place, and the old one's pods were orphans to it.
TEST_F(SoundPolicies, OfTwoThatAreInEachOthersWayNeitherRuns) {
    EXPECT_FALSE(load(with(two(), "namespace: us", "namespace: eu")).ok());
    EXPECT_FALSE(load(with(two(), "name: us", "name: eu")).ok());
}

// Symptom (had only sound ones counted): a typo in one policy let the other one act on its pods.
TEST_F(SoundPolicies, OneThatIsWrongStillStandsInTheWay) {
    EXPECT_FALSE(
        load(with(with(two(), "namespace: us", "namespace: eu"), "rows: us-rows", "rows: us-row"))
            .ok());
}

TEST_F(SoundPolicies, WhatIsWrongElsewhereIsEverybodys) {
    EXPECT_FALSE(load(with(two(), "memory: 512MiB", "memory: 1")).ok());
    EXPECT_FALSE(load(with(sound(), "rows: rows", "rows: row")).ok()) << "none is left";
}

}  // namespace
}  // namespace trueup::config
