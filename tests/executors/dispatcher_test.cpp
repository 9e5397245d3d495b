// Proves design §4.12(1), 4.13, 4.14 and details 4, 9: the dispatcher, the commands that ended and
// its clock.
#include "tests/executors/dispatcher_fixture.h"

#include <gtest/gtest.h>

#include <memory>
#include <set>
#include <string>

namespace trueup::executors::testing {
namespace {

/// The orphan of another name.
Command orphan(std::uint64_t id, const std::string& name) {
    Command command = delete_orphan(id);
    command.subject = "graph/" + name;
    command.draft.target.name = name;
    command.draft.read_set[0].value = name;
    return command;
}

TEST(Dispatcher, WritesOneOutcomeUnderTheSubjectKeyWithHeaders) {
    DispatcherFixture fixture;
    fixture.emit(delete_orphan());
    fixture.step();
    ASSERT_EQ(fixture.outcomes().size(), 1U);
    EXPECT_EQ(fixture.outcomes()[0].kind, OutcomeKind::kDone);
    EXPECT_EQ(fixture.outcomes()[0].executor, "fixture");
    const auto record = fixture.log.records(kOutcomes).back();
    EXPECT_EQ(record.key, "graph/wrapper-a");
    std::string type;
    record.headers.each([&](std::string_view name, std::string_view value) {
        if (name == "ce_type") type = value;
    });
    EXPECT_EQ(type, "trueup.outcome.v1");
    const DispatcherStats stats = fixture.dispatcher().stats();
    EXPECT_EQ(stats.outcomes[static_cast<std::size_t>(OutcomeKind::kDone)], 1U);
    EXPECT_EQ(stats.check_to_write.count, 1U);
    EXPECT_EQ(stats.running + stats.pending, 0U);
}

TEST(Dispatcher, ASourceInDoubtIsNeitherAskedNorWrittenUntilItIsFoundToBeAsConfigured) {
    DispatcherFixture fixture;
    for (const char* doubtful : {"rows", "pods"}) {
        fixture.dispatcher().found("rows", "", {"id"});
        fixture.dispatcher().found(doubtful, "it has not answered yet", {});
        fixture.emit(delete_orphan(doubtful == std::string("rows") ? 1 : 2));
        fixture.step();
        EXPECT_EQ(fixture.outcomes().back().kind, OutcomeKind::kFailed);
        EXPECT_TRUE(fixture.outcomes().back().retryable) << "it is lost";
        EXPECT_NE(fixture.outcomes().back().detail.find("source " + std::string(doubtful) +
                                                        ": it has not answered yet"),
                  std::string::npos)
            << fixture.outcomes().back().detail;
    }
    EXPECT_TRUE(fixture.cluster.calls.empty());
    fixture.dispatcher().found("pods", "", {});
    fixture.emit(delete_orphan(3));
    fixture.step();
    EXPECT_EQ(fixture.outcomes().back().kind, OutcomeKind::kDone);
}

TEST(Dispatcher, ACommandDeliveredTwiceActsOnce_S38) {
    DispatcherFixture fixture;
    fixture.emit(delete_orphan());
    fixture.emit(delete_orphan());
    fixture.step();
    fixture.emit(delete_orphan());
    fixture.step();
    EXPECT_EQ(fixture.outcomes().size(), 1U);
    EXPECT_EQ(fixture.cluster.count("DELETE"), 1U);
    const DispatcherStats stats = fixture.dispatcher().stats();
    EXPECT_EQ(stats.duplicates + stats.known, 2U);
}

TEST(Dispatcher, AfterARestartTheLedgerIsReadBackBeforeTheFirstAct_S38) {
    DispatcherFixture fixture;
    fixture.emit(delete_orphan());
    fixture.step();
    fixture.restart();
    fixture.cluster.pods["wrapper-a"] = {};  // as if the delete had been undone
    fixture.step();
    EXPECT_EQ(fixture.cluster.count("DELETE"), 1U);
    EXPECT_EQ(fixture.cluster.count("GET"), 1U);
    EXPECT_EQ(fixture.outcomes().size(), 1U);
    EXPECT_EQ(fixture.dispatcher().stats().known, 1U);
}

/// Another executor tells how the deletion of the orphan ended.
void another_says(DispatcherFixture& fixture, OutcomeKind kind, bool retryable = false) {
    Outcome other;
    other.command_id = delete_orphan().id;
    other.subject = "graph/wrapper-a";
    other.kind = kind;
    other.retryable = retryable;
    fixture.append(Topic::kOutcomes, codec::encode_outcome(other));
}

TEST(Dispatcher, AnotherExecutorsOutcomeCounts_S38) {
    DispatcherFixture fixture;
    fixture.step();
    another_says(fixture, OutcomeKind::kRefused);
    fixture.emit(delete_orphan());
    fixture.step();
    EXPECT_TRUE(fixture.cluster.calls.empty());
    EXPECT_EQ(fixture.outcomes().size(), 1U);
}

// A command was carried out twice: one executor had ended it, somebody undid what it had done, and
// another one, whose checks had taken long, did it again.
TEST(Dispatcher, AnotherExecutorsOutcomeDuringTheChecksCounts_S38) {
    DispatcherFixture fixture;
    bool open = false;
    fixture.settings.before_write = [&](const Command&) { return open; };
    fixture.emit(delete_orphan());
    fixture.step();
    ASSERT_EQ(fixture.cluster.count("GET"), 1U);
    another_says(fixture, OutcomeKind::kDone);
    open = true;
    fixture.step();
    EXPECT_EQ(fixture.cluster.count("DELETE"), 0U);
    EXPECT_EQ(fixture.outcomes().size(), 1U);
    EXPECT_EQ(fixture.dispatcher().stats().running, 0U);
}

// Symptom: a deletion that had failed for now came once more under its id, and was carried out
// while its ending had gone on under another one.
TEST(Dispatcher, ARetryableFailureEndsItsIdAndAnotherIdIsTriedAgain_S38) {
    DispatcherFixture fixture;
    fixture.cluster.upset_gets.push_back({500, ""});
    fixture.emit(delete_orphan());
    fixture.step();
    ASSERT_EQ(fixture.outcomes().size(), 1U);
    EXPECT_FALSE(fixture.outcomes()[0].final());
    EXPECT_EQ(fixture.dispatcher().stats().failed_retryable, 1U);
    fixture.emit(delete_orphan());
    fixture.step();
    EXPECT_EQ(fixture.outcomes().size(), 1U) << "it comes twice";
    EXPECT_EQ(fixture.cluster.count("DELETE"), 0U);
    Command again = delete_orphan();
    again.id = CommandId({7, 7});
    fixture.emit(again);
    fixture.step();
    ASSERT_EQ(fixture.outcomes().size(), 2U);
    EXPECT_EQ(fixture.outcomes()[1].kind, OutcomeKind::kDone);
}

TEST(Dispatcher, AnotherExecutorsRetryableFailureCounts_S38) {
    DispatcherFixture fixture;
    fixture.step();
    another_says(fixture, OutcomeKind::kFailed, true);
    fixture.emit(delete_orphan());
    fixture.step();
    EXPECT_TRUE(fixture.cluster.calls.empty());
    EXPECT_EQ(fixture.outcomes().size(), 1U);
}

// Symptom: of two executors that had one command the one said that it had failed for now while the
// other's write was on its way, and that it was done was never said.
TEST(Dispatcher, ThatWeWroteIsSaidWhateverSomebodyElseSaid_S38) {
    DispatcherFixture fixture;
    fixture.cluster.before_delete = [&] { another_says(fixture, OutcomeKind::kFailed, true); };
    fixture.emit(delete_orphan());
    fixture.step();
    ASSERT_EQ(fixture.outcomes().size(), 2U);
    EXPECT_EQ(fixture.outcomes()[1].kind, OutcomeKind::kDone);
}

TEST(Dispatcher, NothingIsReadOfCommandsWhileTheOutcomesAreNot_S38) {
    DispatcherFixture fixture;
    fixture.emit(delete_orphan());
    fixture.log.fail_reads(10);
    fixture.step(4);
    EXPECT_TRUE(fixture.cluster.calls.empty());
    EXPECT_FALSE(fixture.dispatcher().stats().trouble.empty());
    fixture.step(20);
    EXPECT_EQ(fixture.outcomes().size(), 1U);
    EXPECT_TRUE(fixture.dispatcher().stats().trouble.empty());
}

TEST(Dispatcher, ExpiredByBrokerTimeActsOnNothing_S38) {
    DispatcherFixture fixture;
    fixture.emit(delete_orphan());
    fixture.log.advance(Millis(60'001));  // the broker's clock, not ours
    fixture.step();
    ASSERT_EQ(fixture.outcomes().size(), 1U);
    EXPECT_EQ(fixture.outcomes()[0].kind, OutcomeKind::kExpired);
    EXPECT_TRUE(fixture.cluster.calls.empty());
}

TEST(Dispatcher, ExpiryIsAskedAgainRightBeforeTheWrite_S38) {
    DispatcherFixture fixture;
    bool open = false;
    fixture.settings.before_write = [&](const Command&) { return open; };
    fixture.emit(delete_orphan());
    fixture.step();
    EXPECT_EQ(fixture.dispatcher().stats().blocked, 1U);
    for (int i = 0; i < 40; ++i) {
        fixture.pass(Millis(2'000));
        fixture.step(1);
    }
    EXPECT_EQ(fixture.cluster.count("DELETE"), 0U);
    ASSERT_EQ(fixture.outcomes().size(), 1U);
    EXPECT_EQ(fixture.outcomes()[0].kind, OutcomeKind::kExpired);
}

// Was: a process that was stopped in the middle of a step wrote a minute after the command's end.
TEST(Dispatcher, AStepThatStoodStillBeforeTheWriteWritesNothing_S38) {
    DispatcherFixture fixture;
    Millis stood{0};
    fixture.settings.steady_now = [&] { return fixture.now + stood; };
    bool open = false;
    fixture.settings.before_write = [&](const Command&) { return open; };
    fixture.emit(delete_orphan());
    fixture.step();
    open = true;
    stood = Millis(61'000);  // beyond the command's end, and the heartbeat's
    fixture.step(1);
    EXPECT_EQ(fixture.cluster.effects, 0U);
    fixture.pass(stood);
    stood = Millis(0);
    fixture.step();
    EXPECT_EQ(fixture.cluster.effects, 0U);
    ASSERT_EQ(fixture.outcomes().size(), 1U);
    EXPECT_EQ(fixture.outcomes()[0].kind, OutcomeKind::kExpired);
}

// Symptom: the permit waited three seconds for the brokers, and the write went out on reads of the
// other side from before, whose age was taken from the step's begin.
TEST(Dispatcher, APermitThatWaitedForTheLogMakesTheChecksOlder_S24) {
    DispatcherFixture fixture;
    Millis stood{0};
    fixture.settings.steady_now = [&] { return fixture.now + stood; };
    bool open = false;
    fixture.settings.before_write = [&](const Command&) { return open; };
    fixture.emit(delete_orphan());
    fixture.step();
    ASSERT_EQ(fixture.dispatcher().stats().blocked, 1U) << "checked";
    open = true;
    stood = Millis(3'000);  // longer than checks hold, shorter than a heartbeat does
    fixture.step(1);
    EXPECT_EQ(fixture.cluster.effects, 0U) << "it is checked again first";
    fixture.pass(stood);
    stood = Millis(0);
    fixture.step();
    EXPECT_EQ(fixture.cluster.effects, 1U);
}

TEST(Dispatcher, AHeldCommandExpiresAtTheMillisecond_S38) {
    DispatcherFixture fixture;
    fixture.settings.before_write = [](const Command&) { return false; };
    const BrokerTime last = fixture.emit(delete_orphan()).not_after;
    fixture.step();
    while (fixture.log.now() < last - Millis(2'500)) {
        fixture.pass(Millis(2'000));
        fixture.step(2);
    }
    while (fixture.log.now() < last) fixture.step(1);
    fixture.step(1);
    EXPECT_EQ(fixture.dispatcher().stats().blocked, 1U) << "its last millisecond";
    fixture.step(3);
    ASSERT_EQ(fixture.outcomes().size(), 1U);
    EXPECT_EQ(fixture.outcomes()[0].kind, OutcomeKind::kExpired);
}

TEST(Dispatcher, TheGateOpensTheWindowBetweenDecisionAndWrite_S6) {
    DispatcherFixture fixture;
    bool open = false;
    fixture.settings.before_write = [&](const Command&) { return open; };
    fixture.emit(delete_orphan());
    fixture.step();
    EXPECT_EQ(fixture.cluster.count("GET"), 1U);
    EXPECT_EQ(fixture.cluster.count("DELETE"), 0U);
    fixture.database.rows["7"].columns["pod_name"] = "wrapper-a";
    fixture.pass(Millis(2'500));
    open = true;
    fixture.step();
    EXPECT_EQ(fixture.cluster.effects, 0U);
    ASSERT_EQ(fixture.outcomes().size(), 1U);
    EXPECT_EQ(fixture.outcomes()[0].kind, OutcomeKind::kRefused);
}

TEST(Dispatcher, WithoutAHeartbeatNothingIsDone) {
    DispatcherFixture fixture;
    fixture.step();  // the clock is known, then grows old
    fixture.pass(Millis(10'000));
    fixture.emit(delete_orphan());
    fixture.log.hold_appends();
    fixture.step();
    EXPECT_TRUE(fixture.cluster.calls.empty());
    EXPECT_EQ(fixture.dispatcher().stats().pending, 1U);
    fixture.log.release_appends();
    fixture.step();
    EXPECT_EQ(fixture.outcomes().size(), 1U);
}

TEST(Dispatcher, AHeartbeatThatStopsHoldsTheWrite) {
    DispatcherFixture fixture;
    bool open = false;
    fixture.settings.before_write = [&](const Command&) { return open; };
    fixture.emit(delete_orphan());
    fixture.step();
    fixture.log.hold_appends();
    fixture.pass(Millis(5'000));
    open = true;
    fixture.step();
    EXPECT_EQ(fixture.cluster.count("DELETE"), 0U);
    EXPECT_EQ(fixture.dispatcher().stats().blocked, 1U);
    EXPECT_FALSE(fixture.dispatcher().stats().clock_fresh);
    // The held beat was sent long ago: it is too old when it is answered, a new one is needed.
    fixture.log.release_appends();
    fixture.step();
    ASSERT_EQ(fixture.outcomes().size(), 1U);
    EXPECT_EQ(fixture.outcomes()[0].kind, OutcomeKind::kDone);
}

TEST(Dispatcher, BeatsOnlyWhileThereIsWork) {
    DispatcherFixture fixture;
    fixture.step();
    EXPECT_EQ(fixture.heartbeats(), 1U);
    for (int i = 0; i < 10; ++i) {
        fixture.pass(Millis(2'000));
        fixture.step(1);
    }
    EXPECT_EQ(fixture.heartbeats(), 1U);
    fixture.settings = {};
    fixture.emit(delete_orphan());
    fixture.step();
    EXPECT_EQ(fixture.heartbeats(), 2U);
}

TEST(Dispatcher, TheOutcomeIsAppendedUntilItIsThere_S38) {
    for (const bool stored : {false, true}) {
        DispatcherFixture fixture;
        bool open = false;
        fixture.settings.before_write = [&](const Command&) { return open; };
        fixture.emit(delete_orphan(1));
        fixture.emit(delete_orphan(9));
        fixture.step();
        fixture.log.fail_next_append(stored, Topic::kOutcomes);
        open = true;
        fixture.step(3);
        EXPECT_EQ(fixture.dispatcher().stats().append_failures, 1U);
        EXPECT_EQ(fixture.cluster.count("GET"), 1U)
            << "the slot is taken until the outcome is there";
        fixture.pass(Millis(200));
        fixture.step();
        // The second finds the pod terminating.
        const std::vector<Outcome> outcomes = fixture.outcomes();
        ASSERT_EQ(outcomes.size(), 2U) << stored;
        EXPECT_EQ(outcomes[0].command_id, CommandId({0, 1}));
        EXPECT_EQ(outcomes[1].command_id, CommandId({0, 9}));
        EXPECT_EQ(outcomes[1].kind, OutcomeKind::kAlreadyDone);
        EXPECT_EQ(fixture.cluster.effects, 1U);
    }
}

TEST(Dispatcher, SerialPerSubjectParallelOverSubjectsAndBounded) {
    DispatcherFixture fixture;
    fixture.settings.max_running = 2;
    bool open = false;
    fixture.settings.before_write = [&](const Command&) { return open; };
    for (const std::string name : {"wrapper-a", "wrapper-b", "wrapper-c"}) {
        fixture.cluster.pods[name] = {};
    }
    fixture.emit(orphan(1, "wrapper-a"));
    fixture.emit(orphan(2, "wrapper-a"));
    fixture.emit(orphan(3, "wrapper-b"));
    fixture.emit(orphan(4, "wrapper-c"));
    fixture.step();
    EXPECT_EQ(fixture.dispatcher().stats().running, 2U);
    EXPECT_EQ(fixture.dispatcher().stats().pending, 2U);
    EXPECT_EQ(fixture.cluster.calls, (std::vector<std::string>{"GET wrapper-a", "GET wrapper-b"}));
    open = true;
    fixture.step(30);
    std::map<std::uint64_t, OutcomeKind> kinds;
    for (const Outcome& outcome : fixture.outcomes())
        kinds[outcome.command_id.value().lo] = outcome.kind;
    EXPECT_EQ(kinds, (std::map<std::uint64_t, OutcomeKind>{{1, OutcomeKind::kDone},
                                                           {2, OutcomeKind::kAlreadyDone},
                                                           {3, OutcomeKind::kDone},
                                                           {4, OutcomeKind::kDone}}));
}

TEST(Dispatcher, ASilentServerOfOneSubjectHoldsUpNoOther_G14) {
    DispatcherFixture fixture;
    Upset silence;
    silence.silent = true;
    fixture.cluster.upset_gets.push_back(silence);
    fixture.cluster.pods["wrapper-b"] = {};
    fixture.emit(orphan(1, "wrapper-a"));
    fixture.step();
    fixture.emit(orphan(2, "wrapper-b"));
    fixture.step();
    ASSERT_EQ(fixture.outcomes().size(), 1U);
    EXPECT_EQ(fixture.outcomes()[0].command_id, CommandId({0, 2}));
    fixture.pass(Millis(15'000));
    fixture.step();
    EXPECT_EQ(fixture.outcomes().size(), 2U);
}

TEST(Dispatcher, WhatCannotBeUnderstoodIsParked_G14_S38) {
    DispatcherFixture fixture;
    fixture.append(Topic::kCommands, "\xff no command");
    Command foreign = delete_orphan(5);
    foreign.draft.target.source = "elsewhere";
    fixture.emit(foreign);
    Command unknown = delete_orphan(6);
    unknown.draft.action.kind = Action::Kind::kUnspecified;
    fixture.emit(unknown);
    fixture.emit(delete_orphan(7));
    fixture.step();
    EXPECT_EQ(fixture.parked.size(), 3U);
    EXPECT_EQ(fixture.dispatcher().stats().parked, 3U);
    ASSERT_EQ(fixture.outcomes().size(), 1U);
    EXPECT_EQ(fixture.outcomes()[0].command_id, CommandId({0, 7}));
}

TEST(Dispatcher, AnExpiryBeyondTheLedgerIsNotActedOn) {
    DispatcherFixture fixture;
    Command command = fixture.live(delete_orphan());
    command.not_after = fixture.log.now() + Millis(7'200'000);
    fixture.append(Topic::kCommands, trueup::testing::signed_bytes(command));
    fixture.step();
    ASSERT_EQ(fixture.outcomes().size(), 1U);
    EXPECT_EQ(fixture.outcomes()[0].kind, OutcomeKind::kFailed);
    EXPECT_TRUE(fixture.outcomes()[0].final());
    EXPECT_TRUE(fixture.cluster.calls.empty());
}

// A start read every command and every outcome that was ever written: it took the longer, the older
// the installation was.
TEST(Dispatcher, AStartReadsNothingThatIsOlderThanACommandLives) {
    DispatcherFixture fixture;
    for (std::uint64_t i = 1; i <= 5'000; ++i) {
        fixture.append(Topic::kOutcomes, "", "!heartbeat");
        fixture.append(Topic::kCommands, "of old");
    }
    fixture.pass(Millis(3'700'000));
    fixture.emit(delete_orphan(7));
    const std::uint64_t before = fixture.log.reads();
    fixture.step();
    ASSERT_EQ(fixture.outcomes().size(), 1U);
    EXPECT_EQ(fixture.outcomes()[0].command_id, CommandId({0, 7}));
    EXPECT_EQ(fixture.dispatcher().stats().skipped, 0U);
    EXPECT_TRUE(fixture.parked.empty()) << "bytes that nobody may read any more";
    EXPECT_LT(fixture.log.reads() - before, 100U);
}

TEST(Dispatcher, CommandsOfOldAreSkippedAndRetentionIsNoTrouble) {
    DispatcherFixture fixture;
    fixture.emit(delete_orphan(1));
    fixture.pass(Millis(3'700'000));
    fixture.emit(delete_orphan(2));
    ASSERT_TRUE(fixture.log.truncate(kOutcomes, kFirstOffset).ok());
    fixture.step();
    ASSERT_EQ(fixture.outcomes().size(), 1U);
    EXPECT_EQ(fixture.outcomes()[0].command_id, CommandId({0, 2}));
    const Offset end = fixture.log.describe(kCommands).value().next_offset;
    fixture.log.skip_offsets(kCommands, 5);
    ASSERT_TRUE(fixture.log.truncate(kCommands, further(end, 5)).ok());
    fixture.cluster.pods["wrapper-a"] = {};
    fixture.emit(delete_orphan(3));
    fixture.step();
    EXPECT_EQ(fixture.outcomes().size(), 2U);
}

TEST(Dispatcher, OutcomesLostToRetentionStopThePartition_C11) {
    DispatcherFixture fixture;
    fixture.step();
    const Offset end = fixture.log.describe(kOutcomes).value().next_offset;
    fixture.log.skip_offsets(kOutcomes, 5);
    ASSERT_TRUE(fixture.log.truncate(kOutcomes, further(end, 5)).ok());
    fixture.emit(delete_orphan());
    fixture.step();
    EXPECT_TRUE(fixture.cluster.calls.empty());
    EXPECT_NE(fixture.dispatcher().stats().trouble.find("retention"), std::string::npos);
}

TEST(Dispatcher, EachPartitionAnswersInItsOwn) {
    DispatcherFixture fixture;
    fixture.settings.partitions = {PartitionNumber(0), PartitionNumber(1)};
    const Command command = fixture.live(delete_orphan());
    ASSERT_TRUE(append_now(fixture.log, {Topic::kCommands, PartitionNumber(1)},
                           {{command.subject, trueup::testing::signed_bytes(command), {}}})
                    .ok());
    fixture.step();
    EXPECT_EQ(fixture.outcomes(1).size(), 1U);
    EXPECT_TRUE(fixture.outcomes(0).empty());
}

TEST(Dispatcher, TwoExecutorsHaveOneEffect_S38) {
    DispatcherFixture fixture;
    Dispatcher second(fixture.log, sources_of(fixture.cluster, fixture.database), fixture.settings);
    // Two ports in truth; here their events would mix, so that they take turns.
    fixture.emit(delete_orphan());
    fixture.step(12);
    for (int i = 0; i < 12; ++i) {
        second.step(fixture.now, Millis(0));
        fixture.pass(Millis(1));
    }
    EXPECT_EQ(fixture.cluster.effects, 1U);
    EXPECT_EQ(fixture.outcomes().size(), 1U);
    EXPECT_EQ(second.stats().known, 1U);
}

struct FixedAssignment final : PartitionAssignment {
    std::set<PartitionNumber> mine;
    std::string wrong;
    bool has(PartitionNumber partition) const override { return mine.contains(partition); }
    std::string trouble() const override { return wrong; }
};

TEST(Dispatcher, StartsTheCommandsOfItsOwnPartitionsOnly_D6) {
    DispatcherFixture fixture;
    const auto assignment = std::make_shared<FixedAssignment>();
    fixture.settings.assignment = assignment;
    fixture.emit(delete_orphan());
    fixture.step();
    EXPECT_TRUE(fixture.cluster.calls.empty());
    EXPECT_EQ(fixture.dispatcher().stats().partitions, 0U);
    assignment->wrong = "the group cannot be joined";
    fixture.step(1);
    EXPECT_EQ(fixture.dispatcher().stats().trouble, "the group cannot be joined");
    assignment->mine = {PartitionNumber(0)};
    fixture.step();
    EXPECT_EQ(fixture.cluster.effects, 1U) << "what came before it was ours is carried out too";
    EXPECT_EQ(fixture.dispatcher().stats().partitions, 1U);
}

TEST(Dispatcher, WhatWaitsWhenTheShareGoesIsLeftToTheOtherAndTakenUpAgain_D6) {
    DispatcherFixture fixture;
    const auto assignment = std::make_shared<FixedAssignment>();
    assignment->mine = {PartitionNumber(0)};
    fixture.settings.assignment = assignment;
    fixture.settings.max_running = 1;
    bool open = false;
    fixture.settings.before_write = [&](const Command&) { return open; };
    for (const std::string name : {"wrapper-a", "wrapper-b"}) fixture.cluster.pods[name] = {};
    fixture.emit(orphan(1, "wrapper-a"));
    fixture.emit(orphan(2, "wrapper-b"));
    fixture.step();
    EXPECT_EQ(fixture.dispatcher().stats().running, 1U);
    EXPECT_EQ(fixture.dispatcher().stats().pending, 1U);
    assignment->mine = {};
    open = true;
    fixture.step();
    EXPECT_EQ(fixture.cluster.effects, 1U) << "what was begun goes on, what waited does not";
    EXPECT_EQ(fixture.dispatcher().stats().pending, 0U);
    assignment->mine = {PartitionNumber(0)};
    fixture.step();
    EXPECT_EQ(fixture.cluster.effects, 2U) << "nobody had done it";
    EXPECT_EQ(fixture.outcomes().size(), 2U);
}

TEST(Dispatcher, MeasuresFromTheCheckToTheWrite) {
    DispatcherFixture fixture;
    fixture.emit(delete_orphan());
    fixture.step();
    const CheckToWrite histogram = fixture.dispatcher().stats().check_to_write;
    EXPECT_EQ(histogram.sum_micros, fixture.outcomes()[0].check_to_write_micros);
    EXPECT_EQ(histogram.sum_micros, 2'000);
    EXPECT_EQ(histogram.counts[1], 1U);  // (1 ms, 2 ms]
}

TEST(Dispatcher, AWriteThatWentOutEndsInItsOutcomeAfterClose_D5) {
    DispatcherFixture fixture;
    Upset lost;
    lost.carried_out = lost.silent = true;
    fixture.cluster.upset_deletes.push_back(lost);
    fixture.emit(delete_orphan());
    fixture.step();
    ASSERT_EQ(fixture.cluster.effects, 1U);
    fixture.dispatcher().close();
    fixture.step();
    EXPECT_EQ(fixture.dispatcher().unsettled(), 1U);
    fixture.pass(fixture.settings.call_timeout);  // no answer came; the pod is looked at instead
    fixture.step();
    EXPECT_EQ(fixture.dispatcher().unsettled(), 0U);
    ASSERT_EQ(fixture.outcomes().size(), 1U);
    EXPECT_EQ(fixture.outcomes()[0].kind, OutcomeKind::kDone);
}

TEST(Dispatcher, AfterCloseNothingIsWrittenAndNothingStarted_D5) {
    DispatcherFixture fixture;
    bool open = false;
    fixture.settings.before_write = [&](const Command&) { return open; };
    fixture.emit(delete_orphan());
    fixture.step();
    ASSERT_EQ(fixture.dispatcher().stats().blocked, 1U);
    fixture.dispatcher().close();
    EXPECT_EQ(fixture.dispatcher().unsettled(), 0U);
    open = true;
    fixture.emit(orphan(2, "wrapper-b"));
    const std::size_t asked = fixture.cluster.calls.size();
    fixture.step();
    EXPECT_EQ(fixture.cluster.calls.size(), asked);
    EXPECT_TRUE(fixture.outcomes().empty()) << "the next start emits them again";
}

TEST(Dispatcher, AWriteThatFailedIsNotRepeatedAfterClose_D5) {
    DispatcherFixture fixture;
    fixture.cluster.before_delete = [&] { fixture.dispatcher().close(); };
    fixture.cluster.upset_deletes.push_back({409, ""});  // the pod changed since the GET
    fixture.emit(delete_orphan());
    fixture.step();
    EXPECT_EQ(fixture.cluster.count("DELETE"), 1U);
    EXPECT_EQ(fixture.dispatcher().unsettled(), 0U);
    EXPECT_TRUE(fixture.outcomes().empty());
}

}  // namespace
}  // namespace trueup::executors::testing
