// Proves apps/rehearsal.h: what the rules would do about a world that was looked at once, what
// would hold it, and how much of the world it is.
#include "apps/rehearsal.h"

#include "engine/model/object_builder.h"
#include "policies/shipped.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace trueup::apps {
namespace {

using namespace std::chrono_literals;

constexpr BrokerTime kNow = from_millis<BrokerTime>(1'772'618'400'000);

Fact whole(Fact::Kind kind) {
    Fact fact;
    fact.kind = kind;
    fact.version = {1, 0};
    return fact;
}

Look look(std::string source, std::vector<Fact> objects) {
    Look made{std::move(source), {whole(Fact::Kind::kSnapshotBegin)}, Millis{0}};
    for (Fact& fact : objects) {
        fact.kind = Fact::Kind::kUpsert;
        fact.in_epoch = true;
        fact.version = {1, 0};
        made.facts.push_back(std::move(fact));
    }
    made.facts.push_back(whole(Fact::Kind::kSnapshotEnd));
    return made;
}

Fact pod(const std::string& name, const std::string& phase = "Running") {
    Fact fact;
    fact.object_id = "uid-" + name;
    fact.subject_key = "graph-instances/" + name;
    ObjectBuilder fields;
    fields.add("name", name);
    fields.add("namespace", "graph");
    fields.add("phase", phase);
    fact.object = fields.take();
    return fact;
}

Fact row(const std::string& name, const std::string& status = "running",
         const std::string& extra = "") {
    Fact fact;
    fact.object_id = "public.instances/" + name;
    fact.subject_key = "graph-instances/" + name;
    ObjectBuilder fields;
    if (!extra.empty()) fields.add("created_at", extra);
    fields.add("pod_name", name);
    fields.add("status", status);
    if (!extra.empty()) fields.add("ttl", "01:00:00");
    fact.object = fields.take();
    return fact;
}

/// A live row that may own any pod.
Fact nameless_row(const std::string& slug) {
    Fact fact;
    fact.object_id = "public.instances/" + slug;
    fact.subject_key = "graph-instances/wrapper-" + slug;
    ObjectBuilder fields;
    fields.add_null("pod_name");
    fields.add("status", "running");
    fields.add("url_slug", slug);
    fact.object = fields.take();
    return fact;
}

std::string told(const Rehearsed& result) {
    std::string text;
    for (const Proposal& proposal : result.proposals) {
        text += proposal.rule + " " + proposal.subject.substr(proposal.subject.find('/') + 1) + ":";
        if (proposal.command) text += " " + text_of(*proposal.command);
        std::string_view comma = " [";
        for (const std::string& word : proposal.held) {
            text.append(comma).append(word);
            comma = ", ";
        }
        text += proposal.held.empty() ? "\n" : "]\n";
    }
    return text;
}

/// Sources that are right to show nothing.
Settings usual(Mode mode) {
    Settings settings = policies::usual_settings("graph-instances", mode);
    for (SourceSettings& source : settings.sources) source.at_least = 0;
    return settings;
}

TEST(Rehearsal, WhatAgreesIsNoFinding) {
    const Rehearsed result =
        rehearse(usual(Mode::kEnforce),
                 {look("pods", {pod("a"), pod("b")}), look("rows", {row("a"), row("b")})}, kNow);
    EXPECT_EQ(told(result), "");
    EXPECT_EQ(result.subjects, 2U);
    EXPECT_EQ(result.wrong, 0U);
    EXPECT_FALSE(result.quarantined());
}

TEST(Rehearsal, GracesAreOverAndEachRuleSaysWhatItWouldDo) {
    const std::vector<Look> looks{
        look("pods", {pod("orphan"), pod("broken", "Failed"), pod("fine")}),
        look("rows", {row("lost"), row("broken"), row("fine")})};
    const std::string lost =
        "missing_pod lost: update_row lost error_code='UNEXPECTED_TERMINATION' "
        "error_message='Pod lost disappeared from Kubernetes' status='failed'";
    EXPECT_EQ(told(rehearse(usual(Mode::kEnforce), looks, kNow)),
              "orphaned_pod orphan: delete_pod orphan (uid uid-orphan)\n" + lost +
                  "\nstatus_drift broken: update_row broken "
                  "error_code='UNEXPECTED_TERMINATION' error_message='Pod entered Failed "
                  "phase' status='failed'\n");
    Settings mixed = usual(Mode::kObserve);
    policies::rule_settings(mixed, "orphaned_pod").mode = Mode::kApprove;
    policies::rule_settings(mixed, "status_drift").mode = Mode::kOff;
    EXPECT_EQ(told(rehearse(mixed, looks, kNow)),
              "orphaned_pod orphan: delete_pod orphan (uid uid-orphan) [mode approve]\n" + lost +
                  " [mode observe]\n");
}

// Whoever approved a deletion could not see that its rule gives the pod two seconds.
TEST(Rehearsal, TheTimeThatARuleGivesAPodIsShown) {
    Settings settings = usual(Mode::kApprove);
    policies::rule_settings(settings, "orphaned_pod").grace_period = 2;
    EXPECT_EQ(
        told(rehearse(settings, {look("pods", {pod("orphan"), pod("a")}), look("rows", {row("a")})},
                      kNow)),
        "orphaned_pod orphan: delete_pod orphan (uid uid-orphan, 2 s to end) [mode approve]\n");
}

TEST(Rehearsal, DeadlinesGoByTheDatabasesOwnClock) {
    Settings settings = usual(Mode::kEnforce);
    policies::rule_settings(settings, "ttl_expired").mode = Mode::kEnforce;
    // kNow is 2026-03-04 10:00:00 UTC.
    std::vector<Look> looks{look("pods", {pod("over"), pod("soon")}),
                            look("rows", {row("over", "running", "2026-03-04 08:59:59+00"),
                                          row("soon", "running", "2026-03-04 09:00:30+00")})};
    EXPECT_EQ(told(rehearse(settings, looks, kNow)),
              "ttl_expired over: delete_pod over (uid uid-over)\n");
    looks[1].clock_ahead = 40s;
    EXPECT_EQ(rehearse(settings, looks, kNow).of_rule("ttl_expired"), 2U);
}

TEST(Rehearsal, WhatComesBeyondTheBudgetIsShownAndHeld) {
    Settings settings = usual(Mode::kEnforce);
    for (RuleSettings& rule : settings.rules) rule.budget = {2, 1, Millis{300'000}};
    std::vector<Fact> rows;
    for (int i = 0; i < 4; ++i) rows.push_back(row("lost-" + std::to_string(i)));
    const Rehearsed result = rehearse(settings, {look("pods", {}), look("rows", rows)}, kNow);
    EXPECT_EQ(result.of_rule("missing_pod"), 4U);
    int held = 0;
    for (const Proposal& proposal : result.proposals) {
        EXPECT_TRUE(proposal.command.has_value());
        if (proposal.held == std::vector<std::string>{"budget"}) ++held;
    }
    EXPECT_EQ(held, 2);
}

TEST(Rehearsal, OrphansBesideARowThatMayOwnThemWaitForAWord_G25) {
    Settings settings = usual(Mode::kEnforce);
    EXPECT_EQ(
        told(rehearse(settings,
                      {look("pods", {pod("stranger")}), look("rows", {nameless_row("x")})}, kNow)),
        "orphaned_pod stranger: delete_pod stranger (uid uid-stranger) [uncorrelated_rows]\n"
        "untracked_record wrapper-x: update_row wrapper-x "
        "error_code='UNEXPECTED_TERMINATION' error_message='Pod not found during backfill' "
        "status='failed' [uncorrelated_rows]\n");
}

TEST(Rehearsal, OutsideOfTheWindowsNothingWouldBeDone) {
    Settings settings = usual(Mode::kEnforce);
    settings.windows = {{0b0000001, 0, 60}};  // Monday's first hour; kNow is a Wednesday
    EXPECT_EQ(told(rehearse(settings, {look("pods", {pod("orphan")}), look("rows", {})}, kNow)),
              "orphaned_pod orphan: delete_pod orphan (uid uid-orphan) [window]\n");
}

// With a database whose table was empty every pod was deleted, and nothing said so before.
TEST(Rehearsal, AWorldThatIsMostlyWrongIsAWrongQuestion) {
    std::vector<Fact> pods;
    for (int i = 0; i < 11; ++i) pods.push_back(pod("p-" + std::to_string(i)));
    const Rehearsed result =
        rehearse(usual(Mode::kEnforce), {look("pods", pods), look("rows", {})}, kNow);
    EXPECT_EQ(result.subjects, 11U);
    EXPECT_EQ(result.wrong, 11U);
    EXPECT_TRUE(result.quarantined());
    for (const Proposal& proposal : result.proposals) {
        EXPECT_EQ(proposal.held.front(), "quarantine") << told(result);
    }
    pods.pop_back();
    EXPECT_FALSE(
        rehearse(usual(Mode::kEnforce), {look("pods", pods), look("rows", {})}, kNow).quarantined())
        << "ten are few";
}

// Symptom: three pods were to be marked as gone for a namespace with a typo, and the plan did not
// say that an engine would hold that.
TEST(Rehearsal, ASourceThatShowsTooLittleHoldsWhatLeansOnIt) {
    Settings settings = usual(Mode::kEnforce);
    for (SourceSettings& source : settings.sources) source.at_least = 1;
    const std::vector<Look> looks = {look("pods", {}), look("rows", {row("a"), row("b")})};
    const Rehearsed result = rehearse(settings, looks, kNow);
    ASSERT_EQ(result.too_few.size(), 1U);
    EXPECT_EQ(result.too_few[0].source, "pods");
    EXPECT_EQ(result.too_few[0].shown, 0U);
    EXPECT_EQ(result.too_few[0].expected, 1U);
    EXPECT_TRUE(result.quarantined());
    EXPECT_FALSE(result.mostly_wrong());
    ASSERT_EQ(result.proposals.size(), 2U) << told(result);
    for (const Proposal& proposal : result.proposals) {
        EXPECT_EQ(proposal.held.front(), "quarantine") << told(result);
    }
    EXPECT_FALSE(rehearse(usual(Mode::kEnforce), looks, kNow).quarantined())
        << "it is right that there is none";
}

TEST(Rehearsal, WhatDoesNotLeanOnASourceThatShowsTooLittleIsNotHeld) {
    Settings settings = usual(Mode::kEnforce);
    settings.sources.push_back({"services", Topic::kChangesResources, 2, {}, 1});
    const Rehearsed result = rehearse(
        settings,
        {look("pods", {pod("a"), pod("orphan")}), look("rows", {row("a")}), look("services", {})},
        kNow);
    EXPECT_TRUE(result.quarantined());
    EXPECT_EQ(told(result), "orphaned_pod orphan: delete_pod orphan (uid uid-orphan)\n");
}

TEST(Rehearsal, CountsWhatLives) {
    const Statuses statuses = statuses_of(
        look("rows", {row("a"), row("b", "starting"), row("c", "failed"), row("d", "DEAD")}),
        usual(Mode::kObserve));
    EXPECT_EQ(statuses.live, 3U) << "a word that the policy does not know may mean anything";
    EXPECT_EQ(statuses.count.at("DEAD"), 1U);
    EXPECT_EQ(look("rows", {row("a")}).objects(), 1U);
}

// Symptom: a table whose column says ACTIVE where the policy says running was answered by silence.
TEST(Rehearsal, NamesTheFieldsWhoseWordsThePolicyDoesNotList) {
    const Rehearsed result =
        rehearse(usual(Mode::kEnforce),
                 {look("pods", {pod("a"), pod("b")}),
                  look("rows", {row("a", "ACTIVE"), row("b", "ACTIVE"), row("c", "running")})},
                 kNow);
    ASSERT_EQ(result.unknown_words.size(), 1U);
    EXPECT_EQ(result.unknown_words[0].field, "rows.status");
    EXPECT_EQ(result.unknown_words[0].objects, 2U);
    EXPECT_EQ(result.unknown_words[0].words, std::set<std::string>{"ACTIVE"});
}

}  // namespace
}  // namespace trueup::apps
