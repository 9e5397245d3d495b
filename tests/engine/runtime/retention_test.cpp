// Proves engine/runtime/retention.h: what is old goes, what somebody needs stays (N1, N2), and a
// start from the oldest checkpoint that is kept finds all that it folds.
#include "engine/runtime/retention.h"

#include "tests/engine/runtime/shard_fixture.h"

#include <gtest/gtest.h>

#include <chrono>

namespace trueup::runtime::testing {
namespace {

constexpr Millis kDay = std::chrono::hours(24);

/// Where a partition begins once its oldest share is gone.
Offset behind_a_share(const ports::Extent& extent) {
    const std::int64_t all = distance(extent.first_offset, extent.next_offset);
    return further(extent.first_offset, all / Retention::kShare + 1);
}

/// A shard that has seen two days, with an image of its rows at the end of the first and of the
/// second.
class TwoDays {
  public:
    TwoDays() : shard(fixture.open()) {
        fixture.settle(*shard);
        fixture.all_known({pod("a", "u", 5)}, {row("a", "1", 5)});
        fixture.settle(*shard);
        first = checkpoint();
        day();
        second = checkpoint();
        day();
    }

    Checkpoint checkpoint() {
        EXPECT_TRUE(shard->stop().ok());
        images.push_back(copy_of(fixture.store));
        return Checkpoint::of(shard->state().meta);
    }
    void day() {
        for (int hour = 0; hour < 24; ++hour) {
            fixture.pass(std::chrono::hours(1));
            fixture.all_progress();
            fixture.pods.say(pod("a", "u", 6 + versions++));
            fixture.publish();
            fixture.settle(*shard);
        }
    }
    /// One call, which takes a share at most.
    Result<Retention::Tended> once(const RetentionSettings& settings,
                                   const std::vector<Checkpoint>& checkpoints) {
        return tend_with(settings, shard->state().meta, checkpoints);
    }
    Result<Retention::Tended> tend_with(const RetentionSettings& settings, const core::Meta& meta,
                                        const std::vector<Checkpoint>& checkpoints) {
        return Retention(settings, fixture.log, fixture.clock).tend(meta, checkpoints, [] {
            return false;
        });
    }
    /// Until nothing more goes: all that went.
    Result<Retention::Tended> tend(const RetentionSettings& settings,
                                   const std::vector<Checkpoint>& checkpoints) {
        return tend_all(settings, shard->state().meta, checkpoints);
    }
    Result<Retention::Tended> tend_all(const RetentionSettings& settings, const core::Meta& meta,
                                       const std::vector<Checkpoint>& checkpoints) {
        Retention::Tended all;
        while (true) {
            auto tended = tend_with(settings, meta, checkpoints);
            if (!tended) return tended.error();
            all.too_large = tended->too_large;
            if (tended->cuts.empty()) return all;
            all.cuts.insert(all.cuts.end(), tended->cuts.begin(), tended->cuts.end());
        }
    }
    ports::Extent extent(Topic topic) { return *fixture.log.describe(partition(topic)); }

