// Proves each story of this folder, and that its answers do not depend on how it is told or on what
// the shard keeps it in (README.md beside this file; C1, C2, C6, C7).
#include "projections/rocksdb_store.h"
#include "tests/support/replay.h"
#include "tests/support/scenario.h"
#include "tests/support/temp_dir.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>

namespace trueup::testing {
namespace {

class Story : public ::testing::TestWithParam<std::string> {
  protected:
    Story() : scenario_(Scenario::read(GetParam())) {}

    /// What each record led to, and the digest at the end.
    using Answers = std::pair<std::vector<Emissions>, Hash128>;
    static Answers fold(Replay& replay, const std::vector<Recorded>& records, bool restarts) {
        std::vector<Emissions> all;
        for (const Recorded& record : records) {
            all.push_back(replay.fold(record));
            if (!restarts) continue;
            replay.write_behind();
            replay.restart(0);
        }
        return {std::move(all), replay.settled_meta().digest};
    }

    Scenario scenario_;
};

TEST_P(Story, EndsAsItSays) {
    EXPECT_NE(scenario_.title, "") << "the first line says what it shows: `# An orphan waits (G1)`";
    const std::string flaws = tell(scenario_, {}).flaws;
    EXPECT_TRUE(flaws.empty()) << flaws;
}

TEST_P(Story, EndsTheSameWhenEachRecordComesTwice_C3) {
    const std::string flaws = tell(scenario_, {.twice = true}).flaws;
    EXPECT_TRUE(flaws.empty()) << flaws;
}

TEST_P(Story, EndsTheSameWhenTheSourcesSpeakInAnotherOrder) {
    const std::string flaws = tell(scenario_, {.reversed = true}).flaws;
    EXPECT_TRUE(flaws.empty()) << flaws;
}

TEST_P(Story, IsFoldedAlikeInMemoryOnRocksdbAndWithARestartAfterEachRecord_C2_C7) {
    const std::vector<Recorded> records = tell(scenario_, {}).records;
    Replay in_memory;
    const Answers expected = fold(in_memory, records, false);
    Replay restarted;
    EXPECT_EQ(fold(restarted, records, true), expected) << "restarts change it";
    const TempDir folder;
    const auto store = projections::RocksdbStore::open({folder.path(), std::size_t{8} << 20U});
    ASSERT_TRUE(store.ok()) << store.error().what;
    Replay on_disk(**store);
    EXPECT_EQ(fold(on_disk, records, true), expected) << "RocksDB changes it";
}

INSTANTIATE_TEST_SUITE_P(
    Scenario, Story, ::testing::ValuesIn(stories_in(TRUEUP_SCENARIOS)), [](const auto& tested) {
        std::string name =
            std::filesystem::relative(tested.param, TRUEUP_SCENARIOS).replace_extension().string();
        std::replace_if(
            name.begin(), name.end(), [](char c) { return std::isalnum(c) == 0; }, '_');
        return name;
    });

/// A story in a file of its own.
std::string refusal(const std::string& text) {
    const TempDir folder;
    const std::string path = folder / "story.scn";
    {
        std::ofstream file(path);
        file << text;
    }
    try {
        tell(Scenario::read(path), {});
    } catch (const ScenarioError& error) {
        return std::string(error.what()).substr(path.size());
    }
    return "it was understood";
}

TEST(ScenarioFile, WhatCannotBeUnderstoodIsRefusedWithItsLine) {
    EXPECT_EQ(refusal("0s known all\n"), ":1: what comes of it? end with a line of `=>`");
    EXPECT_EQ(refusal("# x\npod wrapper-7\n=> nothing\n"),
              ":2: a statement begins with its time, as in `100s pod wrapper-7 uid=a`");
    EXPECT_EQ(refusal("5s known all\n4s tick\n=> nothing\n"), ":2: time runs backwards");
    EXPECT_EQ(refusal("5s known all\n6s pod wrapper-7\n=> nothing\n"), ":2: `pod` needs `uid=`");
    EXPECT_EQ(refusal("5s known all\n6s pod wrapper-7 uid=a colour=red\n=> nothing\n"),
              ":2: `pod` has no `colour=`");
    EXPECT_EQ(refusal("5s known all\n6s pod wrapper-7 uid=a dead\n=> nothing\n"),
              ":2: `pod` cannot be followed by `dead`");
    EXPECT_EQ(refusal("5s outcome wrapper-7 done\n=> nothing\n"),
              ":1: there was no command about wrapper-7");
    EXPECT_EQ(refusal("0s expect rows\n=> nothing\n"), ":1: `expect` needs how many objects");
    EXPECT_EQ(refusal("0s expect rows few\n=> nothing\n"),
              ":1: `expect rows` is followed by a number");
    EXPECT_EQ(refusal("shards none\n"), ":1: `shards` is followed by 1 to 64");
    EXPECT_EQ(refusal("0s known all\nshards 4\n"), ":2: `shards` comes before everything else");
    EXPECT_EQ(refusal("5s known all\n6s pause drop\n=> nothing\n"),
              ":2: `pause` cannot be followed by `drop`");
    EXPECT_EQ(refusal("5s known all\n=> 5s something\n"), "it was understood");
}

TEST(ScenarioFile, NewsThatDifferAreShownAsTheyWere) {
    const TempDir folder;
    const std::string path = folder / "story.scn";
    {
        std::ofstream file(path);
        file << "# wrong\n0s known all\n100s quiet\n110s pod w uid=a\n=> nothing\n";
    }
    EXPECT_EQ(tell(Scenario::read(path), {}).flaws,
              path +
                  ":5: expected\n    => nothing\n  but there was\n"
                  "    => 110s suspected orphaned_pod w a: grace\n");
}

}  // namespace
}  // namespace trueup::testing
