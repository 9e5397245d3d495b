// Proves apps/survey.h: what `config check` says of sources that answer, one sentence for each
// thing that is wrong, with what the other side has beside it. Each of these was a green check, and
// a repair of a world that was right.
#include "apps/survey.h"

#include "apps/config/policy_file.h"
#include "apps/config/policy_settings.h"
#include "engine/model/object_builder.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace trueup::apps {
namespace {

using Texts = std::vector<std::string>;

config::Config configured(const std::string& rules = "", const std::string& expect = "") {
    const std::string text =
        "version: 1\n"
        "sources:\n"
        "  pods:\n"
        "    kubernetes: {in_cluster: true, namespace: graph, selector: app=wrapper}\n" +
        expect +
        "  rows:\n"
        "    postgres: {conninfo_env: DB, table: public.instances}\n"
        "policies:\n"
        "  - {name: graph-instances, use: graph-instances, roles: {pods: pods, rows: rows},\n"
        "     keys: {rows: pod_name}, rules: {" +
        rules +
        "}}\n"
        "executors: {delete_pod: {source: pods}, update_row: {source: rows}}\n";
    auto config = config::parse_config(text, "trueup.yaml");
    EXPECT_TRUE(config.ok()) << config.error().what;
    return std::move(*config);
}

const Texts kColumns{"status", "error_code", "error_message", "pod_name"};

/// A source of that name, with this many objects; rows are `running`, the last one `ACTIVE`.
Surveyed surveyed(const std::string& name, int objects) {
    Surveyed made;
    made.name = name;
    made.look.source = name;
    made.look.facts.resize(2);
    for (int i = 0; i < objects; ++i) {
        Fact fact;
        fact.kind = Fact::Kind::kUpsert;
        ObjectBuilder fields;
        fields.add("status", i + 1 < objects ? "running" : "ACTIVE");
        fact.object = fields.take();
        made.look.facts.insert(made.look.facts.end() - 1, std::move(fact));
    }
    made.missing_verbs = Texts{};
    if (name == "pods") made.namespace_exists = true;
    if (name == "rows") made.table.updatable = kColumns;
    return made;
}

Judged judged(const config::Config& config, const Surveyed& pods, const Surveyed& rows,
              const Rehearsed& rehearsed = {}) {
    return judge(config, "trueup.yaml", {pods, rows}, rehearsed);
}

TEST(Survey, SaysHowMuchThereIsOnBothSides) {
    const Judged said = judged(configured(), surveyed("pods", 1), surveyed("rows", 3));
    EXPECT_EQ(said.asked, (Texts{"pods: 1 pod", "rows: 3 rows, 3 live (ACTIVE 1, running 2)"}));
    EXPECT_EQ(said.finds, "nothing");
    EXPECT_EQ(said.wrong, Texts{});
    EXPECT_EQ(said.warnings, Texts{});
}

TEST(Survey, APathThatNoObjectHasIsSaid) {
    config::Config config = configured();
    policy::Policy text = *config.policies.front().text;
    policy::Field plan;
    plan.name = "plan";
    plan.path = "spec.paln";
    text.roles.front().fields.push_back(plan);
    ASSERT_EQ(text.roles.front().name, "pods");
    config.policies.front().text = text;
    config.policies.front().paths["pods"] = {*policy::FieldPath::parse("plan", "spec.paln")};
    const auto of = [&](bool there, bool readable) {
        Surveyed pods = surveyed("pods", 2);
        ObjectBuilder fields;
        if (there && readable) fields.add("plan", "gold");
        if (there && !readable) fields.add_unchanged("plan");
        pods.look.facts[1].object = fields.take();
        return judged(config, pods, surveyed("rows", 3)).warnings;
    };
    EXPECT_EQ(of(false, true), Texts{"source pods: no pod has spec.paln, which the policy reads as "
                                     "pods.plan; correct the path if it is meant to be there"});
    EXPECT_EQ(of(true, false),
              Texts{"source pods: nobody can compare 1 value (an object, a list, or more than 4096 "
                    "bytes) at spec.paln, which the policy reads as pods.plan; correct "
                    "the path if it is meant to be there"});
    EXPECT_EQ(of(true, true), Texts{});
}

TEST(Survey, ANamespaceThatDoesNotExistIsWrong) {
    Surveyed pods = surveyed("pods", 0);
    pods.namespace_exists = false;
    EXPECT_EQ(judged(configured(), pods, surveyed("rows", 2)).wrong,
              Texts{"trueup.yaml:3: source pods: there is no namespace 'graph', and rows has 2 "
                    "rows, 2 live (ACTIVE 1, running 1); write the namespace of the pods"});
}

TEST(Survey, ANamespaceThatNobodyMayLookForIsNoFailure) {
    Surveyed pods = surveyed("pods", 2);
    pods.namespace_exists = std::nullopt;
    const Judged said = judged(configured(), pods, surveyed("rows", 2));
    EXPECT_EQ(said.wrong, Texts{});
    EXPECT_EQ(said.asked[1],
              "pods: cannot tell whether namespace graph exists (needs get on namespaces)");
}

TEST(Survey, ASelectorThatMatchesNothingIsWrong) {
    EXPECT_EQ(judged(configured(), surveyed("pods", 0), surveyed("rows", 2)).wrong,
              Texts{"trueup.yaml:3: source pods: no pod in namespace graph matches the selector "
                    "\"app=wrapper\", and rows has 2 rows, 2 live (ACTIVE 1, running 1); correct "
                    "the selector, or write expect: {at_least: 0} if none is correct"});
    const config::Config none = configured("", "    expect: {at_least: 0}\n");
    EXPECT_EQ(judged(none, surveyed("pods", 0), surveyed("rows", 2)).wrong, Texts{});
}

TEST(Survey, AnEmptyTableIsWrong) {
    EXPECT_EQ(judged(configured(), surveyed("pods", 4), surveyed("rows", 0)).wrong,
              Texts{"trueup.yaml:5: source rows: table public.instances has no row, and pods has 4 "
                    "pods; is it the wrong database, or is it being restored? write expect: "
                    "{at_least: 0} if empty is correct"});
}

TEST(Survey, LessThanIsExpectedIsWrong) {
    const config::Config many = configured("", "    expect: {at_least: 40}\n");
    EXPECT_EQ(judged(many, surveyed("pods", 4), surveyed("rows", 4)).wrong,
              Texts{"trueup.yaml:3: source pods: it has 4 pods, but expect.at_least is 40; write "
                    "at most 4 if that is correct"});
}

TEST(Survey, ARightThatAnActingRuleNeedsIsWrongAndOthersAreWarnedOf) {
    Surveyed pods = surveyed("pods", 4);
    pods.missing_verbs = Texts{"delete"};
    Surveyed rows = surveyed("rows", 4);
    rows.table.updatable = {"status", "pod_name"};
    const Judged acting = judged(
        configured("orphaned_pod: {mode: approve}, missing_pod: {mode: enforce}"), pods, rows);
    EXPECT_EQ(acting.wrong,
              (Texts{"trueup.yaml:3: source pods: no right to delete pods, which orphaned_pod "
                     "does; grant the verb delete",
                     "trueup.yaml:5: source rows: no right to update error_code, error_message, "
                     "which missing_pod sets (or no such column); GRANT UPDATE (error_code, "
                     "error_message) ON \"public\".\"instances\" TO the role"}));
    EXPECT_EQ(acting.warnings, Texts{});
    const Judged observing = judged(configured(), pods, rows);
    EXPECT_EQ(observing.wrong, Texts{});
    EXPECT_EQ(observing.warnings.size(), 2U);
    EXPECT_EQ(observing.warnings[0],
              "source pods: no right to delete pods, which orphaned_pod does; grant the verb "
              "delete before the rule acts");
    EXPECT_EQ(judged(configured("orphaned_pod: {mode: off}"), pods, surveyed("rows", 4)).warnings,
              Texts{});
}

/// Pods without a row get one.
config::Config inserting(Mode mode) {
    config::Config config = configured();
    auto file = config::parse_policy(
        "policy: recorded\nlanguage: 1\nroles:\n  pods: {kind: pod, key: name}\n"
        "  rows: {kind: row, key: pod_name, fields: {status: text, pod_name: text}}\n"
        "rules:\n  unrecorded:\n    finds: pod without a row\n    when: {pods: one, rows: none}\n"
        "    do: {insert: rows, set: {pod_name: '{subject}', status: running}}\n",
        "recorded.yaml");
    EXPECT_TRUE(file.ok()) << file.error().what;
    config.policies[0].text = std::move(file->policy);
    config.policies[0].rules = config::usual_rules(config.policies[0]);
    config.policies[0].rules[0].mode = mode;
    config.executors.emplace_back();
    config.executors.back().kind = "insert_row";
    config.executors.back().sources = {"rows"};
    return config;
}

TEST(Survey, WhatKeepsARowFromBeingInsertedIsSaidBeforehand) {
    Surveyed rows = surveyed("rows", 4);
    rows.table.insertable = {"pod_name", "status"};
    rows.table.types = {{"pod_name", "text"}};
    const Judged fine = judged(inserting(Mode::kEnforce), surveyed("pods", 4), rows);
    EXPECT_EQ(fine.wrong, Texts{});
    EXPECT_EQ(fine.warnings, Texts{});

    rows.table.insertable = {"pod_name"};
    rows.table.required = {"pod_name", "owner"};
    rows.table.sequences = {"public.instances_id_seq"};
    rows.table.types = {{"pod_name", "uuid"}};
    rows.index = "\"pod_name\"";
    const std::string index =
        "nothing keeps two rows of one key apart, so that unrecorded can insert none; CREATE "
        "UNIQUE INDEX CONCURRENTLY ON \"public\".\"instances\" (\"pod_name\")";
    const Judged said = judged(inserting(Mode::kEnforce), surveyed("pods", 4), rows);
    EXPECT_EQ(said.wrong,
              (Texts{"trueup.yaml:5: source rows: no right to insert status, which unrecorded sets "
                     "(or no such column); GRANT INSERT (status) ON \"public\".\"instances\" TO "
                     "the role",
                     "trueup.yaml:5: source rows: unrecorded inserts rows, and no right to use "
                     "public.instances_id_seq, which fills a column of them; GRANT USAGE ON "
                     "SEQUENCE public.instances_id_seq TO the role",
                     "trueup.yaml:5: source rows: " + index}));
    EXPECT_EQ(said.warnings,
              (Texts{"source rows: unrecorded inserts rows without owner, which cannot be NULL and "
                     "has no default; set it, unless a trigger does",
                     "source rows: unrecorded sets pod_name, of type uuid, which may spell a name "
                     "otherwise; such a row is not inserted"}));
    const Judged observing = judged(inserting(Mode::kObserve), surveyed("pods", 4), rows);
    EXPECT_EQ(observing.wrong, Texts{});
    EXPECT_EQ(observing.warnings.back(), "source rows: " + index + " before the rule acts");
}

TEST(Survey, ARightToCreateIsMissedWhereARuleCreates) {
    config::Config config = configured();
    auto file = config::parse_policy(
        "policy: wanted\nlanguage: 1\nroles:\n  pods: {kind: pod, key: name}\n"
        "  rows: {kind: row, key: pod_name, fields: {pod_name: text}}\n"
        "rules:\n  missing:\n    finds: row without a pod\n    when: {rows: one, pods: none}\n"
        "    do: {create: pods, name: '{subject}', object: {spec: {}}}\n",
        "wanted.yaml");
    ASSERT_TRUE(file.ok()) << file.error().what;
    config.policies[0].text = std::move(file->policy);
    config.policies[0].rules = config::usual_rules(config.policies[0]);
    config.policies[0].rules[0].mode = Mode::kEnforce;
    Surveyed pods = surveyed("pods", 4);
    pods.missing_verbs = {{"create"}};
    config.executors.emplace_back();
    config.executors.back().kind = "create_object";
    config.executors.back().sources = {"pods"};
    const Judged said = judged(config, pods, surveyed("rows", 4));
    ASSERT_EQ(said.wrong.size(), 1U);
    EXPECT_NE(said.wrong[0].find("no right to create pods, which missing does; grant the verb "
                                 "create"),
              std::string::npos)
        << said.wrong[0];
}

TEST(Survey, SaysWhatWouldBeFoundAndWhenItIsTooMuch) {
    Rehearsed rehearsed;
    rehearsed.subjects = 20;
    rehearsed.wrong = 11;
    for (int i = 0; i < 11; ++i) rehearsed.proposals.push_back({"missing_pod", {}, {}, {}, {}, {}});
    const Judged said = judged(configured(), surveyed("pods", 9), surveyed("rows", 20), rehearsed);
    EXPECT_EQ(said.finds,
              "missing_pod 11; something would be done about 11 of 20 subjects (`trueup plan` says "
              "what)");
    ASSERT_EQ(said.warnings.size(), 1U);
    EXPECT_EQ(said.warnings[0].substr(0, 32), "11 of 20 subjects would be wrong");
    EXPECT_EQ(said.wrong, Texts{});
}

}  // namespace
}  // namespace trueup::apps
