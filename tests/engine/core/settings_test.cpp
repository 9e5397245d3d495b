// Proves that settings are journal events and that nothing starts under wrong ones (design §5,
// C10).
#include "policies/shipped.h"
#include "tests/support/graph_script.h"

#include <gtest/gtest.h>

namespace trueup::testing {
namespace {

JournalScript with_orphan() {
    JournalScript s = orphan_at(115s);
    s.news();
    return s;
}

TEST(ShardSettings, TheOrderOfSourcesMayChange) {
    JournalScript s = with_orphan();
    Settings swapped = graph_settings();
    std::swap(swapped.sources[0], swapped.sources[1]);
    s.put_in_force(swapped);
    EXPECT_EQ(s.meta().settings.source(0), 0) << "a source keeps its number";
    EXPECT_EQ(s.meta().sources[0].name, "pods");
    EXPECT_EQ(s.meta().settings, graph_settings());
    s.quiet_until(160s);
    EXPECT_EQ(s.commands().size(), 1U);
}

TEST(ShardSettings, ANewSourceGetsTheNextNumberAndAnOldOneStays) {
    JournalScript s = with_orphan();
    Settings more = graph_settings();
    more.sources = {{"replica", Topic::kChangesRows, 1}, {"pods", Topic::kChangesPods, 0}};
    s.put_in_force(more);
    ASSERT_EQ(s.meta().sources.size(), 3U);
    EXPECT_EQ(s.meta().sources[2].name, "replica");
    EXPECT_EQ(s.meta().settings.source(1), 2);
    EXPECT_EQ(s.meta().settings.source(0), 0);
    EXPECT_EQ(s.news(), "115s suspected orphaned_pod wrapper-7 a: not_synced\n")
        << "the new rows are not known yet";
}

TEST(ShardSettings, TheSameOnceMoreChangesNothing) {
    JournalScript s = with_orphan();
    s.put_in_force(graph_settings());
    EXPECT_TRUE(s.meta().sweeps.empty());
    EXPECT_EQ(s.news(), "");
}

TEST(ShardSettings, NewOnesAreAppliedToAllAtOnce) {
    JournalScript s = with_orphan();
    Settings shorter = graph_settings();
    shorter.rules[0].grace = 10s;
    shorter.rules[0].create_window = 1s;
    s.put_in_force(shorter);
    EXPECT_EQ(s.news(),
              "115s commanded orphaned_pod wrapper-7 a\n"
              "115s delete_pod wrapper-7 a\n");
}

TEST(ShardSettings, AnUnknownPolicyHaltsWithASentence_C10) {
    JournalScript s = with_orphan();
    const Offset applied = s.meta().applied;
    s.put_in_force(of_another_build(graph_settings(), "quantum-instances"));
    EXPECT_EQ(s.state().halted,
              "journal offset " + std::to_string(next(applied).value()) +
                  " puts the policy 'quantum-instances' in force, which this build cannot read: "
                  "the policy has no role 'quanta'");
    s.at(160s).tick();
    s.at(165s).pod({.name = "wrapper-8", .uid = "b", .version = 12});
    EXPECT_EQ(s.meta().applied, applied) << "nothing is folded any more";
    EXPECT_EQ(s.subject("wrapper-8"), nullptr);
    EXPECT_EQ(s.news(), "");
}

TEST(ShardSettings, ARuleThatTheSettingsLeaveOutHalts_C10) {
    JournalScript s = with_orphan();
    Settings fewer = graph_settings();
    fewer.rules.pop_back();
    s.put_in_force(fewer);
    EXPECT_NE(s.state().halted.find("says nothing of its rule termination_requested"),
              std::string::npos)
        << s.state().halted;
}

std::string newer_in_force() {
    return "puts logic version " + std::to_string(kLogic + 1) +
           " in force, and this build has version " + std::to_string(kLogic);
}

TEST(ShardSettings, AnotherVersionOfTheLogicHaltsAndSaysWhichBuildItNeeds_C10) {
    JournalScript s = with_orphan();
    Settings newer = graph_settings();
    newer.logic = kLogic + 1;
    s.put_in_force(newer);
    EXPECT_NE(s.state().halted.find(newer_in_force()), std::string::npos) << s.state().halted;
}

// Each of two shards counts the rows without a pod that it has: an orphan of the other was deleted
// though its owner was one of them.
TEST(ShardSettings, WhatAsksWhileSomethingIsCountedActsOnOneShardOnly_G25) {
    JournalScript two(graph_settings(), 1, {}, 2);
    EXPECT_EQ(two.state().halted,
              "journal offset 0 lets orphaned_pod act, which asks while a count is not 0, and of 2 "
              "shards each counts for itself: write partitions: 1, or mode: observe, or take "
              "ask_while out of the policy");
    Settings observes = graph_settings();
    policies::rule_settings(observes, "orphaned_pod").mode = Mode::kObserve;
    EXPECT_EQ(JournalScript(observes, 1, {}, 2).state().halted, "");
}

TEST(ShardSettings, SettingsOfTheLogicBeforeAreNotTakenOnceANewerOneIsInForce_C10) {
    JournalScript s = with_orphan();
    Settings newer = graph_settings();
    newer.logic = kLogic + 1;
    s.state().newest_logic = kLogic + 1;
    s.put_in_force(newer);
    Settings late = graph_settings();
    late.stale_after = Millis{1'234};
    s.put_in_force(late);
    EXPECT_EQ(s.state().halted, "");
    EXPECT_EQ(s.meta().settings.logic, kLogic + 1);
    EXPECT_NE(s.meta().settings.stale_after, Millis{1'234});
}

// Every pod was given 30 s, and one that says 300 was cut off in the middle of its own end.
TEST(ShardSettings, TheRuleSaysHowLongItsPodsHaveToEndElseTheyDoThemselves_G1) {
    for (const std::optional<std::uint32_t> period :
         {std::optional<std::uint32_t>(), std::optional(0U), std::optional(5U)}) {
        Settings settings = graph_settings();
        settings.rules[0].grace_period = period;
        JournalScript s(settings);
        s.all_known();
        s.pod({.name = "wrapper-7", .uid = "a", .version = 11});
        s.quiet_until(65s);
        ASSERT_EQ(s.commands().size(), 1U);
        EXPECT_EQ(s.commands()[0].draft.action.grace_seconds, period);
    }
}

TEST(ShardSettings, AnApprovalIsForTheGracePeriodThatItSaw) {
    Settings asks = graph_settings();
    asks.rules[0].mode = Mode::kApprove;
    JournalScript s(asks);
    s.all_known();
    s.pod({.name = "wrapper-7", .uid = "a", .version = 11});
    s.quiet_until(65s);
    const Hash128 own = s.subject("wrapper-7")->findings.at(0).proposal;
    asks.rules[0].grace_period = 0;
    s.put_in_force(asks);
    EXPECT_NE(s.subject("wrapper-7")->findings.at(0).proposal, own);
}

// An engine that was put back over the rows of a newer build folded on by the old rules.
TEST(ShardSettings, RowsOfANewerLogicHalt_C10) {
    JournalScript s = with_orphan();
    core::Meta meta = s.meta();
    meta.settings.logic = kLogic + 1;
    core::adopt_meta(s.state(), meta);
    EXPECT_NE(s.state().halted.find("the journal of these rows " + newer_in_force()),
              std::string::npos)
        << s.state().halted;
}

TEST(ShardSettings, ARoleThatNoSourcePlaysHalts) {
    JournalScript s = with_orphan();
    Settings fewer = graph_settings();
    fewer.sources.pop_back();
    s.put_in_force(fewer);
    EXPECT_NE(s.state().halted.find("names no source of rows"), std::string::npos);
}

TEST(ShardSettings, ARoleThatThePolicyDoesNotHaveHalts) {
    JournalScript s = with_orphan();
    Settings more = graph_settings();
    more.sources.push_back({"owls", Topic::kChangesResources, 9});
    s.put_in_force(more);
    EXPECT_NE(s.state().halted.find("gives owls a role that the policy does not have"),
              std::string::npos);
}

TEST(ShardSettings, AStoredShardOfAnUnknownPolicyHalts_C10) {
    core::NoRows rows;
    core::State state(rows);
    core::adopt_meta(state, {});
    EXPECT_TRUE(state.halted.empty()) << "a new shard has no policy yet";
    EXPECT_EQ(state.plan, nullptr);
    core::Meta meta;
    meta.settings = of_another_build(graph_settings(), "quantum-instances");
    core::adopt_meta(state, meta);
    EXPECT_EQ(state.halted,
              "the journal of these rows puts the policy 'quantum-instances' in force, which this "
              "build cannot read: the policy has no role 'quanta'");
}

/// The same policy with one rule more in front of all others, that only reports.
Settings with_a_rule_in_front(Settings settings) {
    policy::Policy text = *settings.text;
    policy::Rule rule = text.rules.front();
    rule.name = "any_pod";
    rule.grace = rule.create_window = Millis{0};
    rule.cases.front().when = {rule.cases.front().when.front()};
    rule.cases.front().ask_while.clear();
    rule.cases.front().steps = {policy::Step{}};
    text.rules.insert(text.rules.begin(), rule);
    settings.text = std::move(text);
    settings.rules.insert(settings.rules.begin(), {"any_pod", Mode::kObserve, 0s, 0s});
    return settings;
}

TEST(ShardSettings, ARuleMoreInFrontLeavesTheFindingsOfTheOthers) {
    JournalScript s = with_orphan();
    const FindingId before = s.subject("wrapper-7")->findings.at(0).id;
    s.put_in_force(with_a_rule_in_front(graph_settings()));
    EXPECT_EQ(s.news(), "115s confirmed any_pod wrapper-7 a: report_only\n");
    EXPECT_EQ(s.subject("wrapper-7")->findings.at(0).id, before);
    EXPECT_EQ(s.meta().settings.rules[0].rule, "orphaned_pod") << "each keeps its number";
    s.quiet_until(160s);
    EXPECT_EQ(s.commands().size(), 1U) << "the grace went on";
}

TEST(ShardSettings, ARuleThatLeftThePolicyIsOffAndItsFindingsEnd) {
    Settings more = with_a_rule_in_front(graph_settings());
    JournalScript s(more);
    s.all_known();
    s.pod({.name = "wrapper-7", .uid = "a", .version = 11});
    ASSERT_EQ(s.subject("wrapper-7")->findings.size(), 2U);
    s.news();
    s.put_in_force(graph_settings());
    EXPECT_EQ(s.news(), "0s resolved any_pod wrapper-7 a: retracted\n");
    EXPECT_EQ(s.meta().settings.rules[0].mode, Mode::kOff);
    s.quiet_until(60s);
    EXPECT_EQ(s.commands().size(), 1U);
}

// A count that a policy did not have any more was never taken back, and whatever took its place
// began with what it had.
TEST(ShardSettings, ACountThatLeftThePolicyIsTakenBack) {
    JournalScript s = with_orphan();
    const Tally before = [&] { return s.subject("wrapper-7")->counted; }();
    const auto all = s.meta().tallies;
    Settings fewer = graph_settings();
    policy::Policy text = *fewer.text;
    ASSERT_EQ(text.counts.back().name, "wrapper_pods");
    text.counts.pop_back();
    fewer.text = std::move(text);
    s.put_in_force(fewer);
    EXPECT_NE(s.subject("wrapper-7")->counted, before) << "its pod counted there";
    s.put_in_force(graph_settings());
    EXPECT_EQ(s.meta().tallies, all);
}

Settings meaning_something_else(Settings settings) {
    policy::Policy text = *settings.text;
    text.rules.front().since_first_seen = false;
    settings.text = std::move(text);
    return settings;
}

// What an operator had dismissed was acted on after the policy had changed, and the number of open
// findings went below zero.
TEST(ShardSettings, WhatWasDismissedStaysSoUnderAnotherText) {
    JournalScript s = with_orphan();
    Request dismissal;
    dismissal.kind = RequestKind::kDismiss;
    dismissal.scope.subject = "graph-instances/wrapper-7";
    s.request(dismissal);
    ASSERT_TRUE(s.answered().granted);
    s.news();
    s.put_in_force(meaning_something_else(graph_settings()));
    s.quiet_until(300s);
    EXPECT_EQ(s.news(), "");
    EXPECT_EQ(s.meta().open_findings, 0U);
}

// A command under the old text failed, and the next one went under the new text without a grace.
TEST(ShardSettings, BehindACommandOfTheOldTextTheGraceBeginsAnew) {
    JournalScript s = orphan_at(160s);
    ASSERT_EQ(s.commands().size(), 1U);
    s.put_in_force(meaning_something_else(graph_settings()));
    s.at(161s).outcome(s.commands()[0], OutcomeKind::kFailed, true);
    s.quiet_until(215s);
    EXPECT_EQ(s.commands().size(), 1U);
    s.quiet_until(225s);
    EXPECT_EQ(s.commands().size(), 2U);
}

// Rows that were filed under another key were believed to own nothing.
TEST(ShardSettings, ASourceWhoseKeyIsAnotherOneIsUnknownUntilItListsAnew) {
    JournalScript s = with_orphan();
    Settings other = graph_settings();
    policy::Policy text = *other.text;
    text.roles[1].key = *policy::parse_key("pod_name");
    other.text = std::move(text);
    s.put_in_force(other);
    EXPECT_FALSE(s.source("rows").known);
    EXPECT_TRUE(s.source("pods").known);
    EXPECT_EQ(s.last().wants_epoch, std::vector<SourceId>{1});
    s.quiet_until(300s);
    EXPECT_TRUE(s.commands().empty());
    s.known("rows");
    s.quiet_until(400s);
    EXPECT_FALSE(s.commands().empty());
}

/// The same policy with one role more, before all others.
Settings with_another_role_in_front(Settings settings) {
    policy::Policy text = *settings.text;
    policy::Role more = text.roles[1];
    more.name = "archived";
    more.optional = true;
    text.roles.insert(text.roles.begin(), std::move(more));
    settings.text = std::move(text);
    for (SourceSettings& source : settings.sources) ++source.role;
    return settings;
}

// A role more before the others moved their numbers: a source's key was compared with another
// role's, or, the last one's, with none.
TEST(ShardSettings, ARoleInFrontOfTheOthersIsNoOtherKeyOfTheirs) {
    JournalScript s = with_orphan();
    s.put_in_force(with_another_role_in_front(graph_settings()));
    ASSERT_EQ(s.state().halted, "");
    EXPECT_TRUE(s.source("rows").known);
    EXPECT_TRUE(s.source("pods").known);
    EXPECT_TRUE(s.last().wants_epoch.empty());
    s.put_in_force(graph_settings());
    EXPECT_TRUE(s.source("rows").known);
    EXPECT_TRUE(s.source("pods").known);
}

TEST(ShardSettings, AnotherKeyBehindARoleInFrontIsAnotherKey) {
    JournalScript s = with_orphan();
    Settings other = with_another_role_in_front(graph_settings());
    policy::Policy text = *other.text;
    text.roles[2].key = *policy::parse_key("pod_name");
    other.text = std::move(text);
    s.put_in_force(other);
    ASSERT_EQ(s.state().halted, "");
    EXPECT_FALSE(s.source("rows").known);
    EXPECT_TRUE(s.source("pods").known);
    s.quiet_until(300s);
    EXPECT_TRUE(s.commands().empty());
}

TEST(ShardSettings, ARuleThatMeansSomethingElseFindsAnew) {
    JournalScript s = with_orphan();
    s.put_in_force(meaning_something_else(graph_settings()));
    EXPECT_EQ(s.news(),
              "115s resolved orphaned_pod wrapper-7 a: retracted\n"
              "115s suspected orphaned_pod wrapper-7 a: grace\n");
    s.quiet_until(170s);
    EXPECT_TRUE(s.commands().empty()) << "its grace begins anew";
    s.quiet_until(175s);
    EXPECT_EQ(s.commands().size(), 1U);
}

TEST(ShardSettings, TheFirstGenesisCounts) {
    JournalScript s;
    codec::JournalRecordBuilder record;
    record.set_genesis({JournalId({99, 99}), 8, PartitionNumber(3)});
    s.append(record.take());
    EXPECT_EQ(s.meta().journal_id, JournalId({1, 7}));
    EXPECT_EQ(s.meta().partitions, 1);
    EXPECT_EQ(s.meta().shard, PartitionNumber(0));
}

TEST(ShardSettings, AJournalWithoutAnyOnlyCountsItsItems) {
    core::NoRows rows;
    core::State state(rows);
    JournalScript source;
    source.all_known();
    const Recorded& record = source.records().back();
    JournalView view;
    ASSERT_TRUE(codec::decode_journal(record.bytes, kFirstOffset, record.append_time, view).ok());
    core::FoldReport report;
    core::fold(state, view, report);
    EXPECT_EQ(state.meta.counters.items, 8U);
    EXPECT_EQ(report.parked.size(), 6U) << "no source is known by name";
}

TEST(ShardSettingsDeathTest, ARecordIsNeverFoldedTwice) {
    JournalScript s;
    JournalView again;
    again.offset = s.meta().applied;
    core::FoldReport report;
    EXPECT_DEATH(core::fold(s.state(), again, report), "applied");
}

}  // namespace
}  // namespace trueup::testing
