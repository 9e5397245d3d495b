// Proves engine/runtime/checkpoints.h: a checkpoint and the journal behind it are the fold of the
// whole (C8); only what can be used gets a name; old ones go, and none that is not ours; engines on
// the same shard may share the folder.
#include "engine/runtime/checkpoints.h"

#include "engine/core/row.h"
#include "engine/runtime/projection.h"
#include "projections/rocksdb_store.h"
#include "tests/engine/runtime/shard_fixture.h"
#include "tests/support/temp_dir.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <thread>

namespace trueup::runtime::testing {
namespace {

namespace fs = std::filesystem;
using projections::RocksdbStore;
using trueup::testing::TempDir;

constexpr JournalId kOurs({7, 7});

bool never() { return false; }

std::unique_ptr<RocksdbStore> must_open(const std::string& path) {
    auto opened = RocksdbStore::open({.path = path, .memory_bytes = std::size_t{1} << 20U});
    if (!opened.ok()) throw std::runtime_error(opened.error().what);
    return std::move(*opened);
}

TEST(CheckpointName, SaysWhatIsInItAndIsReadBack) {
    const Checkpoint checkpoint{JournalId({1, 2}), Offset(4711), {3, 4}};
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
    CheckpointsOfAShard() { fixture_.settings.write_behind_every = Millis{0}; }

    Checkpoints keeping(std::size_t keep) {
        return {dir_ / "checkpoints", PartitionNumber(0), keep};
    }
    Checkpoint make(Checkpoints& checkpoints) {
        auto made = checkpoints.make(*store_, never);
        if (!made.ok()) throw std::runtime_error(made.error().what);
        if (!made->has_value()) throw std::runtime_error("nothing to make");
        return **made;
    }
    /// Something that changes the rows.
    void go_on(Shard& shard) {
        fixture_.pods.say(pod("a", "u", ++version_));
        fixture_.publish();
        fixture_.settle(shard);
        fixture_.pass(fixture_.settings.timeout);  // it may be another engine's turn
        fixture_.settle(shard);
    }
    std::set<std::string> names() {
        std::set<std::string> names;
        for (const auto& entry : fs::directory_iterator(dir_ / "checkpoints")) {
            names.insert(entry.path().filename().string());
        }
        names.erase("lock");
        return names;
    }
    /// The rows of another engine on this shard, which has come as far as this one by now.
    std::unique_ptr<RocksdbStore> other_engine() {
        auto store = must_open(dir_ / "other-projection");
        fixture_.settle(*fixture_.open(store.get()));
        return store;
    }

    TempDir dir_;
    std::unique_ptr<RocksdbStore> store_ = must_open(dir_ / "projection");
    ShardFixture fixture_;
    std::uint64_t version_ = 10;
};

TEST_F(CheckpointsOfAShard, EachWithItsTailIsTheFoldOfTheWhole_C8) {
    Checkpoints checkpoints = keeping(100);
    std::mt19937_64 random(23);
    auto shard = fixture_.open(store_.get());
    fixture_.settle(*shard);
    fixture_.all_known({pod("wrapper-0", "uid-wrapper-0", 5)}, {row("wrapper-1", "1", 5)});
    std::vector<Checkpoint> made;
    for (int i = 0; i < 60; ++i) {
        fixture_.random_act(random);
        fixture_.settle(*shard);
        if (i % 6 == 0) made.push_back(make(checkpoints));
    }
    const core::Meta whole = settled_meta(*shard);
    ASSERT_GT(whole.rules[0].detected, 0U) << "the story is too quiet";
    for (const Checkpoint& checkpoint : made) {
        SCOPED_TRACE(checkpoint.name());
        const std::string place = dir_ / "placed";
        ASSERT_TRUE(RocksdbStore::put_in_place(checkpoints.path_of(checkpoint), place).ok());
        auto store = must_open(place);
        const auto image = Projection(*store, PartitionNumber(0)).meta();
        EXPECT_EQ(Checkpoint::of(**image), checkpoint);
        // The journal begins right behind it, so that nothing else can be folded than its tail.
        auto log = copy_of(fixture_.log);
        ASSERT_TRUE(
            log->truncate({Topic::kJournal, PartitionNumber(0)}, next(checkpoint.offset)).ok());
        EXPECT_EQ(folded(fixture_.settings, *log, *store, fixture_.clock), whole);
        store.reset();
        fs::remove_all(place);
    }
}

TEST_F(CheckpointsOfAShard, ThereIsNoneOfNothingAndNoneTwice) {
    Checkpoints checkpoints = keeping(3);
    EXPECT_EQ(checkpoints.make(*store_, never).value(), std::nullopt) << "nothing was written";
    auto shard = fixture_.open(store_.get());
    fixture_.settle(*shard);
    EXPECT_EQ(checkpoints.newest(kOurs, Offset(1'000'000)), std::nullopt);
    const Checkpoint made = make(checkpoints);
    EXPECT_EQ(checkpoints.make(*store_, never).value(), std::nullopt) << "it is there already";
    EXPECT_EQ(checkpoints.list(), std::vector{made});
    EXPECT_EQ(checkpoints.newest(kOurs, made.offset), made);
    EXPECT_EQ(checkpoints.newest(kOurs, previous(made.offset)), std::nullopt);
    EXPECT_GT(checkpoints.made_at(made), 1'600'000'000'000) << "in milliseconds since 1970";
    EXPECT_EQ(checkpoints.made_at({kOurs, Offset(99), {}}), 0) << "not there";
}

TEST_F(CheckpointsOfAShard, TheNewestOfThisJournalStayAndOthersAreLeftAlone) {
    Checkpoints checkpoints = keeping(2);
    const std::string other = Checkpoint{JournalId({9, 9}), Offset(1), {1, 1}}.name();
    for (const std::string& name : {other, std::string("mine")}) {
        fs::create_directories(dir_ / "checkpoints" + ("/" + name));
    }
    auto shard = fixture_.open(store_.get());
    fixture_.settle(*shard);
    std::vector<std::string> made;
    for (int i = 0; i < 4; ++i) {
        go_on(*shard);
        made.push_back(make(checkpoints).name());
    }
    EXPECT_EQ(names(), (std::set<std::string>{other, "mine", made[2], made[3]}));
    EXPECT_EQ(checkpoints.newest(kOurs, Offset(1'000'000))->name(), made[3]);
}

// An engine that came late removed the checkpoints of the one beside it: they were ahead of its
// rows.
TEST_F(CheckpointsOfAShard, WhatIsAheadIsAnotherEnginesAndStaysUntilTheRowsPassedIt_C8) {
    Checkpoints checkpoints = keeping(1);
    auto shard = fixture_.open(store_.get());
    fixture_.settle(*shard);
    go_on(*shard);
    auto late = other_engine();
    go_on(*shard);
    const Checkpoint ahead = make(checkpoints);
    const auto behind = checkpoints.make(*late, never).value();
    ASSERT_TRUE(behind.has_value());
    ASSERT_LT(behind->offset, ahead.offset);
    EXPECT_EQ(names(), (std::set{ahead.name(), behind->name()}));
    EXPECT_EQ(checkpoints.newest(kOurs, behind->offset), behind) << "what the late one looks at";
    go_on(*shard);
    const Checkpoint newest = make(checkpoints);
    EXPECT_EQ(names(), std::set{newest.name()});
}

TEST_F(CheckpointsOfAShard, WhatAnotherEngineMadeOfTheSameRowsIsThereAlready) {
    Checkpoints checkpoints = keeping(3);
    auto shard = fixture_.open(store_.get());
    fixture_.settle(*shard);
    go_on(*shard);
    shard.reset();
    const Checkpoint made = make(checkpoints);
    auto other = other_engine();
    const auto again = checkpoints.make(*other, never);
    ASSERT_TRUE(again.ok()) << again.error().what;
    // What it appended when it opened may be new to it; nothing else is.
    EXPECT_EQ(names().count(made.name()), 1U);
    EXPECT_EQ(checkpoints.make(*other, never).value(), std::nullopt);
}

TEST_F(CheckpointsOfAShard, WhileAnotherEngineMakesOneNothingIsMadeOrRemoved) {
    Checkpoints checkpoints = keeping(1);
    auto shard = fixture_.open(store_.get());
    fixture_.settle(*shard);
    go_on(*shard);
    const Checkpoint made = make(checkpoints);
    go_on(*shard);
    fs::create_directories(dir_ / "checkpoints/making");
    const int lock = ::open((dir_ / "checkpoints/lock").c_str(), O_RDWR);
    ASSERT_EQ(::flock(lock, LOCK_EX | LOCK_NB), 0) << "nobody makes one at the moment";
    EXPECT_EQ(checkpoints.make(*store_, never).value(), std::nullopt);
    EXPECT_EQ(names(), (std::set<std::string>{made.name(), "making"}));
    ::close(lock);  // as when that process dies
    EXPECT_EQ(names(), (std::set<std::string>{made.name(), "making"}));
    const Checkpoint next = make(checkpoints);
    EXPECT_EQ(names(), std::set{next.name()});
}

TEST_F(CheckpointsOfAShard, TwoEnginesAtOnceLeaveNothingButWhatCanBeUsed_C8) {
    auto shard = fixture_.open(store_.get());
    fixture_.settle(*shard);
    go_on(*shard);
    auto other = other_engine();
    std::atomic<int> made{0};
    const auto engine = [&](RocksdbStore& store) {
        Checkpoints checkpoints = keeping(2);
        for (int i = 0; i < 20; ++i) {
            const auto one = checkpoints.make(store, never);
            EXPECT_TRUE(one.ok()) << one.error().what;
            if (one.ok() && one->has_value()) {
                ++made;
                const std::string kept = "kept-" + std::to_string(++made) + "-" + (*one)->name();
                fs::rename(checkpoints.path_of(**one), dir_ / kept);  // there is one to make again
            }
        }
    };
    std::thread first([&] { engine(*store_); });
    std::thread second([&] { engine(*other); });
    first.join();
    second.join();
    EXPECT_GT(made, 2);
    EXPECT_EQ(names(), std::set<std::string>{}) << "half made";
    for (const auto& entry : fs::directory_iterator(dir_.path())) {
        const std::string name = entry.path().filename().string();
        if (name.rfind("kept-", 0) != 0) continue;
        const std::string place = dir_ / "placed";
        ASSERT_TRUE(RocksdbStore::put_in_place(entry.path().string(), place).ok()) << name;
        auto store = must_open(place);
        const auto meta = Projection(*store, PartitionNumber(0)).verified(never);
        ASSERT_TRUE(meta.ok()) << name << ": " << meta.error().what;
        EXPECT_EQ(name.substr(name.find('-', 5) + 1), Checkpoint::of(*meta).name());
        store.reset();
        fs::remove_all(place);
    }
}

TEST_F(CheckpointsOfAShard, AFolderThatCannotBeLockedIsSaid) {
    Checkpoints checkpoints = keeping(1);
    auto shard = fixture_.open(store_.get());
    fixture_.settle(*shard);
    fs::create_directories(dir_ / "checkpoints/lock");
    const auto made = checkpoints.make(*store_, never);
    ASSERT_FALSE(made.ok());
    EXPECT_EQ(made.error().next, Next::kRetry);
    EXPECT_NE(made.error().what.find("cannot lock"), std::string::npos) << made.error().what;
}

TEST_F(CheckpointsOfAShard, RowsThatDoNotAddUpGetNoName_C8) {
    Checkpoints checkpoints = keeping(1);
    auto shard = fixture_.open(store_.get());
    fixture_.settle(*shard);
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
    auto shard = fixture_.open(store_.get());
    fixture_.settle(*shard);
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
