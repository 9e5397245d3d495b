// Proves engine/runtime/checkpoints.h: a checkpoint and the journal behind it are the fold of the
// whole (C8); only what can be used gets a name; old ones go, and none that is not ours.
#include "engine/runtime/checkpoints.h"

#include "engine/core/row.h"
#include "engine/runtime/projection.h"
#include "projections/rocksdb_store.h"
#include "tests/engine/runtime/bench.h"
#include "tests/support/temp_dir.h"

#include <gtest/gtest.h>

#include <filesystem>

namespace trueup::runtime::testing {
namespace {

namespace fs = std::filesystem;
using projections::RocksdbStore;
using trueup::testing::TempDir;

bool never() { return false; }

std::unique_ptr<RocksdbStore> must_open(const std::string& path) {
    auto opened = RocksdbStore::open({.path = path, .memory_bytes = std::size_t{1} << 20U});
    if (!opened.ok()) throw std::runtime_error(opened.error().what);
    return std::move(*opened);
}

TEST(CheckpointName, SaysWhatIsInItAndIsReadBack) {
    const Checkpoint checkpoint{{1, 2}, 4711, {3, 4}};
    const std::string name =
        "00000000000000010000000000000002-4711-00000000000000030000000000000004";
    EXPECT_EQ(checkpoint.name(), name);
    EXPECT_EQ(Checkpoint::of_name(name), checkpoint);
    const std::string id = name.substr(0, 33);
    const std::string digest = name.substr(37);
    const std::vector<std::string> others{"making",
                                          "making.tmp",
                                          "going",
                                          "",
                                          "-",
                                          "--",
                                          name + "0",
                                          "x" + name,
                                          name.substr(1),
                                          id + "-1" + digest,
                                          id + "04711" + digest,
                                          id + "4711x" + digest,
                                          id + digest};
    for (const std::string& other : others) {
        EXPECT_EQ(Checkpoint::of_name(other), std::nullopt) << other;
    }
}

class CheckpointsOfAShard : public ::testing::Test {
  protected:
    CheckpointsOfAShard() { bench_.settings.write_behind_every = Millis{0}; }

    Checkpoints keeping(std::size_t keep) { return {dir_ / "checkpoints", 0, keep}; }
    Checkpoint make(Checkpoints& checkpoints) {
        auto made = checkpoints.make(*store_, never);
        if (!made.ok()) throw std::runtime_error(made.error().what);
        if (!made->has_value()) throw std::runtime_error("nothing to make");
        return **made;
    }
    /// Something that changes the rows.
    void go_on(Shard& shard) {
        bench_.pods.say(pod("a", "u", ++version_));
        bench_.publish();
        bench_.settle(shard);
    }
    std::set<std::string> names() {
        std::set<std::string> names;
        for (const auto& entry : fs::directory_iterator(dir_ / "checkpoints")) {
            names.insert(entry.path().filename().string());
        }
        return names;
    }