    ShardFixture fixture;
    std::unique_ptr<Shard> shard;
    std::vector<std::unique_ptr<projections::MemoryStore>> images;
    Checkpoint first;
    Checkpoint second;
    std::uint64_t versions = 0;
};

// The log of an installation without a broker was never shortened: every fact lay in it twice, for
// ever.
TEST(Retention, TopicsForgetWhatIsOlderThanTheirTime) {
    TwoDays world;
    const auto cuts = world.tend({.topics = kDay}, {});
    ASSERT_TRUE(cuts.ok());
    ASSERT_FALSE(cuts->cuts.empty());
    const ports::Extent pods = world.extent(Topic::kChangesPods);
    EXPECT_GT(pods.first_offset, kFirstOffset);
    EXPECT_LT(pods.first_offset, pods.next_offset);
    const auto oldest =
        world.fixture.log.read(partition(Topic::kChangesPods), pods.first_offset, 1);
    ASSERT_TRUE(oldest.ok());
    EXPECT_GE(oldest->records.front().append_time, world.shard->state().meta.broker_now - kDay);
    EXPECT_EQ(world.extent(Topic::kJournal).first_offset, kFirstOffset)
        << "the journal has a time of its own";
    const auto again = world.tend({.topics = kDay}, {});
    ASSERT_TRUE(again.ok());
    EXPECT_TRUE(again->cuts.empty());
}

TEST(Retention, WhatTheShardHasNotReadStaysHoweverOldItIs) {
    TwoDays world;
    core::Meta behind = world.shard->state().meta;
    const auto pods = static_cast<std::size_t>(Topic::kChangesPods);
    behind.last[pods] = Offset(3);
    ASSERT_TRUE(world.tend_all({.topics = Millis{1}}, behind, {}).ok());
    EXPECT_EQ(world.extent(Topic::kChangesPods).first_offset, Offset(4));
    behind.last[pods] = kNoOffset;
    behind.last[static_cast<std::size_t>(Topic::kChangesRows)] = kNoOffset;
    TwoDays unread;
    ASSERT_TRUE(unread.tend_all({.topics = Millis{1}}, behind, {}).ok());
    EXPECT_EQ(unread.extent(Topic::kChangesPods).first_offset, kFirstOffset);
}

TEST(Retention, TheJournalStaysFromTheOldestCheckpointOn) {
    TwoDays world;
    const RetentionSettings hour{.journal = std::chrono::hours(1)};
    const auto first_offset = [&] { return world.extent(Topic::kJournal).first_offset; };
    ASSERT_TRUE(world.tend(hour, {}).ok());
    ASSERT_TRUE(world.tend(hour, {world.second}).ok());
    EXPECT_EQ(first_offset(), kFirstOffset) << "one checkpoint is no more than the rows are";
    Checkpoint foreign = world.second;
    foreign.journal_id = JournalId({77, 77});
    Checkpoint ahead = world.second;
    ahead.offset = next(world.shard->state().meta.applied);
    ASSERT_TRUE(world.tend(hour, {ahead, world.second, foreign}).ok());
    EXPECT_EQ(first_offset(), kFirstOffset)
        << "neither another journal's nor one from the future counts";
    ASSERT_TRUE(world.tend(hour, {world.second, world.first}).ok());
    EXPECT_EQ(first_offset(), world.first.offset);
}

TEST(Retention, AStartFromTheOldestCheckpointFoldsTheRest_C8) {
    TwoDays world;
    ASSERT_TRUE(
        world.tend({.topics = kDay, .journal = std::chrono::hours(1)}, {world.second, world.first})
            .ok());
    ASSERT_GT(world.extent(Topic::kJournal).first_offset, kFirstOffset);
    auto again = world.fixture.follow(*world.images.front());
    world.fixture.settle(*again);
    EXPECT_EQ(again->state().meta.applied, world.shard->state().meta.applied);
    EXPECT_EQ(again->state().meta.chain, world.shard->state().meta.chain);
    EXPECT_EQ(again->state().meta.subjects, world.shard->state().meta.subjects);
}

TEST(Retention, ByAgeTheYoungStays) {
    TwoDays world;
    ASSERT_TRUE(world.tend({.journal = 30 * kDay}, {world.second, world.first}).ok());
    EXPECT_EQ(world.extent(Topic::kJournal).first_offset, kFirstOffset);
    EXPECT_EQ(world.extent(Topic::kChangesPods).first_offset, kFirstOffset)
        << "a broker's own matter";
}

TEST(Retention, ALogThatIsTooLargeLosesTheOldestOfItsJournalBitByBit) {
    TwoDays world;
    const RetentionSettings small{.topics = kDay, .log_bytes = 1'000};
    const std::vector<Checkpoint> kept{world.second, world.second};
    const ports::Extent before = world.extent(Topic::kJournal);
    ASSERT_TRUE(world.once(small, kept).ok());
    EXPECT_EQ(world.extent(Topic::kJournal).first_offset, kFirstOffset)
        << "nobody knows how large it is";
    world.fixture.log.say_stored(1'000);
    ASSERT_TRUE(world.once(small, kept).ok());
    EXPECT_EQ(world.extent(Topic::kJournal).first_offset, kFirstOffset) << "it is not too large";
    world.fixture.log.say_stored(1'001);
    ASSERT_TRUE(world.once(small, kept).ok());
    EXPECT_EQ(world.extent(Topic::kJournal).first_offset, behind_a_share(before));
    const auto some = world.once(small, kept);
    ASSERT_TRUE(some.ok());
    EXPECT_FALSE(some->too_large) << "it makes room";
}

// A log that its topics alone made too large lost its whole journal, and was as large as before.
TEST(Retention, WhatSharesItsFilesWithTheTopicsStaysHoweverLargeTheLogIs) {
    TwoDays world;
    world.fixture.log.say_stored(1'001);
    const RetentionSettings small{.topics = kDay, .log_bytes = 1'000};
    Result<Retention::Tended> last = Retention::Tended{};
    const Checkpoint third = world.checkpoint();
    for (int i = 0; i < 60; ++i) last = world.once(small, {third, third});
    ASSERT_TRUE(last.ok());
    EXPECT_TRUE(last->too_large) << "somebody must be told";
    const Offset first = world.extent(Topic::kJournal).first_offset;
    EXPECT_LT(first, third.offset);
    const auto oldest = world.fixture.log.read(partition(Topic::kJournal), first, 1);
    ASSERT_TRUE(oldest.ok());
    const Millis kept = world.shard->state().meta.broker_now - oldest->records.front().append_time;
    EXPECT_GE(kept, kDay - std::chrono::hours(1));
    TwoDays without;
    without.fixture.log.say_stored(1'001);
    const auto none = without.tend(small, {});
    ASSERT_TRUE(none.ok());
    EXPECT_TRUE(none->too_large) << "without checkpoints nothing of the journal may go";
}

// A clock that leapt ahead by 30 days made everything old, and all of it went.
TEST(Retention, AClockThatLeapsMakesNothingOld) {
    TwoDays world;
    const RetentionSettings settings{.topics = 7 * kDay, .journal = 7 * kDay};
    Retention retention(settings, world.fixture.log, world.fixture.clock);
    const std::vector<Checkpoint> kept{world.second, world.second};
    world.fixture.log.advance(30 * kDay);  // that of the brokers
    world.day();
    const auto tend = [&] {
        auto tended = retention.tend(world.shard->state().meta, kept, [] { return false; });
        EXPECT_TRUE(tended.ok());
        return tended.ok() ? *tended : Retention::Tended{};
    };
    EXPECT_TRUE(tend().cuts.empty());
    EXPECT_EQ(tend().ahead, 30 * kDay);
    world.fixture.clock.leap(30 * kDay);  // and that of this machine, which may be the log's
    EXPECT_TRUE(tend().cuts.empty());
    world.fixture.clock.advance(7 * kDay);
    EXPECT_FALSE(tend().cuts.empty()) << "what passed here makes it old";
}

// A start under a clock that was a month ahead forgot all of the log in its first minute.
TEST(Retention, NoMoreThanAShareGoesInOneCall) {
    TwoDays world;
    const ports::Extent before = world.extent(Topic::kChangesPods);
    const auto cuts = world.once({.topics = Millis{1}}, {});
    ASSERT_TRUE(cuts.ok());
    EXPECT_EQ(world.extent(Topic::kChangesPods).first_offset, behind_a_share(before));
}

TEST(Retention, AStopIsNotKeptWaiting) {
    TwoDays world;
    int asked = 0;
    const auto tended = Retention({.topics = Millis{1}}, world.fixture.log, world.fixture.clock)
                            .tend(world.shard->state().meta, {}, [&] { return ++asked > 2; });
    ASSERT_TRUE(tended.ok());
    EXPECT_LE(tended->cuts.size(), 2U);
    EXPECT_EQ(tended->journal_begin, kNoOffset);
}

TEST(Retention, ALogThatDoesNotAnswerIsAskedAgain) {
    TwoDays world;
    world.fixture.log.fail_reads(1);
    const auto cuts = world.tend({.topics = kDay}, {});
    ASSERT_FALSE(cuts.ok());
    EXPECT_EQ(cuts.error().next, Next::kRetry);
    EXPECT_TRUE(world.tend({.topics = kDay}, {}).ok());
}

}  // namespace
}  // namespace trueup::runtime::testing
