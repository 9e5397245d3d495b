// Proves C1, C2, C8 and C11: whenever the process ends, rows and tail together are the fold of the
// whole journal; and where they cannot be, the shard refuses and says the way out.
#include "engine/codec/policy_codec.h"
#include "engine/core/row.h"
#include "engine/runtime/projection.h"
#include "tests/engine/runtime/shard_fixture.h"
#include "tests/support/graph_script.h"

#include <gtest/gtest.h>

#include <map>
#include <set>

namespace trueup::runtime::testing {
namespace {

std::map<std::string, std::int64_t> command_places(const MemoryLog& log) {
    std::map<std::string, std::int64_t> places;
    for (const Command& command : commands_in(log)) ++places[to_hex(command.id)];
    return places;
}

/// One process that died: what it left in the log and in its store.
struct Wreck {
    std::unique_ptr<MemoryLog> log;
    std::unique_ptr<projections::MemoryStore> store;
};

void expect_recovers(ShardFixture& fixture, const Wreck& wreck) {
    projections::MemoryStore empty;
    const core::Meta whole = folded(fixture.settings, *copy_of(*wreck.log), empty, fixture.clock);
    const core::Meta tail =
        folded(fixture.settings, *copy_of(*wreck.log), *copy_of(*wreck.store), fixture.clock);
    EXPECT_EQ(tail, whole);
    // As a leader it publishes what may be missing, and only what the journal says.
    const std::vector<FindingEdge> before = findings_in(*wreck.log);
    const Offset known = before.empty() ? kFirstOffset : before.back().offset;
    auto log = copy_of(*wreck.log);
    auto store = copy_of(*wreck.store);
    const Offset end = log->describe({Topic::kJournal, PartitionNumber(0)})->next_offset;
    auto shard = Shard::open(fixture.settings, *log, *store, fixture.clock);
    ASSERT_TRUE(shard.ok()) << shard.error().what;
    while ((*shard)->state().meta.applied < previous(end)) ASSERT_TRUE((*shard)->step().ok());
    ASSERT_TRUE((*shard)->stop().ok());
    const std::vector<FindingEdge> after = findings_in(*log);
    for (std::size_t i = before.size(); i < after.size(); ++i) {
        EXPECT_GE(after[i].offset, known) << "published long before";
    }
    projections::MemoryStore fresh;
    auto all = copy_of(*wreck.log);
    ASSERT_TRUE(all->truncate({Topic::kFindings, PartitionNumber(0)}, Offset(1'000'000)).ok());
    ASSERT_TRUE(all->truncate({Topic::kCommands, PartitionNumber(0)}, Offset(1'000'000)).ok());
    auto replay = Shard::open(fixture.settings, *all, fresh, fixture.clock);
    ASSERT_TRUE(replay.ok());
    while ((*replay)->state().meta.applied < previous(end)) ASSERT_TRUE((*replay)->step().ok());
    ASSERT_TRUE((*replay)->stop().ok());
    for (const auto& [id, times] : command_places(*all)) {
        EXPECT_GE(command_places(*log)[id], times) << "command " << id << " is missing";
    }
    for (const auto& [id, times] : command_places(*log)) {
        EXPECT_GE(command_places(*all)[id], 1) << "command " << id << " is nobody's";
    }
}

TEST(ShardRestart, AtEveryJournalOffsetRowsAndTailAreTheFoldOfTheWhole_C1_C2_C8) {
    std::size_t commands = 0;
    for (std::uint64_t seed = 1; seed <= 6; ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        std::mt19937_64 random(seed);
        ShardFixture fixture;
        fixture.settings.cache_bytes = seed % 2 == 0 ? 1 : 1 << 20;  // every row cold, or none
        fixture.settings.write_behind_every = Millis{700};
        auto shard = fixture.open();
        fixture.settle(*shard);
        fixture.all_known({pod("wrapper-0", "uid-wrapper-0", 5)}, {row("wrapper-1", "1", 5)});
        std::vector<Wreck> wrecks;
        for (int i = 0; i < 40; ++i) {
            fixture.random_act(random);
            fixture.settle(*shard);
            wrecks.push_back({copy_of(fixture.log), copy_of(fixture.store)});
        }
        commands += commands_in(fixture.log).size();
        for (const Wreck& wreck : wrecks) {
            expect_recovers(fixture, wreck);
            if (::testing::Test::HasFailure()) return;
        }
    }
    EXPECT_GT(commands, 10U) << "the stories are too quiet";
}

TEST(ShardRestart, ACheckpointAtEveryOffsetPlusTailIsTheFullFold_C8) {
    std::mt19937_64 random(11);
    ShardFixture fixture;
    auto shard = fixture.open();
    fixture.settle(*shard);
    fixture.all_known({pod("wrapper-0", "uid-wrapper-0", 5)}, {});
    for (int i = 0; i < 40; ++i) {
        fixture.random_act(random);
        fixture.settle(*shard);
    }
    const core::Meta whole = settled_meta(*shard);
    const auto journal = fixture.log.records({Topic::kJournal, PartitionNumber(0)});
    for (std::size_t k = 0; k <= journal.size(); ++k) {
        // A log that ends at k gives the image; the same log in full goes on from it.
        MemoryLog log;
        projections::MemoryStore store;
        const auto append = [&](std::size_t i) {
            log.set_now(journal[i].append_time);
            ASSERT_TRUE(ports::append_now(log, {Topic::kJournal, PartitionNumber(0)},
                                          {{{}, journal[i].value}})
                            .ok());
        };
        for (std::size_t i = 0; i < k; ++i) append(i);
        if (k > 0) folded(fixture.settings, log, store, fixture.clock);
        for (std::size_t i = k; i < journal.size(); ++i) append(i);
        EXPECT_EQ(folded(fixture.settings, log, store, fixture.clock), whole)
            << "checkpoint at " << k;
        if (::testing::Test::HasFailure()) return;
    }
}

TEST(ShardRestart, TheImageIsNeverAheadOfTheRelay) {
    ShardFixture fixture;
    fixture.settings.write_behind_every = Millis{1};
    auto shard = fixture.open();
    fixture.settle(*shard);
    fixture.all_known({}, {row("wrapper-c", "2", 5)});
    for (int i = 0; i < 120 && commands_in(fixture.log).empty(); ++i) {
        fixture.pass(Millis{100});
        if (i % 10 == 0) fixture.all_progress();
        // The relay's append fails each time; the image must wait for it.
        fixture.log.fail_next_append(false, Topic::kCommands);
        fixture.log.fail_next_append(false, Topic::kFindings);
        for (int k = 0; k < 4; ++k) (void)shard->step();
        const auto store = copy_of(fixture.store);
        core::NoRows none;
        core::State image(none);
        Projection projection(*store, PartitionNumber(0));
        ASSERT_TRUE(projection.load(image, 1 << 20).ok());
        std::set<std::string> published;
        for (const FindingEdge& edge : findings_in(fixture.log)) published.insert(to_hex(edge.id));
        EXPECT_GE(published.size(), image.meta.open_findings) << "an image without its findings";
    }
}

class ShardOpening : public ::testing::Test {
  protected:
    /// A journal of some records with a stored image at its end.
    void run() {
        auto shard = fixture_.open();
        fixture_.settle(*shard);
        fixture_.all_known({pod("a", "u", 5)}, {row("a", "1", 5)});
        fixture_.live(*shard, Millis{4'000});
        settled_meta(*shard);
    }
    Error refusal(MemoryLog& log, ports::Store& store) {
        auto shard = Shard::open(fixture_.settings, log, store, fixture_.clock);
        EXPECT_FALSE(shard.ok());
        return shard ? Error{} : shard.error();
    }
    ShardFixture fixture_;
};

TEST_F(ShardOpening, AJournalThatLostItsTailIsRefused_C11) {
    run();
    MemoryLog shorter;
    const auto journal = fixture_.log.records({Topic::kJournal, PartitionNumber(0)});
    for (std::size_t i = 0; i + 1 < journal.size(); ++i) {
        ASSERT_TRUE(ports::append_now(shorter, {Topic::kJournal, PartitionNumber(0)},
                                      {{{}, journal[i].value}})
                        .ok());
    }
    const Error error = refusal(shorter, fixture_.store);
    EXPECT_EQ(error.next, Next::kStop);
    EXPECT_NE(error.what.find("the journal lost its tail"), std::string::npos) << error.what;
    EXPECT_NE(error.what.find("move the shard's projection folder away"), std::string::npos)
        << error.what;
}

// Symptom: a read that was behind found nothing where the rows end, and an engine gave up: the
// journal was another one, it said.
TEST_F(ShardOpening, AJournalThatCannotBeReadYetIsAskedAgain_C11) {
    run();
    fixture_.log.hide_from(Offset(1));
    EXPECT_EQ(refusal(fixture_.log, fixture_.store).next, Next::kRetry);
    fixture_.log.hide_from(kBeyondOffsets);
    EXPECT_TRUE(Shard::open(fixture_.settings, fixture_.log, fixture_.store, fixture_.clock).ok());
}

TEST_F(ShardOpening, AnEmptyLogBesideAnImageIsRefusedNotBegunAnew_C11) {
    run();
    MemoryLog empty;
    EXPECT_EQ(refusal(empty, fixture_.store).next, Next::kStop);
    EXPECT_TRUE(empty.records({Topic::kJournal, PartitionNumber(0)}).empty());
}

// Findings named no journal, and the next engine never got ready for them.
TEST_F(ShardOpening, AJournalThatDoesNotNameItselfIsRefused_C11) {
    run();
    MemoryLog headless;
    const auto journal = fixture_.log.records({Topic::kJournal, PartitionNumber(0)});
    for (std::size_t i = 1; i < journal.size(); ++i) {
        ASSERT_TRUE(ports::append_now(headless, {Topic::kJournal, PartitionNumber(0)},
                                      {{{}, journal[i].value}})
                        .ok());
    }
    projections::MemoryStore nothing;
    const Error error = refusal(headless, nothing);
    EXPECT_EQ(error.next, Next::kStop);
    EXPECT_NE(error.what.find("does not begin with the record that names it"), std::string::npos)
        << error.what;
}

TEST_F(ShardOpening, RetentionPastTheAppliedOffsetIsRefused_C11) {
    run();
    const auto old_store = copy_of(fixture_.store);
    auto shard = fixture_.open();
    fixture_.live(*shard, Millis{4'000});
    const Offset end = fixture_.log.describe({Topic::kJournal, PartitionNumber(0)})->next_offset;
    settled_meta(*shard);
    ASSERT_TRUE(fixture_.log.truncate({Topic::kJournal, PartitionNumber(0)}, previous(end)).ok());
    const Error error = refusal(fixture_.log, *old_store);
    EXPECT_EQ(error.next, Next::kStop);
    EXPECT_NE(error.what.find("retention deleted what lies between"), std::string::npos)
        << error.what;
    projections::MemoryStore nothing;
    const Error from_nothing = refusal(fixture_.log, nothing);
    EXPECT_EQ(from_nothing.next, Next::kStop);
    EXPECT_NE(from_nothing.what.find("there are no rows"), std::string::npos) << from_nothing.what;
    EXPECT_NE(from_nothing.what.find("the checkpoints' folder"), std::string::npos)
        << "the way out";
}

TEST_F(ShardOpening, DamagedRowsAreSetAsideNotBelieved_C2) {
    run();
    const auto rows = fixture_.store.scan({}, {}, 1'000).value();
    int tried = 0;
    for (const auto& [key, value] : rows) {
        for (const bool cut : {false, true}) {
            auto store = copy_of(fixture_.store);
            ports::StoreBatch damage;
            std::string bytes = value;
            if (cut) {
                bytes.resize(bytes.size() / 2);
            } else {
                bytes[bytes.size() / 2] = static_cast<char>(bytes[bytes.size() / 2] ^ 0x40);
            }
            damage.put(key, bytes);
            ASSERT_TRUE(store->apply(damage).ok());
            auto shard = Shard::open(fixture_.settings, fixture_.log, *store, fixture_.clock);
            if (key[2] == 's') {
                ASSERT_FALSE(shard.ok()) << "a damaged subject was believed";
                EXPECT_EQ(shard.error().next, Next::kSkip);
                ++tried;
            }
        }
        if (key[2] != 's') continue;
        auto store = copy_of(fixture_.store);
        ports::StoreBatch loss;
        loss.erase(key);
        ASSERT_TRUE(store->apply(loss).ok());
        EXPECT_EQ(refusal(fixture_.log, *store).next, Next::kSkip) << "a lost row was not missed";
    }
    EXPECT_GT(tried, 0);
}

TEST_F(ShardOpening, AMetaRowThatCannotBeReadIsSetAside_C2) {
    run();
    ports::StoreBatch damage;
    damage.put(std::string("\0\0m", 3), "rubbish");
    ASSERT_TRUE(fixture_.store.apply(damage).ok());
    EXPECT_EQ(refusal(fixture_.log, fixture_.store).next, Next::kSkip);
    // Rebuilt from the journal it is the same again.
    projections::MemoryStore fresh;
    EXPECT_GT(folded(fixture_.settings, fixture_.log, fresh, fixture_.clock).subjects, 0U);
}

TEST_F(ShardOpening, AnUnknownPolicyInTheJournalHaltsTheShardAndIsSaid_C10) {
    run();
    codec::JournalRecordBuilder record;
    record.set_settings(
        trueup::testing::of_another_build(demo_policy(), "runner-sets"),
        folded(fixture_.settings, fixture_.log, fixture_.store, fixture_.clock).settings_at);
    ASSERT_TRUE(ports::append_now(fixture_.log, {Topic::kJournal, PartitionNumber(0)},
                                  {{{}, record.take()}})
                    .ok());
    auto shard = fixture_.open();
    const auto stepped = shard->step();
    ASSERT_FALSE(stepped.ok());
    EXPECT_EQ(stepped.error().next, Next::kStop);
    EXPECT_NE(stepped.error().what.find("'runner-sets'"), std::string::npos)
        << stepped.error().what;
    EXPECT_EQ(shard->status().refused, stepped.error().what);
    const auto before = fixture_.log.records({Topic::kJournal, PartitionNumber(0)}).size();
    EXPECT_TRUE(shard->stop().ok());
    EXPECT_EQ(fixture_.log.records({Topic::kJournal, PartitionNumber(0)}).size(), before)
        << "it writes nothing more";
}

TEST_F(ShardOpening, RowsForWhichThereIsNoRoomAreNotTakenForNobodys_C2) {
    auto shard = fixture_.open();
    fixture_.settle(*shard);
    fixture_.all_known({pod("a", "u", 5), pod("b", "v", 5)}, {row("c", "1", 5)});
    fixture_.settle(*shard);
    ASSERT_TRUE(shard->stop().ok());
    shard.reset();
    Projection projection(fixture_.store, PartitionNumber(0));
    std::vector<std::string> all;
    core::State roomy(projection);
    ASSERT_TRUE(
        projection.load(roomy, 1 << 20, [&](const Subject& subject) { all.push_back(subject.key); })
            .ok());
    ASSERT_EQ(all.size(), 3U);
    EXPECT_TRUE(roomy.subjects.whole());
    core::State tight(projection);
    ASSERT_TRUE(projection.load(tight, 1).ok());
    EXPECT_FALSE(tight.subjects.whole());
    for (const std::string& key : all) EXPECT_NE(tight.subjects.find(key), nullptr) << key;
}

// A build without the stored policy opened the projection, wrote its own settings into the journal
// and stopped only then.
TEST_F(ShardOpening, AnImageOfAnUnknownPolicyIsRefusedBeforeAnythingIsWritten_C10) {
    run();
    core::NoRows none;
    core::State state(none);
    {
        Projection projection(fixture_.store, PartitionNumber(0));
        ASSERT_TRUE(projection.load(state, 1 << 20).ok());
        const Settings other =
            trueup::testing::of_another_build(state.meta.settings, "runner-sets");
        ports::StoreBatch batch;
        batch.put(std::string("\0\0t", 3), codec::encode_policy(*other.text));
        ASSERT_TRUE(fixture_.store.apply(batch).ok());
    }
    const auto before = fixture_.log.records({Topic::kJournal, PartitionNumber(0)}).size();
    const Error error = refusal(fixture_.log, fixture_.store);
    EXPECT_EQ(error.next, Next::kStop);
    EXPECT_NE(error.what.find("'runner-sets'"), std::string::npos) << error.what;
    EXPECT_EQ(fixture_.log.records({Topic::kJournal, PartitionNumber(0)}).size(), before);
}

TEST_F(ShardOpening, AJournalRecordThatCannotBeReadStopsTheShard_C11) {
    run();
    ASSERT_TRUE(ports::append_now(fixture_.log, {Topic::kJournal, PartitionNumber(0)},
                                  {{{}, "\xff\xff rubbish"}})
                    .ok());
    auto shard = fixture_.open();
    const auto stepped = shard->step();
    ASSERT_FALSE(stepped.ok());
    EXPECT_EQ(stepped.error().next, Next::kStop);
    EXPECT_FALSE(shard->status().refused.empty());
}

TEST_F(ShardOpening, InputThatRetentionTookStopsEmissionAndIsSaid_C11) {
    run();
    for (int i = 0; i < 5; ++i)
        fixture_.pods.say(pod("b", "v", 20 + static_cast<std::uint64_t>(i)));
    fixture_.publish();
    const Offset end =
        fixture_.log.describe({Topic::kChangesPods, PartitionNumber(0)})->next_offset;
    ASSERT_TRUE(
        fixture_.log.truncate({Topic::kChangesPods, PartitionNumber(0)}, previous(end)).ok());
    auto shard = fixture_.open();
    for (int i = 0; i < 10; ++i) {
        const auto stepped = shard->step();
        if (stepped.ok()) continue;
        EXPECT_EQ(stepped.error().next, Next::kStop);
        EXPECT_EQ(shard->status().refused, stepped.error().what);
        return;
    }
    FAIL() << "the shard went on over a gap";
}

// A gap that retention had taken ended the process's shard without a word in its status.
TEST(ShardRestart, AFailedAppendWhoseInputIsGoneStopsAndIsSaid_C11) {
    ShardFixture fixture;
    auto shard = fixture.open();
    fixture.settle(*shard);
    fixture.all_known({pod("a", "u", 5)}, {});
    fixture.settle(*shard);
    fixture.pods.say(pod("b", "v", 6));
    fixture.publish();
    fixture.log.fail_next_append(false, Topic::kJournal);
    ASSERT_TRUE(shard->step().ok());
    fixture.pods.say(pod("c", "w", 7));
    fixture.publish();
    const Offset end = fixture.log.describe({Topic::kChangesPods, PartitionNumber(0)})->next_offset;
    ASSERT_TRUE(
        fixture.log.truncate({Topic::kChangesPods, PartitionNumber(0)}, previous(end)).ok());
    const auto told = shard->step();
    ASSERT_FALSE(told.ok());
    EXPECT_EQ(told.error().next, Next::kRetry) << "an append failed";
    const auto stepped = shard->step();
    ASSERT_FALSE(stepped.ok());
    EXPECT_EQ(stepped.error().next, Next::kStop);
    EXPECT_NE(stepped.error().what.find("changes.pods lost the records"), std::string::npos);
    EXPECT_EQ(shard->status().refused, stepped.error().what);
}

}  // namespace
}  // namespace trueup::runtime::testing