    TempDir dir_;
    std::unique_ptr<RocksdbStore> store_ = must_open(dir_ / "projection");
    Bench bench_;
    std::uint64_t version_ = 10;
};

TEST_F(CheckpointsOfAShard, EachWithItsTailIsTheFoldOfTheWhole_C8) {
    Checkpoints checkpoints = keeping(100);
    std::mt19937_64 random(23);
    auto shard = bench_.open(store_.get());
    bench_.settle(*shard);
    bench_.all_known({pod("wrapper-0", "uid-wrapper-0", 5)}, {row("wrapper-1", "1", 5)});
    std::vector<Checkpoint> made;
    for (int i = 0; i < 60; ++i) {
        bench_.random_act(random);
        bench_.settle(*shard);
        if (i % 6 == 0) made.push_back(make(checkpoints));
    }
    const core::Meta whole = settled_meta(*shard);
    ASSERT_GT(whole.rules[0].detected, 0U) << "the story is too quiet";
    for (const Checkpoint& checkpoint : made) {
        SCOPED_TRACE(checkpoint.name());
        const std::string place = dir_ / "placed";
        ASSERT_TRUE(RocksdbStore::put_in_place(checkpoints.path_of(checkpoint), place).ok());
        auto store = must_open(place);
        const auto image = Projection(*store, 0).meta();
        EXPECT_EQ(Checkpoint::of(**image), checkpoint);
        // The journal begins right behind it, so that nothing else can be folded than its tail.
        auto log = copy_of(bench_.log);
        ASSERT_TRUE(log->truncate({Topic::kJournal, 0}, checkpoint.offset + 1).ok());
        EXPECT_EQ(folded(bench_.settings, *log, *store, bench_.clock), whole);
        store.reset();
        fs::remove_all(place);
    }
}

TEST_F(CheckpointsOfAShard, ThereIsNoneOfNothingAndNoneTwice) {
    Checkpoints checkpoints = keeping(3);
    EXPECT_EQ(checkpoints.make(*store_, never).value(), std::nullopt) << "nothing was written";
    auto shard = bench_.open(store_.get());
    bench_.settle(*shard);
    EXPECT_EQ(checkpoints.newest({7, 7}), std::nullopt);
    const Checkpoint made = make(checkpoints);
    EXPECT_EQ(checkpoints.make(*store_, never).value(), std::nullopt) << "it is there already";
    EXPECT_EQ(checkpoints.list(), std::vector{made});
    EXPECT_EQ(checkpoints.newest({7, 7}), made);
    EXPECT_GT(checkpoints.made_at(made), 1'600'000'000'000) << "in milliseconds since 1970";
    EXPECT_EQ(checkpoints.made_at({{7, 7}, 99, {}}), 0) << "not there";
}

TEST_F(CheckpointsOfAShard, TheNewestOfThisJournalStayAndOthersAreLeftAlone) {
    Checkpoints checkpoints = keeping(2);
    const std::string other = Checkpoint{{9, 9}, 1, {1, 1}}.name();
    const std::string ahead = Checkpoint{{7, 7}, 1'000'000, {1, 1}}.name();
    for (const std::string& name : {other, ahead, std::string("mine")}) {
        fs::create_directories(dir_ / "checkpoints" + ("/" + name));
    }
    auto shard = bench_.open(store_.get());
    bench_.settle(*shard);
    std::vector<std::string> made;
    for (int i = 0; i < 4; ++i) {
        go_on(*shard);
        made.push_back(make(checkpoints).name());
        EXPECT_EQ(names().count(ahead), 0U) << "of rows that were given up";
    }
    EXPECT_EQ(names(), (std::set<std::string>{other, "mine", made[2], made[3]}));
    EXPECT_EQ(checkpoints.newest({7, 7})->name(), made[3]);
}

TEST_F(CheckpointsOfAShard, RowsThatDoNotAddUpGetNoName_C8) {
    Checkpoints checkpoints = keeping(1);
    auto shard = bench_.open(store_.get());
    bench_.settle(*shard);
    go_on(*shard);
    const Checkpoint good = make(checkpoints);
    go_on(*shard);
    ports::StoreBatch damage;
    damage.put(std::string("\0\0sgraph-instances/a", 20), "rubbish");
    ASSERT_TRUE(store_->apply(damage).ok());
    const auto made = checkpoints.make(*store_, never);
    ASSERT_FALSE(made.ok());
    EXPECT_EQ(made.error().next, Next::kSkip) << made.error().what;
    EXPECT_EQ(names(), std::set{good.name()}) << "and the good one is still there";
}

TEST_F(CheckpointsOfAShard, OneThatIsStoppedGetsNoName) {
    Checkpoints checkpoints = keeping(1);
    auto shard = bench_.open(store_.get());
    bench_.settle(*shard);
    ports::StoreBatch many;
    for (int i = 0; i < 10'000; ++i) many.put(std::string("\0\0s", 3) + std::to_string(i), "x");
    ASSERT_TRUE(store_->apply(many).ok());
    const auto made = checkpoints.make(*store_, [] { return true; });
    ASSERT_FALSE(made.ok());
    EXPECT_EQ(made.error().next, Next::kRetry) << made.error().what;
    EXPECT_EQ(names(), std::set<std::string>{});
}

}  // namespace
}  // namespace trueup::runtime::testing
