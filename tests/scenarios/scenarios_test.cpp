// Proves each story of the policies, and that its answers do not depend on how it is told or on
// what the shard keeps it in (docs/policies/testing.md; C1, C2, C6, C7).
#include "apps/config/policy_file.h"
#include "projections/rocksdb_store.h"
#include "stories/player.h"
#include "stories/replay.h"
#include "tests/support/temp_dir.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <map>

namespace trueup::stories {
namespace {

namespace fs = std::filesystem;

/// The file that a story is about: its folder's, with `.yaml` behind it.
std::string policy_of(const std::string& story) {
    for (fs::path folder = fs::path(story).parent_path(); folder != TRUEUP_POLICIES;
         folder = folder.parent_path()) {
        const std::string file = folder.string() + ".yaml";
        if (fs::exists(file)) return file;
    }
    throw std::logic_error("no policy's file for " + story);
}

/// Read once: what is looked for in a text before it may be used takes a sanitizer a while.
const policy::Policy& read_policy(const std::string& path) {
    static std::map<std::string, policy::Policy> known;
    const auto found = known.find(path);
    if (found != known.end()) return found->second;
    auto file = config::load_policy(path);
    if (!file) throw std::logic_error(path + ": " + file.error().what);
    return known.emplace(path, std::move(file->policy)).first->second;
}

class EachStory : public ::testing::TestWithParam<std::string> {
  protected:
    void SetUp() override {
        Result<Story> story = Story::read(GetParam());
        ASSERT_TRUE(story) << story.error().what;
        story_ = std::move(*story);
        policy_ = read_policy(policy_of(GetParam()));
    }
    std::string flaws(const Manner& manner) const {
        return play(story_, policy_, manner).flaws(story_.path);
    }

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

    Story story_;
    Shared<policy::Policy> policy_;
};

TEST_P(EachStory, EndsAsItSays) {
    EXPECT_NE(story_.title, "") << "the first line says what it shows: `# An orphan waits (G1)`";
    EXPECT_EQ(flaws({}), "");
}

TEST_P(EachStory, EndsTheSameWhenEachRecordComesTwice_C3) { EXPECT_EQ(flaws({.twice = true}), ""); }

TEST_P(EachStory, EndsTheSameWhenTheSourcesSpeakInAnotherOrder) {
    EXPECT_EQ(flaws({.reversed = true}), "");
}

TEST_P(EachStory, IsFoldedAlikeInMemoryOnRocksdbAndWithARestartAfterEachRecord_C2_C7) {
    const std::vector<Recorded> records = play(story_, policy_).records;
    Replay in_memory;
    const Answers expected = fold(in_memory, records, false);
    Replay restarted;
    EXPECT_EQ(fold(restarted, records, true), expected) << "restarts change it";
    const testing::TempDir folder;
    const auto store = projections::RocksdbStore::open({folder.path(), std::size_t{8} << 20U});
    ASSERT_TRUE(store.ok()) << store.error().what;
    Replay on_disk(**store);
    EXPECT_EQ(fold(on_disk, records, true), expected) << "RocksDB changes it";
}

INSTANTIATE_TEST_SUITE_P(
    Scenario, EachStory, ::testing::ValuesIn(stories_in(TRUEUP_POLICIES)), [](const auto& tested) {
        std::string name = fs::relative(tested.param, TRUEUP_POLICIES).replace_extension().string();
        std::replace_if(
            name.begin(), name.end(), [](char c) { return std::isalnum(c) == 0; }, '_');
        return name;
    });

}  // namespace
}  // namespace trueup::stories
