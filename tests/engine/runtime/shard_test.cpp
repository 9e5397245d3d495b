// Proves C3, C4 and design §5: whatever becomes of an append, no item is folded twice and none is
// lost; two engines on one journal are one.
#include "engine/codec/journal_codec.h"
#include "policies/shipped.h"
#include "tests/engine/runtime/shard_fixture.h"
#include "tests/support/wrapped_log.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <utility>

namespace trueup::runtime::testing {
namespace {

/// Everything that came in was folded once, and in the order of its topic.
void expect_all_folded_once(const ShardFixture& fixture, const core::Meta& meta) {
    EXPECT_EQ(meta.counters.items, fixture.inputs());
    for (const Topic topic : kInputTopics) {
        const auto records = fixture.log.records({topic, PartitionNumber(0)});
        const Offset last = records.empty() ? kNoOffset : records.back().offset;
        EXPECT_EQ(meta.last[static_cast<std::size_t>(topic)], last) << name_of(topic);
    }
    for (const core::SourceState& source : meta.sources) {
        EXPECT_FALSE(source.hole) << source.name;
        EXPECT_TRUE(source.known) << source.name;
    }
    EXPECT_EQ(meta.counters.parked, 0U);
    EXPECT_EQ(meta.counters.holes, 0U);
}

TEST(Shard, AnEmptyJournalGetsItsGenesisOnce) {
    ShardFixture fixture;
    auto shard = fixture.open();
    fixture.settle(*shard);
    EXPECT_EQ(shard->state().meta.journal_id, JournalId({7, 7}));
    fixture.settings.new_journal_id = JournalId({8, 8});
    EXPECT_EQ(settled_meta(*shard).journal_id, JournalId({7, 7}));
    auto again = fixture.open();
    fixture.settle(*again);
    EXPECT_EQ(again->state().meta.journal_id, JournalId({7, 7}));
    int geneses = 0;
    for (const StoredRecord& record : fixture.log.records({Topic::kJournal, PartitionNumber(0)})) {
        JournalView view;
        ASSERT_TRUE(
            codec::decode_journal(record.value, record.offset, record.append_time, view).ok());
        geneses += view.genesis ? 1 : 0;
    }
    EXPECT_EQ(geneses, 1);
}

TEST(Shard, AJournalOfOtherPartitionsIsNotOurs) {
    // The number of shards was held against the topics alone: once somebody had added partitions to
    // them and written that number, an engine looked for subjects where none of them are.
    ShardFixture fixture;
    policies::rule_settings(fixture.settings.policy, "orphaned_pod").mode = Mode::kObserve;
    auto shard = fixture.open();
    fixture.settle(*shard);
    ASSERT_TRUE(shard->stop().ok());
    fixture.settings.partitions = 4;
    const auto opened = Shard::open(fixture.settings, fixture.log, fixture.store, fixture.clock);
    ASSERT_FALSE(opened.ok());
    EXPECT_EQ(opened.error().next, Next::kStop);
    EXPECT_NE(opened.error().what.find("write bus.kafka.partitions: 1"), std::string::npos);
    projections::MemoryStore empty;
    auto anew = fixture.open(&empty);
    const Result<bool> folded = anew->step();
    ASSERT_FALSE(folded.ok());
    EXPECT_EQ(folded.error().what, opened.error().what);
    EXPECT_EQ(anew->status().refused, opened.error().what);
}

TEST(Shard, SettingsThatItsShardsCannotGoByAreNotWritten_G25) {
    ShardFixture fixture;
    fixture.settings.partitions = 2;
    const auto opened = Shard::open(fixture.settings, fixture.log, fixture.store, fixture.clock);
    ASSERT_FALSE(opened.ok());
    EXPECT_EQ(opened.error().what.find("the configuration lets orphaned_pod act"), 0U)
        << opened.error().what;
    EXPECT_TRUE(fixture.log.records({Topic::kJournal, PartitionNumber(0)}).empty());
}

TEST(Shard, AFollowerOfAnEmptyJournalWritesNothing) {
    ShardFixture fixture;
    auto follower = fixture.follow(fixture.store);
    fixture.settle(*follower);
    fixture.all_known({pod("a", "u", 5)}, {});
    fixture.settle(*follower);
    EXPECT_TRUE(fixture.log.records({Topic::kJournal, PartitionNumber(0)}).empty());
    EXPECT_EQ(follower->state().meta.applied, kNoOffset);
}

TEST(Shard, FromTheWireToTheCommandAndItsEnd) {
    ShardFixture fixture;
    auto shard = fixture.open();
    fixture.settle(*shard);
    fixture.all_known({pod("wrapper-a", "uid-a", 5), pod("wrapper-b", "uid-b", 6)},
                      {row("wrapper-b", "1", 5), row("wrapper-c", "2", 5)});
    fixture.live(*shard, Millis{12'000});
    const std::vector<Command> commands = commands_in(fixture.log);
    ASSERT_EQ(commands.size(), 2U);
    std::map<std::string, std::string> targets;
    for (const Command& command : commands) targets[command.rule] = command.draft.target.object_id;
    EXPECT_EQ(targets["orphaned_pod"], "uid-a");
    EXPECT_EQ(targets["missing_pod"], "public.instances/2");
    EXPECT_FALSE(shard->status().proof_awaited)
        << "outcomes are awaited, no proof could bring them";
    for (const Command& command : commands) fixture.answer(command);
    fixture.pods.say(gone(pod("wrapper-a", "uid-a", 9), 9));
    fixture.rows.say(row("wrapper-c", "2", 9, "failed"));
    fixture.publish();
    fixture.live(*shard, Millis{5'000});
    EXPECT_EQ(shard->state().meta.open_findings, 0U);
    EXPECT_EQ(shard->state().meta.outbox, 0U);
    EXPECT_EQ(commands_in(fixture.log).size(), 2U);
    expect_all_folded_once(fixture, settled_meta(*shard));
}

/// One failure of a journal append and what is in the journal after it.
struct AppendCase {
    const char* name;
    std::vector<bool> stored;  ///< of the appends that fail, one after another
};

class ShardAppends : public ::testing::TestWithParam<AppendCase> {};

TEST_P(ShardAppends, NoItemIsFoldedTwiceAndNoneIsLost_C3) {
    ShardFixture fixture;
    auto shard = fixture.open();
    fixture.settle(*shard);
    fixture.all_known({pod("a", "u", 5)}, {row("a", "1", 5)});
    fixture.settle(*shard);
    for (int i = 0; i < 20; ++i) {
        if (i % 4 == 1) {
            for (const bool stored : GetParam().stored) {
                fixture.log.fail_next_append(stored, Topic::kJournal);
            }
        }
        fixture.pods.say(pod("a", "u", 10 + static_cast<std::uint64_t>(i)));
        fixture.rows.say(row("a", "1", 10 + static_cast<std::uint64_t>(i)));
        fixture.publish();
        fixture.settle(*shard);
        fixture.pass(Millis{50});
    }
    fixture.live(*shard, Millis{3'000});
    expect_all_folded_once(fixture, settled_meta(*shard));
}

INSTANTIATE_TEST_SUITE_P(Shard, ShardAppends,
                         ::testing::Values(AppendCase{"FailedAndNotStored", {false}},
                                           AppendCase{"FailedButStored", {true}},
                                           AppendCase{"StoredTwice", {true, true}},
                                           AppendCase{"LostTwiceThenStored", {false, false, true}}),
                         [](const auto& tested) { return std::string(tested.param.name); });

TEST(Shard, TheFirstOfSeveralInFlightFails_C3) {
    for (const bool stored : {false, true}) {
        SCOPED_TRACE(stored ? "stored" : "not stored");
        ShardFixture fixture;
        fixture.settings.record_bytes = 400;
        fixture.settings.in_flight = 3;
        auto shard = fixture.open();
        fixture.settle(*shard);
        fixture.all_known({}, {});
        fixture.settle(*shard);
        for (int i = 0; i < 12; ++i) {
            fixture.pods.say(pod("w" + std::to_string(i), "u" + std::to_string(i), 9));
        }
        fixture.publish();
        fixture.log.hold_appends();
        for (int i = 0; i < 5; ++i) EXPECT_TRUE(shard->step().ok());
        EXPECT_EQ(fixture.log.held_appends(), 3U) << "no more than in_flight";
        fixture.log.fail_next_append(stored, Topic::kJournal);
        fixture.log.release_appends();
        fixture.live(*shard, Millis{3'000});
        const core::Meta meta = settled_meta(*shard);
        expect_all_folded_once(fixture, meta);
        EXPECT_EQ(meta.sources[0].population, 12U);
        EXPECT_EQ(meta.counters.gaps > 0, !stored);
    }
}

// A shard whose very first append failed parked every change as "no source 'pods' writes this
// topic": the settings went down with that append and were never sent again.
TEST(Shard, SettingsOfAFailedAppendAreSentAgain_C3) {
    for (const bool stored : {false, true}) {
        ShardFixture fixture;
        auto shard = fixture.open();
        fixture.all_known({pod("a", "u", 5)}, {row("a", "1", 5)});
        fixture.log.fail_next_append(stored, Topic::kJournal);
        fixture.live(*shard, Millis{3'000});
        const core::Meta meta = settled_meta(*shard);
        EXPECT_EQ(meta.settings.text->name, "graph-instances");
        expect_all_folded_once(fixture, meta);
    }
}

TEST(Shard, SettingsSurviveAReadThatFailed) {
    ShardFixture fixture;
    auto shard = fixture.open();
    ASSERT_TRUE(shard->step().ok());  // folds the genesis
    for (std::size_t failing = 1; failing <= 3; ++failing) {
        fixture.log.fail_reads(failing);
        while (!shard->step().ok()) {
        }
    }
    fixture.all_known({pod("a", "u", 5)}, {row("a", "1", 5)});
    fixture.settle(*shard);
    expect_all_folded_once(fixture, settled_meta(*shard));
}

// A read that failed in the middle of a round lost what the round had read before it, until the
// next record of that topic came.
TEST(Shard, AReadThatFailsHalfWayThroughTheTopicsLosesNothing) {
    for (std::size_t failing = 1; failing <= 12; ++failing) {
        SCOPED_TRACE("read " + std::to_string(failing));
        ShardFixture fixture;
        auto shard = fixture.open();
        fixture.settle(*shard);
        fixture.all_known({pod("a", "u", 5)}, {});
        fixture.settle(*shard);
        fixture.pods.say(pod("b", "v", 6));
        fixture.rows.say(row("b", "1", 6));
        fixture.publish();
        fixture.log.fail_read(failing);
        fixture.settle(*shard);
        expect_all_folded_once(fixture, settled_meta(*shard));
    }
}

TEST(Shard, ChangedSettingsComeIntoForceAndAreJournaled) {
    ShardFixture fixture;
    std::vector<Settings> before;
    fixture.settings.on_settings = [&](const Settings& settings) { before.push_back(settings); };
    {
        auto shard = fixture.open();
        fixture.settle(*shard);
        fixture.all_known({pod("a", "u", 5)}, {});
        fixture.live(*shard, Millis{2'000});
        EXPECT_EQ(shard->state().meta.settings.rules[0].grace, Millis{5'000});
        EXPECT_TRUE(before.empty()) << "there were none";
        ASSERT_TRUE(shard->stop().ok());
    }
    fixture.settings.policy.rules[0].grace = Millis{50'000};
    fixture.settings.policy.rules[1].mode = Mode::kObserve;
    auto shard = fixture.open();
    fixture.live(*shard, Millis{8'000});
    EXPECT_EQ(shard->state().meta.settings.rules[0].grace, Millis{50'000});
    EXPECT_TRUE(commands_in(fixture.log).empty()) << "the longer grace holds";
    ASSERT_EQ(before.size(), 1U) << "told once, before they go";
    EXPECT_EQ(before[0].rules[0].grace, Millis{5'000});
    projections::MemoryStore elsewhere;
    auto follower = fixture.follow(elsewhere);
    fixture.settle(*follower);
    EXPECT_EQ(follower->state().meta.settings, shard->state().meta.settings);
}

/// An engine was there; the next one is started with its first rule off. Where the settings are
/// that were in force until then.
Offset switched_off(ShardFixture& fixture) {
    auto first = fixture.open();
    fixture.settle(*first);
    EXPECT_TRUE(first->stop().ok());
    fixture.settings.policy.rules[0].mode = Mode::kOff;
    return first->state().meta.settings_at;
}

/// Appends settings to the journal, by somebody who knew those at `after`.
void append_settings(MemoryLog& log, const Settings& settings, Offset after) {
    codec::JournalRecordBuilder record;
    record.set_settings(settings, after);
    ASSERT_TRUE(ports::append_now(log, partition(Topic::kJournal), {{{}, record.take()}}).ok());
}

// A rule that somebody had switched off acted: an append of the engine before, which had been under
// way for long, brought back what that one had been started with.
TEST(Shard, SettingsOfAnEngineThatHasEndedDoNotComeBack) {
    ShardFixture fixture;
    const Settings before = fixture.settings.policy;
    const Offset in_force = switched_off(fixture);
    auto shard = fixture.open();
    fixture.settle(*shard);
    const core::Meta known = shard->state().meta;
    append_settings(fixture.log, before, in_force);
    fixture.settle(*shard);
    EXPECT_GT(shard->state().meta.applied, known.applied);
    EXPECT_EQ(shard->state().meta.settings, known.settings);
    append_settings(fixture.log, before, known.settings_at);
    fixture.settle(*shard);
    EXPECT_NE(shard->state().meta.settings.rules[0].mode, Mode::kOff) << "of one that knew them";
}

/// A log in which something else comes just before the next record of the journal.
class OvertakenLog final : public trueup::testing::WrappedLog {
  public:
    using WrappedLog::WrappedLog;
    std::unique_ptr<ports::PendingAppend> append(ports::Partition at,
                                                 const ports::Entries& entries) override {
        if (at.topic == Topic::kJournal && first) std::exchange(first, nullptr)();
        return WrappedLog::append(at, entries);
    }
    std::function<void()> first;
};

TEST(Shard, SettingsThatWereOvertakenAreJournaledOnceMore) {
    ShardFixture fixture;
    const Settings before = fixture.settings.policy;
    const Offset in_force = switched_off(fixture);
    OvertakenLog log(fixture.log);
    log.first = [&] { append_settings(fixture.log, before, in_force); };
    fixture.all_known({pod("a", "u", 5)}, {});
    auto shard = Shard::open(fixture.settings, log, fixture.store, fixture.clock);
    ASSERT_TRUE(shard.ok());
    fixture.settle(**shard);
    const core::Meta& meta = (*shard)->state().meta;
    EXPECT_EQ(meta.settings.rules[0].mode, Mode::kOff);
    EXPECT_GT(meta.counters.items, 0U);
    std::size_t with_settings = 0;
    for (const StoredRecord& record : fixture.log.records(partition(Topic::kJournal))) {
        JournalView view;
        ASSERT_TRUE(codec::decode_journal(record.value, record.offset, {}, view).ok());
        with_settings += view.settings ? 1U : 0U;
        EXPECT_TRUE(view.items.empty() || record.offset > meta.settings_at)
            << "what came in would be judged by settings that nobody wants";
    }
    EXPECT_EQ(with_settings, 4U) << "the first ones, the late ones, ours in vain, and ours";
}

TEST(Shard, OfTwoEnginesThatStartAtOnceTheLastOnesSettingsCount) {
    ShardFixture fixture;
    projections::MemoryStore other;
    auto a = fixture.open();
    fixture.settings.policy.rules[0].mode = Mode::kOff;
    auto b = fixture.open(&other);
    for (int i = 0; i < 10; ++i) {
        ASSERT_TRUE(a->step().ok());
        ASSERT_TRUE(b->step().ok());
    }
    const std::size_t records = fixture.log.records(partition(Topic::kJournal)).size();
    fixture.settle(*a);
    fixture.settle(*b);
    EXPECT_EQ(a->state().meta.settings.rules[0].mode, Mode::kOff);
    EXPECT_EQ(b->state().meta.settings, a->state().meta.settings);
    EXPECT_EQ(fixture.log.records(partition(Topic::kJournal)).size(), records)
        << "each puts its own in once, and is content";
}

TEST(Shard, ARestartWithEqualSettingsChangesNothing) {
    ShardFixture fixture;
    auto shard = fixture.open();
    fixture.settle(*shard);
    fixture.all_known({pod("a", "u", 5)}, {});
    fixture.settle(*shard);
    const core::Meta before = settled_meta(*shard);
    auto again = fixture.open();
    fixture.settle(*again);
    EXPECT_TRUE(again->state().meta.sweeps.empty());
    core::Meta after = settled_meta(*again);
    EXPECT_EQ(after.chain, before.chain);
    EXPECT_EQ(after.digest, before.digest);
}

/// The ids of commands by emission; of findings by id and place.
std::multiset<std::string> ids_in(const MemoryLog& log, bool once) {
    std::multiset<std::string> ids;
    const auto add = [&](std::string id) {
        if (!once || ids.count(id) == 0) ids.insert(std::move(id));
    };
    for (const Command& command : commands_in(log)) {
        add(to_hex(command.id) + '.' + std::to_string(command.emission));
    }
    for (const FindingEdge& edge : findings_in(log)) {
        add(to_hex(edge.id) + '@' + std::to_string(edge.offset.value()) + '.' +
            std::to_string(edge.index));
    }
    return ids;
}

TEST(Shard, TwoLeadersOfOneJournalAreOne_C4) {
    for (std::uint64_t seed = 1; seed <= 25; ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        std::mt19937_64 random(seed);
        ShardFixture fixture;
        projections::MemoryStore other;
        auto a = fixture.open();
        fixture.settings.new_journal_id = JournalId({9, 9});
        auto b = fixture.open(&other);
        fixture.settle(*a);
        fixture.settle(*b);
        fixture.all_known({pod("wrapper-0", "uid-wrapper-0", 5)}, {});
        for (int i = 0; i < 60; ++i) {
            fixture.random_act(random);
            if (random() % 4 == 0) {
                fixture.log.fail_next_append(random() % 2 == 0, Topic::kJournal);
            }
            // Any of them sleeps for some acts, or takes only a step.
            if (random() % 3 == 0) fixture.settle(*a);
            if (random() % 3 == 0) fixture.settle(*b);
            for (Shard* shard : {a.get(), b.get()}) {
                if (random() % 2 == 0) (void)shard->step();
            }
            if (::testing::Test::HasFatalFailure()) return;
        }
        for (int i = 0; i < 3; ++i) {
            fixture.live(*a, Millis{1'000});
            fixture.settle(*b);
        }
        fixture.settle(*a);
        const core::Meta of_a = settled_meta(*a);
        const core::Meta of_b = settled_meta(*b);
        EXPECT_EQ(of_a, of_b);
        EXPECT_EQ(of_a.counters.items, fixture.inputs());
        // Each of them published everything, so every id is there; none is known to one only.
        projections::MemoryStore third;
        auto copy = copy_of(fixture.log);
        ASSERT_TRUE(copy->truncate({Topic::kFindings, PartitionNumber(0)}, Offset(1'000'000)).ok());
        ASSERT_TRUE(copy->truncate({Topic::kCommands, PartitionNumber(0)}, Offset(1'000'000)).ok());
        auto alone = Shard::open(fixture.settings, *copy, third, fixture.clock);
        ASSERT_TRUE(alone.ok());
        while ((*alone)->step().ok() && !(*alone)->status().caught_up) {
        }
        ASSERT_TRUE((*alone)->stop().ok());
        const auto both = ids_in(fixture.log, true);
        const auto once = ids_in(*copy, true);
        EXPECT_TRUE(std::includes(once.begin(), once.end(), both.begin(), both.end()));
        if (::testing::Test::HasFailure()) return;
    }
}

TEST(Shard, ItemsThatNobodyCanReadAreParkedInTheStore_Details19) {
    ShardFixture fixture;
    auto shard = fixture.open();
    fixture.settle(*shard);
    ASSERT_TRUE(ports::append_now(fixture.log, {Topic::kChangesEc2, PartitionNumber(0)},
                                  {{"k", "\xff rubbish"}})
                    .ok());
    fixture.settle(*shard);
    EXPECT_EQ(settled_meta(*shard).counters.parked, 1U);
    int parked = 0;
    const auto rows = fixture.store.scan({}, {}, 1'000);
    for (const auto& [key, value] : *rows) {
        if (key.size() < 3 || key[2] != 'p') continue;
        ++parked;
        EXPECT_EQ(key, std::string("\0\0p\x02\0\0\0\0\0\0\0\0", 12));
        EXPECT_EQ(value.substr(value.find('\n') + 1), "\xff rubbish");
        EXPECT_GT(value.find('\n'), 0U) << "a reason comes first";
    }
    EXPECT_EQ(parked, 1);
}

TEST(Shard, WhatOnlyAnEpochCanHealIsSaid_S4) {
    ShardFixture fixture;
    auto shard = fixture.open();
    fixture.settle(*shard);
    std::vector<Fact> many;
    for (int i = 0; i < 20; ++i) {
        many.push_back(pod("w" + std::to_string(i), "u" + std::to_string(i), 5));
    }
    fixture.all_known(many, {});
    fixture.settle(*shard);
    EXPECT_TRUE(shard->take_wanted_epochs().empty());
    fixture.pods.say(epoch_begins(30)).say(epoch_ends());
    fixture.publish();
    fixture.settle(*shard);
    EXPECT_EQ(shard->take_wanted_epochs(), (std::vector<SourceId>{0}));
    EXPECT_EQ(shard->status().meta.sources[0].quarantined_at, 20U);
    fixture.pods.say(epoch_begins(31));
    for (Fact& each : many) fixture.pods.say(listed(each));
    fixture.pods.say(epoch_ends());
    fixture.publish();
    fixture.settle(*shard);
    EXPECT_TRUE(shard->take_wanted_epochs().empty());
    EXPECT_TRUE(shard->status().meta.sources[0].known);
    EXPECT_EQ(shard->status().meta.sources[0].population, 20U);
}

// Design §5: the fold's time is the journal's.
TEST(Shard, ARecordIsAsOldWhoeverFoldsIt_C9) {
    ShardFixture fixture;
    auto shard = fixture.open();
    fixture.all_known({pod("a", "u", 5)}, {});
    fixture.clock.advance(Millis{60'000});  // ours; the log's stands still
    fixture.settle(*shard);
    EXPECT_EQ(shard->state().meta.broker_now, fixture.log.now());
}

}  // namespace
}  // namespace trueup::runtime::testing
