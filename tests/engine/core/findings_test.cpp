// Proves the life of a finding and of its command (design §4.9, §4.14, §5; S1, S38, S39).
#include "engine/core/edges.h"
#include "policies/shipped.h"
#include "tests/support/graph_script.h"

#include <gtest/gtest.h>

#include <set>

namespace trueup::testing {
namespace {

TEST(Findings, OnlyEdgesAreTold) {
    JournalScript s = orphan_at(155s);
    EXPECT_EQ(s.findings().size(), 1U) << "12 records, one edge";
    const FindingEdge& edge = s.findings().front();
    EXPECT_EQ(edge.state, FindingState::kSuspected);
    EXPECT_EQ(edge.reason, Reason::kGrace);
    EXPECT_EQ(edge.policy, "graph-instances");
    EXPECT_EQ(edge.since, JournalTime(100s));
    EXPECT_EQ(edge.append_time, broker(100s));
    EXPECT_EQ(edge.journal_id, s.meta().journal_id);
    EXPECT_EQ(edge.index, 0U);
    EXPECT_EQ(edge.command_id, std::nullopt);
    EXPECT_EQ(edge.sentence, "wrapper-7: pod without an instance row; waiting out the grace");
    EXPECT_EQ(edge.evidence, std::vector{edge.offset});
}

TEST(Findings, RetractionIsCountedAndClosesIt) {
    JournalScript s = orphan_at(120s);
    EXPECT_EQ(s.meta().open_findings, 1U);
    s.pod_gone("wrapper-7", "a", 12);
    EXPECT_EQ(s.meta().open_findings, 0U);
    EXPECT_EQ(s.meta().rules[0].detected, 1U);
    EXPECT_EQ(s.meta().rules[0].retracted, 1U);
    EXPECT_TRUE(s.subject("wrapper-7")->findings.empty());
}

TEST(Findings, DoneEndsIt) {
    JournalScript s = orphan_at(160s);
    s.news();
    s.at(162s).outcome(s.commands().front(), OutcomeKind::kDone);
    s.at(163s).pod_gone("wrapper-7", "a", 12);
    s.quiet_until(300s);
    EXPECT_EQ(s.news(), "162s resolved orphaned_pod wrapper-7 a: done\n");
    EXPECT_EQ(s.meta().outbox, 0U);
    EXPECT_EQ(s.meta().rules[0].outcomes[static_cast<std::size_t>(OutcomeKind::kDone)], 1U);
    EXPECT_EQ(s.findings().back().command_id, s.commands().front().id);
}

// An operator's word refused it, not a look at the world: it goes as soon as he lets it.
TEST(Findings, WhatABrakeRefusedNeedsNoNews_S40) {
    JournalScript s = orphan_at(160s);
    s.at(161s).outcome(s.commands().front(), OutcomeKind::kRefused, true);
    s.news();
    s.quiet_until(229s);
    EXPECT_EQ(s.news(),
              "166s suspected orphaned_pod wrapper-7 a: grace\n"
              "226s commanded orphaned_pod wrapper-7 a\n"
              "226s delete_pod wrapper-7 a\n");
}

TEST(Findings, RetriesBackOffFrom1To60Seconds_S38) {
    Settings settings = graph_settings();
    settings.command_ttl = 600s;
    JournalScript s = orphan_at(160s, settings);
    std::vector<std::int64_t> delays;
    for (int failure = 0; failure < 8; ++failure) {
        const std::size_t before = s.commands().size();
        const Millis failed_at = s.now();
        s.outcome(s.commands().back(), OutcomeKind::kFailed, true);
        EXPECT_EQ(s.findings().back().reason, Reason::kRetry);
        EXPECT_EQ(s.findings().back().state, FindingState::kConfirmed);
        while (s.commands().size() == before) s.quiet_until(s.now() + 1s);
        delays.push_back((s.now() - failed_at).count() / 1'000);
    }
    EXPECT_EQ(delays, (std::vector<std::int64_t>{1, 2, 4, 8, 16, 32, 60, 60}));
    EXPECT_EQ(s.meta().rules[0].detected, 1U) << "all of it is one finding";
    EXPECT_EQ(s.subject("wrapper-7")->findings.front().failures, 8U);
}

TEST(Findings, AFailedOneThatGoesAwayIsRetracted) {
    JournalScript s = orphan_at(160s);
    s.outcome(s.commands().front(), OutcomeKind::kFailed, false);
    s.news();
    s.at(170s).pod_gone("wrapper-7", "a", 12);
    EXPECT_EQ(s.news(), "170s resolved orphaned_pod wrapper-7 a: retracted\n");
}

// Symptom: the edges of failed and expired commands did not say which command had ended.
TEST(Findings, TheEdgeOfAFailureOrExpiryNamesTheCommand) {
    JournalScript failed = orphan_at(160s);
    failed.outcome(failed.commands().front(), OutcomeKind::kFailed, true);
    EXPECT_EQ(failed.findings().back().command_id, failed.commands().front().id);

    JournalScript expired = orphan_at(230s);
    const auto& edges = expired.findings();
    ASSERT_EQ(edges[edges.size() - 2].reason, Reason::kExpired);
    EXPECT_EQ(edges[edges.size() - 2].command_id, expired.commands().front().id);
}

TEST(Findings, WithoutAnOutcomeItIsEmittedAgainEach10sWithTheSameId) {
    JournalScript s = orphan_at(195s);
    ASSERT_EQ(s.commands().size(), 4U);
    for (std::uint32_t i = 0; i < 4; ++i) {
        EXPECT_EQ(s.commands()[i].id, s.commands()[0].id);
        EXPECT_EQ(s.commands()[i].emission, i + 1);
        EXPECT_EQ(s.commands()[i].not_after, broker(220s));
    }
    EXPECT_EQ(s.findings().size(), 2U) << "no edge for it";
}

// Design §4.14: a successor waits for the outcome, or for expiry and skew.
TEST(Findings, NoOtherCommandWhileTheFirstMayBeCarriedOut) {
    JournalScript s = quiet_world();
    s.pod({.name = "wrapper-7", .uid = "a", .version = 11});
    s.quiet_until(160s + s.settings().emit_again + 5s);
    EXPECT_EQ(s.commands().size(), 2U) << "the first one, said again";
    EXPECT_EQ(s.meta().rules[0].commands, 1U);
}

TEST(Findings, AnExpiredCommandHasASuccessorWithAnotherId) {
    JournalScript s = orphan_at(220s);  // its not_after
    s.news();
    const CommandId first = s.commands().front().id;
    s.quiet_until(230s);
    EXPECT_EQ(s.news(),
              "225s confirmed orphaned_pod wrapper-7 a: expired\n"
              "225s commanded orphaned_pod wrapper-7 a\n"
              "225s delete_pod wrapper-7 a\n");
    EXPECT_NE(s.commands().back().id, first);
    EXPECT_EQ(s.commands().back().finding_id, s.commands().front().finding_id);
    EXPECT_EQ(s.meta().outbox, 1U);
    EXPECT_EQ(s.meta().rules[0].outcomes[static_cast<std::size_t>(OutcomeKind::kExpired)], 1U);
}

TEST(Findings, AnExecutorsExpiryWroteNothingSoNothingIsWaitedFor) {
    JournalScript s = orphan_at(160s);
    s.news();
    s.outcome(s.commands().front(), OutcomeKind::kExpired);
    EXPECT_EQ(s.news(),
              "160s resolved orphaned_pod wrapper-7 a: expired\n"
              "160s suspected orphaned_pod wrapper-7 a: grace\n");
}

TEST(Findings, TheOutboxIsBoundedAndTheRestWaits) {
    Settings settings = graph_settings();
    settings.max_outbox = 1;
    JournalScript s(settings);
    s.all_known();
    s.quiet_until(100s);
    s.together([&] {
        s.pod({.name = "wrapper-7", .uid = "a", .version = 11});
        s.pod({.name = "wrapper-8", .uid = "b", .version = 11});
    });
    s.quiet_until(165s);
    EXPECT_EQ(s.commands().size(), 1U);
    EXPECT_EQ(s.findings().back().reason, Reason::kOutboxFull);
    EXPECT_EQ(s.meta().outbox, 1U);
    s.at(166s).outcome(s.commands().front(), OutcomeKind::kDone);
    s.at(167s).tick();
    ASSERT_EQ(s.commands().size(), 2U);
    EXPECT_NE(s.commands().back().draft.target.object_id,
              s.commands().front().draft.target.object_id);
}

TEST(Findings, OfTimersThatEndTogetherHalfAStepIsJudgedWithEachRecord) {
    Settings settings = graph_settings();
    settings.rules[0].budget.max = 12;
    settings.sweep_step = 10;
    JournalScript s(settings);
    s.all_known();
    s.together([&] {
        for (int i = 0; i < 12; ++i) {
            s.pod({.name = "wrapper-" + std::to_string(i), .uid = "u" + std::to_string(i)});
        }
    });
    s.quiet_until(60s);
    EXPECT_EQ(s.commands().size(), 5U);
    EXPECT_TRUE(s.last().more_work);
    s.tick();
    EXPECT_EQ(s.commands().size(), 10U);
    s.tick();
    EXPECT_EQ(s.commands().size(), 12U);
    EXPECT_FALSE(s.last().more_work);
}

// A sweep over many subjects took all that a record may visit: no grace ended until it was through.
TEST(Findings, AGraceEndsWhileASweepGoesOn) {
    Settings settings = graph_settings();
    settings.sweep_step = 2;
    JournalScript s(settings);
    s.all_known();
    s.pod({.name = "wrapper-z", .uid = "u"});  // which a sweep reaches last
    for (int i = 10; i < 40; ++i) {
        const std::string name = "wrapper-" + std::to_string(i);
        s.row({.pk = name, .name = name});
        s.pod({.name = name, .uid = name});
    }
    s.quiet_until(s.now() + 55s);
    ASSERT_EQ(s.commands().size(), 0U);
    settings.max_outbox += 1;  // each subject is judged anew
    s.put_in_force(settings);
    s.at(s.now() + 10s).together([&] {
        s.progress("pods");
        s.progress("rows");
    });
    EXPECT_TRUE(s.last().more_work) << "the sweep is under way";
    EXPECT_EQ(s.commands().size(), 1U);
}

TEST(Findings, OutcomesOfUnknownOrEndedCommandsAreCountedOnly) {
    JournalScript s = orphan_at(160s);
    const Command command = s.commands().front();
    s.outcome(command, OutcomeKind::kDone);
    s.news();
    s.outcome(command, OutcomeKind::kFailed, true);
    EXPECT_EQ(s.counted().late_outcomes, 1U) << "the first final one counted";
    Command stranger = command;
    stranger.subject = "graph-instances/wrapper-1";
    s.outcome(stranger, OutcomeKind::kDone);
    EXPECT_EQ(s.counted().unknown_outcomes, 1U);
    EXPECT_EQ(s.news(), "");
}

// Symptom: DELETE and INSERT of one key in one commit: the new row was failed 35 s later, by a
// grace of ten minutes that had begun with the former.
TEST(Findings, ARowThatCameAgainUnderItsKeyIsAnotherOne_S17) {
    Settings settings = graph_settings();
    policies::rule_settings(settings, "missing_pod").grace = 600s;
    JournalScript s(settings);
    s.all_known();
    s.quiet_until(100s);
    s.row({.pk = "7", .name = "wrapper-7", .version = 50});
    s.quiet_until(690s);
    s.news();
    s.together([&] {
        s.row_gone("wrapper-7", "7", 51);
        s.row({.pk = "7", .name = "wrapper-7", .version = 51, .status = "starting", .order = 1});
    });
    s.quiet_until(1'285s);
    EXPECT_EQ(s.news(),
              "690s resolved missing_pod wrapper-7 public.instances/7: retracted\n"
              "690s suspected missing_pod wrapper-7 public.instances/7: grace\n");
    s.quiet_until(1'290s);
    EXPECT_EQ(s.commands().size(), 1U);
}

// Symptom: a row came in place of another one while a command about the first was under way. When
// that failed, the new row was marked as failed at once, as if it had been wrong for as long.
TEST(Findings, WhatFailedForAFormerRowIsFoundAnewOfTheNextOne_S17) {
    for (const bool answered : {true, false}) {
        Settings settings = graph_settings();
        policies::rule_settings(settings, "missing_pod").grace = 600s;
        JournalScript s(settings);
        s.all_known();
        s.quiet_until(100s);
        const auto ordered = [&] {
            std::set<CommandId> ids;
            for (const Command& command : s.commands()) ids.insert(command.id);
            return ids.size();
        };
        s.row({.pk = "7", .name = "wrapper-7", .version = 50});
        Millis now = 100s;
        while (ordered() == 0 && now < 900s) s.quiet_until(now += 1s);
        ASSERT_EQ(ordered(), 1U);
        s.at(now += 1s);
        s.together([&] {
            s.row_gone("wrapper-7", "7", 51);
            s.row({.pk = "7", .name = "wrapper-7", .version = 51, .order = 1});
        });
        s.news();
        if (answered) s.outcome(s.commands()[0], OutcomeKind::kFailed, true);
        s.quiet_until(now + 590s);
        EXPECT_EQ(ordered(), 1U) << "the next one has a grace of its own";
        s.quiet_until(now + 700s);
        EXPECT_NE(s.news().find("resolved missing_pod wrapper-7 public.instances/7: retracted"),
                  std::string::npos);
        EXPECT_GT(ordered(), 1U);
    }
}

// A row that was inserted late was no object of the subject: nothing waited for its table.
TEST(Findings, ASecondOutcomeMovesTheBarrierOn) {
    JournalScript s = orphan_at(160s);
    s.at(161s).outcome(s.commands()[0], OutcomeKind::kFailed, true);
    s.at(162s).outcome(s.commands()[0], OutcomeKind::kDone);
    const Subject& subject = *s.subject("wrapper-7");
    const std::vector<std::pair<SourceId, BrokerTime>> each = {{0, broker(162s)},
                                                               {1, broker(162s)}};
    EXPECT_EQ(subject.own_writes, each) << "the pods', and the table's, which has no row";
}

TEST(Findings, EveryReasonHasAWordAndASentence) {
    Subject subject;
    subject.key = "graph-instances/wrapper-7";
    core::PlanRule rule;
    rule.finds = "pod without an instance row";
    const std::size_t reasons = reason_names().size();
    for (std::size_t i = 1; i <= reasons; ++i) {
        Finding finding;
        finding.state = FindingState::kConfirmed;
        finding.reason = static_cast<Reason>(i);
        EXPECT_NE(name_of(finding.reason), "unknown") << i;
        std::string text;
        core::explain(rule, subject, finding, JournalTime(90s), text);
        EXPECT_GT(text.size(), std::string("wrapper-7: pod without an instance row; ").size()) << i;
        EXPECT_NE(text.find(" (for 90 s)"), std::string::npos) << text;
    }
    Finding plain;
    std::string text = "left over from before";
    core::explain(rule, subject, plain, JournalTime{}, text);
    EXPECT_EQ(text, "wrapper-7: pod without an instance row");
}

// What was done to a pod is forgotten with it, or its third coming would look like a first one; and
// no row is kept for ever.
TEST(Findings, WhatWasDoneIsRememberedForADay) {
    Settings settings = graph_settings();
    settings.max_clock_step = 48h;
    JournalScript s = orphan_at(165s, settings);
    s.outcome(s.commands().back(), OutcomeKind::kDone);
    s.pod_gone("wrapper-7", "a", 12);
    for (std::uint64_t as_of = 20; as_of < 23; ++as_of) s.pods_listed(as_of, {});
    s.quiet_until(200s);
    ASSERT_NE(s.subject("wrapper-7"), nullptr);
    EXPECT_TRUE(s.subject("wrapper-7")->facets.empty());
    s.at(24h + 100s).tick();
    EXPECT_NE(s.subject("wrapper-7"), nullptr) << "it was done 70 s later";
    s.at(24h + 200s).tick();
    EXPECT_EQ(s.subject("wrapper-7"), nullptr);
}

}  // namespace
}  // namespace trueup::testing
