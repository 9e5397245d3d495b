// Proves design §4.12(1), 4.13, 4.14 and details 4, 9: the dispatcher, the commands that ended and
// its clock.
#include "tests/executors/desk.h"

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
    Desk desk;
    desk.emit(delete_orphan());
    desk.step();
    ASSERT_EQ(desk.outcomes().size(), 1U);
    EXPECT_EQ(desk.outcomes()[0].kind, OutcomeKind::kDone);
    EXPECT_EQ(desk.outcomes()[0].executor, "desk");
    const auto record = desk.log.records(kOutcomes).back();
    EXPECT_EQ(record.key, "graph/wrapper-a");
    std::string type;
    record.headers.each([&](std::string_view name, std::string_view value) {
        if (name == "ce_type") type = value;
    });
    EXPECT_EQ(type, "trueup.outcome.v1");
    const DispatcherStats stats = desk.dispatcher().stats();
    EXPECT_EQ(stats.outcomes[static_cast<std::size_t>(OutcomeKind::kDone)], 1U);
    EXPECT_EQ(stats.check_to_write.count, 1U);
    EXPECT_EQ(stats.running + stats.pending, 0U);
}

TEST(Dispatcher, ASourceInDoubtIsNeitherAskedNorWrittenUntilItIsFoundToBeAsConfigured) {
    Desk desk;
    for (const char* doubtful : {"rows", "pods"}) {
        desk.dispatcher().found("rows", "", {"id"});
        desk.dispatcher().found(doubtful, "it has not answered yet", {});
        desk.emit(delete_orphan(doubtful == std::string("rows") ? 1 : 2));
        desk.step();
        EXPECT_EQ(desk.outcomes().back().kind, OutcomeKind::kFailed);
        EXPECT_TRUE(desk.outcomes().back().retryable) << "it is lost";
        EXPECT_NE(desk.outcomes().back().detail.find("source " + std::string(doubtful) +
                                                     ": it has not answered yet"),
                  std::string::npos)
            << desk.outcomes().back().detail;
    }
    EXPECT_TRUE(desk.cluster.calls.empty());
    desk.dispatcher().found("pods", "", {});
    desk.emit(delete_orphan(3));
    desk.step();
    EXPECT_EQ(desk.outcomes().back().kind, OutcomeKind::kDone);
}

TEST(Dispatcher, ACommandDeliveredTwiceActsOnce_S38) {
    Desk desk;
    desk.emit(delete_orphan());
    desk.emit(delete_orphan());
    desk.step();
    desk.emit(delete_orphan());
    desk.step();
    EXPECT_EQ(desk.outcomes().size(), 1U);
    EXPECT_EQ(desk.cluster.count("DELETE"), 1U);
    const DispatcherStats stats = desk.dispatcher().stats();
    EXPECT_EQ(stats.duplicates + stats.known, 2U);
}

TEST(Dispatcher, AfterARestartTheLedgerIsReadBackBeforeTheFirstAct_S38) {
    Desk desk;
    desk.emit(delete_orphan());
    desk.step();
    desk.restart();
    desk.cluster.pods["wrapper-a"] = {};  // as if the delete had been undone
    desk.step();
    EXPECT_EQ(desk.cluster.count("DELETE"), 1U);
    EXPECT_EQ(desk.cluster.count("GET"), 1U);
    EXPECT_EQ(desk.outcomes().size(), 1U);
    EXPECT_EQ(desk.dispatcher().stats().known, 1U);
}

/// Another executor tells how the deletion of the orphan ended.
void another_says(Desk& desk, OutcomeKind kind, bool retryable = false) {
    Outcome other;
    other.command_id = delete_orphan().id;
    other.subject = "graph/wrapper-a";
    other.kind = kind;
    other.retryable = retryable;
    desk.append(Topic::kOutcomes, codec::encode_outcome(other));
}

