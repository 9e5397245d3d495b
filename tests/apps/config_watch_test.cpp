// Proves apps/config_watch.h: a process says that its configuration, or a policy's file, is another
// one than at its start, and goes on.
#include "apps/config_watch.h"

#include "apps/config/config.h"
#include "tests/support/temp_dir.h"

#include <gtest/gtest.h>

#include <fstream>
#include <string>
#include <vector>

namespace trueup::apps {
namespace {

constexpr const char* kConfig =
    "version: 1\n"
    "sources:\n"
    "  pods: {kubernetes: {kubeconfig: k, namespace: jobs, selector: a=b}}\n"
    "  rows: {postgres: {conninfo_env: DB, table: public.workers}}\n"
    "policies:\n"
    "  - {name: jobs, file: mine.yaml, roles: {pods: pods, rows: rows}}\n";

constexpr const char* kPolicy =
    "policy: mine\n"
    "language: 1\n"
    "subject: the name of a pod\n"
    "roles:\n"
    "  pods: {kind: pod, key: name}\n"
    "  rows: {kind: row, key: pod, fields: {pod: text}}\n"
    "rules:\n"
    "  stray: {finds: pod without a row, when: {pods: one, rows: none}, grace: 2m, do: report}\n";

class ConfigWatchTest : public ::testing::Test {
  protected:
    ConfigWatchTest() {
        write("trueup.yaml", kConfig);
        write("mine.yaml", kPolicy);
        const Result<config::Config> read = config::load_config(dir_ / "trueup.yaml");
        EXPECT_TRUE(read.ok()) << (read ? "" : read.error().what);
        if (read) digest_ = read->digest;
    }
    void write(const std::string& name, const std::string& text) {
        std::ofstream(dir_ / name) << text;
    }
    ConfigWatch watch() {
        return {dir_ / "trueup.yaml", digest_,
                [this](const std::string& sentence) { told_.push_back(sentence); }};
    }
    /// Twice, as long after one another as it takes.
    void look(ConfigWatch& watch) {
        for (int i = 0; i < 2; ++i) watch.look(now_ += ConfigWatch::kEvery);
    }

    testing::TempDir dir_;
    Hash128 digest_;
    SteadyTime now_{};
    std::vector<std::string> told_;
};

TEST_F(ConfigWatchTest, WhatIsAsItWasIsNoNews) {
    ConfigWatch watch = this->watch();
    look(watch);
    EXPECT_EQ(watch.sentence(), "");
    EXPECT_TRUE(told_.empty());
}

TEST_F(ConfigWatchTest, AnotherPolicyFileIsSaidOnceUntilItIsTheFormerAgain) {
    ConfigWatch watch = this->watch();
    write("mine.yaml", std::string(kPolicy) + "# changed\n");
    look(watch);
    look(watch);
    const std::string said = dir_ / "trueup.yaml" +
                             " or a policy file that it names has changed since this process "
                             "started; restart it to put the change in force";
    EXPECT_EQ(watch.sentence(), said);
    EXPECT_EQ(told_, std::vector<std::string>{said});
    write("mine.yaml", kPolicy);
    look(watch);
    EXPECT_EQ(watch.sentence(), "");
    EXPECT_EQ(told_.size(), 1U);
}

TEST_F(ConfigWatchTest, AFileThatCouldNotBePutInForceSaysWhyAndChangesNothing) {
    ConfigWatch watch = this->watch();
    write("mine.yaml", std::string(kPolicy) + "  more: {}\n");
    look(watch);
    EXPECT_NE(watch.sentence().find("mine.yaml:9: "), std::string::npos) << watch.sentence();
    EXPECT_NE(
        watch.sentence().find("this process goes on with the policies that are in its journals"),
        std::string::npos)
        << watch.sentence();
    write("trueup.yaml", "version: 2\n");
    look(watch);
    EXPECT_NE(watch.sentence().find("version is '2'"), std::string::npos) << watch.sentence();
    EXPECT_EQ(told_.size(), 2U);
}

TEST_F(ConfigWatchTest, HalfOfAFileIsNotTaken) {
    ConfigWatch watch = this->watch();
    write("mine.yaml", "policy: mi");
    watch.look(now_ += ConfigWatch::kEvery);
    write("mine.yaml", kPolicy);
    look(watch);
    EXPECT_TRUE(told_.empty());
}

}  // namespace
}  // namespace trueup::apps
