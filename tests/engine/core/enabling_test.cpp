// Proves that a rule acts by itself only while what it means is what somebody looked at and enabled
// (core/enablings.cpp, core/rule_text.h; docs/adr/0034).
#include "engine/core/row.h"
#include "engine/core/rule_text.h"
#include "policies/shipped.h"
#include "tests/support/graph_script.h"

#include <gtest/gtest.h>

#include <functional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace trueup::testing {
namespace {

using policy::Policy;

// ---------------------------------------------------------------- what a rule means

struct Change {
    const char* what;
    std::function<void(Policy&, Settings&)> make;
};

policy::Rule& rule_of(Policy& policy, const std::string& name) {
    for (policy::Rule& rule : policy.rules) {
        if (rule.name == name) return rule;
    }
    throw std::out_of_range(name);
}
policy::Role& role_of(Policy& policy, const std::string& name) {
    for (policy::Role& role : policy.roles) {
        if (role.name == name) return role;
    }
    throw std::out_of_range(name);
}

Hash128 text_after(const std::string& policy, const std::string& rule, const Change& change) {
    Settings settings = policies::usual_settings(policy, Mode::kEnforce);
    Policy text = *settings.text;
    change.make(text, settings);
    return core::rule_text(text, settings.sources, rule).text;
}
Hash128 text_of(const std::string& policy, const std::string& rule) {
    return text_after(policy, rule, {"nothing", [](Policy&, Settings&) {}});
}

// Each word of what a rule means, changed alone.
TEST(RuleText, EveryWordThatDecidesWhetherOrWhatIsPartOfIt) {
    const auto of = [](Policy& policy) -> policy::Rule& { return rule_of(policy, "orphaned_pod"); };
    const std::vector<Change> changes{
        {"a pattern less", [&](Policy& p, Settings&) { of(p).cases[0].when.pop_back(); }},
        {"a pattern's quantifier",
         [&](Policy& p, Settings&) {
             of(p).cases[0].when[0].quantifier = policy::Quantifier::kSome;
         }},
        {"a pattern's condition",
         [&](Policy& p, Settings&) {
             policy::Condition more;
             more.kind = policy::Condition::Kind::kTest;
             more.test.field = "phase";
             more.test.values = {"Running"};
             of(p).cases[0].when[0].condition.parts.push_back(more);
         }},
        {"ask_while", [&](Policy& p, Settings&) { of(p).cases[0].ask_while.clear(); }},
        {"a deadline",
         [&](Policy& p, Settings&) {
             of(p).cases[0].past = policy::Deadline{{"pods", "created"}, Millis{1'000}};
         }},
        {"a step more", [&](Policy& p, Settings&) { of(p).cases[0].steps.push_back({}); }},
        {"a step's verb",
         [&](Policy& p, Settings&) { of(p).cases[0].steps[0].verb = policy::Verb::kStop; }},
        {"a step's grace_period",
         [&](Policy& p, Settings&) { of(p).cases[0].steps[0].grace_period = 0; }},
        {"a step's propagation",
         [&](Policy& p, Settings&) { of(p).cases[0].steps[0].propagation = "orphan"; }},
        {"a case more", [&](Policy& p, Settings&) { of(p).cases.push_back(of(p).cases[0]); }},
        {"since", [&](Policy& p, Settings&) { of(p).since_first_seen = false; }},
        {"keyless", [&](Policy& p, Settings&) { of(p).keyless = true; }},
        {"backoff", [&](Policy& p, Settings&) { of(p).backoff = {Millis{0}}; }},
        {"requested", [&](Policy& p, Settings&) { of(p).requested = "terminate"; }},
        {"acknowledge", [&](Policy& p, Settings&) { of(p).acknowledge.push_back("deletes_all"); }},
        {"a role's kind",
         [&](Policy& p, Settings&) { role_of(p, "pods").kind = policy::Kind::kObject; }},
        {"a role's key",
         [&](Policy& p, Settings&) { role_of(p, "rows").key = *policy::parse_key("pod_name"); }},
        {"what else is asked for", [&](Policy& p, Settings&) { role_of(p, "rows").also = {"x"}; }},
        {"a role's live", [&](Policy& p, Settings&) { role_of(p, "rows").live = {}; }},
        {"a role's field", [&](Policy& p, Settings&) { role_of(p, "rows").fields.pop_back(); }},
        {"a field's words",
         [&](Policy& p, Settings&) { role_of(p, "rows").fields[0].words.push_back("zz"); }},
        {"several",
         [&](Policy& p, Settings&) { role_of(p, "pods").several = !role_of(p, "pods").several; }},
        {"a role's scope", [&](Policy& p, Settings&) { role_of(p, "pods").scope = "region"; }},
        {"a count that it uses",
         [&](Policy& p, Settings&) {
             for (policy::Count& count : p.counts) count.subjects.clear();
         }},
        {"a source's scope", [&](Policy&, Settings& s) { s.sources[0].scope = "eu"; }},
        {"what a source selects",
         [&](Policy&, Settings& s) { s.sources[0].selects = "pods in graphs"; }},
        {"a source more",
         [&](Policy&, Settings& s) {
             s.sources.push_back({"more", Topic::kChangesPods, s.sources[0].role, "us"});
         }},
    };
    const Hash128 before = text_of("graph-instances", "orphaned_pod");
    for (const Change& change : changes) {
        EXPECT_NE(text_after("graph-instances", "orphaned_pod", change), before) << change.what;
    }
}

TEST(RuleText, WhatAnOperatorSetsAndWhatPeopleAreToldIsNot) {
    const std::vector<Change> changes{
        {"finds", [](Policy& p, Settings&) { rule_of(p, "orphaned_pod").finds = "a pod"; }},
        {"mode: off", [](Policy& p, Settings&) { rule_of(p, "orphaned_pod").off = true; }},
        {"grace", [](Policy& p, Settings&) { rule_of(p, "orphaned_pod").grace = Millis{1}; }},
        {"create_window",
         [](Policy& p, Settings&) { rule_of(p, "orphaned_pod").create_window = Millis{1}; }},
        {"the operator's settings",
         [](Policy&, Settings& s) {
             s.rules[0] = {"orphaned_pod", Mode::kObserve, Millis{1}, Millis{2}, {1, 1, Millis{3}}};
         }},
        {"stale_after", [](Policy& p, Settings&) { p.stale_after = Millis{1}; }},
        {"another rule",
         [](Policy& p, Settings&) { rule_of(p, "missing_pod").cases[0].steps.clear(); }},
        {"a count that it does not use",
         [](Policy& p, Settings&) {
             p.counts.push_back({"unused", {}, "pods", {}, {}, {}});
         }},
        {"a source's name", [](Policy&, Settings& s) { s.sources[0].name = "cluster"; }},
        {"a source's least", [](Policy&, Settings& s) { s.sources[0].at_least = 7; }},
        {"a source of another role",
         [](Policy&, Settings& s) {
             s.sources.push_back({"rest", Topic::kChangesResources, kNoRole, "x"});
         }},
    };
    const Hash128 before = text_of("graph-instances", "orphaned_pod");
    for (const Change& change : changes) {
        EXPECT_EQ(text_after("graph-instances", "orphaned_pod", change), before) << change.what;
    }
}

TEST(RuleText, WhatItUsesOnTheWayIsPartOfIt) {
    const Change ledger{
        "ledger", [](Policy& p, Settings&) { p.ledger->gone_failed = !p.ledger->gone_failed; }};
    EXPECT_NE(text_after("ephemeral-runners", "failed_runner", ledger),
              text_of("ephemeral-runners", "failed_runner"));
    const Change owner{"owner", [](Policy& p, Settings&) {
                           p.requests.at("terminate") = {"rows", "pod_name"};
                       }};
    EXPECT_NE(text_after("graph-instances", "termination_requested", owner),
              text_of("graph-instances", "termination_requested"));
    EXPECT_EQ(text_after("graph-instances", "ttl_expired", owner),
              text_of("graph-instances", "ttl_expired"));
    bool any = false;
    for (const std::string& name : policies::shipped_names()) {
        const Policy& text = *policies::shipped(name);
        for (std::size_t i = 0; i < text.conditions.size(); ++i) {
            const Change condition{"condition", [i](Policy& p, Settings&) {
                                       p.conditions[i].lines.front().because = "else";
                                   }};
            for (const policy::Rule& rule : text.rules) {
                any = any || text_after(name, rule.name, condition) != text_of(name, rule.name);
            }
        }
    }
    EXPECT_TRUE(any) << "no rule of any policy minds a named condition";
}

// A hash that another build makes otherwise would take every rule's word away at an update.
TEST(RuleText, IsTheSameInEveryBuild) {
    EXPECT_EQ(to_hex(text_of("graph-instances", "orphaned_pod")),
              "520a9e85638941eb57dc2b78f2e629cb");
}

// ---------------------------------------------------------------- who may act

Settings unlooked(Mode mode = Mode::kEnforce) {
    Settings settings = graph_settings(mode);
    settings.enabled_by.clear();
    settings.reconcile_every = 0s;
    return settings;
}

Settings meaning_else(Settings settings) {
    Policy text = *settings.text;
    text.rules.front().cases.front().ask_while.clear();
    settings.text = std::move(text);
    settings.enabled_by.clear();
    return settings;
}

Request enabling(const JournalScript& s, std::vector<std::string> rules = {"orphaned_pod"}) {
    Request made;
    made.kind = RequestKind::kEnable;
    made.role = "admin";
    made.issued_by = "olga";
    for (const std::string& rule : rules) {
        made.rules.push_back(
            {rule, core::rule_text(*s.settings().text, s.settings().sources, rule).text});
    }
    made.seen = {s.records().back().offset};
    return made;
}
Request disabling(std::vector<NamedRule> rules = {{"orphaned_pod", {}}}) {
    Request made;
    made.kind = RequestKind::kDisable;
    made.role = "ops";
    made.rules = std::move(rules);
    return made;
}

// With --enable-all a source that left, or came back, after a disable gave the rule its word back:
// it is another text then, and only the one that was in force had been taken back.
TEST(Enabling, WhatAPersonTookBackTheCommandLineDoesNotEnableAsAnotherText) {
    JournalScript s(graph_settings());
    s.all_known();
    ASSERT_FALSE(s.settings().enabled_by.empty());
    s.request(disabling());
    Settings other = meaning_else(graph_settings());
    other.enabled_by = s.settings().enabled_by;
    s.put_in_force(other);
    s.pod({.name = "wrapper-7", .uid = "a"});
    s.quiet_until(s.now() + 300s);
    EXPECT_TRUE(s.commands().empty());
}
Request simply(RequestKind kind) {
    Request made;
    made.kind = kind;
    return made;
}

/// A reconcile ends, and says nothing else.
void look_through(JournalScript& s) {
    s.request(simply(RequestKind::kReconcile));
    s.quiet_until(s.now() + 15s);
}

/// wrapper-7 is an orphan beyond its grace, and nobody enabled anything.
JournalScript waiting_orphan() { return orphan_at(165s, unlooked()); }

/// Without those that were only said again.
std::size_t ordered(const JournalScript& s) {
    std::size_t count = 0;
    for (const Command& command : s.commands()) count += command.emission == 1 ? 1 : 0;
    return count;
}

const Finding& orphan(JournalScript& s) { return s.subject("wrapper-7")->findings.at(0); }

TEST(Enabling, ARuleThatNobodyEnabledWaits) {
    JournalScript s = waiting_orphan();
    EXPECT_TRUE(s.commands().empty());
    EXPECT_EQ(orphan(s).reason, Reason::kNotEnabled);
    EXPECT_EQ(orphan(s).state, FindingState::kConfirmed);
}

TEST(Enabling, SingleApprovalsWork) {
    JournalScript s = waiting_orphan();
    Request approval = simply(RequestKind::kApprove);
    approval.scope.subject = "graph-instances/wrapper-7";
    approval.scope.finding_offset = s.records().back().offset;
    s.request(approval);
    EXPECT_EQ(ordered(s), 1U);
}

TEST(Enabling, SoDoesAnApprovalOfAllThatWaitForIt) {
    JournalScript s = waiting_orphan();
    Request approval = simply(RequestKind::kApprove);
    approval.scope.reason = "not_enabled";
    approval.scope.finding_offset = s.records().back().offset;
    s.request(approval);
    EXPECT_EQ(ordered(s), 1U);
}

TEST(Enabling, OnceLookedAtItActs) {
    JournalScript s = waiting_orphan();
    look_through(s);
    EXPECT_TRUE(s.commands().empty());
    s.request(enabling(s));
    ASSERT_TRUE(s.answered().granted) << s.answered().sentence;
    EXPECT_EQ(ordered(s), 1U);
}

TEST(Enabling, ObserveAndApproveStay) {
    for (const Mode mode : {Mode::kObserve, Mode::kApprove}) {
        JournalScript s = orphan_at(165s, unlooked(mode));
        look_through(s);
        EXPECT_EQ(orphan(s).reason, mode == Mode::kObserve ? Reason::kObserved : Reason::kApproval);
        s.request(enabling(s));
        ASSERT_TRUE(s.answered().granted);
        EXPECT_TRUE(s.commands().empty());
    }
}

/// The answer; nothing came of it.
std::string refusal(JournalScript& s, const Request& request) {
    s.request(request);
    EXPECT_FALSE(s.answered().granted);
    EXPECT_TRUE(s.commands().empty());
    return s.answered().sentence;
}

TEST(Enabling, WhatCannotHaveBeenLookedAtIsRefused) {
    JournalScript s = waiting_orphan();
    EXPECT_NE(refusal(s, enabling(s)).find("no reconcile has ended since orphaned_pod"),
              std::string::npos);
    const Request early = enabling(s);
    look_through(s);
    EXPECT_NE(refusal(s, early).find("is older than the reconcile"), std::string::npos);
    Request beyond = enabling(s);
    beyond.seen = {Offset(999'999)};
    EXPECT_NE(refusal(s, beyond).find("lies beyond the journal's end"), std::string::npos);
    Request other = enabling(s);
    other.rules[0].text.lo += 1;
    EXPECT_EQ(refusal(s, other), "orphaned_pod has changed since you looked: look again");
    Request unknown = enabling(s, {"orphan"});
    EXPECT_EQ(refusal(s, unknown), "there is no rule 'orphan'; did you mean 'orphaned_pod'?");
    Request both = enabling(s, {"orphaned_pod", "missing"});
    refusal(s, both);  // all of it or nothing
    Request nothing = enabling(s, {});
    EXPECT_NE(refusal(s, nothing).find("an enabling names rules"), std::string::npos);
    Request elsewhere = enabling(s);
    elsewhere.seen = {};
    refusal(s, elsewhere);
    elsewhere.scope.finding_offset = s.records().back().offset;  // of one journal, whichever
    refusal(s, elsewhere);
}

TEST(Enabling, AReconcileOverAQuarantinedSourceShowsNothing) {
    Settings settings = unlooked();
    settings.sources[1].at_least = 5;
    JournalScript s(settings);
    s.all_known();
    s.pod({.name = "wrapper-7", .uid = "a", .version = 11});
    look_through(s);
    EXPECT_NE(refusal(s, enabling(s)).find("no reconcile has ended"), std::string::npos);
}

TEST(Enabling, AnotherTextActsOnApprovalOnly) {
    JournalScript s = orphan_at(120s);
    s.put_in_force(meaning_else(graph_settings()));
    s.quiet_until(300s);
    EXPECT_TRUE(s.commands().empty());
    EXPECT_EQ(orphan(s).reason, Reason::kNotEnabled);
    EXPECT_NE(refusal(s, enabling(s)), "") << "there was no reconcile under it yet";
}

TEST(Enabling, GoingBackToAFormerTextNeedsNoNewWord) {
    JournalScript s = orphan_at(120s);
    s.put_in_force(meaning_else(graph_settings()));
    s.quiet_until(200s);
    Settings back = graph_settings();
    back.enabled_by.clear();
    s.put_in_force(back);
    s.quiet_until(280s);
    EXPECT_EQ(ordered(s), 1U);
}

// Symptom: a rule was disabled while it meant something new, the file went back to what it had
// meant before, and it acted again.
TEST(Enabling, WhatWasDisabledIsNotGivenBackByAFormerText) {
    JournalScript s = orphan_at(120s);
    s.put_in_force(meaning_else(graph_settings()));
    Request disabling;
    disabling.kind = RequestKind::kDisable;
    disabling.issued_by = "olga";
    disabling.role = "ops";
    disabling.rules = {{"orphaned_pod", {}}};
    s.request(disabling);
    ASSERT_TRUE(s.answered().granted);
    Settings back = graph_settings();
    back.enabled_by.clear();
    s.put_in_force(back);
    s.quiet_until(280s);
    EXPECT_EQ(ordered(s), 0U);
    EXPECT_EQ(orphan(s).reason, Reason::kNotEnabled);
}

TEST(Enabling, WhatChangedLeftOrDoesNotActIsStopped) {
    const Settings before = graph_settings();
    const std::set<std::string> still = core::stopped_rules(before, before);
    Settings now = before;
    Policy text = *before.text;
    text.rules[0].since_first_seen = !text.rules[0].since_first_seen;
    const std::string left = text.rules[1].name;
    text.rules.erase(text.rules.begin() + 1);
    now.text = std::move(text);
    std::erase_if(now.rules, [&](const RuleSettings& rule) { return rule.rule == left; });
    now.rules[1].mode = Mode::kObserve;
    std::set<std::string> stopped = core::stopped_rules(before, now);
    for (const std::string& rule : {before.rules[0].rule, left, now.rules[1].rule}) {
        EXPECT_EQ(still.count(rule), 0U) << rule;
        EXPECT_EQ(stopped.erase(rule), 1U) << rule;
    }
    EXPECT_EQ(stopped, still);
}

TEST(Enabling, EightTextsAreRemembered) {
    JournalScript s;
    Settings settings = graph_settings();
    const auto text = [&](int number) {
        Settings made = settings;
        Policy policy = *made.text;
        policy.rules.front().acknowledge = {"n" + std::to_string(number)};
        made.text = std::move(policy);
        return made;
    };
    for (int i = 0; i < 9; ++i) s.put_in_force(text(i));
    EXPECT_EQ(s.meta().enabling[0].texts.size(), core::Enabling::kMost);
    EXPECT_FALSE(s.meta().enabling[0].has(
        core::rule_text(*text(0).text, text(0).sources, "orphaned_pod").text));
    EXPECT_TRUE(s.meta().enabling[0].has(
        core::rule_text(*text(1).text, text(1).sources, "orphaned_pod").text));
}

TEST(Enabling, GraceModeBudgetAndWhatPeopleAreToldNeedNoNewWord) {
    JournalScript s = orphan_at(120s);
    Settings other = graph_settings();
    other.enabled_by.clear();
    other.rules[0].grace = 30s;
    other.rules[0].budget.max = 77;
    Policy text = *other.text;
    text.rules[0].finds = "a stranger";
    other.text = std::move(text);
    s.put_in_force(other);
    s.quiet_until(165s);
    EXPECT_EQ(ordered(s), 1U);
}

TEST(Enabling, ADisableIsTakenAtAnyAgeAndHolds) {
    JournalScript s = orphan_at(120s);
    Request old = disabling();
    old.issued_ms = to_millis(broker(s.now())) - 3'600'000;
    s.request(old);
    ASSERT_TRUE(s.answered().granted);
    s.quiet_until(300s);
    EXPECT_TRUE(s.commands().empty());
    EXPECT_EQ(orphan(s).reason, Reason::kNotEnabled);
    Settings again = graph_settings();  // a start with --enable-all
    again.rules[0].budget.max = 77;
    s.put_in_force(again);
    s.quiet_until(310s);
    EXPECT_TRUE(s.commands().empty()) << "what a person took back stays so";
    look_through(s);
    s.request(enabling(s));
    ASSERT_TRUE(s.answered().granted) << s.answered().sentence;
    EXPECT_EQ(ordered(s), 1U);
}

TEST(Enabling, ADisableOfNoneInParticularIsOfAll) {
    JournalScript s = orphan_at(120s);
    s.request(disabling({}));
    s.row({.pk = "8", .name = "wrapper-8", .version = 50});
    s.quiet_until(300s);
    EXPECT_TRUE(s.commands().empty());
    EXPECT_EQ(s.subject("wrapper-8")->findings.at(0).reason, Reason::kNotEnabled);
}

TEST(Enabling, ACommandFromBeforeADisableIsNotSaidAgain) {
    JournalScript s = orphan_at(161s);
    ASSERT_EQ(ordered(s), 1U);
    s.request(disabling());
    s.quiet_until(200s);
    EXPECT_EQ(s.commands().size(), 1U);
    s.outcome(s.commands()[0], OutcomeKind::kRefused, true);  // an executor that knows of it
    s.quiet_until(300s);
    EXPECT_EQ(ordered(s), 1U);
    EXPECT_EQ(orphan(s).reason, Reason::kNotEnabled);
}

TEST(Enabling, TheConfigurationEnablesOnceItCouldBeLookedAt) {
    Settings settings = unlooked();
    settings.enabled = {core::rule_text(*settings.text, settings.sources, "orphaned_pod").text};
    JournalScript s = orphan_at(165s, settings);
    EXPECT_TRUE(s.commands().empty());
    look_through(s);
    EXPECT_EQ(ordered(s), 1U);
}

TEST(Enabling, TheConfigurationDoesNotEnableWhatAPersonTookBack) {
    Settings settings = unlooked();
    settings.enabled = {core::rule_text(*settings.text, settings.sources, "orphaned_pod").text};
    JournalScript s = orphan_at(165s, settings);
    s.request(disabling());
    look_through(s);
    EXPECT_TRUE(s.commands().empty());
}

TEST(Enabling, APauseOutlivesIt) {
    JournalScript s = waiting_orphan();
    look_through(s);
    s.request(simply(RequestKind::kPause));
    s.request(enabling(s));
    s.quiet_until(200s);
    EXPECT_TRUE(s.commands().empty());
    s.request(simply(RequestKind::kResume));
    EXPECT_EQ(ordered(s), 1U);
}

// ---------------------------------------------------------------- kept

TEST(Enabling, IsInTheRowThatARestartReads) {
    JournalScript s = orphan_at(120s);
    s.request(disabling());
    std::string bytes;
    core::encode_meta(s.meta(), bytes);
    const std::optional<core::Meta> read = core::decode_meta(bytes);
    ASSERT_TRUE(read);
    EXPECT_EQ(read->enabling, s.meta().enabling);
    EXPECT_FALSE(read->enabling[1].texts.empty());
    EXPECT_FALSE(read->enabling[0].disabled.none());
}

TEST(Enabling, APartOfALaterBuildIsKept) {
    JournalScript s;
    core::Meta meta = s.meta();
    meta.others = {{7, "what a later build wrote"}};
    std::string bytes;
    core::encode_meta(meta, bytes);
    EXPECT_EQ(core::decode_meta(bytes)->others, meta.others);
}

}  // namespace
}  // namespace trueup::testing
