// Proves design §5 and §2 (relay): commands before findings, at least once, and after a restart on
// from the record that the last finding names.
#include "engine/runtime/relay.h"

#include "tests/engine/runtime/shard_fixture.h"
#include "tests/support/keys.h"

#include <gtest/gtest.h>

namespace trueup::runtime {
namespace {

using testing::commands_in;
using testing::findings_in;
using testing::partition;
using trueup::testing::MemoryLog;

core::FoldReport report(std::int64_t offset, int findings, int commands) {
    core::FoldReport made;
    for (int i = 0; i < findings; ++i) {
        FindingEdge edge;
        edge.id = FindingId({1, static_cast<std::uint64_t>(offset)});
        edge.journal_id = JournalId({7, 7});
        edge.rule = "orphaned_pod";
        edge.subject = "graph-instances/a";
        edge.object_id = "uid";
        edge.state = FindingState::kConfirmed;
        edge.offset = Offset(offset);
        edge.index = static_cast<std::uint32_t>(i);
        edge.append_time = MemoryLog().now();
        made.findings.add() = edge;
    }
    for (int i = 0; i < commands; ++i) {
        Command command;
        command.id = CommandId({2, static_cast<std::uint64_t>(offset)});
        command.finding_id = FindingId({1, 1});
        command.subject = "graph-instances/a";
        command.not_after = from_millis<BrokerTime>(1);
        command.draft.target = {"pods", "uid", "a", "graph"};
        command.draft.action.kind = Action::Kind::kDeletePod;
        command.draft.read_set = {{Predicate::Kind::kExists, "pods", "uid", {}, {}}};
        made.commands.push_back(command);
    }
    return made;
}

constexpr JournalId kJournal({7, 7});

void offer(Relay& relay, std::int64_t offset, int findings, int commands,
           JournalId journal = kJournal) {
    core::FoldReport made = report(offset, findings, commands);
    relay.offer(journal, Offset(offset), made);
}

/// The journal that the findings come from, up to before this offset.
void journal(MemoryLog& log, std::int64_t end) {
    for (std::int64_t offset = 0; offset < end; ++offset) {
        ASSERT_TRUE(ports::append_now(log, partition(Topic::kJournal), {{{}, "record"}}).ok());
    }
}

TEST(Relay, PublishesTheCommandsOfABatchBeforeItsFindings) {
    MemoryLog log;
    Relay relay(log, PartitionNumber(0), trueup::testing::test_keys());
    ASSERT_TRUE(relay.resume().ok());
    log.hold_appends();
    offer(relay, 3, 1, 1);
    ASSERT_TRUE(relay.step().ok());
    EXPECT_EQ(log.held_appends(), 1U) << "the findings wait for the commands' acknowledgement";
    EXPECT_FALSE(relay.idle());
    log.release_appends();
    EXPECT_EQ(commands_in(log).size(), 1U);
    EXPECT_TRUE(findings_in(log).empty());
    ASSERT_TRUE(relay.step().ok());
    EXPECT_EQ(findings_in(log).size(), 1U);
    EXPECT_TRUE(relay.idle());
    EXPECT_EQ(relay.published(), 2U);
}

// Symptom: the end of a job woke nobody, so the shard looked for it fifty times a second.
TEST(Relay, TheEndOfABatchThatIsEncodedBesideEndsTheWaitForIt) {
    MemoryLog log;
    log.block_in_wait(true);
    Relay relay(log, PartitionNumber(0), trueup::testing::test_keys());
    ASSERT_TRUE(relay.resume().ok());
    offer(relay, 3, 2'000, 0);
    while (!relay.idle()) {
        const std::uint64_t seen = log.changes_seen();
        ASSERT_TRUE(relay.step().ok());
        if (relay.idle()) break;
        log.wait(seen, Millis{60'000});
        ASSERT_GT(log.changes_seen(), seen) << "nobody said that it has ended";
    }
    EXPECT_EQ(findings_in(log).size(), 2'000U);
}

TEST(Relay, WhatComesMeanwhileWaitsBehindTheBatchUnderWay) {
    MemoryLog log;
    Relay relay(log, PartitionNumber(0), trueup::testing::test_keys());
    log.hold_appends();
    offer(relay, 3, 1, 1);
    ASSERT_TRUE(relay.step().ok());
    offer(relay, 4, 1, 1);
    ASSERT_TRUE(relay.step().ok());
    EXPECT_EQ(log.held_appends(), 1U);
    log.release_appends();
    ASSERT_TRUE(relay.drain().ok());
    ASSERT_EQ(findings_in(log).size(), 2U);
    EXPECT_EQ(findings_in(log)[0].offset, Offset(3));
    EXPECT_EQ(findings_in(log)[1].offset, Offset(4));
    EXPECT_EQ(commands_in(log).size(), 2U);
}

TEST(Relay, AFailedAppendIsMadeAgainWhetherItWasStoredOrNot_C3) {
    for (const bool stored : {false, true}) {
        MemoryLog log;
        Relay relay(log, PartitionNumber(0), trueup::testing::test_keys());
        offer(relay, 3, 1, 1);
        log.fail_next_append(stored, Topic::kCommands);
        EXPECT_FALSE(relay.step().ok());
        EXPECT_FALSE(relay.idle());
        EXPECT_TRUE(findings_in(log).empty());
        log.fail_next_append(stored, Topic::kFindings);
        EXPECT_FALSE(relay.drain().ok());
        EXPECT_TRUE(relay.drain().ok());
        EXPECT_TRUE(relay.idle());
        EXPECT_EQ(commands_in(log).size(), stored ? 2U : 1U);
        EXPECT_EQ(findings_in(log).size(), stored ? 2U : 1U);
    }
}

TEST(Relay, GoesOnFromTheRecordOfTheLastFinding) {
    MemoryLog log;
    journal(log, 400);
    {
        Relay relay(log, PartitionNumber(0), trueup::testing::test_keys());
        for (std::int64_t offset = 0; offset < 300; ++offset) offer(relay, offset, 1, 0);
        ASSERT_TRUE(relay.drain().ok());
    }
    Relay again(log, PartitionNumber(0), trueup::testing::test_keys());
    ASSERT_TRUE(again.resume().ok());
    offer(again, 298, 1, 1);
    offer(again, 299, 1, 1);
    EXPECT_TRUE(again.idle()) << "published before, commands first";
    offer(again, 300, 1, 1);
    ASSERT_TRUE(again.drain().ok());
    EXPECT_EQ(commands_in(log).size(), 1U);
    EXPECT_EQ(findings_in(log).size(), 301U);
}

TEST(Relay, ARecordWhoseFindingsAreThereInPartIsPublishedOnceMore) {
    MemoryLog log;
    journal(log, 10);
    {
        Relay relay(log, PartitionNumber(0), trueup::testing::test_keys());
        offer(relay, 5, 2, 0);
        ASSERT_TRUE(relay.drain().ok());
    }
    Relay again(log, PartitionNumber(0), trueup::testing::test_keys());
    ASSERT_TRUE(again.resume().ok());
    offer(again, 5, 3, 1);
    ASSERT_TRUE(again.drain().ok());
    EXPECT_EQ(findings_in(log).size(), 5U);
    EXPECT_EQ(commands_in(log).size(), 1U);
}

// A journal that was begun anew beside findings of the one before published nothing until it was as
// long as the old one.
TEST(Relay, AFindingOfAnotherJournalProvesNothing) {
    MemoryLog log;
    journal(log, 10);
    {
        Relay relay(log, PartitionNumber(0), trueup::testing::test_keys());
        offer(relay, 5, 1, 0);
        ASSERT_TRUE(relay.drain().ok());
    }
    Relay anew(log, PartitionNumber(0), trueup::testing::test_keys());
    ASSERT_TRUE(anew.resume().ok());
    offer(anew, 3, 1, 1, JournalId({8, 8}));
    ASSERT_TRUE(anew.drain().ok());
    EXPECT_EQ(commands_in(log).size(), 1U);
    EXPECT_EQ(findings_in(log).size(), 2U);
}

// A journal that had lost its tail published nothing of the records that took the lost ones' place.
TEST(Relay, AFindingOfARecordThatTheJournalLostProvesNothing_C11) {
    for (const bool others_took_its_place : {false, true}) {
        MemoryLog log;
        journal(log, 3);
        {
            Relay relay(log, PartitionNumber(0), trueup::testing::test_keys());
            offer(relay, 5, 1, 0);
            ASSERT_TRUE(relay.drain().ok());
        }
        log.advance(Millis{1'000});
        if (others_took_its_place) journal(log, 7);
        Relay again(log, PartitionNumber(0), trueup::testing::test_keys());
        ASSERT_TRUE(again.resume().ok());
        offer(again, 4, 1, 1);
        ASSERT_TRUE(again.drain().ok());
        EXPECT_EQ(commands_in(log).size(), 1U);
    }
}

TEST(Relay, ABacklogIsPublishedInOrderToo) {
    MemoryLog log;
    Relay relay(log, PartitionNumber(0), trueup::testing::test_keys());
    for (std::int64_t offset = 0; offset < 40; ++offset) {
        offer(relay, offset, 100, 2);
        ASSERT_TRUE(relay.step().ok());
    }
    ASSERT_TRUE(relay.drain().ok());
    EXPECT_TRUE(relay.idle());
    EXPECT_EQ(commands_in(log).size(), 80U);
    const std::vector<FindingEdge> findings = findings_in(log);
    ASSERT_EQ(findings.size(), 4'000U);
    for (std::size_t i = 0; i < findings.size(); ++i) {
        ASSERT_EQ(findings[i].offset, Offset(static_cast<std::int64_t>(i / 100)));
        ASSERT_EQ(findings[i].index, i % 100);
    }
}

class OfTwoRelays : public ::testing::Test {
  protected:
    void SetUp() override {
        journal(log_, 10);
        ASSERT_TRUE(one_.resume().ok());
        ASSERT_TRUE(other_.resume().ok());
        other_.defer(true);
    }
    void both(std::int64_t offset) {
        offer(one_, offset, 1, 1);
        offer(other_, offset, 1, 1);
        ASSERT_TRUE(other_.step().ok());
    }
    MemoryLog log_;
    Relay one_{log_, PartitionNumber(0), trueup::testing::test_keys()};
    Relay other_{log_, PartitionNumber(0), trueup::testing::test_keys()};
};

TEST_F(OfTwoRelays, OnePublishesAndTheOtherOneSeesThatItIsThere) {
    both(3);
    EXPECT_TRUE(findings_in(log_).empty()) << "the other one waits";
    ASSERT_TRUE(one_.drain().ok());
    EXPECT_FALSE(other_.idle()) << "it has not looked yet";
    ASSERT_TRUE(other_.look().ok());
    EXPECT_TRUE(other_.idle());
    ASSERT_TRUE(other_.drain().ok());
    EXPECT_EQ(findings_in(log_).size(), 1U);
    EXPECT_EQ(commands_in(log_).size(), 1U);
}

TEST_F(OfTwoRelays, WhatOneLeavesLyingTheOtherPublishesAtItsSecondLook) {
    both(3);
    ASSERT_TRUE(one_.drain().ok());
    both(4);
    for (const bool first : {true, false}) {
        ASSERT_TRUE(other_.look().ok());
        ASSERT_TRUE(other_.step().ok());
        EXPECT_EQ(other_.idle(), !first);
    }
    EXPECT_EQ(other_.published(), 2U) << "record 4, and not 3";
}

// What was being encoded when the turn went over lay there until the rows were written.
TEST_F(OfTwoRelays, WhatWasBegunIsPublishedByWhoeverBeganIt) {
    log_.hold_appends();
    offer(one_, 3, 1, 0);
    ASSERT_TRUE(one_.step().ok());
    offer(one_, 4, 600, 0);
    ASSERT_TRUE(one_.step().ok());  // encoded beside, while the first one is under way
    one_.defer(true);
    log_.release_appends();
    while (!one_.idle()) ASSERT_TRUE(one_.step().ok());
    EXPECT_EQ(findings_in(log_).size(), 601U);
}

TEST_F(OfTwoRelays, FindingsThatRetentionTookAreNotMissed) {
    both(3);
    both(4);
    ASSERT_TRUE(one_.drain().ok());
    ASSERT_TRUE(log_.truncate(partition(Topic::kFindings), Offset(2)).ok());
    ASSERT_TRUE(other_.look().ok());
    EXPECT_FALSE(other_.idle());
    ASSERT_TRUE(other_.look().ok());
    ASSERT_TRUE(other_.drain().ok());
    EXPECT_EQ(other_.published(), 4U) << "nothing proves that they were there";
}

TEST_F(OfTwoRelays, TheOtherOnePublishesTheRestWhenItsTurnComes) {
    both(3);
    ASSERT_TRUE(one_.drain().ok());
    both(4);
    ASSERT_TRUE(other_.look().ok());
    other_.defer(false);
    ASSERT_TRUE(other_.drain().ok());
    EXPECT_EQ(other_.published(), 2U);
    EXPECT_EQ(findings_in(log_).size(), 2U);
}

TEST(Relay, WithoutAnyFindingEverythingIsPublished) {
    MemoryLog log;
    Relay relay(log, PartitionNumber(0), trueup::testing::test_keys());
    ASSERT_TRUE(relay.resume().ok());
    offer(relay, 0, 0, 1);
    ASSERT_TRUE(relay.drain().ok());
    EXPECT_EQ(commands_in(log).size(), 1U);
}

// After a restart everything since the first journal record was published again, because the newest
// finding lay before a wide run of skipped offsets and was not found.
TEST(Relay, FindsTheLastFindingBeforeSkippedOffsets) {
    MemoryLog log;
    {
        Relay relay(log, PartitionNumber(0), trueup::testing::test_keys());
        offer(relay, 7, 1, 0);
        ASSERT_TRUE(relay.drain().ok());
    }
    journal(log, 10);
    log.skip_offsets(partition(Topic::kFindings), 20);
    Relay again(log, PartitionNumber(0), trueup::testing::test_keys());
    ASSERT_TRUE(again.resume().ok());
    offer(again, 6, 1, 1);
    EXPECT_TRUE(again.idle());
}

// An engine never got ready: the topic ended with something that was no finding.
TEST(Relay, LooksBehindWhatIsNoFinding) {
    MemoryLog log;
    journal(log, 6);
    const auto append = [&](const char* bytes) {
        ASSERT_TRUE(ports::append_now(log, partition(Topic::kFindings), {{{}, bytes}}).ok());
    };
    append("\xff");
    Relay first(log, PartitionNumber(0), trueup::testing::test_keys());
    ASSERT_TRUE(first.resume().ok()) << "there is no finding at all";
    offer(first, 3, 1, 0);
    ASSERT_TRUE(first.step().ok());
    append("\xff");
    append("");
    Relay again(log, PartitionNumber(0), trueup::testing::test_keys());
    ASSERT_TRUE(again.resume().ok());
    offer(again, 3, 1, 0);
    EXPECT_TRUE(again.idle()) << "it is there";
}

TEST(Relay, TooMuchWaitingIsSaid) {
    MemoryLog log;
    Relay relay(log, PartitionNumber(0), trueup::testing::test_keys());
    log.hold_appends();
    EXPECT_FALSE(relay.full());
    offer(relay, 1, 0, 1);
    ASSERT_TRUE(relay.step().ok());
    for (std::int64_t offset = 2; offset < 202; ++offset) offer(relay, offset, 101, 0);
    EXPECT_TRUE(relay.full());
    log.release_appends();
    ASSERT_TRUE(relay.drain().ok());
    EXPECT_FALSE(relay.full());
}

TEST(Relay, ALogThatDoesNotAnswerIsAskedAgain) {
    MemoryLog log;
    Relay relay(log, PartitionNumber(0), trueup::testing::test_keys());
    log.fail_reads(1);
    const Status resumed = relay.resume();
    ASSERT_FALSE(resumed.ok());
    EXPECT_EQ(resumed.error().next, Next::kRetry);
}

}  // namespace
}  // namespace trueup::runtime
