// Proves apps/policy_test.h: what `trueup policy test` prints and answers to those who wrote a
// policy and stories beside it.
#include "apps/policy_test.h"

#include "tests/support/temp_dir.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

namespace trueup::apps {
namespace {

constexpr const char* kPolicy = R"(policy: small
language: 1
subject: a pod
roles:
  pods: {kind: pod, key: name}
  rows: {kind: row, key: pod, fields: {pod: text}}
rules:
  orphan:
    finds: pod without a row
    when: {pods: one, rows: none}
    since: first_seen
    grace: 1m
    do: {delete: pods}
)";

constexpr const char* kOrphan =
    "# An orphan waits\n0s known all\n5s pod w uid=a\n6s tick\n=> 5s suspected orphan w a: grace\n";

class PolicyTestCommand : public ::testing::Test {
  protected:
    PolicyTestCommand() {
        write("small.yaml", kPolicy);
        options_.file = folder_ / "small.yaml";
    }

    void write(const std::string& name, const std::string& text) const {
        const std::filesystem::path path = folder_ / name;
        std::filesystem::create_directories(path.parent_path());
        std::ofstream(path) << text;
    }

    /// Its exit code; what it printed, without the folder's name, is in out_ and err_.
    int run() {
        ::testing::internal::CaptureStdout();
        ::testing::internal::CaptureStderr();
        const int code = run_policy_test(options_, stop_);
        out_ = shortened(::testing::internal::GetCapturedStdout());
        err_ = shortened(::testing::internal::GetCapturedStderr());
        return code;
    }

    std::string shortened(std::string text) const {
        const std::string here = folder_.path() + "/";
        for (std::size_t at = text.find(here); at != std::string::npos; at = text.find(here)) {
            text.erase(at, here.size());
        }
        return text;
    }

    bool printed(const std::string& part) const { return out_.find(part) != std::string::npos; }

    const testing::TempDir folder_;
    StopSignal stop_;
    PolicyTestOptions options_;
    std::string out_, err_;
};

TEST_F(PolicyTestCommand, PlaysTheStoriesOfTheFolderBesideTheFile) {
    write("small/orphan.scn", kOrphan);
    write("small/deeper/also.scn", kOrphan);
    write("elsewhere/other.scn", "nonsense");
    EXPECT_EQ(run(), 0);
    EXPECT_TRUE(
        printed("ok      small/deeper/also.scn: An orphan waits\n"
                "ok      small/orphan.scn: An orphan waits\n"
                "2 stories of policy small: 2 as told, 0 otherwise ("))
        << out_;
    EXPECT_EQ(err_, "");
}

TEST_F(PolicyTestCommand, TellsWhatCameInsteadAndByWhichLine) {
    write("small/orphan.scn", "# None\n0s known all\n5s pod w uid=a\n=> nothing\n");
    EXPECT_EQ(run(), 1);
    EXPECT_TRUE(
        printed("failed  small/orphan.scn: None\n"
                "  small/orphan.scn:4: expected\n"
                "      => nothing\n"
                "    but there was\n"
                "      => 5s suspected orphan w a: grace  # by line 3\n"
                "1 story of policy small: 0 as told, 1 otherwise ("))
        << out_;
}

TEST_F(PolicyTestCommand, AStoryThatMakesNoSenseIsNamedWithItsLine) {
    write("small/a.scn", "5s pods w uid=a\n");
    write("small/b.scn", "0s known all\n1s pod w\n=> nothing\n");
    EXPECT_EQ(run(), 2);
    EXPECT_EQ(err_, "small/a.scn:1: what comes of it? end with a line of `=>`\n");
    std::filesystem::remove(std::filesystem::path(folder_ / "small/a.scn"));
    EXPECT_EQ(run(), 2);
    EXPECT_TRUE(printed("small/b.scn:2: `pod` needs `uid=`\n")) << out_;
}

TEST_F(PolicyTestCommand, SaysWhereStoriesBelongIfThereAreNone) {
    EXPECT_EQ(run(), 2);
    EXPECT_EQ(err_,
              "small.yaml: there are no stories beside it; write them into small/*.scn, or "
              "name files or folders that have some\n");
    options_.stories = {folder_ / "absent.scn"};
    EXPECT_EQ(run(), 2);
    EXPECT_EQ(err_, "absent.scn: cannot be read\n");
}

TEST_F(PolicyTestCommand, APolicyThatCannotBeReadIsToldOfAsCheckTells) {
    write("small.yaml", "policy: small\n");
    write("small/orphan.scn", kOrphan);
    EXPECT_EQ(run(), 2);
    EXPECT_TRUE(err_.starts_with("small.yaml:1: ")) << err_;
}

TEST_F(PolicyTestCommand, FilterLeavesOutWhatHasNotTheWordInPathOrTitle) {
    write("small/orphan.scn", kOrphan);
    write("small/wrong.scn", "# Wrong\n0s known all\n=> 5s something\n");
    options_.filter = "orphan waits";
    EXPECT_EQ(run(), 0) << out_;
    options_.filter = "wrong.scn";
    EXPECT_EQ(run(), 1) << out_;
    options_.filter = "none such";
    EXPECT_EQ(run(), 2) << out_;
    EXPECT_EQ(err_,
              "no story has 'none such' in its path or title; leave --filter out to see all "
              "of them\n");
}

TEST_F(PolicyTestCommand, NamesMutantsThatNoStoryNoticesWithTheirLine) {
    write("small/orphan.scn", kOrphan);
    options_.mutants = true;
    options_.jobs = 2;
    EXPECT_EQ(run(), 1);
    EXPECT_TRUE(printed("not noticed  small.yaml:12: rules.orphan.grace: is twice as long\n"))
        << out_;
    EXPECT_TRUE(printed("not noticed  small.yaml:13: rules.orphan.do: only reports\n")) << out_;
    EXPECT_FALSE(printed("rules.orphan.grace: is left out")) << out_;
    EXPECT_TRUE(printed(" mutants of policy small: ")) << out_;
}

TEST_F(PolicyTestCommand, AsJsonEachLineIsOneObject) {
    write("small/orphan.scn", "# None\n0s known all\n5s pod w uid=a\n=> nothing\n");
    options_.format = OutputFormat::kJson;
    EXPECT_EQ(run(), 1);
    std::istringstream lines(out_);
    std::vector<nlohmann::json> told;
    for (std::string line; std::getline(lines, line);) told.push_back(nlohmann::json::parse(line));
    ASSERT_EQ(told.size(), 2U);
    EXPECT_EQ(told[0]["kind"], "story");
    EXPECT_EQ(told[0]["ok"], false);
    EXPECT_EQ(told[0]["differences"][0]["line"], 4);
    EXPECT_EQ(told[0]["differences"][0]["came"][0]["line"], 3);
    EXPECT_EQ(told[1]["kind"], "policy_test");
    EXPECT_EQ(told[1]["failed"], 1);
}

TEST_F(PolicyTestCommand, CtrlCEndsItAndSaysHowFarItCame) {
    write("small/orphan.scn", kOrphan);
    std::raise(SIGINT);
    EXPECT_EQ(run(), 1);
    EXPECT_EQ(err_, "stopped: 0 of 1 stories were played\n");
}

}  // namespace
}  // namespace trueup::apps
