// Proves design §4.8 at the shard: while nothing comes in, journal time passes by records of its
// own, in steps that are not clamped and not too many; and what `status` tells.
#include "tests/engine/runtime/shard_fixture.h"

#include <gtest/gtest.h>

namespace trueup::runtime::testing {
namespace {

Offset journal_end(ShardFixture& fixture) {
    return fixture.log.describe({Topic::kJournal, PartitionNumber(0)})->next_offset;
}

/// Steps as a host does: waits for as long as the shard says, at least `least`.
void host(ShardFixture& fixture, Shard& shard, Millis time, Millis least = Millis{1}) {
    for (Millis passed{0}; passed < time;) {
        fixture.settle(shard);
        const Millis nap = std::max(least, shard.idle_time());
        fixture.pass(nap);
        passed += nap;
    }
    fixture.settle(shard);
}

TEST(ShardPace, JournalTimePassesWhileNothingComesIn_Design4_8) {
    ShardFixture fixture;
    auto shard = fixture.open();
    fixture.settle(*shard);
    fixture.all_known({}, {});
    fixture.settle(*shard);
    const JournalTime before = shard->state().meta.now;
    const Offset end = journal_end(fixture);
    host(fixture, *shard, Millis{60'000});
    EXPECT_GE(shard->state().meta.now - before, Millis{57'000});
    EXPECT_EQ(shard->state().meta.counters.clamped_steps, 0U) << "no step was too long";
    EXPECT_LE(distance(end, journal_end(fixture)), 90) << "half of max_clock_step is often enough";
}

TEST(ShardPace, AGraceEndsWithoutAnyInput_G1) {
    ShardFixture fixture;
    auto shard = fixture.open();
    fixture.settle(*shard);
    fixture.all_known({pod("a", "uid-a", 5)}, {});
    fixture.settle(*shard);
    ASSERT_EQ(shard->state().meta.open_findings, 1U);
    host(fixture, *shard, Millis{4'900});
    fixture.all_progress();
    EXPECT_TRUE(commands_in(fixture.log).empty());
    host(fixture, *shard, Millis{200});
    EXPECT_EQ(commands_in(fixture.log).size(), 1U) << "the timer is not kept waiting for a beat";
}

// An idle shard with a timer that was due appended 400 ticks a second.
TEST(ShardPace, NoMoreThanFiftyTicksASecondWhateverIsDue) {
    ShardFixture fixture;
    auto shard = fixture.open();
    fixture.settle(*shard);
    fixture.all_known({pod("a", "uid-a", 5)}, {row("c", "2", 5)});
    fixture.settle(*shard);
    for (int second = 0; second < 20; ++second) {
        const Offset before = journal_end(fixture);
        for (int i = 0; i < 1'000; ++i) {
            fixture.pass(Millis{1});
            ASSERT_TRUE(shard->step().ok());
        }
        EXPECT_LE(distance(before, journal_end(fixture)), 51) << "in second " << second;
    }
}

// The same while the journal's clock stands still: the timer never comes due, the ticks go on.
TEST(ShardPace, NoMoreThanFiftyTicksASecondWhileTheBrokersClockStands) {
    ShardFixture fixture;
    auto shard = fixture.open();
    fixture.settle(*shard);
    fixture.all_known({pod("a", "uid-a", 5)}, {row("c", "2", 5)});
    fixture.settle(*shard);
    fixture.clock.advance(Millis{10'000});
    const Offset before = journal_end(fixture);
    for (int i = 0; i < 1'000; ++i) {
        fixture.clock.advance(Millis{1});
        ASSERT_TRUE(shard->step().ok());
    }
    EXPECT_LE(distance(before, journal_end(fixture)), 51);
}

TEST(ShardPace, ALongSweepGoesOnByItself) {
    ShardFixture fixture;
    fixture.settings.policy.sweep_step = 3;
    auto shard = fixture.open();
    fixture.settle(*shard);
    std::vector<Fact> many;
    for (int i = 0; i < 40; ++i) {
        many.push_back(pod("w" + std::to_string(i), "u" + std::to_string(i), 5));
    }
    fixture.all_known(many, {});
    fixture.settle(*shard);
    EXPECT_FALSE(shard->state().meta.sweeps.empty());
    EXPECT_LE(shard->idle_time(), Millis{20});
    host(fixture, *shard, Millis{2'000});
    EXPECT_TRUE(shard->state().meta.sweeps.empty());
}

TEST(ShardPace, IdleTimeIsBoundedAndAnAnswerEndsIt) {
    ShardFixture fixture;
    auto shard = fixture.open();
    fixture.settle(*shard);
    fixture.all_known({}, {});
    fixture.settle(*shard);
    EXPECT_GT(shard->idle_time(), Millis{100});
    EXPECT_LE(shard->idle_time(), Millis{500});
    fixture.pods.say(pod("a", "u", 5));
    fixture.publish();
    fixture.log.hold_appends();
    ASSERT_TRUE(shard->step().ok());
    const std::uint64_t seen = fixture.log.changes_seen();
    fixture.log.release_appends();
    EXPECT_GT(fixture.log.changes_seen(), seen) << "the answer of an append ends the wait";
    fixture.settle(*shard);
    host(fixture, *shard, Millis{4'500}, Millis{5});
    EXPECT_LE(shard->idle_time(), Millis{500}) << "the grace ends soon";
}

// One finding that was only observed kept every source at its hurried pace for good: 48 MB of
// proofs a day, and of LISTs seven times as many as needed.
TEST(ShardPace, SourcesHurryOnlyForWhatAProofCanEnd) {
    ShardFixture fixture;
    for (RuleSettings& rule : fixture.settings.policy.rules) rule.mode = Mode::kObserve;
    fixture.settings.policy.reconcile_every = Millis{0};
    auto shard = fixture.open();
    fixture.settle(*shard);
    fixture.all_known({pod("wrapper-a", "uid-a", 5)}, {row("wrapper-b", "1", 5)});
    fixture.settle(*shard);
    fixture.live(*shard, Millis{12'000});
    ASSERT_EQ(shard->state().meta.open_findings, 2U);
    EXPECT_FALSE(shard->status().proof_awaited) << "they are observed, and stay so";
    fixture.pods.say(pod("wrapper-c", "uid-c", 6));
    fixture.publish();
    fixture.settle(*shard);
    bool asked = false;
    for (int i = 0; i < 60; ++i) {
        fixture.pass(Millis{100});
        fixture.settle(*shard);
        asked = asked || shard->status().proof_awaited;
    }
    EXPECT_TRUE(asked) << "another pod without a row";
}

// One row with a time to live hurried all sources until it ended, hours away.
TEST(ShardPace, ADeadlineThatIsFarHurriesNobody) {
    core::Waits waits;
    waits.add("graph/a", {std::nullopt, 1, from_millis<BrokerTime>(9'000'000)});
    EXPECT_FALSE(waits.awaits(1, from_millis<BrokerTime>(8'999'999)));
    EXPECT_TRUE(waits.awaits(1, from_millis<BrokerTime>(9'000'000)));
    EXPECT_FALSE(waits.awaits(0, from_millis<BrokerTime>(9'000'000))) << "another source's matter";
    EXPECT_FALSE(waits.awaits(2, from_millis<BrokerTime>(9'000'000)));
}

// A pass that waited for a source that is down hurried all the others for as long.
TEST(ShardPace, ASourceThatIsSilentHurriesNobody) {
    ShardFixture fixture;
    for (RuleSettings& rule : fixture.settings.policy.rules) rule.mode = Mode::kObserve;
    fixture.settings.policy.reconcile_every = Millis{10'000};
    auto shard = fixture.open();
    fixture.settle(*shard);
    fixture.all_known({pod("wrapper-a", "uid-a", 5)}, {row("wrapper-a", "1", 5)});
    fixture.settle(*shard);
    const Millis silent = fixture.settings.policy.stale_after + Millis{1'000};
    for (Millis passed{0}; passed < silent + Millis{20'000}; passed += Millis{1'000}) {
        fixture.pass(Millis{1'000});
        fixture.pods.say(progress(fixture.log.now()));
        fixture.publish();
        fixture.settle(*shard);
    }
    ASSERT_TRUE(shard->state().meta.pass.running) << "it waits for the rows";
    EXPECT_FALSE(shard->status().proof_awaited);
}

TEST(ShardPace, StatusTellsWhereTheShardIs) {
    ShardFixture fixture;
    auto shard = fixture.open();
    fixture.settle(*shard);
    fixture.all_known({pod("a", "u", 5)}, {});
    fixture.settle(*shard);
    const ShardStatus status = shard->status();
    EXPECT_EQ(status.meta.applied, shard->state().meta.applied);
    EXPECT_TRUE(status.caught_up);
    EXPECT_TRUE(status.refused.empty());
    EXPECT_TRUE(status.proof_awaited);
    EXPECT_EQ(status.published, 1U);
    EXPECT_EQ(status.cached_subjects, 1U);
    EXPECT_GT(status.cached_bytes, 0U);
    EXPECT_EQ(status.meta.sources.at(0).population, 1U);
}

}  // namespace
}  // namespace trueup::runtime::testing
