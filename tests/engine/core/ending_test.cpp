// Proves endings (core/ending.h, docs/adr/0022-endings.md; G4, G7, G8, S2, S40): what was begun by
// taking something away is carried to its end, and no other rule takes it for a failure.
#include "policies/shipped.h"
#include "tests/support/graph_script.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

namespace trueup::testing {
namespace {

using Stage = Ending::Stage;

Row expired_row(std::uint64_t version, std::string status = "running") {
    return {.pk = "7",
            .name = "wrapper-7",
            .version = version,
            .status = std::move(status),
            .created = -24h,
            .ttl = "60"};
}

/// Services and ingresses are watched, and there are none.
Settings expiring_settings(Mode mode = Mode::kEnforce) {
    Settings settings = served_settings();
    for (const char* rule : {"ttl_expired", "termination_requested", "untracked_record"}) {
        policies::rule_settings(settings, rule).mode = mode;
    }
    return settings;
}

Request request(RequestKind kind, std::string rule = {}) {
    Request made;
    made.kind = kind;
    made.scope.rule = std::move(rule);
    made.issued_by = "olga";
    made.role = "ops";
    return made;
}
Request about(RequestKind kind, std::string rule = {}, bool drop = false) {
    Request made = request(kind, std::move(rule));
    made.scope.subject = "graph-instances/wrapper-7";
    made.drop = drop;
    return made;
}

const Ending* ending(JournalScript& s) {
    const Subject* subject = s.subject("wrapper-7");
    return subject == nullptr || !subject->ending ? nullptr : &*subject->ending;
}

/// `T` with its command, `t` without, `B`, `C`, `H`; `-`: there is no ending.
char stage_of(JournalScript& s) {
    const Ending* now = ending(s);
    if (now == nullptr) return '-';
    const auto& findings = s.subject("wrapper-7")->findings;
    const bool ordered = std::any_of(findings.begin(), findings.end(), [&](const Finding& f) {
        return f.rule == now->rule && f.command.has_value();
    });
    switch (now->stage) {
        case Stage::kTaking:
            return ordered ? 'T' : 't';
        case Stage::kBetween:
            return 'B';
        case Stage::kOrdered:
            return ordered ? 'C' : '?';
        case Stage::kHalted:
            return 'H';
    }
    return '?';
}

/// The instance outlived its TTL, and its end has come as far as this; then it is 100 s.
JournalScript at_stage(char stage) {
    JournalScript s(expiring_settings());
    s.together([&] {
        for (const char* source : {"pods", "rows", "services", "ingresses"}) s.known(source);
    });
    s.quiet_until(90s);
    s.together([&] {
        s.pod({.name = "wrapper-7", .uid = "a", .version = 11});
        s.row(expired_row(50));
    });
    s.quiet_until(95s);
    if (stage == 'T') return s;
    s.at(96s).outcome(s.commands().back(), stage == 't' ? OutcomeKind::kFailed : OutcomeKind::kDone,
                      stage == 't');
    if (stage == 't') return s;
    s.at(97s).pod_gone("wrapper-7", "a", 12);
    s.quiet_until(99s);
    if (stage == 'C') return s;
    s.at(100s).outcome(s.commands().back(), OutcomeKind::kFailed, false);
    if (stage == 'H') {
        Settings settings = s.settings();
        policies::rule_settings(settings, "ttl_expired").mode = Mode::kObserve;
        s.put_in_force(settings);
    }
    return s;
}

TEST(Endings, EachStageIsReachedAsItIsCalled) {
    for (const char stage : {'T', 't', 'B', 'C', 'H'}) {
        JournalScript s = at_stage(stage);
        EXPECT_EQ(stage_of(s), stage);
        std::array<std::uint64_t, 5> counted{};
        ++counted[static_cast<std::size_t>(ending(s)->stage)];
        EXPECT_EQ(s.meta().endings, counted) << stage;
    }
}

struct Event {
    const char* name;
    std::function<void(JournalScript&)> happens;
    /// Where it leads from T, t, B, C and H.
    std::string leads;
};

void set_mode(JournalScript& s, std::string_view rule, Mode mode) {
    Settings settings = s.settings();
    policies::rule_settings(settings, rule).mode = mode;
    s.put_in_force(settings);
}

void answer(JournalScript& s, OutcomeKind kind, bool retryable = false) {
    s.outcome(s.commands().back(), kind, retryable);
}

/// It was done; where that was the pod's deletion, the pod shows it.
void done(JournalScript& s, OutcomeKind kind) {
    answer(s, kind);
    const Facet* pod = s.facet("wrapper-7", "a");
    if (stage_of(s) != 'B' || pod == nullptr || !pod->present()) return;
    s.pod({.name = "wrapper-7", .uid = "a", .version = 12, .deleting = true});
}

Request disabling(const std::string& rule) {
    Request made = request(RequestKind::kDisable);
    if (!rule.empty()) made.rules = {{rule, {}}};
    return made;
}

/// Its text is one that nobody enabled; it does the same.
void another_text(JournalScript& s) {
    Settings settings = s.settings();
    policy::Policy text = *settings.text;
    for (policy::Rule& rule : text.rules) {
        if (rule.name == "ttl_expired") rule.acknowledge.push_back("no_window");
    }
    settings.text = std::move(text);
    settings.enabled_by.clear();
    s.put_in_force(settings);
}

const std::vector<Event>& events() {
    static const std::vector<Event> kEvents{
        {"nothing for 5 s", [](JournalScript&) {}, "TtBCH"},
        {"done", [](JournalScript& s) { done(s, OutcomeKind::kDone); }, "CtB-H"},
        {"already done", [](JournalScript& s) { done(s, OutcomeKind::kAlreadyDone); }, "CtB-H"},
        {"refused", [](JournalScript& s) { answer(s, OutcomeKind::kRefused); }, "ttBCH"},
        {"refused by a brake", [](JournalScript& s) { answer(s, OutcomeKind::kRefused, true); },
         "ttBCH"},
        {"failed for now", [](JournalScript& s) { answer(s, OutcomeKind::kFailed, true); },
         "ttBCH"},
        {"failed for good", [](JournalScript& s) { answer(s, OutcomeKind::kFailed); }, "ttBBH"},
        {"expired at the executor", [](JournalScript& s) { answer(s, OutcomeKind::kExpired); },
         "ttBCH"},
        {"no outcome in time", [](JournalScript& s) { s.quiet_until(s.now() + 75s); }, "TTBCH"},
        {"pause of everything", [](JournalScript& s) { s.request(request(RequestKind::kPause)); },
         "TtBCH"},
        {"pause of the rule",
         [](JournalScript& s) { s.request(request(RequestKind::kPause, "ttl_expired")); }, "TtBCH"},
        {"hold", [](JournalScript& s) { s.request(about(RequestKind::kHold)); }, "TtBCH"},
        {"dismissed", [](JournalScript& s) { s.request(about(RequestKind::kDismiss)); }, "TtBCH"},
        {"dismissal of another rule's",
         [](JournalScript& s) { s.request(about(RequestKind::kDismiss, "missing_pod", true)); },
         "TtBCH"},
        {"dropped", [](JournalScript& s) { s.request(about(RequestKind::kDismiss, {}, true)); },
         "Tt-C-"},
        {"the rule observes", [](JournalScript& s) { set_mode(s, "ttl_expired", Mode::kObserve); },
         "TtHCH"},
        {"the rule is off", [](JournalScript& s) { set_mode(s, "ttl_expired", Mode::kOff); },
         "TtHCH"},
        {"the rule asks", [](JournalScript& s) { set_mode(s, "ttl_expired", Mode::kApprove); },
         "TtBCB"},
        {"the rule enforces", [](JournalScript& s) { set_mode(s, "ttl_expired", Mode::kEnforce); },
         "TtBCB"},
        {"the rule is disabled", [](JournalScript& s) { s.request(disabling("ttl_expired")); },
         "TtHCH"},
        {"every rule is disabled", [](JournalScript& s) { s.request(disabling({})); }, "TtHCH"},
        {"another rule is disabled", [](JournalScript& s) { s.request(disabling("missing_pod")); },
         "TtBCH"},
        {"the rule means something else", another_text, "TtHCH"},
        {"somebody asks for the end",
         [](JournalScript& s) { s.request(about(RequestKind::kTerminate)); }, "TtBCB"},
        {"another pod of the name",
         [](JournalScript& s) { s.pod({.name = "wrapper-7", .uid = "b", .version = 60}); },
         "TtTC-"},
        {"another row of the name",
         [](JournalScript& s) {
             s.row({.pk = "8", .name = "wrapper-7", .version = 60, .status = "starting"});
         },
         "TtBCH"},
        {"the row is gone", [](JournalScript& s) { s.row_gone("wrapper-7", "7", 60); }, "Tt-C-"},
        {"its owner closed it", [](JournalScript& s) { s.row(expired_row(60, "failed")); },
         "Tt-C-"},
        {"it says so already", [](JournalScript& s) { s.row(expired_row(60, "stopping")); },
         "Tt-C-"},
        {"a last heartbeat",
         [](JournalScript& s) {
             Row row = expired_row(60);
             row.ttl = "999999999";
             s.row(row);
         },
         "TtBCH"},
    };
    return kEvents;
}

/// No rule but the ending's own says or does anything of the subject while it lives, and nothing
/// that we began to end is called a failure by us.
void expect_nothing_else(JournalScript& s, std::size_t from, const std::string& where) {
    for (std::size_t i = from; i < s.commands().size(); ++i) {
        const Command& command = s.commands()[i];
        const auto& sets = command.draft.action.sets;
        const bool failed = std::any_of(sets.begin(), sets.end(), [](const Assignment& set) {
            return set.column == "status" && set.value == "failed";
        });
        const bool lives = ending(s) != nullptr;
        EXPECT_FALSE(lives && failed) << where;
        if (lives && command.draft.action.kind == Action::Kind::kUpdateRow) {
            const std::vector<Assignment> closes{{"status", "stopping"}};
            EXPECT_EQ(sets, closes) << where;
        }
        EXPECT_TRUE(!lives || command.rule == "ttl_expired" ||
                    command.rule == "termination_requested")
            << where << ": " << command.rule;
    }
}

// The table of the design: no event is without an answer in any stage.
TEST(Endings, EachEventInEachStageLeadsWhereTheTableSays) {
    static constexpr std::string_view kStages = "TtBCH";
    for (const Event& event : events()) {
        std::string led;
        for (const char stage : kStages) {
            JournalScript s = at_stage(stage);
            const std::size_t before = s.commands().size();
            event.happens(s);
            s.quiet_until(s.now() + 5s);
            led += stage_of(s);
            expect_nothing_else(s, before, std::string(1, stage) + ", " + event.name);
        }
        EXPECT_EQ(led, event.leads) << event.name;
    }
}

// Symptom: a row that we ended ourselves was called STUCK_TRANSITION 15 minutes later.
TEST(Endings, WhatWasEndedIsNoStuckTransition) {
    JournalScript s = at_stage('C');
    set_mode(s, "stuck_transition", Mode::kEnforce);
    s.together([&] {
        answer(s, OutcomeKind::kDone);
        s.row(expired_row(60, "stopping"));
    });
    s.quiet_until(30min);
    EXPECT_EQ(s.commands().back().rule, "ttl_expired");
    EXPECT_EQ(s.findings().back().rule, "stuck_transition");
    EXPECT_EQ(s.findings().back().reason, Reason::kReportOnly);
}

TEST(Endings, OneThatDoesNotGoOnIsSaidToBeStuckAndCountedOnce) {
    JournalScript s = at_stage('B');
    s.request(about(RequestKind::kHold));
    s.quiet_until(14min);
    EXPECT_EQ(s.meta().stuck, 0U);
    s.quiet_until(20min);
    EXPECT_EQ(s.meta().stuck, 1U);
    EXPECT_EQ(s.findings().back().reason, Reason::kEndingStuck);
    EXPECT_NE(s.findings().back().sentence.find("3 of 4 steps done"), std::string::npos)
        << s.findings().back().sentence;
    s.request(about(RequestKind::kRelease));
    s.quiet_until(21min);
    EXPECT_EQ(stage_of(s), 'C');
    answer(s, OutcomeKind::kDone);
    EXPECT_EQ(s.meta().stuck, 0U);
    EXPECT_EQ(s.meta().endings, (std::array<std::uint64_t, 5>{}));
}

// Symptom: the pod came again under its name behind our deletion; the row was closed, and the new
// pod ran on for ever.
TEST(Endings, AStepNamesWhatWasTakenAndNoOther_S2) {
    JournalScript s = at_stage('C');
    const std::vector<Predicate>& read = s.commands().back().draft.read_set;
    const Predicate nobody_else{Predicate::Kind::kNoneBut, "pods", "a", "name", "wrapper-7"};
    EXPECT_EQ(read.front(), nobody_else);
    s.pod({.name = "wrapper-7", .uid = "b", .version = 60});
    s.quiet_until(105s);
    EXPECT_EQ(stage_of(s), 'C') << "its outcome comes first";
    answer(s, OutcomeKind::kRefused);
    EXPECT_EQ(stage_of(s), '-');
    const auto superseded =
        std::find_if(s.findings().rbegin(), s.findings().rend(),
                     [](const FindingEdge& e) { return e.reason == Reason::kSuperseded; });
    ASSERT_NE(superseded, s.findings().rend());
    s.quiet_until(110s);
    EXPECT_EQ(stage_of(s), 'T') << "the new pod's TTL has passed, too";
    EXPECT_EQ(s.commands().back().draft.target.object_id, "b");
}

TEST(Endings, ADropSaysWhatIsLeftAndOrdersNothingWhileACommandMayStillBeCarriedOut) {
    JournalScript s = at_stage('B');
    s.request(about(RequestKind::kDismiss));
    EXPECT_FALSE(s.answered().granted);
    EXPECT_EQ(s.answered().sentence,
              "it is half done: 3 of 4 steps done; left: update rows; write --drop to leave it so");
    s.request(about(RequestKind::kDismiss, {}, true));
    EXPECT_TRUE(s.answered().granted);
    const std::size_t before = s.commands().size();
    s.quiet_until(155s);
    EXPECT_EQ(s.commands().size(), before) << "the row's command may come until 159 s";
    EXPECT_EQ(s.findings().back().reason, Reason::kBusy);
    s.quiet_until(165s);
    ASSERT_EQ(s.commands().size(), before + 1);
    EXPECT_EQ(s.commands().back().rule, "missing_pod") << "it runs without a pod, says the row";
}

TEST(Endings, ADismissalIsOfWhatWasThereAndAnotherObjectVoidsIt) {
    JournalScript s = quiet_world();
    s.pod({.name = "wrapper-7", .uid = "a", .version = 11});
    s.quiet_until(105s);
    s.request(about(RequestKind::kDismiss));
    ASSERT_TRUE(s.answered().granted);
    s.quiet_until(200s);
    EXPECT_TRUE(s.commands().empty());
    s.together([&] {
        s.pod_gone("wrapper-7", "a", 20);
        s.pod({.name = "wrapper-7", .uid = "b", .version = 21});
    });
    s.quiet_until(265s);
    ASSERT_EQ(s.commands().size(), 1U);
    EXPECT_EQ(s.commands().back().draft.target.object_id, "b");
}

// The configuration named another source of rows between the steps, and the engine read beyond the
// policy's roles.
// Symptom: executors were late with the first step of a list, its rule came to mean something else
// in the meantime, and what that ordered went at once, without a grace.
TEST(Endings, OneThatNeverBeganIsJudgedByAnotherTextWithItsWholeGrace) {
    JournalScript s = at_stage('t');
    Settings changed = s.settings();
    policy::Policy text = *changed.text;
    for (policy::Rule& rule : text.rules) {
        if (rule.name == "ttl_expired") rule.since_first_seen = true;
    }
    changed.text = std::move(text);
    policies::rule_settings(changed, "ttl_expired").grace = 120s;
    const std::size_t before = s.commands().size();
    s.at(100s).put_in_force(changed);
    s.quiet_until(210s);
    EXPECT_EQ(ending(s), nullptr) << "its command has expired, and its pod is there";
    EXPECT_EQ(s.commands().size(), before);
    s.quiet_until(225s);
    EXPECT_EQ(s.commands().size(), before + 1);
}

TEST(Endings, ASourceThatLeftIsWrittenNoMore_S40) {
    Settings settings = expiring_settings();
    JournalScript s(settings);
    s.all_known();
    s.quiet_until(100s);
    s.pod({.name = "wrapper-7", .uid = "a", .version = 11});
    s.row(expired_row(50));
    s.quiet_until(110s);
    ASSERT_EQ(s.commands().size(), 1U);
    s.outcome(s.commands()[0], OutcomeKind::kDone);
    s.pod_gone("wrapper-7", "a", 12);
    for (SourceSettings& source : settings.sources) {
        if (source.name == "rows") source.name = "instances";
    }
    s.put_in_force(settings);
    s.silent_until(200s);
    ASSERT_NE(ending(s), nullptr);
    EXPECT_EQ(s.commands().size(), 1U) << "nobody knows what the row says";
}

// Symptom: whoever made the pod anew before its row was written was never asked about, since no
// list came to its end.
TEST(Endings, WhatWasSupersededTwiceAsksTheThirdTime) {
    Settings settings = expiring_settings();
    policy::Policy text = *settings.text;
    for (policy::Rule& rule : text.rules) {
        if (rule.name == "ttl_expired") rule.acknowledge.clear();
    }
    settings.text = std::move(text);
    JournalScript s(settings);
    s.all_known();
    s.row(expired_row(50));
    std::uint64_t version = 10;
    s.pod({.name = "wrapper-7", .uid = "a", .version = ++version});
    Millis until = 0s;
    for (const std::string uid : {"a", "b"}) {
        s.quiet_until(until += 15s);
        ASSERT_EQ(stage_of(s), 'T') << uid;
        s.pod_gone("wrapper-7", uid, ++version);
        s.pod({.name = "wrapper-7", .uid = uid == "a" ? "b" : "c", .version = ++version});
        s.outcome(s.commands().back(), OutcomeKind::kDone);
    }
    s.quiet_until(until += 15s);
    EXPECT_EQ(s.meta().rules[3].commands, 2U);
    EXPECT_EQ(s.findings().back().reason, Reason::kRecurring);
}

}  // namespace
}  // namespace trueup::testing
