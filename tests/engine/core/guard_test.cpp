// Proves that each guard of the core is needed: the test of its name fails without it
// (docs/guards.md; tests/guards/mutants.sh switches them off one by one).
#include "engine/codec/request_codec.h"
#include "engine/core/rule_text.h"
#include "policies/shipped.h"
#include "tests/support/graph_script.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

namespace trueup::testing {
namespace {

// Design §4.1.
TEST(Guard, Guard_absence_needs_proof_NoDeleteWhileRowsWereNeverListed) {
    JournalScript s;
    s.known("pods");
    s.own("rows");
    s.pod({.name = "wrapper-7", .uid = "a", .version = 11});
    s.quiet_until(20s);
    EXPECT_EQ(s.news(), "");
}

// Design §4.2.
TEST(Guard, Guard_seq_dense_AHoleMayHideTheRowThatOwnsThePod) {
    JournalScript s = quiet_world();
    s.hole("rows");  // the row of wrapper-7 was here
    s.alive("rows");
    EXPECT_FALSE(s.source("rows").known);
    EXPECT_EQ(s.counted().holes, 1U);
}

// Design §4.3.
TEST(Guard, Guard_one_owner_AFormerConnectorsViewIsNotFolded) {
    JournalScript s = quiet_world();
    s.row({.pk = "7", .name = "wrapper-7", .version = 50});
    const Owner former = s.owner("rows");
    s.own("rows");
    s.rows_listed(60, {{.pk = "7", .name = "wrapper-7", .version = 60}});
    s.owner("rows") = former;
    s.row_gone("wrapper-7", "7", 61);
    EXPECT_TRUE(s.facet("wrapper-7", "public.instances/7")->present());
}

// Design §4.3: a change of owner clears the source.
TEST(Guard, Guard_new_owner_knows_nothing_WhatTheFormerProvedIsProvenNoMore) {
    JournalScript s = quiet_world();
    s.own("rows");
    EXPECT_FALSE(s.source("rows").known);
}

// ADR 60: a connector that was not restarted since the key changed files rows elsewhere.
TEST(Guard, Guard_one_mapping_WhatIsReadByAnotherKeyIsNotTaken) {
    Settings settings = graph_settings();
    settings.sources[1].mapping = 7;
    JournalScript s(settings);
    s.own("rows");
    ChangeView word;
    word.kind = ChangeKind::kAlive;
    word.mapping = 6;
    s.change("rows", word);
    s.rows_listed(20, {});
    EXPECT_FALSE(s.source("rows").known);
}

// Design §4.2: what was told of it got lost on the way, or is another version.
TEST(Guard, Guard_same_as_told_WhatWasNeverToldIsNotTheSame) {
    for (const char* pk : {"7", "8"}) {
        JournalScript s = quiet_world();
        s.row({.pk = "7", .name = "wrapper-7", .version = 50});
        s.begin("rows", 60);
        s.same({.source = "rows",
                .name = std::string("wrapper-") + pk,
                .id = std::string("public.instances/") + pk,
                .version = {60, 0},
                .object = {}},
               51);
        EXPECT_FALSE(s.source("rows").known) << pk;
        EXPECT_TRUE(s.source("rows").hole) << pk;
        s.end("rows");
        EXPECT_FALSE(s.source("rows").known) << "such an epoch proves nothing";
    }
}

// Design §4.3: one count per partition.
TEST(Guard, Guard_epoch_counted_AnEpochThatLostAnItemProvesNothing) {
    JournalScript s;
    s.own("rows");
    s.begin("rows", 60);
    s.end("rows", 1);
    EXPECT_FALSE(s.source("rows").known);
}

// Design §4.3: progress counts only after the owner's own first complete epoch.
TEST(Guard, Guard_epoch_before_progress_AStreamAloneProvesNothing) {
    JournalScript s;
    s.own("rows");
    s.at(5s).progress("rows");
    EXPECT_EQ(s.source("rows").complete_as_of, BrokerTime{});
}

// Design §4.4.
TEST(Guard, Guard_proof_in_the_past_NobodyProvesWhatIsStillToCome) {
    JournalScript s = quiet_world();
    s.progress("rows", 1000s);
    EXPECT_EQ(s.source("rows").complete_as_of, broker(100s));
}

// Design §4.5.
TEST(Guard, Guard_both_sides_fresh_RowsThatLagMayHoldTheOwner) {
    Settings settings = graph_settings();
    settings.stale_after = 600s;
    JournalScript s(settings);
    s.all_known();
    s.quiet_until(100s).pod({.name = "wrapper-7", .uid = "a", .version = 11});
    while (s.now() < 170s) s.at(s.now() + 5s).progress("pods");
    EXPECT_TRUE(s.commands().empty()) << "rows are proven until 100 s only";
}

// docs/adr/0020: windows begin anew where the clock went wrong.
TEST(Guard, Guard_window_is_watched_WhatWasSeenBeforeAnUnwatchedStepCountsFromItsEnd) {
    JournalScript s = quiet_world();
    EXPECT_EQ(s.meta().watched_since, BrokerTime{});
    const BrokerTime newest = s.meta().broker_now;
    s.at(s.now() - 1s).tick();
    EXPECT_EQ(s.meta().watched_since, newest);
}

// Design §4.5: the own-write barrier.
TEST(Guard, Guard_own_write_barrier_TheViewBeforeOurDeleteIsNoNewFinding) {
    JournalScript s = quiet_world();
    s.pod({.name = "wrapper-7", .uid = "a", .version = 11});
    s.quiet_until(160s);
    ASSERT_EQ(s.commands().size(), 1U);
    s.at(161s).outcome(s.commands().front(), OutcomeKind::kDone);
    s.at(162s).tick();
    EXPECT_EQ(s.meta().rules[0].detected, 1U);
}

// Design §4.10.
TEST(Guard, Guard_paced_budget_NoMoreThanTheWindowAllows) {
    Settings settings = graph_settings();
    settings.rules[0].budget = {2, 0, 300s};
    JournalScript s(settings);
    s.all_known();
    s.quiet_until(100s);
    for (int i = 0; i < 5; ++i) {
        const std::string number = std::to_string(i);
        s.pod({.name = "wrapper-" + number, .uid = number, .version = 11});
    }
    s.quiet_until(165s);
    EXPECT_EQ(s.meta().rules[0].commands, 2U);
}

// Design §4.10: no latch.
TEST(Guard, Guard_budget_clears_itself_TheNextWindowHasRoomAgain) {
    Settings settings = graph_settings();
    settings.rules[0].budget = {1, 0, 300s};
    JournalScript s(settings);
    s.all_known();
    s.quiet_until(100s);
    for (const char* uid : {"a", "b"}) {
        s.pod({.name = std::string("wrapper-") + uid, .uid = uid, .version = 11});
    }
    s.quiet_until(165s);
    s.outcome(s.commands().at(0), OutcomeKind::kDone);
    s.pod_gone("wrapper-a", "a", 12);
    s.quiet_until(310s);
    std::set<std::string> targets;
    for (const Command& command : s.commands()) targets.insert(command.draft.target.object_id);
    EXPECT_EQ(targets, (std::set<std::string>{"a", "b"}));
}

// Design §4.8.
TEST(Guard, Guard_max_clock_step_ADayThatNobodyWatchedEndsNoGrace) {
    JournalScript s = quiet_world();
    s.pod({.name = "wrapper-7", .uid = "a", .version = 11});
    s.at(24h).together([&] {
        s.progress("pods");
        s.progress("rows");
    });
    EXPECT_TRUE(s.commands().empty());
    EXPECT_EQ(to_millis(s.meta().now), 110'000);
}

// Design §5.
TEST(Guard, Guard_gap_not_folded_AnItemBehindALostOneWaitsForIt) {
    JournalScript s = quiet_world();
    const Offset last = s.last_offset(Topic::kOutcomes);
    s.lose_next(1);
    s.raw(Topic::kOutcomes, "");
    s.raw(Topic::kOutcomes, "");
    EXPECT_EQ(s.last().gaps, (std::vector<core::Gap>{{Topic::kOutcomes, last}}));
    EXPECT_EQ(s.meta().last[static_cast<std::size_t>(Topic::kOutcomes)], last);
}

// Design §5: what comes twice is dropped.
TEST(Guard, Guard_duplicate_dropped_ARecordThatWasAppendedTwiceCountsOnce) {
    JournalScript s = quiet_world();
    const std::uint64_t items = s.counted().items;
    s.repeat_last();
    EXPECT_EQ(s.counted().items, items);
}

/// An orphan whose deletion was ordered 35 s ago, and nobody has answered.
JournalScript unanswered_world() {
    JournalScript s = quiet_world();
    s.pod({.name = "wrapper-7", .uid = "a", .version = 11});
    s.quiet_until(160s + s.settings().emit_again + 5s);
    return s;
}

// Design §4.14: a command stays in the outbox until its outcome.
TEST(Guard, Guard_outbox_until_outcome_WhatNobodyAnswersIsSaidAgain) {
    EXPECT_EQ(unanswered_world().commands().size(), 2U);
}

// Design §5: chain.
TEST(Guard, Guard_chain_in_id_AnotherTailAtTheSameOffsetsNamesOtherCommands) {
    std::vector<CommandId> ids;
    for (const std::uint64_t version : {11U, 12U}) {
        JournalScript s = quiet_world();
        s.pod({.name = "wrapper-7", .uid = "a", .version = version});
        s.quiet_until(160s);
        ASSERT_EQ(s.commands().size(), 1U);
        ids.push_back(s.commands().front().id);
    }
    EXPECT_NE(ids[0], ids[1]);
}

// Design §4.7.
TEST(Guard, Guard_monotone_versions_AnOlderWordDoesNotRaiseTheDead) {
    JournalScript s = quiet_world();
    s.together([&] {
        s.pod_gone("wrapper-7", "a", 15);
        s.pod({.name = "wrapper-7", .uid = "a", .version = 12});
    });
    const Facet* dead = s.facet("wrapper-7", "a");
    EXPECT_TRUE(dead == nullptr || !dead->present());
}

// Design §4.7: tombstones included, for as long as an older word may still be under way.
TEST(Guard, Guard_tombstone_two_epochs_TheDeadAreRemembered) {
    JournalScript s = quiet_world();
    s.pod({.name = "wrapper-7", .uid = "a", .version = 11});
    s.pod_gone("wrapper-7", "a", 15);
    EXPECT_NE(s.facet("wrapper-7", "a"), nullptr);
}

// Design §4.3: as_of.
TEST(Guard, Guard_sweep_spares_newer_APodYoungerThanTheListLivesOn) {
    JournalScript s = quiet_world();
    s.pod({.name = "wrapper-6", .uid = "other", .version = 11});
    s.pod({.name = "wrapper-7", .uid = "young", .version = 30});
    s.pods_listed(20, {{.name = "wrapper-6", .uid = "other", .version = 11}});
    EXPECT_TRUE(s.facet("wrapper-7", "young")->present());
}

// Design §4.6.
TEST(Guard, Guard_suspicious_drop_AnEmptyListOf20KnownProvesNothing) {
    JournalScript s = quiet_world();
    for (int i = 0; i < 20; ++i) {
        s.pod({.name = "wrapper-" + std::to_string(i), .uid = "u" + std::to_string(i)});
    }
    s.pods_listed(20, {});
    EXPECT_FALSE(s.source("pods").known);
    EXPECT_EQ(s.counted().swept, 0U);
}

Request about(RequestKind kind, Offset seen = kNoOffset) {
    Request request;
    request.kind = kind;
    request.scope.subject = "graph-instances/wrapper-7";
    if (seen >= kFirstOffset) request.scope.finding_offset = seen;
    return request;
}

// Design §4.9.
TEST(Guard, Guard_operator_hold_NothingHappensToWhatIsHeld) {
    JournalScript s = quiet_world();
    s.pod({.name = "wrapper-7", .uid = "a", .version = 11});
    s.request(about(RequestKind::kHold));
    s.quiet_until(200s);
    EXPECT_TRUE(s.commands().empty());
}

// Design §4.9.
TEST(Guard, Guard_pause_NoCommandWhileTheRuleIsPaused) {
    JournalScript s = quiet_world();
    s.pod({.name = "wrapper-7", .uid = "a", .version = 11});
    Request pause;
    pause.kind = RequestKind::kPause;
    s.request(pause);
    s.quiet_until(200s);
    EXPECT_TRUE(s.commands().empty());
}

// Design §4.9: windows fail closed.
TEST(Guard, Guard_windows_NoCommandOutsideThem) {
    Settings settings = graph_settings();
    settings.windows = {{0x7f, 0, 1}};  // the first minute of each day; this is 22:13
    JournalScript s(settings);
    s.all_known();
    s.quiet_until(100s);
    s.pod({.name = "wrapper-7", .uid = "a", .version = 11});
    s.quiet_until(200s);
    EXPECT_TRUE(s.commands().empty());
}

// Design §4.9: an approval names the offset of the finding's last change.
TEST(Guard, Guard_approval_of_last_change_WhatMovedOnSinceIsNotApproved) {
    JournalScript s = approving_world();
    s.request(about(RequestKind::kApprove, previous(s.findings().back().offset)));
    EXPECT_TRUE(s.commands().empty());
}

// Design §4.9: what was approved is one command, not whatever the finding proposes by then.
TEST(Guard, Guard_approval_of_this_command_AnotherCommandIsAnotherQuestion) {
    Settings settings = graph_settings();
    settings.rules[1].mode = Mode::kApprove;
    JournalScript s(settings);
    s.all_known();
    s.quiet_until(100s);
    s.row({.pk = "7", .name = "wrapper-7", .version = 50});
    s.quiet_until(140s);
    s.request(about(RequestKind::kApprove, s.records().back().offset));
    ASSERT_EQ(s.commands().size(), 1U);
    s.outcome(s.commands()[0], OutcomeKind::kFailed);  // tried again after five minutes
    s.quiet_until(150s);
    s.request(about(RequestKind::kApprove, s.records().back().offset));
    ASSERT_TRUE(s.answered().granted) << s.answered().sentence;
    s.row({.pk = "7", .name = "wrapper-7", .version = 51, .status = "starting"});
    s.quiet_until(500s);
    EXPECT_EQ(s.commands().size(), 1U);
}

// Design §4.15.
TEST(Guard, Guard_request_authentic_WhatNobodySignedIsNobodysWord) {
    JournalScript s = quiet_world();
    Request pause;
    pause.kind = RequestKind::kPause;
    pause.id = RequestId({9, 9});
    pause.issued_ms = to_millis(broker(s.now()));
    s.raw(Topic::kRequests, codec::encode_request(pause));
    EXPECT_TRUE(s.meta().pauses.empty());
}

// Design §4.15: a signed request that somebody recorded is not a request of today.
TEST(Guard, Guard_request_once_TheSameWordTwiceIsSaidOnce) {
    JournalScript s = quiet_world();
    Request resume;
    resume.kind = RequestKind::kResume;
    resume.id = RequestId({9, 9});
    s.request(resume);
    Request pause;
    pause.kind = RequestKind::kPause;
    s.request(pause);
    s.request(resume);
    EXPECT_EQ(s.meta().pauses.size(), 1U);
}

// Design §4.15.
TEST(Guard, Guard_request_timely_AnOldRequestIsNotTaken) {
    JournalScript s = quiet_world();
    Request request;
    request.kind = RequestKind::kPause;
    s.request(request);
    request.kind = RequestKind::kResume;
    request.issued_ms = to_millis(broker(s.now())) - 301'000;
    s.request(request);
    EXPECT_EQ(s.meta().pauses.size(), 1U);
}

// G8.
TEST(Guard, Guard_terminate_needs_owner_AStrangerEndsNothing) {
    Settings settings = graph_settings();
    policies::rule_settings(settings, "termination_requested").mode = Mode::kEnforce;
    JournalScript s(settings);
    s.all_known();
    s.quiet_until(100s);
    s.row({.pk = "7", .name = "wrapper-7", .version = 50});  // whose it is was not sent
    Request request = about(RequestKind::kTerminate);
    request.issued_by = "mallory";
    request.role = "user";
    s.request(request);
    EXPECT_FALSE(s.answered().granted);
}

// G25.
TEST(Guard, Guard_count_asks_ARowThatNamesNoPodMayOwnThisOne) {
    JournalScript s = quiet_world();
    s.row({.pk = "9", .name = "wrapper-9", .version = 50, .tracked = false});
    s.pod({.name = "wrapper-7", .uid = "a", .version = 11});
    s.quiet_until(200s);
    EXPECT_TRUE(s.commands().empty());
}

// What a rule found that means something else now was acted on.
TEST(Guard, Guard_changed_rule_begins_anew_WhatWasFoundIsAnotherRules) {
    JournalScript s = orphan_at(115s);
    Settings other = graph_settings();
    policy::Policy text = *other.text;
    text.rules.front().since_first_seen = false;
    other.text = std::move(text);
    s.put_in_force(other);
    s.quiet_until(165s);
    EXPECT_TRUE(s.commands().empty());
}

// A heartbeat that the row's owner writes every few seconds kept its create window from ever
// ending: the lost pod was never told.
TEST(Guard, Guard_evidence_by_field_AHeartbeatKeepsNoRuleWaiting) {
    Settings settings = graph_settings();
    settings.rules[1].grace = 0s;
    JournalScript s(settings);
    s.all_known();
    s.quiet_until(100s);
    std::uint64_t version = 50;
    for (Millis now = 100s; now <= 160s; now += 10s) {
        s.quiet_until(now);
        s.row(
            {.pk = "7", .name = "wrapper-7", .version = version++, .active = now, .timeout = "1h"});
    }
    EXPECT_FALSE(s.commands().empty());
}

// Two clusters may have a pod of one name, and the second one comes after the last look.
TEST(Guard, Guard_nobody_elsewhere_WhoDeletesInOneClusterLooksAtTheOther) {
    JournalScript s(two_clusters());
    s.all_known();
    s.pod({.name = "wrapper-7", .uid = "a", .version = 11});
    s.quiet_until(160s);
    ASSERT_FALSE(s.commands().empty());
    const std::vector<Predicate>& read = s.commands().front().draft.read_set;
    const Predicate none{Predicate::Kind::kNone, "west", {}, "name", "wrapper-7"};
    EXPECT_NE(std::find(read.begin(), read.end(), none), read.end());
}

// A rule that had been switched off acted again: by an append of the engine before, which had been
// under way for long.
TEST(Guard, Guard_settings_name_those_before_ALateAppendBringsNoFormerOnesBack) {
    JournalScript s = quiet_world();
    const Settings former = s.settings();
    const Offset known = s.meta().settings_at;
    Settings without = former;
    without.rules[0].mode = Mode::kOff;
    s.put_in_force(without);
    s.put_in_force(former, known);
    EXPECT_EQ(s.meta().settings.rules[0].mode, Mode::kOff);
}

// What a new text compares may have changed just before, and the old text did not look: its create
// windows begin when it comes into force.
TEST(Guard, Guard_window_of_a_new_text_BeginsWhenItComesIntoForce) {
    JournalScript s = quiet_world();
    ASSERT_EQ(s.meta().watched_since, BrokerTime{});
    Settings other = s.settings();
    policy::Policy text = *other.text;
    text.rules[1].since_first_seen = true;
    other.text = std::move(text);
    s.put_in_force(other);
    EXPECT_EQ(s.meta().watched_since, s.meta().broker_now);
}

// Design §4.8.
TEST(Guard, Guard_source_clock_skew_AClockTenMinutesAheadEndsNoTtl) {
    Settings settings = graph_settings();
    settings.rules[3].mode = Mode::kEnforce;
    JournalScript s(settings);
    s.owner("rows").clock = 600s;
    s.all_known();
    s.quiet_until(100s);
    s.pod({.name = "wrapper-7", .uid = "a", .version = 11});
    s.row({.pk = "7", .name = "wrapper-7", .version = 50, .created = 0s, .ttl = "300"});
    s.quiet_until(200s);
    EXPECT_TRUE(s.commands().empty());
}

Request pause_of(std::string rule) {
    Request made;
    made.kind = RequestKind::kPause;
    made.scope.rule = std::move(rule);
    return made;
}

/// What operators, an ending and two rules may ask of one instance that outlived its TTL.
JournalScript expired_instance(Mode others = Mode::kOff) {
    Settings settings = graph_settings(others);
    policies::rule_settings(settings, "ttl_expired").mode = Mode::kEnforce;
    JournalScript s(settings);
    s.all_known();
    s.quiet_until(90s);
    s.together([&] {
        s.pod({.name = "wrapper-7", .uid = "a", .version = 11});
        s.row({.pk = "7", .name = "wrapper-7", .version = 50, .created = -24h, .ttl = "60"});
    });
    s.quiet_until(95s);
    return s;
}

// ADR 22: no other rule judges a subject that is being ended.
TEST(Guard, Guard_ending_stands_alone_WhatWeEndIsNoMissingPod) {
    JournalScript s = expired_instance(Mode::kEnforce);
    s.request(pause_of("ttl_expired"));
    s.at(96s).outcome(s.commands().back(), OutcomeKind::kDone);
    s.at(97s).pod_gone("wrapper-7", "a", 12);
    s.quiet_until(200s);
    EXPECT_EQ(s.commands().back().rule, "ttl_expired");
}

// ADR 22: what is left of a list was meant for what was taken.
TEST(Guard, Guard_ending_of_what_was_taken_AnotherPodOfTheNameEndsIt) {
    JournalScript s = expired_instance();
    s.request(pause_of("ttl_expired"));
    s.at(96s).outcome(s.commands().back(), OutcomeKind::kDone);
    s.together([&] {
        s.pod_gone("wrapper-7", "a", 12);
        s.pod({.name = "wrapper-7", .uid = "b", .version = 13});
    });
    EXPECT_FALSE(s.subject("wrapper-7")->ending.has_value());
}

// Design §4.9 and §8: a command does not outlive its rule's mode.
TEST(Guard, Guard_mode_stops_commands_WhatIsObservedIsNotSaidAgain) {
    JournalScript s = quiet_world();
    s.pod({.name = "wrapper-7", .uid = "a", .version = 11});
    s.quiet_until(161s);
    s.put_in_force(graph_settings(Mode::kObserve));
    s.quiet_until(200s);
    EXPECT_EQ(s.commands().back().emission, 1U);
}

/// Of orphaned_pod, as it is in force.
Request word_on_orphans(const JournalScript& s, RequestKind kind) {
    Request made;
    made.kind = kind;
    made.role = "admin";
    const Settings& settings = s.settings();
    const auto means = core::rule_text(*settings.text, settings.sources, "orphaned_pod");
    made.rules = {{"orphaned_pod", means.text}};
    made.seen = {s.records().back().offset};
    return made;
}

JournalScript unlooked_orphan() {
    Settings settings = graph_settings();
    settings.enabled_by.clear();
    settings.reconcile_every = 0s;
    return orphan_at(165s, settings);
}

// ADR 34: a rule acts by itself only while it is what somebody looked at.
TEST(Guard, Guard_not_enabled_asks_ARuleThatNobodyEnabledDoesNothing) {
    EXPECT_TRUE(unlooked_orphan().commands().empty());
}

// ADR 34: nobody enables what could not be looked at.
TEST(Guard, Guard_enabling_looks_first_BeforeAReconcileThereIsNothingToSee) {
    JournalScript s = unlooked_orphan();
    s.request(word_on_orphans(s, RequestKind::kEnable));
    EXPECT_FALSE(s.answered().granted);
}

// ADR 34: to enable takes the role admin.
TEST(Guard, Guard_enabling_needs_admin_AnOperatorEnablesNothing) {
    JournalScript s = unlooked_orphan();
    Request reconcile;
    reconcile.kind = RequestKind::kReconcile;
    s.request(reconcile);
    s.quiet_until(180s);
    Request word = word_on_orphans(s, RequestKind::kEnable);
    word.role = "ops";
    s.request(word);
    EXPECT_FALSE(s.answered().granted);
}

// ADR 34: what was ordered before its rule was disabled is not said again.
TEST(Guard, Guard_former_texts_stop_WhatWasOrderedBeforeADisableIsNotSaidAgain) {
    JournalScript s = orphan_at(161s);
    ASSERT_FALSE(s.commands().empty());
    s.request(word_on_orphans(s, RequestKind::kDisable));
    s.quiet_until(200s);
    EXPECT_EQ(s.commands().back().emission, 1U);
}

// ADR 22, ADR 34: an ending whose rule was disabled halts.
TEST(Guard, Guard_disabled_ending_halts_ItsRowIsNotWritten) {
    JournalScript s = expired_instance();
    s.request(pause_of("ttl_expired"));
    s.at(96s).outcome(s.commands().back(), OutcomeKind::kDone);
    s.at(97s).pod_gone("wrapper-7", "a", 12);
    Request disable;
    disable.kind = RequestKind::kDisable;
    s.request(disable);
    Request resume = pause_of("ttl_expired");
    resume.kind = RequestKind::kResume;
    s.request(resume);
    s.quiet_until(200s);
    EXPECT_EQ(s.commands().back().draft.action.kind, Action::Kind::kDeletePod);
}

// Design §4.14: one command at a time on one object.
TEST(Guard, Guard_one_command_per_object_TwoRulesWriteOneRowInTurn) {
    JournalScript s = quiet_world();
    s.row({.pk = "7", .name = "wrapper-7", .version = 50});
    s.quiet_until(135s);
    s.pod({.name = "wrapper-7", .uid = "a", .version = 11, .phase = "Failed"});
    s.quiet_until(140s);
    for (const Command& command : s.commands()) EXPECT_EQ(command.rule, "missing_pod");
}

// S22: what a live look refused waits for news.
TEST(Guard, Guard_refusal_waits_for_news_TheSameIsNotOrderedAgain) {
    JournalScript s = quiet_world();
    s.pod({.name = "wrapper-7", .uid = "a", .version = 11});
    s.quiet_until(160s);
    s.outcome(s.commands().back(), OutcomeKind::kRefused);
    s.quiet_until(300s);
    EXPECT_EQ(s.meta().rules[0].commands, 1U);
}

// ADR 47: a pod that comes again each time that it is deleted is asked about the third time.
TEST(Guard, Guard_recurring_asks_TheThirdTimeWithinADay) {
    JournalScript s = quiet_world();
    std::uint64_t version = 10;
    Millis until = 100s;
    for (const char* uid : {"a", "b", "c"}) {
        s.pod({.name = "wrapper-7", .uid = uid, .version = ++version});
        s.quiet_until(until += 80s);
        s.outcome(s.commands().back(), OutcomeKind::kDone);
        s.pod_gone("wrapper-7", uid, ++version);
    }
    EXPECT_EQ(s.meta().rules[0].commands, 2U);
}

/// So many pods, and no rows, in first epochs of which each must show `at_least` objects.
JournalScript only_pods(int count, std::uint32_t at_least) {
    Settings settings = graph_settings();
    for (SourceSettings& source : settings.sources) source.at_least = at_least;
    JournalScript s(settings);
    s.own("pods");
    s.own("rows");
    std::vector<Pod> pods;
    for (int i = 0; i < count; ++i) {
        pods.push_back({.name = "wrapper-" + std::to_string(i), .uid = "u" + std::to_string(i)});
    }
    s.pods_listed(10, pods);
    s.rows_listed(10, {});
    s.quiet_until(120s);
    return s;
}

// ADR 23: an empty table at the first start is more likely the wrong one.
TEST(Guard, Guard_first_epoch_shows_something_AnEmptyTableProvesNothing) {
    EXPECT_TRUE(only_pods(4, 1).commands().empty());
}

// ADR 23: more than half of the world is not wrong.
TEST(Guard, Guard_first_epoch_on_trial_NothingIsTakenAwayWhereMostIsWrong) {
    EXPECT_TRUE(only_pods(11, 0).commands().empty());
}

// ADR 23: what was made since a backup is missing in it.
TEST(Guard, Guard_rewind_takes_nothing_AKnownOneWaitsForAWord) {
    JournalScript s = quiet_world();
    s.pod({.name = "wrapper-7", .uid = "a", .version = 11});
    s.own("rows");
    s.begin("rows", 5, true);
    s.end("rows");
    s.quiet_until(300s);
    EXPECT_TRUE(s.commands().empty());
}

// ADR 23: what a source once said is younger than what it lists now.
TEST(Guard, Guard_rewind_by_versions_OneThatNobodySawIsKnownAllTheSame) {
    JournalScript s = quiet_world();
    s.row({.pk = "7", .name = "wrapper-7", .version = 30});
    s.own("rows");
    s.begin("rows", 20);
    ASSERT_TRUE(s.source("rows").open.has_value());
    EXPECT_TRUE(s.source("rows").open->rewound);
}

// ADR 23: a source that left the configuration says nothing any more.
TEST(Guard, Guard_who_left_says_nothing_ItIsUnknownAndStaysSoWhenItComesBack) {
    Settings with = graph_settings();
    with.sources.push_back({"services", Topic::kChangesResources, 2, {}, 0});
    JournalScript s(with);
    s.all_known();
    s.known("services");
    s.put_in_force(graph_settings());
    EXPECT_FALSE(s.source("services").known);
    s.put_in_force(with);
    EXPECT_FALSE(s.source("services").known);
}

}  // namespace
}  // namespace trueup::testing
