// Mistakes of the evaluator that were found by holding it against the naive reader over random
// policies: each test begins with its symptom.
#include "apps/config/policy_file.h"
#include "engine/core/draft.h"
#include "tests/scenarios/both_readers.h"
#include "tests/scenarios/text_judgement.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

namespace trueup::testing {
namespace {

Said text(std::string value) { return {Said::Kind::kText, std::move(value)}; }
const Said kUnsent{Said::Kind::kUnsent, {}};
const Said kNull{Said::Kind::kNull, {}};
constexpr std::int64_t kSeen = kWorldNow - 300'000;

/// A policy, and a world of it in which all sources are known and fresh.
class Evaluator : public ::testing::Test {
  protected:
    /// Each role has a source, of its own name; one with a scope has `ROLE-eu` and `ROLE-us`.
    void with_policy(const std::string& roles_and_rules, const std::string& no_source = "") {
        const auto file =
            config::parse_policy("policy: p\nlanguage: 1\nsubject: s\n" + roles_and_rules, "p");
        ASSERT_TRUE(file) << file.error().what;
        text_ = file->policy;
        for (std::size_t number = 0; number < text_.roles.size(); ++number) {
            const policy::Role& role = text_.roles[number];
            if (role.name == no_source) continue;
            for (const std::string scope : {"eu", "us"}) {
                if (role.scope.empty() && scope == "us") break;
                SourceSettings source;
                source.name = role.scope.empty() ? role.name : role.name + '-' + scope;
                source.role = static_cast<Role>(number);
                if (!role.scope.empty()) source.scope = scope;
                settings_.sources.push_back(source);
                core::SourceState& state = world_.sources.emplace_back();
                state.name = source.name;
                state.known = true;
                state.complete_as_of = from_millis<BrokerTime>(kWorldNow - 1'000);
                state.source_clock = from_millis<SourceTime>(kWorldNow - 1'000);
            }
        }
        for (const policy::Rule& rule : text_.rules) {
            settings_.rules.push_back({rule.name, Mode::kEnforce, Millis{0}, Millis{0}, Budget{}});
        }
        world_.counts.assign(Tally{}.size(), 0);
        world_.subject.key = "p/w";
        const Result<core::Plan> plan = core::compile(text_, settings_);
        flaw_ = plan ? "" : plan.error().what;
        if (plan) plan_ = *plan;
    }

    SourceId source(const std::string& name) const {
        SourceId id = 0;
        while (settings_.sources.at(id).name != name) ++id;
        return id;
    }
    Facet object(const std::string& of, const std::string& id, const Saying& saying) const {
        Facet facet;
        facet.source = source(of);
        facet.object_id = id;
        facet.first_seen = facet.evidence = from_millis<BrokerTime>(kSeen);
        facet.object = encoded(saying);
        return facet;
    }
    /// In ascending order of source and id.
    void shows(const std::string& of, const std::string& id, const Saying& saying) {
        world_.subject.facets.push_back(object(of, id, saying));
    }

    /// What the first rule says.
    std::string says() const {
        return naive::told(as_decided(Looked(plan_, settings_, world_).decide(0)));
    }
    Ledger ends() const {
        return ends_of(plan_, world_.subject, settings_, Looked(plan_, settings_, world_).facts(),
                       from_millis<JournalTime>(kWorldNow));
    }

    policy::Policy text_;
    Settings settings_;
    core::Plan plan_;
    std::string flaw_;
    RandomWorld world_;
};

TEST_F(Evaluator, AnEndIsNoneOfALedgerThatItIsNotKnownToBelongTo) {
    // A pod whose spec was never sent counted as a failure of every other spec, and the next try
    // waited for nothing.
    with_policy(R"(
roles:
  rows: {kind: row, key: id, fields: {spec: text}}
  pods: {kind: pod, key: name, several: true, fields: {phase: [Failed, Running], spec: {text: label.spec, required: true}}}
ledger: {of: rows, objects: pods, failed: {phase: Failed, spec: {not: {same_as: rows.spec}}}}
rules:
  none_of_it: {finds: x, when: {rows: one, pods: none}, do: report}
)");
    shows("rows", "r", {{"spec", text("a")}});
    shows("pods", "u1", {{"phase", text("Failed")}});
    EXPECT_TRUE(ends().entries.empty());
    world_.subject.facets.back() =
        object("pods", "u1", {{"phase", text("Failed")}, {"spec", text("b")}});
    EXPECT_EQ(ends().entries.size(), 1U);
}

TEST_F(Evaluator, ALedgerAsksNamedConditions) {
    // A ledger whose `failed` names a condition never saw a failure: what failed was made anew
    // without a pause, for ever.
    with_policy(R"(
roles:
  rows: {kind: row, key: id}
  pods: {kind: pod, key: name, several: true, fields: {phase: [Failed, Gone, Running]}}
conditions:
  broken: {about: pods, first: [{if: {pods: {phase: [Failed, Gone]}}, then: true}, {then: false}]}
ledger: {of: rows, objects: pods, failed: {is: broken}}
rules:
  none_of_it: {finds: x, when: {rows: one, pods: none}, do: report}
)");
    shows("rows", "r", {});
    shows("pods", "u1", {{"phase", text("Gone")}});
    shows("pods", "u2", {{"phase", text("Running")}});
    ASSERT_EQ(ends().entries.size(), 1U);
    EXPECT_EQ(ends().entries[0].object_id, "u1");
}

const char* const kRegions = R"(
roles:
  rows: {kind: row, key: id, fields: {region: text}, live: {region: {set: true}}}
  machines: {kind: pod, key: name, scope: region}
conditions:
  lonely:
    about: rows
    first:
      - {if: {machines: {none: {}, in: rows.region}}, then: true}
      - {then: false}
rules:
  lonely_row: {finds: x, when: {rows: {one: {is: lonely}}}, do: {update: rows, set: {region: gone}}}
)";

TEST_F(Evaluator, AScopeThatIsNotKnownProvesNothingInANamedCondition) {
    // A row whose region was not sent had no machine anywhere, by a named condition, and was
    // written off.
    with_policy(kRegions);
    shows("rows", "r", {{"region", kUnsent}});
    EXPECT_EQ(says(), "abstain incomplete");
    world_.subject.facets[0] = object("rows", "r", {{"region", text("eu")}});
    EXPECT_EQ(says(), "act update r at 0 about r");
}

TEST_F(Evaluator, AScopeThatNobodyLooksAtProvesNothingInANamedCondition) {
    // In a region without a source there was no machine, by a named condition.
    with_policy(kRegions);
    shows("rows", "r", {{"region", text("ap")}});
    EXPECT_EQ(says(), "healthy");
}

TEST_F(Evaluator, WhatNoSourceHasIsNotAbsentInANamedCondition) {
    // Where no source played an optional role, a named condition had it that there is none of it.
    with_policy(R"(
roles:
  rows: {kind: row, key: id, fields: {state: [on, off]}, live: {state: on}}
  machines: {kind: pod, key: name, optional: true}
conditions:
  lonely:
    about: rows
    first:
      - {if: {machines: {none: {}}}, then: true}
      - {then: false}
rules:
  lonely_row: {finds: x, when: {rows: {one: {state: on, is: lonely}}}, do: {update: rows, set: {state: off}}}
)",
                "machines");
    EXPECT_EQ(flaw_, "a rule asks for machines, and no source has any");
}

TEST_F(Evaluator, ABooleanOfATableIsReadAsPostgresSaysIt) {
    // A live pod was deleted: its row was not `deleted`, which PostgreSQL says as `f`, and the
    // policy as false.
    with_policy(R"(
roles:
  rows: {kind: row, key: id, live: {deleted: false}, fields: {deleted: boolean}}
  pods: {kind: pod, key: name}
rules:
  orphan:
    finds: x
    acknowledge: [no_grace]
    grace: 0s
    when: {pods: one, rows: {none: {deleted: false}}}
    do: {delete: pods}
)");
    shows("pods", "u1", {});
    shows("rows", "r", {{"deleted", text("f")}});
    EXPECT_EQ(says(), "healthy");
    for (const char* gone : {"t", "true"}) {
        world_.subject.facets[1] = object("rows", "r", {{"deleted", text(gone)}});
        EXPECT_EQ(says(), "act delete u1 at 1 about u1");
    }
    world_.subject.facets[1] = object("rows", "r", {{"deleted", text("no")}});
    EXPECT_EQ(says(), "abstain unreadable") << "it may mean anything";
}

TEST_F(Evaluator, ANumberIsOneHoweverItIsWritten) {
    // A pod was deleted because its row's 1 was written as 01; and one because of 1.0, which is no
    // number of 64 bits and may be any.
    with_policy(R"(
roles:
  rows: {kind: row, key: id, fields: {replicas: number}}
  pods: {kind: pod, key: name}
rules:
  scaled:
    finds: x
    acknowledge: [no_grace]
    grace: 0s
    when: {pods: one, rows: {one: {replicas: {not: 1}}}}
    do: {delete: pods}
)");
    shows("pods", "u1", {});
    shows("rows", "r", {{"replicas", text("01")}});
    EXPECT_EQ(says(), "healthy");
    world_.subject.facets[1] = object("rows", "r", {{"replicas", text("1.0")}});
    EXPECT_EQ(says(), "abstain unreadable");
    world_.subject.facets[1] = object("rows", "r", {{"replicas", text("2")}});
    EXPECT_EQ(says(), "act delete u1 at 1 about u1");
}

const char* const kSurplus = R"(
roles:
  rows: {kind: row, key: id, fields: {spec: text}}
  pods: {kind: pod, key: name, several: true, fields: {phase: text, spec: text, generation: number}}
rules:
  surplus_pod:
    finds: x
    acknowledge: [no_grace, open_words]
    grace: 0s
    when: {pods: {surplus: {phase: Running}, keep: [RANK]}, rows: one}
    do: {delete: pods}
)";
std::string surplus_by(const std::string& rank) {
    std::string policy = kSurplus;
    return policy.replace(policy.find("RANK"), 4, rank);
}

TEST_F(Evaluator, OneThatMayBeTheOnlyOneIsNoSurplus) {
    // Of two pods of which one only may match, the one that does was deleted as one too many.
    with_policy(surplus_by("{spec: a}"));
    shows("rows", "r", {});
    shows("pods", "u1", {{"phase", text("Running")}, {"spec", text("b")}});
    shows("pods", "u2", {{"phase", kUnsent}, {"spec", text("a")}});
    EXPECT_EQ(says(), "abstain incomplete");
    shows("pods", "u3", {{"phase", text("Running")}, {"spec", text("a")}});
    EXPECT_EQ(says(), "act delete u1 at 1 about u1");
}

TEST_F(Evaluator, WhatIsKeptIsKnownBeforeAnythingGoes) {
    // Where the row's spec was not known, every pod was as little worth, and the one that was made
    // from it might be deleted.
    with_policy(surplus_by("{spec: {same_as: rows.spec}}"));
    shows("rows", "r", {{"spec", kNull}});
    shows("pods", "u1", {{"phase", text("Running")}, {"spec", text("a")}});
    shows("pods", "u2", {{"phase", text("Running")}, {"spec", text("b")}});
    EXPECT_EQ(says(), "abstain incomplete");
    world_.subject.facets[0] = object("rows", "r", {{"spec", text("b")}});
    EXPECT_EQ(says(), "act delete u1 at 1 about u1");
}

TEST_F(Evaluator, TheLatestIsTheLatestAsANumber) {
    // Of the generations 9 and 10 the tenth was deleted as the older one.
    with_policy(surplus_by("{latest: generation}"));
    shows("rows", "r", {});
    shows("pods", "u1", {{"generation", text("9")}, {"phase", text("Running")}});
    shows("pods", "u2", {{"generation", text("10")}, {"phase", text("Running")}});
    EXPECT_EQ(says(), "act delete u1 at 1 about u1");
}

TEST_F(Evaluator, ACaseThatIsNotDueHidesNoOther) {
    // As long as the deadline of a rule's first case was not passed, its other cases said nothing.
    with_policy(R"(
roles:
  rows: {kind: row, key: id, fields: {at: timestamp, state: [on, off, odd]}}
rules:
  two_ways:
    finds: x
    cases:
      - {when: {rows: {one: {state: [on, odd]}}}, past: rows.at + 60s, do: {update: rows, set: {state: off}}}
      - {when: {rows: {one: {state: odd}}}, do: report}
)");
    shows("rows", "r", {{"at", text("2025-11-24 15:59:30+00")}, {"state", text("odd")}});
    EXPECT_EQ(says(), "waiting report_only r");
    EXPECT_NE(Looked(plan_, settings_, world_).decide(0).wait, Wait{})
        << "and its deadline is waited for";
}

TEST_F(Evaluator, WhatCannotBeRankedIsNotSurplus) {
    // Of two rows whose times could not be read, the one with the smaller id was kept.
    with_policy(R"(
roles:
  rows: {kind: row, key: id, fields: {at: timestamp, state: [on, off]}}
rules:
  newest_counts:
    finds: x
    when: {rows: {surplus: {state: on}, keep: [{latest: at}]}}
    do: {update: rows, set: {state: off}}
)");
    ASSERT_EQ(flaw_, "");
    shows("rows", "1", {{"at", text("2025-11-20 07:30:00")}, {"state", text("on")}});
    shows("rows", "2", {{"at", text("2025-11-24 07:30:00+00")}, {"state", text("on")}});
    EXPECT_EQ(says(), "abstain unreadable");
    world_.subject.facets[0] = object("rows", "1", {{"at", kUnsent}, {"state", text("on")}});
    EXPECT_EQ(says(), "abstain incomplete");
    world_.subject.facets[0] =
        object("rows", "1", {{"at", text("2025-11-20 07:30:00+00")}, {"state", text("on")}});
    EXPECT_EQ(says(), "act update 1 at 0 about 1");
}

TEST_F(Evaluator, WhatIsNotKnownOfOneIsNoReasonThatItGoes) {
    // A mark that was not known counted as a bad one: the object that should stay was taken away.
    with_policy(R"(
roles:
  rows: {kind: row, key: id, fields: {good: text, state: [on, off]}}
rules:
  best_counts:
    finds: x
    when: {rows: {surplus: {state: on}, keep: [{good: {set: true}}]}}
    do: {update: rows, set: {state: off}}
)");
    ASSERT_EQ(flaw_, "");
    shows("rows", "1", {{"good", text("yes")}, {"state", text("on")}});
    shows("rows", "2", {{"good", kUnsent}, {"state", text("on")}});
    EXPECT_EQ(says(), "abstain incomplete");
    world_.subject.facets[1] = object("rows", "2", {{"good", kNull}, {"state", text("on")}});
    EXPECT_EQ(says(), "act update 2 at 0 about 2");
}

TEST_F(Evaluator, OfManyNoneGoesInPlaceOfTheOneThatIsMeant) {
    // Where it was not known whether the worst of three counts at all, another one went: the best.
    with_policy(R"(
roles:
  rows: {kind: row, key: id, fields: {pod: text}}
  pods: {kind: pod, key: label.id, several: true, fields: {phase: [Running, Failed], gen: number}}
rules:
  too_many:
    finds: x
    grace: 0s
    acknowledge: [no_grace]
    when: {pods: {surplus: {phase: Running}, keep: [{latest: gen}]},
           rows: {none: {pod: {same_as: pods.name}}}}
    do: {delete: pods}
)");
    ASSERT_EQ(flaw_, "");
    shows("rows", "r", {{"pod", text("a")}});
    shows("pods", "a", {{"name", text("a")}, {"phase", kUnsent}, {"gen", text("1")}});
    shows("pods", "b", {{"name", text("b")}, {"phase", text("Running")}, {"gen", text("9")}});
    shows("pods", "c", {{"name", text("c")}, {"phase", text("Running")}, {"gen", text("5")}});
    EXPECT_EQ(says(), "abstain incomplete");
}

TEST_F(Evaluator, WhatDecidesBeforeIsEnough) {
    // A time that nobody asks for, since one of two had failed, held the other one's end back.
    with_policy(R"(
roles:
  pods: {kind: pod, key: label.id, several: true, fields: {phase: [Running, Failed], gen: number}}
rules:
  too_many:
    finds: x
    grace: 0s
    acknowledge: [no_grace, deletes_all]
    when: {pods: {surplus: {phase: [Running, Failed]}, keep: [{phase: Running}, {latest: gen}]}}
    do: {delete: pods}
)");
    ASSERT_EQ(flaw_, "");
    shows("pods", "a", {{"phase", text("Failed")}, {"gen", kUnsent}});
    shows("pods", "b", {{"phase", text("Running")}, {"gen", text("5")}});
    EXPECT_EQ(says(), "act delete a at 0 about a");
    world_.subject.facets[0] = object("pods", "a", {{"phase", text("Running")}, {"gen", kUnsent}});
    EXPECT_EQ(says(), "abstain incomplete");
}

TEST_F(Evaluator, WhichOfTwoIsMeantMustBeKnownBeforeAllIsWell) {
    // The first of two that claimed one name, of which it was not known whether it matched, was
    // held against the rest: it had its pod, and of the other one, which had none, nothing was
    // said.
    with_policy(R"(
roles:
  rows: {kind: row, key: id, fields: {pod: text, state: [on, off]}}
  pods: {kind: pod, key: label.id}
rules:
  lost:
    finds: x
    when: {rows: {one: {state: on}}, pods: {none: {name: {same_as: rows.pod}}}}
    do: report
)");
    ASSERT_EQ(flaw_, "");
    shows("rows", "1", {{"pod", text("a")}, {"state", kUnsent}});
    shows("rows", "2", {{"pod", text("b")}, {"state", text("on")}});
    shows("pods", "p", {{"name", text("a")}});
    EXPECT_EQ(says(), "abstain duplicate_claim");
}

TEST_F(Evaluator, ADayBeginsInItsZoneAndATimeWithoutAnOffsetIsInIt) {
    // A day was read as a number, and a time without an offset as UTC, whatever `zone` said.
    for (const char* field :
         {"{date: null, zone: \"-08:00\"}", "{timestamp: null, zone: \"-08:00\"}"}) {
        const bool day = std::string_view(field).starts_with("{date");
        settings_ = {};
        world_ = {};
        with_policy(
            "roles: {rows: {kind: row, key: id, fields: {at: " + std::string(field) +
            "}}}\nrules: {old: {finds: x, when: {rows: one}, past: rows.at + 1h, do: report}}\n");
        ASSERT_EQ(flaw_, "");
        // It is 16:00 UTC on 24 November, 8 o'clock there.
        shows("rows", "r", {{"at", text(day ? "2025-11-25" : "2025-11-24 07:30:00")}});
        EXPECT_EQ(says(), "healthy") << field;
        world_.subject.facets.clear();
        shows("rows", "r", {{"at", text(day ? "2025-11-24" : "2025-11-24 06:59:00")}});
        EXPECT_EQ(says(), "waiting report_only r") << field;
    }
    settings_ = {};
    world_ = {};
    with_policy(
        "roles: {rows: {kind: row, key: id, fields: {at: timestamp}}}\n"
        "rules: {old: {finds: x, when: {rows: one}, past: rows.at + 1h, do: report}}\n");
    shows("rows", "r", {{"at", text("2025-11-20 07:30:00")}});
    EXPECT_EQ(says(), "waiting unreadable r") << "nobody knows which moment that is";
}

TEST_F(Evaluator, OfManyDeadlinesTheEarliestIsWaitedFor) {
    // A rule whose second case was due first slept until the deadline of its first one.
    with_policy(R"(
roles:
  rows: {kind: row, key: id, fields: {at: timestamp, state: [on, off]}}
rules:
  two_ways:
    finds: x
    cases:
      - {when: {rows: {one: {state: on}}}, past: rows.at + 300s, do: {update: rows, set: {state: off}}}
      - {when: {rows: {one: {state: on}}}, past: rows.at + 60s, do: report}
)");
    shows("rows", "r", {{"at", text("2025-11-24 15:59:30+00")}, {"state", text("on")}});
    EXPECT_EQ(says(), "healthy");
    const Wait wait = Looked(plan_, settings_, world_).decide(0).wait;
    EXPECT_EQ(wait.source, source("rows"));
    EXPECT_GE(to_millis(wait.beyond), kWorldNow + 30'000 - 1'000);
    EXPECT_LT(to_millis(wait.beyond), kWorldNow + 60'000);
}

TEST_F(Evaluator, WhatHasNoKeyIsReportedOnceItIsDue) {
    // A row without a key was reported before the time that its rule gives it.
    with_policy(R"(
roles:
  rows: {kind: row, key: id, fields: {at: timestamp}}
rules:
  nameless: {finds: x, keyless: report, when: {rows: one}, past: rows.at + 60s, do: report}
)");
    world_.subject.key = "!rows/1";
    shows("rows", "1", {{"at", text("2025-11-24 15:59:30+00")}, {"id", kNull}});
    EXPECT_EQ(says(), "healthy");
    world_.subject.facets[0] =
        object("rows", "1", {{"at", text("2025-11-20 15:59:30+00")}, {"id", kNull}});
    EXPECT_EQ(says(), "waiting report_only 1");
}

TEST_F(Evaluator, AMachinesCreationIsATime) {
    // `created` of EC2 was read as a number, which it never is.
    with_policy(R"(
roles:
  machines: {kind: ec2, key: id}
  rows: {kind: row, key: id, fields: {at: timestamp}}
rules:
  older: {finds: x, when: {machines: {one: {created: {before: rows.at}}}, rows: one}, do: report}
)");
    shows("machines", "i-1", {{"created", text("2025-11-20T10:00:00Z")}});
    shows("rows", "r", {{"at", text("2025-11-20 12:00:00+02")}});
    EXPECT_EQ(says(), "healthy");
    world_.subject.facets[1] = object("rows", "r", {{"at", text("2025-11-20 12:00:01+02")}});
    EXPECT_EQ(says(), "waiting report_only i-1");
}

TEST_F(Evaluator, AWordThatNobodyListedIsComparedWithNothing) {
    // A plan of a word that nobody had listed was another plan, and the tenant was put onto it.
    with_policy(R"(
roles:
  tenants: {kind: object, key: name, fields: {plan: text}}
  rows: {kind: row, key: id, fields: {plan: [free, paid]}}
rules:
  wrong_plan:
    finds: x
    when: {tenants: {one: {plan: {not: {same_as: rows.plan}}}}, rows: one}
    do: report
)");
    shows("tenants", "t", {{"plan", text("paid")}});
    shows("rows", "r", {{"plan", text("Paid")}});
    EXPECT_EQ(says(), "abstain unknown_word");
}

TEST_F(Evaluator, ASecondOneThatMayBeNoneIsNotTwo) {
    // Of a role that has several, one that matched beside one that might was none at all: its
    // finding was retracted, and its grace began anew once the other was known.
    with_policy(R"(
roles:
  pods: {kind: pod, key: name, several: true, fields: {phase: text}, live: {phase: Failed}}
rules:
  failed: {finds: x, when: {pods: {one: {phase: Failed}}}, do: report}
)");
    shows("pods", "u1", {{"phase", text("Failed")}});
    shows("pods", "u2", {{"phase", kUnsent}});
    EXPECT_EQ(says(), "abstain incomplete");
    world_.subject.facets[1] = object("pods", "u2", {{"phase", text("Failed")}});
    EXPECT_EQ(says(), "healthy");
}

TEST_F(Evaluator, ANamedConditionIsCountedByWhatItSays) {
    // Whatever a count's condition of a name said, all objects counted.
    with_policy(R"(
roles:
  pods: {kind: pod, key: name, several: true, fields: {phase: text}}
conditions:
  broken: {about: pods, first: [{if: {pods: {phase: Failed}}, then: true}, {then: false}]}
counts:
  broken_pods: {objects: {pods: {is: broken}}}
rules:
  failed: {finds: x, when: {pods: {some: {phase: Failed}}}, do: report}
)");
    shows("pods", "u1", {{"phase", text("Failed")}});
    shows("pods", "u2", {{"phase", text("Running")}});
    core::Word word;
    EXPECT_EQ(tally_of(plan_, world_.subject, settings_, word)[0], 1U);
}

TEST_F(Evaluator, AnUnnamedStepLeansNoLessThanTheConditionThatAsked) {
    // A condition found no service in a view that was older than the pod, since a step that would
    // have deleted one asked for less of that source.
    with_policy(R"(
roles:
  pods: {kind: pod, key: name, several: true}
  services: {kind: object, key: name}
conditions:
  bare: {about: pods, first: [{if: {services: {none: {}}}, then: true}, {then: false}]}
rules:
  bare_pod:
    finds: x
    acknowledge: [deletes_all, no_grace]
    grace: 0s
    when: {pods: {some: {is: bare}}}
    do: [{delete: services}, {delete: pods}]
)");
    shows("pods", "u1", {});
    world_.subject.facets[0].first_seen = world_.subject.facets[0].evidence =
        from_millis<BrokerTime>(kWorldNow - 5'000);
    world_.sources[1].complete_as_of = from_millis<BrokerTime>(kWorldNow - 9'000);
    EXPECT_EQ(says(), "waiting awaiting_progress u1");
}

TEST_F(Evaluator, WhatIsMadeRestsOnTheOneOfItsRoleThatIsThere) {
    // A pod that was made because another one had failed did not rest on that: it was made, too,
    // where the other one was well again by then.
    with_policy(R"(
roles:
  rows: {kind: row, key: id}
  pods: {kind: pod, key: name, several: true, fields: {phase: text}}
rules:
  another:
    finds: x
    when: {pods: {some: {phase: Failed}}, rows: one}
    do: {create: pods, name: "{subject}-2", from: builder}
)");
    shows("rows", "r", {});
    shows("pods", "u1", {{"phase", text("Failed")}});
    const Looked looked(plan_, settings_, world_);
    const core::Decision decision = looked.decide(0);
    ASSERT_EQ(decision.kind, Verdict::Kind::kAct);
    const Predicate wanted{Predicate::Kind::kField, "pods", "u1", "phase", "Failed"};
    const CommandDraft draft = draft_of(looked.on(0), decision);
    EXPECT_NE(std::find(draft.read_set.begin(), draft.read_set.end(), wanted),
              draft.read_set.end());
}

TEST_F(Evaluator, ACommandRestsOnWhatTheCasesBeforeItsOwnAskFor) {
    // An instance that was kept by a case before was ended all the same: it had said so between the
    // order and the look, and no executor asked.
    with_policy(R"(
roles:
  rows: {kind: row, key: name, fields: {status: [up, down], keep: text, name: text}}
  boxes: {kind: row, key: name, fields: {size: text, name: text}}
  pods: {kind: pod, key: name, fields: {phase: text}}
rules:
  ended:
    finds: x
    grace: 60s
    cases:
      - when: {rows: {one: {keep: "yes"}}, pods: one}
        do: report
      - when: {boxes: {some: {size: large}}, pods: one}
        do: report
      - when: {rows: {one: {status: down}}, pods: one}
        do: {delete: pods}
)");
    shows("rows", "t/1", {{"keep", text("no")}, {"name", text("w")}, {"status", text("down")}});
    shows("boxes", "b/1", {{"name", text("w")}, {"size", text("small")}});
    shows("pods", "u1", {{"name", text("w")}, {"phase", text("Running")}});
    const Looked looked(plan_, settings_, world_);
    const core::Decision decision = looked.decide(0);
    ASSERT_EQ(decision.kind, Verdict::Kind::kAct);
    const CommandDraft draft = draft_of(looked.on(0), decision);
    const auto has = [&](const Predicate& wanted) {
        return std::find(draft.read_set.begin(), draft.read_set.end(), wanted) !=
               draft.read_set.end();
    };
    EXPECT_TRUE(has({Predicate::Kind::kField, "rows", "t/1", "keep", "no"}));
    EXPECT_TRUE(has({Predicate::Kind::kField, "boxes", "b/1", "size", "small"}))
        << "of what only a case before looked at, too";
    EXPECT_TRUE(has({Predicate::Kind::kNoneBut, "boxes", "b/1", "name", "w"}))
        << "and that none has come beside it";
}

TEST_F(Evaluator, ARuleWaitsUntilWhatTheCasesBeforeItsOwnAskForWasHeard) {
    // A pod was ordered to be deleted by a case that only looks at pods, though its row, by which
    // the case before is the one that finds something, had not been heard of for a minute and a
    // half.
    with_policy(R"(
roles:
  rows: {kind: row, key: name, fields: {keep: text, name: text}}
  pods: {kind: pod, key: name, fields: {phase: text}}
rules:
  ended:
    finds: x
    grace: 0s
    acknowledge: [no_grace, deletes_all]
    cases:
      - when: {rows: {one: {keep: "yes"}}, pods: one}
        do: report
      - when: {pods: {one: {phase: Failed}}}
        do: {delete: pods}
)");
    shows("rows", "t/1", {{"keep", text("no")}, {"name", text("w")}});
    shows("pods", "u1", {{"name", text("w")}, {"phase", text("Failed")}});
    EXPECT_EQ(Looked(plan_, settings_, world_).decide(0).kind, Verdict::Kind::kAct);
    world_.sources[0].complete_as_of = from_millis<BrokerTime>(kWorldNow - 90'000);
    EXPECT_EQ(says(), "waiting stale u1");
}

TEST_F(Evaluator, AHoldOnWhatTheCasesBeforeLookedAtHoldsTheCommand) {
    // A command was ordered that its own executor had to refuse, again and again: it asks that
    // nobody has put a hold on a pod at which only the case before had looked.
    with_policy(R"(
roles:
  rows: {kind: row, key: name, fields: {name: text, status: [up, down]}}
  pods: {kind: pod, key: name, fields: {phase: text}}
rules:
  ended:
    finds: x
    grace: 60s
    cases:
      - when: {rows: {one: {status: up}}, pods: {one: {phase: Failed}}}
        do: report
      - when: {rows: {one: {status: up}}}
        do: {update: rows, set: {status: down}}
)");
    shows("rows", "t/1", {{"name", text("w")}, {"status", text("up")}});
    shows("pods", "u1", {{"name", text("w")}, {"phase", text("Running")}});
    EXPECT_EQ(Looked(plan_, settings_, world_).decide(0).kind, Verdict::Kind::kAct);
    world_.subject.facets.back() = object(
        "pods", "u1", {{"hold", text("true")}, {"name", text("w")}, {"phase", text("Running")}});
    EXPECT_EQ(says(), "abstain veto");
}

TEST_F(Evaluator, WhatIsTakenAwayMayHaveAnOldRowBesideItsOwn) {
    // An instance with an old row beside its own was never ended: its command rested on that no
    // other row has the key, and was refused for ever.
    with_policy(R"(
roles:
  rows: {kind: row, key: name, live: {status: up}, fields: {status: [up, down], name: text}}
  pods: {kind: pod, key: name}
rules:
  ended: {finds: x, grace: 60s, when: {rows: {one: {status: up}}, pods: one}, do: {delete: pods}}
)");
    shows("rows", "t/1", {{"status", text("down")}, {"name", text("w")}});
    shows("rows", "t/2", {{"status", text("up")}, {"name", text("w")}});
    shows("pods", "u1", {{"name", text("w")}});
    const Looked looked(plan_, settings_, world_);
    const core::Decision decision = looked.decide(0);
    ASSERT_EQ(decision.kind, Verdict::Kind::kAct);
    Predicate alone{Predicate::Kind::kNoneBut, "rows", "t/2", "key", "w"};
    alone.besides = {"t/1"};
    const Predicate still{Predicate::Kind::kField, "rows", "t/1", "status", "down"};
    const std::vector<Predicate> read = draft_of(looked.on(0), decision).read_set;
    for (const Predicate& wanted : {alone, still}) {
        EXPECT_NE(std::find(read.begin(), read.end(), wanted), read.end()) << wanted.object_id;
    }
}

TEST_F(Evaluator, WhatANoneLookedPastIsStillAllThereIs) {
    // A pod was deleted whose row had just come, since an older one of the name was in view: that
    // nobody else has the name was asked only where nobody had it.
    with_policy(R"(
roles:
  rows: {kind: row, key: name, live: {status: [up, draining]}, fields: {status: [up, draining, dead], name: text}}
  pods: {kind: pod, key: name}
rules:
  orphan: {finds: x, grace: 60s, when: {pods: one, rows: {none: {status: [up, draining]}}}, do: {delete: pods}}
)");
    shows("rows", "t/1", {{"status", text("dead")}, {"name", text("w")}});
    shows("rows", "t/2", {{"status", text("dead")}, {"name", text("w")}});
    shows("pods", "u1", {{"name", text("w")}});
    const Looked looked(plan_, settings_, world_);
    const core::Decision decision = looked.decide(0);
    ASSERT_EQ(decision.kind, Verdict::Kind::kAct);
    Predicate no_other{Predicate::Kind::kNoneBut, "rows", "t/1", "key", "w"};
    no_other.besides = {"t/2"};
    const std::vector<Predicate> read = draft_of(looked.on(0), decision).read_set;
    EXPECT_NE(std::find(read.begin(), read.end(), no_other), read.end());
}

TEST_F(Evaluator, WhatANamedConditionLookedPastIsStillAllThereIs) {
    // The same where a named condition asks for the rows: one that had just come was not asked for.
    with_policy(R"(
roles:
  rows: {kind: row, key: name, live: {status: [up, draining]}, fields: {status: [up, draining, dead], name: text}}
  pods: {kind: pod, key: name}
conditions:
  free:
    about: pods
    first:
      - {if: {rows: {none: {status: [up, draining]}}}, then: true}
      - {then: false}
rules:
  idle: {finds: x, grace: 60s, acknowledge: [deletes_all], when: {pods: {one: {is: free}}}, do: {delete: pods}}
)");
    shows("rows", "t/1", {{"status", text("dead")}, {"name", text("w")}});
    shows("pods", "u1", {{"name", text("w")}});
    const Looked looked(plan_, settings_, world_);
    const core::Decision decision = looked.decide(0);
    ASSERT_EQ(decision.kind, Verdict::Kind::kAct);
    const Predicate no_other{Predicate::Kind::kNoneBut, "rows", "t/1", "key", "w"};
    const std::vector<Predicate> read = draft_of(looked.on(0), decision).read_set;
    EXPECT_NE(std::find(read.begin(), read.end(), no_other), read.end());
}

const char* const kShared = R"(
roles:
  rows: {kind: row, key: name, live: {state: up}, fields: {state: [up, lost], name: text, node: text}}
  nodes: {kind: object, key: name, reference: true, fields: {ready: {boolean: status.ready}}}
  flags: {kind: row, key: name, reference: true, fields: {name: text, repairs: boolean}}
rules:
  lost:
    finds: x
    grace: 60s
    create_window: 30s
    when:
      rows: {one: {state: up}}
      nodes: {none: {ready: true}, named: rows.node}
      flags: {one: {repairs: true}, named: jobs}
    do: {update: rows, set: {state: lost}}
)";

TEST_F(Evaluator, WhatIsLookedUpIsLookedUpOnceMore) {
    // A command could not be carried out: the node that a row names was looked for by the name of
    // the row. And a flag that was given another name since still counted.
    with_policy(kShared);
    shows("rows", "t/1", {{"state", text("up")}, {"name", text("w")}, {"node", text("n1")}});
    world_.references[{source("flags"), "jobs"}].facets = {
        object("flags", "f/1", {{"name", text("jobs")}, {"repairs", text("t")}})};
    const auto has = [&](const Predicate& wanted) {
        const Looked looked(plan_, settings_, world_);
        const core::Decision decision = looked.decide(0);
        if (decision.kind != Verdict::Kind::kAct) return false;
        const std::vector<Predicate> read = draft_of(looked.on(0), decision).read_set;
        return std::find(read.begin(), read.end(), wanted) != read.end();
    };
    using Kind = Predicate::Kind;
    EXPECT_TRUE(has({Kind::kNone, "nodes", {}, "name", "n1"}));
    EXPECT_TRUE(has({Kind::kField, "flags", "f/1", "repairs", "t"}));
    EXPECT_TRUE(has({Kind::kField, "flags", "f/1", "name", "jobs"}));
    EXPECT_TRUE(has({Kind::kNoneBut, "flags", "f/1", "key", "jobs"}));
    world_.references[{source("nodes"), "n1"}].facets = {
        object("nodes", "u1", {{"name", text("n1")}, {"ready", text("false")}})};
    EXPECT_TRUE(has({Kind::kExists, "nodes", "u1", "name", "n1"}));
    EXPECT_TRUE(has({Kind::kField, "nodes", "u1", "in_scope", "true"}));
    EXPECT_TRUE(has({Kind::kField, "nodes", "u1", "ready", "false"}));
    EXPECT_FALSE(has({Kind::kNone, "nodes", {}, "name", "n1"}));
}

TEST_F(Evaluator, WhoNamesNobodyHasNotNamedOneThatIsGone) {
    // A row that was on no node yet was written off: of the name that it did not have there was no
    // node.
    with_policy(kShared);
    world_.references[{source("flags"), "jobs"}].facets = {
        object("flags", "f/1", {{"name", text("jobs")}, {"repairs", text("t")}})};
    const auto with_node = [&](const Said& node) {
        world_.subject.facets = {
            object("rows", "t/1", {{"state", text("up")}, {"name", text("w")}, {"node", node}})};
        return says();
    };
    EXPECT_EQ(with_node(text("n1")), "act update t/1 at 0 about t/1");
    const std::string long_name(253 - std::string("!nodes/").size(), 'n');
    EXPECT_EQ(with_node(text(long_name)), "act update t/1 at 0 about t/1");
    for (const Said& none : {kNull, kUnsent, text(""), text(" "), text("n1 "), text("zone/n1"),
                             text("n1\n"), text(long_name + "n")}) {
        EXPECT_EQ(with_node(none), "abstain incomplete") << none.text;
    }
}

const char* const kFilled = R"(
roles:
  rows: {kind: row, key: name, live: {state: up}, fields: {state: [up, lost], name: text, node: text}}
  nodes: {kind: row, key: name, reference: true, fields: {name: text, up: boolean}, as_of: {field: fillings.began, at: nodes}}
  fillings: {kind: row, key: name, reference: true, fields: {name: text, began: timestamp}}
rules:
  lost:
    finds: x
    grace: 60s
    create_window: 30s
    when: {rows: {one: {state: up}}, nodes: {none: {up: true}, named: rows.node}}
    do: {update: rows, set: {state: lost}}
)";

TEST_F(Evaluator, WhatIsLookedUpInATableThatIsFilledMustHaveBeenFilledSince) {
    // A row was written off by a table of nodes that was last filled before there was the row.
    settings_.stale_after = Millis{1'200'000};
    with_policy(kFilled);
    shows("rows", "t/1", {{"state", text("up")}, {"name", text("w")}, {"node", text("n1")}});
    const auto filled = [&](const char* began) {
        Facet row = object("fillings", "f/1", {{"name", text("nodes")}, {"began", text(began)}});
        row.changed = from_millis<BrokerTime>(kSeen);
        world_.references[{source("fillings"), "nodes"}].facets = {row};
        return says();
    };
    EXPECT_EQ(filled("2025-11-24 15:53:00+00"), "waiting awaiting_progress t/1");
    EXPECT_EQ(filled("2025-11-24 15:59:30+00"), "act update t/1 at 0 about t/1");
    for (core::PlanRole& role : plan_.roles) {
        if (role.name == "fillings") role.sources.clear();
    }
    EXPECT_EQ(says(), "waiting stale t/1") << "nobody tells";
}

TEST_F(Evaluator, ATableOfWhichNobodyTellsWhenItWasFilledProvesNothing) {
    // Where no source had the row that tells when a table was filled, the table proved all.
    with_policy(kFilled, "fillings");
    EXPECT_EQ(flaw_, "as of when nodes is, is said by fillings, and no source has any");
}

TEST_F(Evaluator, ATableIsFilledPastWhatIsGone) {
    // What was torn down was made again: the table that wants it was last filled before.
    settings_.stale_after = Millis{1'200'000};
    with_policy(R"(
roles:
  branches: {kind: row, key: slug, fields: {slug: text}, as_of: {field: fillings.began, at: branches}}
  fillings: {kind: row, key: name, reference: true, fields: {name: text, began: timestamp}}
  previews: {kind: row, key: name, fields: {name: text}}
rules:
  missing: {finds: x, grace: 60s, when: {branches: one, previews: none}, do: {insert: previews, set: {name: "{subject}"}}}
)");
    shows("branches", "b/1", {{"slug", text("w")}});
    Facet row = object("fillings", "f/1",
                       {{"name", text("branches")}, {"began", text("2025-11-24 15:57:00+00")}});
    row.changed = from_millis<BrokerTime>(kSeen);
    world_.references[{source("fillings"), "branches"}].facets = {row};
    EXPECT_EQ(says().substr(0, 10), "act insert");
    Facet& gone = world_.subject.facets.emplace_back(object("previews", "p/1", {}));
    gone.absence = Absence::kRemoved;
    gone.evidence = from_millis<BrokerTime>(kWorldNow - 150'000);
    EXPECT_EQ(says(), "waiting awaiting_progress b/1");
}

TEST_F(Evaluator, NobodyIsAskedForWhoHasNoName) {
    // A command was never carried out: by a case before, which was not so, an executor had to look
    // for the node that has no name.
    with_policy(R"(
roles:
  rows: {kind: row, key: name, live: {state: up}, fields: {state: [up, lost, done], name: text, node: text}}
  nodes: {kind: object, key: name, reference: true, fields: {ready: {boolean: status.ready}}}
rules:
  lost:
    finds: x
    grace: 60s
    cases:
      - {when: {rows: {one: {state: lost}}, nodes: {none: {ready: true}, named: rows.node}}, do: report}
      - {when: {rows: {one: {state: up}}}, do: {update: rows, set: {state: done}}}
)");
    const auto looks_for_nodes = [&](const Said& node) {
        world_.subject.facets = {
            object("rows", "t/1", {{"state", text("up")}, {"name", text("w")}, {"node", node}})};
        const Looked looked(plan_, settings_, world_);
        const core::Decision decision = looked.decide(0);
        EXPECT_EQ(decision.kind, Verdict::Kind::kAct);
        const std::vector<Predicate> read = draft_of(looked.on(0), decision).read_set;
        return std::any_of(read.begin(), read.end(),
                           [](const Predicate& each) { return each.source == "nodes"; });
    };
    EXPECT_TRUE(looks_for_nodes(text("n1")));
    for (const Said& none : {kNull, text(""), text(" "), text("zone/n1")}) {
        EXPECT_FALSE(looks_for_nodes(none)) << none.text;
    }
}

TEST_F(Evaluator, NoReferenceIsCounted) {
    // A rule that is to ask while something is being repaired never asked: the count stayed 0.
    for (const bool objects : {true, false}) {
        policy::Policy counts =
            config::parse_policy("policy: p\nlanguage: 1\nsubject: s\n" + std::string(kShared), "p")
                ->policy;
        policy::Count& count = counts.counts.emplace_back();
        count.name = "repairing";
        if (objects) count.role = "flags";
        if (!objects) count.subjects.emplace_back().emplace_back().role = "flags";
        const Result<core::Plan> plan = core::compile(counts, Settings{});
        ASSERT_FALSE(plan);
        EXPECT_EQ(plan.error().what, "a count is of flags, which is a reference");
    }
}

TEST_F(Evaluator, WhatIsLookedUpIsNoSubject) {
    // A rule that tells of rows without a key told of each flag, too.
    with_policy(R"(
roles:
  rows: {kind: row, key: name, live: {state: up}, fields: {state: [up, lost], name: text}}
  flags: {kind: row, key: name, reference: true, fields: {name: text, repairs: boolean}}
rules:
  nameless: {finds: x, keyless: report, when: {rows: {one: {state: up}}, flags: {one: {repairs: true}, named: jobs}}, do: report}
)");
    world_.references[{source("flags"), "jobs"}].facets = {
        object("flags", "f/1", {{"name", text("jobs")}, {"repairs", text("t")}})};
    world_.subject.key = "!flags/jobs";
    world_.subject.facets = world_.references[{source("flags"), "jobs"}].facets;
    EXPECT_EQ(says(), "healthy");
    world_.subject.key = "!rows/1";
    world_.subject.facets = {object("rows", "t/1", {{"state", text("up")}, {"name", kNull}})};
    EXPECT_EQ(says(), "waiting report_only t/1");
}

TEST_F(Evaluator, WhatOneOfSeveralRowsWantsGoneAnotherMayNeed) {
    // A pod was deleted since one of its jobs was done; the other one was running on it.
    with_policy(R"(
roles:
  jobs: {kind: row, key: pod, several: true, live: {state: [queued, running]}, fields: {state: [queued, running, done], pod: text}}
  pods: {kind: pod, key: name}
rules:
  done: {finds: x, grace: 60s, when: {jobs: {some: {state: done}}, pods: one}, do: {delete: pods}}
)");
    shows("jobs", "t/1", {{"state", text("done")}, {"pod", text("w")}});
    shows("jobs", "t/2", {{"state", text("running")}, {"pod", text("w")}});
    shows("pods", "u1", {{"name", text("w")}});
    EXPECT_EQ(says(), "abstain duplicate_claim");
    world_.subject.facets[1] = object("jobs", "t/2", {{"state", text("done")}, {"pod", text("w")}});
    EXPECT_EQ(says().substr(0, 13), "act delete u1");
}

TEST_F(Evaluator, ATimeIsOneHoweverItIsWritten) {
    // A pod was deleted since its row had the very time of its creation, as PostgreSQL writes it.
    with_policy(R"(
roles:
  rows: {kind: row, key: id, fields: {made: timestamp}}
  pods: {kind: pod, key: name}
rules:
  other:
    finds: x
    acknowledge: [no_grace]
    grace: 0s
    when: {pods: one, rows: {one: {made: {not: {same_as: pods.created}, set: true}}}}
    do: {delete: pods}
)");
    shows("pods", "u1", {{"created", text("2026-11-24T15:00:00Z")}});
    shows("rows", "r", {{"made", text("2026-11-24 15:00:00+00")}});
    EXPECT_EQ(says(), "healthy");
    world_.subject.facets[1] = object("rows", "r", {{"made", text("yesterday")}});
    EXPECT_EQ(says(), "abstain unreadable");
    world_.subject.facets[1] = object("rows", "r", {{"made", text("2026-11-24 15:00:01+00")}});
    EXPECT_EQ(says(), "act delete u1 at 1 about u1");
}

TEST_F(Evaluator, NothingIsTakenAwayForARowBesideOneThatMayBeLive) {
    // A rule that asks for some row that is down deleted the pod of the row that is up (or would
    // have, had executors not looked).
    with_policy(R"(
roles:
  rows: {kind: row, key: name, live: {status: up}, fields: {status: [up, down, lost], name: text}}
  pods: {kind: pod, key: name}
rules:
  down:
    finds: x
    grace: 60s
    acknowledge: [some_hides]
    when: {rows: {some: {status: down}}, pods: one}
    do: {delete: pods}
)");
    shows("rows", "t/1", {{"status", text("down")}, {"name", text("w")}});
    shows("rows", "t/2", {{"status", text("up")}, {"name", text("w")}});
    shows("pods", "u1", {{"name", text("w")}});
    EXPECT_EQ(says(), "abstain duplicate_claim");
    world_.subject.facets[1] = object("rows", "t/2", {{"status", kUnsent}, {"name", text("w")}});
    EXPECT_EQ(says(), "abstain duplicate_claim");
    world_.subject.facets[1] =
        object("rows", "t/2", {{"status", text("lost")}, {"name", text("w")}});
    EXPECT_EQ(says(), "act delete u1 at 1 about u1");
}

TEST_F(Evaluator, WhatNoSourceHasIsNotMade) {
    // The engine stopped as soon as it was to make something that no source has.
    with_policy(R"(
roles:
  rows: {kind: row, key: id}
  pods: {kind: pod, key: name, optional: true}
rules:
  another: {finds: x, when: {rows: one}, requested: more, do: {create: pods, name: "{subject}", from: builder}}
requests: {more: {owner: rows.id}}
)",
                "pods");
    EXPECT_EQ(flaw_, "a rule would create pods, and no source has any");
}

}  // namespace
}  // namespace trueup::testing