TEST(Dispatcher, AnotherExecutorsOutcomeCounts_S38) {
    Desk desk;
    desk.step();
    another_says(desk, OutcomeKind::kRefused);
    desk.emit(delete_orphan());
    desk.step();
    EXPECT_TRUE(desk.cluster.calls.empty());
    EXPECT_EQ(desk.outcomes().size(), 1U);
}

// A command was carried out twice: one executor had ended it, somebody undid what it had done, and
// another one, whose checks had taken long, did it again.
TEST(Dispatcher, AnotherExecutorsOutcomeDuringTheChecksCounts_S38) {
    Desk desk;
    bool open = false;
    desk.settings.before_write = [&](const Command&) { return open; };
    desk.emit(delete_orphan());
    desk.step();
    ASSERT_EQ(desk.cluster.count("GET"), 1U);
    another_says(desk, OutcomeKind::kDone);
    open = true;
    desk.step();
    EXPECT_EQ(desk.cluster.count("DELETE"), 0U);
    EXPECT_EQ(desk.outcomes().size(), 1U);
    EXPECT_EQ(desk.dispatcher().stats().running, 0U);
}

// Symptom: a deletion that had failed for now came once more under its id, and was carried out
// while its ending had gone on under another one.
TEST(Dispatcher, ARetryableFailureEndsItsIdAndAnotherIdIsTriedAgain_S38) {
    Desk desk;
    desk.cluster.upset_gets.push_back({500, ""});
    desk.emit(delete_orphan());
    desk.step();
    ASSERT_EQ(desk.outcomes().size(), 1U);
    EXPECT_FALSE(desk.outcomes()[0].final());
    EXPECT_EQ(desk.dispatcher().stats().failed_retryable, 1U);
    desk.emit(delete_orphan());
    desk.step();
    EXPECT_EQ(desk.outcomes().size(), 1U) << "it comes twice";
    EXPECT_EQ(desk.cluster.count("DELETE"), 0U);
    Command again = delete_orphan();
    again.id = {7, 7};
    desk.emit(again);
    desk.step();
    ASSERT_EQ(desk.outcomes().size(), 2U);
    EXPECT_EQ(desk.outcomes()[1].kind, OutcomeKind::kDone);
}

TEST(Dispatcher, AnotherExecutorsRetryableFailureCounts_S38) {
    Desk desk;
    desk.step();
    another_says(desk, OutcomeKind::kFailed, true);
    desk.emit(delete_orphan());
    desk.step();
    EXPECT_TRUE(desk.cluster.calls.empty());
    EXPECT_EQ(desk.outcomes().size(), 1U);
}

// Symptom: of two executors that had one command the one said that it had failed for now while the
// other's write was on its way, and that it was done was never said.
TEST(Dispatcher, ThatWeWroteIsSaidWhateverSomebodyElseSaid_S38) {
    Desk desk;
    desk.cluster.before_delete = [&] { another_says(desk, OutcomeKind::kFailed, true); };
    desk.emit(delete_orphan());
    desk.step();
    ASSERT_EQ(desk.outcomes().size(), 2U);
    EXPECT_EQ(desk.outcomes()[1].kind, OutcomeKind::kDone);
}

TEST(Dispatcher, NothingIsReadOfCommandsWhileTheOutcomesAreNot_S38) {
    Desk desk;
    desk.emit(delete_orphan());
    desk.log.fail_reads(10);
    desk.step(4);
    EXPECT_TRUE(desk.cluster.calls.empty());
    EXPECT_FALSE(desk.dispatcher().stats().trouble.empty());
    desk.step(20);
    EXPECT_EQ(desk.outcomes().size(), 1U);
    EXPECT_TRUE(desk.dispatcher().stats().trouble.empty());
}

