// Proves apps/first_policy.h: the files that somebody begins with are valid, and their stories go
// as told, whatever the two sides are called.
#include "apps/first_policy.h"

#include "apps/config/config.h"
#include "apps/config/policy_file.h"
#include "apps/policy_test.h"
#include "tests/support/temp_dir.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <string>

namespace trueup::apps {
namespace {

FirstPolicy workers() {
    FirstPolicy policy;
    policy.name = "workers";
    policy.name_space = "jobs";
    policy.selector = "role=worker";
    policy.cluster = {{"kubeconfig", "a folder: with #/kubeconfig"}};
    policy.database = {{"conninfo_env", "TRUEUP_DATABASE"}};
    policy.table = "public.workers";
    policy.key = "k8s_pod";
    policy.state = "state";
    policy.live = {"ACTIVE", "DRAINING"};
    policy.dead = "DEAD";
    return policy;
}

class FirstPolicyFiles : public ::testing::Test {
  protected:
    void write(const FirstPolicy& policy) {
        const auto made = first_files(policy);
        ASSERT_TRUE(made) << made.error().what;
        for (const auto& [name, text] : *made) {
            const std::filesystem::path path = dir / name;
            std::filesystem::create_directories(path.parent_path());
            std::ofstream(path) << text;
            files[name] = text;
        }
    }

    /// Without a flaw, a warning, or a story that goes otherwise.
    void expect_sound(const std::string& name) {
        const auto policy = config::load_policy(dir / (name + ".yaml"));
        ASSERT_TRUE(policy) << policy.error().what;
        EXPECT_EQ(policy->warnings, "") << files[name + ".yaml"];
        const auto config = config::load_config(dir / "trueup.yaml");
        ASSERT_TRUE(config) << config.error().what << files["trueup.yaml"];
        PolicyTestOptions options;
        options.file = dir / (name + ".yaml");
        StopSignal stop;
        ::testing::internal::CaptureStdout();
        EXPECT_EQ(run_policy_test(options, stop), 0);
        const std::string said = ::testing::internal::GetCapturedStdout();
        EXPECT_EQ(said.find("failed"), std::string::npos) << said;
    }

    trueup::testing::TempDir dir;
    std::map<std::string, std::string> files;
};

TEST_F(FirstPolicyFiles, WriteWhatARowSaysIsDeadAndReportTheRest) {
    write(workers());
    expect_sound("workers");
    const std::string& text = files["workers.yaml"];
    EXPECT_NE(text.find("do: {update: rows, set: {state: DEAD}}"), std::string::npos) << text;
    EXPECT_NE(text.find("do: {delete: pods}\n  unknown_pod"), std::string::npos) << text;
    EXPECT_NE(files["trueup.yaml"].find("delete_pod: {source: pods}"), std::string::npos);
    EXPECT_EQ(files["trueup.yaml"].find("enforce}"), std::string::npos) << "nothing acts in it";
}

// Symptom (had it been taken): of two rows of a name one was STARTING, which was known and not
// live, and its pod was deleted for the other one.
TEST_F(FirstPolicyFiles, NameNoWordOfWhichNothingIsKnown) {
    write(workers());
    EXPECT_NE(files["workers.yaml"].find("fields: {state: [ACTIVE, DRAINING, DEAD]}"),
              std::string::npos)
        << files["workers.yaml"];
}

// A StatefulSet's pod comes back under its name, and its row is dead by then.
TEST_F(FirstPolicyFiles, DeleteNothingUnlessThatIsSwitchedOn) {
    write(workers());
    EXPECT_NE(files["trueup.yaml"].find("leftover_pod: {mode: \"off\"}"), std::string::npos);
    const auto policy = config::load_policy(dir / "workers.yaml");
    ASSERT_TRUE(policy);
    for (const policy::Rule& rule : policy->policy.rules) {
        EXPECT_EQ(rule.off, rule.name == "leftover_pod") << rule.name;
    }
}

TEST_F(FirstPolicyFiles, AreOfAResourceWithAnyName) {
    FirstPolicy policy = workers();
    policy.resource = "example.org/v1/my-things.x";
    policy.plural = "my-things.x";
    write(policy);
    expect_sound("workers");
}

TEST_F(FirstPolicyFiles, OnlyReportWhereNoWordIsGiven) {
    FirstPolicy policy = workers();
    policy.dead.clear();
    write(policy);
    expect_sound("workers");
    EXPECT_EQ(files["workers.yaml"].find("update:"), std::string::npos) << files["workers.yaml"];
    EXPECT_EQ(files["trueup.yaml"].find("executors"), std::string::npos);
}

TEST_F(FirstPolicyFiles, TakeEveryRowToLiveWhereNoColumnSaysAnything) {
    FirstPolicy policy = workers();
    policy.state.clear();
    policy.live.clear();
    policy.dead.clear();
    write(policy);
    expect_sound("workers");
}

TEST_F(FirstPolicyFiles, AreOfAnyResourceAndAnyWords) {
    FirstPolicy policy = workers();
    policy.name = "tenant-Boxes";
    policy.resource = "example.org/v1/boxes";
    policy.plural = "boxes";
    policy.selector.clear();
    policy.name_space.clear();
    policy.key = "'box-' || coalesce(slug, \"Name\")";
    policy.table = "app.Boxes";
    policy.live = {"on", "7", "in use"};
    policy.dead = "gone: long ago";
    write(policy);
    expect_sound("tenant-Boxes");
    EXPECT_NE(files["trueup.yaml"].find("slot: trueup_tenant_boxes"), std::string::npos);
    EXPECT_NE(files["tenant-Boxes.yaml"].find("lost_box:"), std::string::npos);
}

TEST_F(FirstPolicyFiles, AreOfAClusterInWhichTheyRun) {
    FirstPolicy policy = workers();
    policy.cluster.clear();
    write(policy);
    expect_sound("workers");
    EXPECT_NE(files["trueup.yaml"].find("in_cluster: true"), std::string::npos);
}

TEST_F(FirstPolicyFiles, AreNotWrittenForAColumnThatNoStoryCanName) {
    FirstPolicy policy = workers();
    policy.state = "The State";
    const auto made = first_files(policy);
    ASSERT_FALSE(made);
    EXPECT_NE(made.error().what.find("column \"The State\" is no name"), std::string::npos);
}

TEST_F(FirstPolicyFiles, AreNotWrittenForAWordThatNoStoryCanHave) {
    FirstPolicy policy = workers();
    policy.live.push_back("a,b");
    const auto made = first_files(policy);
    ASSERT_FALSE(made);
    EXPECT_NE(made.error().what.find("column state has the word \"a,b\""), std::string::npos);
}

}  // namespace
}  // namespace trueup::apps