TEST(Dispatcher, ExpiredByBrokerTimeActsOnNothing_S38_C5) {
    Desk desk;
    desk.emit(delete_orphan());
    desk.log.advance(Millis(60'001));  // the broker's clock, not ours
    desk.step();
    ASSERT_EQ(desk.outcomes().size(), 1U);
    EXPECT_EQ(desk.outcomes()[0].kind, OutcomeKind::kExpired);
    EXPECT_TRUE(desk.cluster.calls.empty());
}

TEST(Dispatcher, ExpiryIsAskedAgainRightBeforeTheWrite_S38) {
    Desk desk;
    bool open = false;
    desk.settings.before_write = [&](const Command&) { return open; };
    desk.emit(delete_orphan());
    desk.step();
    EXPECT_EQ(desk.dispatcher().stats().blocked, 1U);
    for (int i = 0; i < 40; ++i) {
        desk.pass(Millis(2'000));
        desk.step(1);
    }
    EXPECT_EQ(desk.cluster.count("DELETE"), 0U);
    ASSERT_EQ(desk.outcomes().size(), 1U);
    EXPECT_EQ(desk.outcomes()[0].kind, OutcomeKind::kExpired);
}

// Was: a process that was stopped in the middle of a step wrote a minute after the command's end.
TEST(Dispatcher, AStepThatStoodStillBeforeTheWriteWritesNothing_S38) {
    Desk desk;
    Millis stood{0};
    desk.settings.steady_now = [&] { return desk.now + stood; };
    bool open = false;
    desk.settings.before_write = [&](const Command&) { return open; };
    desk.emit(delete_orphan());
    desk.step();
    open = true;
    stood = Millis(61'000);  // beyond the command's end, and the heartbeat's
    desk.step(1);
    EXPECT_EQ(desk.cluster.effects, 0U);
    desk.pass(stood);
    stood = Millis(0);
    desk.step();
    EXPECT_EQ(desk.cluster.effects, 0U);
    ASSERT_EQ(desk.outcomes().size(), 1U);
    EXPECT_EQ(desk.outcomes()[0].kind, OutcomeKind::kExpired);
}

// Symptom: the permit waited three seconds for the brokers, and the write went out on reads of the
// other side from before, whose age was taken from the step's begin.
TEST(Dispatcher, APermitThatWaitedForTheLogMakesTheChecksOlder_S24) {
    Desk desk;
    Millis stood{0};
    desk.settings.steady_now = [&] { return desk.now + stood; };
    bool open = false;
    desk.settings.before_write = [&](const Command&) { return open; };
    desk.emit(delete_orphan());
    desk.step();
    ASSERT_EQ(desk.dispatcher().stats().blocked, 1U) << "checked";
    open = true;
    stood = Millis(3'000);  // longer than checks hold, shorter than a heartbeat does
    desk.step(1);
    EXPECT_EQ(desk.cluster.effects, 0U) << "it is checked again first";
    desk.pass(stood);
    stood = Millis(0);
    desk.step();
    EXPECT_EQ(desk.cluster.effects, 1U);
}

TEST(Dispatcher, AHeldCommandExpiresAtTheMillisecond_S38) {
    Desk desk;
    desk.settings.before_write = [](const Command&) { return false; };
    const BrokerTime last = desk.emit(delete_orphan()).not_after;
    desk.step();
    while (desk.log.now() < last - Millis(2'500)) {
        desk.pass(Millis(2'000));
        desk.step(2);
    }
    while (desk.log.now() < last) desk.step(1);
    desk.step(1);
    EXPECT_EQ(desk.dispatcher().stats().blocked, 1U) << "its last millisecond";
    desk.step(3);
    ASSERT_EQ(desk.outcomes().size(), 1U);
    EXPECT_EQ(desk.outcomes()[0].kind, OutcomeKind::kExpired);
}

TEST(Dispatcher, TheGateOpensTheWindowBetweenDecisionAndWrite_S6) {
    Desk desk;
    bool open = false;
    desk.settings.before_write = [&](const Command&) { return open; };
    desk.emit(delete_orphan());
    desk.step();
    EXPECT_EQ(desk.cluster.count("GET"), 1U);
    EXPECT_EQ(desk.cluster.count("DELETE"), 0U);
    desk.database.rows["7"].columns["pod_name"] = "wrapper-a";
    desk.pass(Millis(2'500));
    open = true;
    desk.step();
    EXPECT_EQ(desk.cluster.effects, 0U);
    ASSERT_EQ(desk.outcomes().size(), 1U);
    EXPECT_EQ(desk.outcomes()[0].kind, OutcomeKind::kRefused);
}

TEST(Dispatcher, WithoutAHeartbeatNothingIsDone) {
    Desk desk;
    desk.step();  // the clock is known, then grows old
    desk.pass(Millis(10'000));
    desk.emit(delete_orphan());
    desk.log.hold_appends();
    desk.step();
    EXPECT_TRUE(desk.cluster.calls.empty());
    EXPECT_EQ(desk.dispatcher().stats().pending, 1U);
    desk.log.release_appends();
    desk.step();
    EXPECT_EQ(desk.outcomes().size(), 1U);
}

TEST(Dispatcher, AHeartbeatThatStopsHoldsTheWrite) {
    Desk desk;
    bool open = false;
    desk.settings.before_write = [&](const Command&) { return open; };
    desk.emit(delete_orphan());
    desk.step();
    desk.log.hold_appends();
    desk.pass(Millis(5'000));
    open = true;
    desk.step();
    EXPECT_EQ(desk.cluster.count("DELETE"), 0U);
    EXPECT_EQ(desk.dispatcher().stats().blocked, 1U);
    EXPECT_FALSE(desk.dispatcher().stats().clock_fresh);
    // The held beat was sent long ago: it is too old when it is answered, a new one is needed.
    desk.log.release_appends();
    desk.step();
    ASSERT_EQ(desk.outcomes().size(), 1U);
    EXPECT_EQ(desk.outcomes()[0].kind, OutcomeKind::kDone);
}

TEST(Dispatcher, BeatsOnlyWhileThereIsWork) {
    Desk desk;
    desk.step();
    EXPECT_EQ(desk.heartbeats(), 1U);
    for (int i = 0; i < 10; ++i) {
        desk.pass(Millis(2'000));
        desk.step(1);
    }
    EXPECT_EQ(desk.heartbeats(), 1U);
    desk.settings = {};
    desk.emit(delete_orphan());
    desk.step();
    EXPECT_EQ(desk.heartbeats(), 2U);
}

TEST(Dispatcher, TheOutcomeIsAppendedUntilItIsThere_S38) {
    for (const bool stored : {false, true}) {
        Desk desk;
        bool open = false;
        desk.settings.before_write = [&](const Command&) { return open; };
        desk.emit(delete_orphan(1));
        desk.emit(delete_orphan(9));
        desk.step();
        desk.log.fail_next_append(stored, Topic::kOutcomes);
        open = true;
        desk.step(3);
        EXPECT_EQ(desk.dispatcher().stats().append_failures, 1U);
        EXPECT_EQ(desk.cluster.count("GET"), 1U) << "the slot is taken until the outcome is there";
        desk.pass(Millis(200));
        desk.step();
        // The second finds the pod terminating.
        const std::vector<Outcome> outcomes = desk.outcomes();
        ASSERT_EQ(outcomes.size(), 2U) << stored;
        EXPECT_EQ(outcomes[0].command_id, (Hash128{0, 1}));
        EXPECT_EQ(outcomes[1].command_id, (Hash128{0, 9}));
        EXPECT_EQ(outcomes[1].kind, OutcomeKind::kAlreadyDone);
        EXPECT_EQ(desk.cluster.effects, 1U);
    }
}

TEST(Dispatcher, SerialPerSubjectParallelOverSubjectsAndBounded) {
    Desk desk;
    desk.settings.max_running = 2;
    bool open = false;
    desk.settings.before_write = [&](const Command&) { return open; };
    for (const std::string name : {"wrapper-a", "wrapper-b", "wrapper-c"}) {
        desk.cluster.pods[name] = {};
    }
    desk.emit(orphan(1, "wrapper-a"));
    desk.emit(orphan(2, "wrapper-a"));
    desk.emit(orphan(3, "wrapper-b"));
    desk.emit(orphan(4, "wrapper-c"));
    desk.step();
    EXPECT_EQ(desk.dispatcher().stats().running, 2U);
    EXPECT_EQ(desk.dispatcher().stats().pending, 2U);
    EXPECT_EQ(desk.cluster.calls, (std::vector<std::string>{"GET wrapper-a", "GET wrapper-b"}));
    open = true;
    desk.step(30);
    std::map<std::uint64_t, OutcomeKind> kinds;
    for (const Outcome& outcome : desk.outcomes()) kinds[outcome.command_id.lo] = outcome.kind;
    EXPECT_EQ(kinds, (std::map<std::uint64_t, OutcomeKind>{{1, OutcomeKind::kDone},
                                                           {2, OutcomeKind::kAlreadyDone},
                                                           {3, OutcomeKind::kDone},
                                                           {4, OutcomeKind::kDone}}));
}

TEST(Dispatcher, ASilentServerOfOneSubjectHoldsUpNoOther) {
    Desk desk;
    Upset silence;
    silence.silent = true;
    desk.cluster.upset_gets.push_back(silence);
    desk.cluster.pods["wrapper-b"] = {};
    desk.emit(orphan(1, "wrapper-a"));
    desk.step();
    desk.emit(orphan(2, "wrapper-b"));
    desk.step();
    ASSERT_EQ(desk.outcomes().size(), 1U);
    EXPECT_EQ(desk.outcomes()[0].command_id, (Hash128{0, 2}));
    desk.pass(Millis(15'000));
    desk.step();
    EXPECT_EQ(desk.outcomes().size(), 2U);
}

TEST(Dispatcher, WhatCannotBeUnderstoodIsParked_S38) {
    Desk desk;
    desk.append(Topic::kCommands, "\xff no command");
    Command foreign = delete_orphan(5);
    foreign.draft.target.source = "elsewhere";
    desk.emit(foreign);
    Command unknown = delete_orphan(6);
    unknown.draft.action.kind = Action::Kind::kUnspecified;
    desk.emit(unknown);
    desk.emit(delete_orphan(7));
    desk.step();
    EXPECT_EQ(desk.parked.size(), 3U);
    EXPECT_EQ(desk.dispatcher().stats().parked, 3U);
    ASSERT_EQ(desk.outcomes().size(), 1U);
    EXPECT_EQ(desk.outcomes()[0].command_id, (Hash128{0, 7}));
}

TEST(Dispatcher, AnExpiryBeyondTheLedgerIsNotActedOn) {
    Desk desk;
    Command command = desk.live(delete_orphan());
    command.not_after = desk.log.now() + Millis(7'200'000);
    desk.append(Topic::kCommands, trueup::testing::signed_bytes(command));
    desk.step();
    ASSERT_EQ(desk.outcomes().size(), 1U);
    EXPECT_EQ(desk.outcomes()[0].kind, OutcomeKind::kFailed);
    EXPECT_TRUE(desk.outcomes()[0].final());
    EXPECT_TRUE(desk.cluster.calls.empty());
}

// A start read every command and every outcome that was ever written: it took the longer, the older
// the installation was.
TEST(Dispatcher, AStartReadsNothingThatIsOlderThanACommandLives) {
    Desk desk;
    for (std::uint64_t i = 1; i <= 5'000; ++i) {
        desk.append(Topic::kOutcomes, "", "!heartbeat");
        desk.append(Topic::kCommands, "of old");
    }
    desk.pass(Millis(3'700'000));
    desk.emit(delete_orphan(7));
    const std::uint64_t before = desk.log.reads();
    desk.step();
    ASSERT_EQ(desk.outcomes().size(), 1U);
    EXPECT_EQ(desk.outcomes()[0].command_id, (Hash128{0, 7}));
    EXPECT_EQ(desk.dispatcher().stats().skipped, 0U);
    EXPECT_TRUE(desk.parked.empty()) << "bytes that nobody may read any more";
    EXPECT_LT(desk.log.reads() - before, 100U);
}

TEST(Dispatcher, CommandsOfOldAreSkippedAndRetentionIsNoTrouble) {
    Desk desk;
    desk.emit(delete_orphan(1));
    desk.pass(Millis(3'700'000));
    desk.emit(delete_orphan(2));
    ASSERT_TRUE(desk.log.truncate(kOutcomes, 0).ok());
    desk.step();
    ASSERT_EQ(desk.outcomes().size(), 1U);
    EXPECT_EQ(desk.outcomes()[0].command_id, (Hash128{0, 2}));
    const std::int64_t end = desk.log.describe(kCommands).value().next_offset;
    desk.log.skip_offsets(kCommands, 5);
    ASSERT_TRUE(desk.log.truncate(kCommands, end + 5).ok());
    desk.cluster.pods["wrapper-a"] = {};
    desk.emit(delete_orphan(3));
    desk.step();
    EXPECT_EQ(desk.outcomes().size(), 2U);
}

TEST(Dispatcher, OutcomesLostToRetentionStopThePartition_C11) {
    Desk desk;
    desk.step();
    const std::int64_t end = desk.log.describe(kOutcomes).value().next_offset;
    desk.log.skip_offsets(kOutcomes, 5);
    ASSERT_TRUE(desk.log.truncate(kOutcomes, end + 5).ok());
    desk.emit(delete_orphan());
    desk.step();
    EXPECT_TRUE(desk.cluster.calls.empty());
    EXPECT_NE(desk.dispatcher().stats().trouble.find("retention"), std::string::npos);
}

TEST(Dispatcher, EachPartitionAnswersInItsOwn) {
    Desk desk;
    desk.settings.partitions = {0, 1};
    const Command command = desk.live(delete_orphan());
    ASSERT_TRUE(append_now(desk.log, {Topic::kCommands, 1},
                           {{command.subject, trueup::testing::signed_bytes(command), {}}})
                    .ok());
    desk.step();
    EXPECT_EQ(desk.outcomes(1).size(), 1U);
    EXPECT_TRUE(desk.outcomes(0).empty());
}

TEST(Dispatcher, TwoExecutorsHaveOneEffect_S38) {
    Desk desk;
    Dispatcher second(desk.log, sources_of(desk.cluster, desk.database), desk.settings);
    // Two ports in truth; here their events would mix, so that they take turns.
    desk.emit(delete_orphan());
    desk.step(12);
    for (int i = 0; i < 12; ++i) {
        second.step(desk.now, Millis(0));
        desk.pass(Millis(1));
    }
    EXPECT_EQ(desk.cluster.effects, 1U);
    EXPECT_EQ(desk.outcomes().size(), 1U);
    EXPECT_EQ(second.stats().known, 1U);
}

struct FixedAssignment final : PartitionAssignment {
    std::set<std::int32_t> mine;
    std::string wrong;
    bool has(std::int32_t partition) const override { return mine.contains(partition); }
    std::string trouble() const override { return wrong; }
};

TEST(Dispatcher, StartsTheCommandsOfItsOwnPartitionsOnly_D6) {
    Desk desk;
    const auto assignment = std::make_shared<FixedAssignment>();
    desk.settings.assignment = assignment;
    desk.emit(delete_orphan());
    desk.step();
    EXPECT_TRUE(desk.cluster.calls.empty());
    EXPECT_EQ(desk.dispatcher().stats().partitions, 0U);
    assignment->wrong = "the group cannot be joined";
    desk.step(1);
    EXPECT_EQ(desk.dispatcher().stats().trouble, "the group cannot be joined");
    assignment->mine = {0};
    desk.step();
    EXPECT_EQ(desk.cluster.effects, 1U) << "what came before it was ours is carried out too";
    EXPECT_EQ(desk.dispatcher().stats().partitions, 1U);
}

TEST(Dispatcher, WhatWaitsWhenTheShareGoesIsLeftToTheOtherAndTakenUpAgain_D6) {
    Desk desk;
    const auto assignment = std::make_shared<FixedAssignment>();
    assignment->mine = {0};
    desk.settings.assignment = assignment;
    desk.settings.max_running = 1;
    bool open = false;
    desk.settings.before_write = [&](const Command&) { return open; };
    for (const std::string name : {"wrapper-a", "wrapper-b"}) desk.cluster.pods[name] = {};
    desk.emit(orphan(1, "wrapper-a"));
    desk.emit(orphan(2, "wrapper-b"));
    desk.step();
    EXPECT_EQ(desk.dispatcher().stats().running, 1U);
    EXPECT_EQ(desk.dispatcher().stats().pending, 1U);
    assignment->mine = {};
    open = true;
    desk.step();
    EXPECT_EQ(desk.cluster.effects, 1U) << "what was begun goes on, what waited does not";
    EXPECT_EQ(desk.dispatcher().stats().pending, 0U);
    assignment->mine = {0};
    desk.step();
    EXPECT_EQ(desk.cluster.effects, 2U) << "nobody had done it";
    EXPECT_EQ(desk.outcomes().size(), 2U);
}

TEST(Dispatcher, MeasuresFromTheCheckToTheWrite) {
    Desk desk;
    desk.emit(delete_orphan());
    desk.step();
    const CheckToWrite histogram = desk.dispatcher().stats().check_to_write;
    EXPECT_EQ(histogram.sum_micros, desk.outcomes()[0].check_to_write_micros);
    EXPECT_EQ(histogram.sum_micros, 2'000);
    EXPECT_EQ(histogram.counts[1], 1U);  // (1 ms, 2 ms]
}

TEST(Dispatcher, AWriteThatWentOutEndsInItsOutcomeAfterClose_D5) {
    Desk desk;
    Upset lost;
    lost.carried_out = lost.silent = true;
    desk.cluster.upset_deletes.push_back(lost);
    desk.emit(delete_orphan());
    desk.step();
    ASSERT_EQ(desk.cluster.effects, 1U);
    desk.dispatcher().close();
    desk.step();
    EXPECT_EQ(desk.dispatcher().unsettled(), 1U);
    desk.pass(desk.settings.call_timeout);  // no answer came; the pod is looked at instead
    desk.step();
    EXPECT_EQ(desk.dispatcher().unsettled(), 0U);
    ASSERT_EQ(desk.outcomes().size(), 1U);
    EXPECT_EQ(desk.outcomes()[0].kind, OutcomeKind::kDone);
}

TEST(Dispatcher, AfterCloseNothingIsWrittenAndNothingStarted_D5) {
    Desk desk;
    bool open = false;
    desk.settings.before_write = [&](const Command&) { return open; };
    desk.emit(delete_orphan());
    desk.step();
    ASSERT_EQ(desk.dispatcher().stats().blocked, 1U);
    desk.dispatcher().close();
    EXPECT_EQ(desk.dispatcher().unsettled(), 0U);
    open = true;
    desk.emit(orphan(2, "wrapper-b"));
    const std::size_t asked = desk.cluster.calls.size();
    desk.step();
    EXPECT_EQ(desk.cluster.calls.size(), asked);
    EXPECT_TRUE(desk.outcomes().empty()) << "the next start emits them again";
}

TEST(Dispatcher, AWriteThatFailedIsNotRepeatedAfterClose_D5) {
    Desk desk;
    desk.cluster.before_delete = [&] { desk.dispatcher().close(); };
    desk.cluster.upset_deletes.push_back({409, ""});  // the pod changed since the GET
    desk.emit(delete_orphan());
    desk.step();
    EXPECT_EQ(desk.cluster.count("DELETE"), 1U);
    EXPECT_EQ(desk.dispatcher().unsettled(), 0U);
    EXPECT_TRUE(desk.outcomes().empty());
}

}  // namespace
}  // namespace trueup::executors::testing
