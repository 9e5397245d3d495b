// Proves apps/config/roles.cpp and published.cpp: a policy is one that the binary carries or a file
// of one's own, and sources play its roles.
#include "apps/config/describe.h"
#include "apps/config/policy_file.h"
#include "tests/apps/config/support.h"
#include "tests/support/temp_dir.h"

#include <gtest/gtest.h>

#include <fstream>
#include <string>
#include <vector>

namespace trueup::config {
namespace {

/// Of a stranger's table and pods; its policy is in line 13 and those after it.
std::string of(const std::string& policy, const std::string& executors = "{}") {
    return "version: 1\n"
           "sources:\n"
           "  workers:\n"
           "    kubernetes:\n"
           "      kubeconfig: kube.yaml\n"
           "      namespace: jobs\n"
           "      selector: role=worker\n"
           "  table:\n"
           "    postgres:\n"
           "      conninfo_env: TRUEUP_DATABASE\n"
           "      table: public.workers\n"
           "policies:\n"
           "  - name: jobs\n" +
           policy + "executors: " + executors + "\n";
}

constexpr const char* kBoth = "{delete_pod: {source: workers}, update_row: {source: table}}";

class PolicyFiles : public ::testing::Test {
  protected:
    void write(const std::string& name, const std::string& text) const {
        std::ofstream(dir / name) << text;
    }
    Result<Config> load(const std::string& text) const {
        write("trueup.yaml", text);
        return load_config(dir / "trueup.yaml");
    }
    /// What is wrong with it, file names without the folder.
    std::string flaws_of(const std::string& text) const {
        const Result<Config> config = load(text);
        if (config) return "(sound)";
        std::string what = config.error().what;
        const std::string folder = dir / "";
        for (std::size_t at = 0; (at = what.find(folder)) != std::string::npos;) {
            what.erase(at, folder.size());
        }
        return what;
    }
    testing::TempDir dir;
};

/// Two roles and a rule; `rule` follows it.
std::string small(const std::string& roles = "", const std::string& rule = "do: report") {
    return "policy: mine\n"
           "language: 1\n"
           "subject: the name of a pod\n"
           "roles:\n"
           "  pods: {kind: pod, key: name}\n"
           "  rows: {kind: row, key: pod, live: {state: up}, fields: {state: text, pod: text}}\n" +
           roles +
           "rules:\n"
           "  stray:\n"
           "    finds: pod without a row\n"
           "    when: {pods: one, rows: none}\n"
           "    grace: 2m\n"
           "    create_window: 1m\n"
           "    acknowledge: [open_words]\n"
           "    " +
           rule + "\n";
}

constexpr const char* kMine =
    "    file: mine.yaml\n"
    "    roles: {pods: workers, rows: table}\n";

TEST(PolicyRoles, APolicyOfAStrangersTableIsRunByItsFileAlone) {
    const Config config = parsed(of(std::string("    file: ") + TRUEUP_POLICIES +
                                        "/examples/workers.yaml\n"
                                        "    roles: {pods: workers, rows: table}\n"
                                        "    rules: {dead_worker: {mode: enforce}, orphaned_pod: "
                                        "{mode: approve, grace: 3m}}\n",
                                    kBoth));
    EXPECT_EQ(config.source("table")->postgres()->columns,
              (std::vector<std::string>{"host", "k8s_pod", "state", "updated_at"}))
        << "what its rules read";
    const Settings settings = policy_settings(config);
    EXPECT_EQ(settings.policy, "jobs");
    EXPECT_EQ(settings.text->name, "workers");
    ASSERT_EQ(settings.rules.size(), 6U);
    EXPECT_EQ(settings.rules[0], (RuleSettings{"orphaned_pod", Mode::kApprove, Millis(180'000),
                                               Millis(60'000), Budget{}}));
    EXPECT_EQ(settings.rules[1].mode, Mode::kEnforce);
    EXPECT_EQ(settings.rules[5].mode, Mode::kObserve)
        << "it deletes and writes, and nothing says off";
    EXPECT_EQ(settings.sources[0].role, 0U);
    EXPECT_EQ(settings.sources[1].role, 1U);
    EXPECT_EQ(policy_settings(parsed(describe_json(config))), settings);
}

/// By what each source is read: by which key, and which of its fields.
std::vector<std::uint64_t> mappings(const std::string& policy) {
    std::vector<std::uint64_t> all;
    for (const SourceSettings& source : policy_settings(parsed(of(policy))).sources) {
        all.push_back(source.mapping);
    }
    return all;
}

// What a connector tells of a column that is read since it was started is NULL to every rule.
TEST_F(PolicyFiles, AnotherKeyOrAnotherFieldIsAnotherMappingOfItsSource) {
    const auto read = [&](const std::string& text) {
        write("mine.yaml", text);
        return mappings("    file: " + std::string(dir / "mine.yaml") +
                        "\n    roles: {pods: workers, rows: table}\n");
    };
    const auto with = [&](std::string text, const std::string& part, const std::string& other) {
        text.replace(text.find(part), part.size(), other);
        return read(text);
    };
    const std::vector<std::uint64_t> usual = read(small());
    ASSERT_EQ(usual.size(), 2U);
    EXPECT_NE(usual[0], 0U);
    EXPECT_NE(usual[1], 0U);
    EXPECT_EQ(read(small()), usual);
    EXPECT_EQ(with(small(), "live: {state: up}", "live: {state: down}"), usual)
        << "what is made of a field is not how it is read";
    const auto other_key = with(small(), "key: pod,", "key: \"coalesce(pod, state)\",");
    EXPECT_EQ(other_key[0], usual[0]);
    EXPECT_NE(other_key[1], usual[1]);
    std::string host = small();
    host.replace(host.find("pod: text}"), 10, "pod: text, host: text}");
    EXPECT_EQ(read(host), usual) << "what no rule reads is not told";
    const auto more = with(host, "rows: none}", "rows: {none: {host: gone}}}");
    EXPECT_EQ(more[0], usual[0]);
    EXPECT_NE(more[1], usual[1]);
    const auto label = with(small(), "pods: one,", "pods: {one: {label.drain: null}},");
    EXPECT_NE(label[0], usual[0]);
    EXPECT_EQ(label[1], usual[1]);
}

TEST(PolicyRoles, ColumnsOfRulesThatAreOffAreNotNeeded) {
    const std::string file = std::string("    file: ") + TRUEUP_POLICIES +
                             "/examples/workers.yaml\n"
                             "    roles: {pods: workers, rows: table}\n";
    const Config config = parsed(
        of(file + "    rules: {stuck_draining: {mode: off}, drain_requested: {mode: off}}\n"));
    EXPECT_EQ(config.source("table")->postgres()->columns,
              (std::vector<std::string>{"k8s_pod", "state"}));
}

TEST(PolicyRoles, WhatTheReleaseCarriesIsTakenByName) {
    const std::string roles = "    roles: {pods: workers, rows: table}\n";
    EXPECT_EQ(flaws(of("    use: graph-instances\n" + roles)), "(sound)");
    EXPECT_EQ(flaws(of(roles)),
              "trueup.yaml:13: policies[0] needs the key 'use'; write use: graph-instances, or "
              "file: FILE with a policy of your own");
    EXPECT_EQ(flaws(of("    use: graph-instances\n    file: mine.yaml\n" + roles)),
              "trueup.yaml:15: policies[0].file and use exclude each other; leave one out");
}

TEST(PolicyRoles, EachRoleIsPlayedByASourceOfItsKind) {
    const auto with_roles = [](const std::string& roles) {
        return flaws(of("    use: graph-instances\n" + roles));
    };
    EXPECT_EQ(
        with_roles(""),
        "trueup.yaml:13: policies[0] needs the key 'roles'; write roles: {pods: SOURCE, rows: "
        "SOURCE}");
    EXPECT_EQ(
        with_roles("    roles: {pods: workers}\n"),
        "trueup.yaml:15: policies[0].roles needs the key 'rows'; write rows: NAME of a source "
        "of postgres");
    EXPECT_EQ(with_roles("    roles: {pods: workers, rows: table, row: table}\n"),
              "trueup.yaml:15: unknown key 'row' under policies[0].roles; did you mean 'rows'?");
    EXPECT_EQ(with_roles("    roles: {pods: table, rows: table}\n"),
              "trueup.yaml:15: policies[0].roles.pods names 'table', which is not a source of pods "
              "of kubernetes; name one that is");
}

// The keys of releases before this one.
TEST(PolicyRoles, FormerKeysSayWhatIsWrittenInstead) {
    EXPECT_EQ(flaws(of("    use: graph-instances\n    pods: workers\n    correlate: pod_name\n"
                       "    roles: {pods: workers, rows: table}\n")),
              "trueup.yaml:15: policies[0].pods is written under roles: {pods: SOURCE}\n"
              "trueup.yaml:16: policies[0].correlate is written under keys: {rows: EXPRESSION}, if "
              "it is not the policy's own key");
}

TEST(PolicyRoles, WhatNoSourceOfThisReleaseHasIsRefused) {
    EXPECT_EQ(
        flaws(of("    use: ec2-workers\n    roles: {rows: table}\n")),
        "trueup.yaml:14: policies[0].use needs EC2 instances for its role instances, and this "
        "release has no source of such; use a policy without");
}

TEST_F(PolicyFiles, WhatIsWrongWithTheFileIsSaidWithItsOwnLine) {
    write("mine.yaml", small("", "do: {delete: pod}"));
    EXPECT_EQ(flaws_of(of(kMine)),
              "trueup.yaml:14: policies[0].file is wrong: mine.yaml:14: rules.stray.do.delete: "
              "'pod' is not a role of this policy; did you mean 'pods'?");
    EXPECT_EQ(flaws_of(of("    file: none.yaml\n    roles: {}\n")),
              "trueup.yaml:14: policies[0].file is wrong: none.yaml: cannot read the policy: "
              "No such file or directory");
    write("mine.yaml", std::string(kMostPolicyBytes + 1, '#'));
    EXPECT_EQ(flaws_of(of(kMine)),
              "trueup.yaml:14: policies[0].file is wrong: mine.yaml: cannot read the policy: "
              "it is longer than 256KiB");
}

/// Rows that name the node which they are on, and a table that tells when they were filled in.
constexpr const char* kShared = R"(
policy: jobs
language: 1
roles:
  rows:
    kind: row
    key: job
    fields: {job: text, node: text, state: [up, lost]}
    as_of: {field: fillings.began, at: workers}
  nodes: {kind: object, key: name, reference: true, fields: {ready: {boolean: status.ready}}}
  fillings: {kind: row, key: name, reference: true, fields: {name: text, began: timestamp}}
rules:
  duplicate_claim: {finds: two of a name, when: duplicates, do: report}
  lost:
    finds: row whose node is gone
    when: {rows: {one: {state: up}}, nodes: {none: {ready: true}, named: rows.node}}
    grace: 30s
    create_window: 30s
    do: {update: rows, set: {state: lost}}
)";

/// Its configuration; `nodes` is the place of their source.
std::string sharing(const std::string& nodes) {
    std::string text =
        of("    file: mine.yaml\n"
           "    roles: {rows: table, nodes: nodes, fillings: fillings}\n"
           "    rules: {lost: {mode: enforce}, duplicate_claim: {mode: observe}}\n",
           "{update_row: {source: table}}");
    text.insert(text.find("policies:"),
                "  fillings: {postgres: {conninfo_env: TRUEUP_DATABASE, table: public.fillings}}\n"
                "  nodes: {kubernetes: {kubeconfig: kube.yaml, " +
                    nodes + "}}\n");
    return text;
}

TEST_F(PolicyFiles, SourcesPlayRolesThatAreLookedUpByName) {
    write("mine.yaml", kShared);
    const Result<Config> config = load(sharing("resource: v1/nodes"));
    ASSERT_TRUE(config.ok()) << config.error().what;
    const std::vector<std::string> columns{"began", "name"};
    EXPECT_EQ(config->source("fillings")->postgres()->columns, columns);
    EXPECT_TRUE(config->source("nodes")->kubernetes()->resource.cluster_scoped);
    const std::string said = describe(*config);
    EXPECT_NE(said.find("role      nodes: source nodes, by name, for all subjects\n"),
              std::string::npos)
        << said;
    EXPECT_NE(said.find("role      rows: source table, by job, as of fillings.began of workers\n"),
              std::string::npos)
        << said;
}

// Whose settings are meant, nobody could say.
TEST_F(PolicyFiles, WhatIsLookedUpByNameLiesInOneNamespace) {
    write("mine.yaml", kShared);
    EXPECT_EQ(flaws_of(sharing("resource: v1/configmaps, namespace: jobs")), "(sound)");
    EXPECT_NE(flaws_of(sharing("resource: v1/configmaps, all_namespaces: true"))
                  .find("lets lost act, but sources.nodes has all namespaces"),
              std::string::npos);
}

TEST_F(PolicyFiles, AnotherTextIsAnotherConfiguration) {
    write("mine.yaml", small());
    const Result<Config> before = load(of(kMine));
    write("mine.yaml", small() + "# changed\n");
    const Result<Config> after = load(of(kMine));
    ASSERT_TRUE(before.ok() && after.ok()) << before.error().what;
    EXPECT_NE(before->digest, after->digest);
}

TEST_F(PolicyFiles, ItsWarningsAreThoseOfTheConfiguration) {
    write("mine.yaml", small());
    const Result<Config> config = load(of(kMine));
    ASSERT_TRUE(config.ok()) << config.error().what;
    bool said = false;
    for (const std::string& warning : warnings(*config)) {
        said = said || warning.find("mine.yaml:") != std::string::npos;
    }
    EXPECT_TRUE(said);
}

TEST_F(PolicyFiles, WhatNoExecutorCanDoIsObservedAtMost) {
    write("mine.yaml", with(small("", "do: {create: pods, name: x, from: pod}"),
                            "{pods: one, rows: none}", "{rows: one, pods: none}"));
    const auto in_mode = [&](const std::string& mode) {
        return flaws_of(of(kMine + ("    rules: {stray: {mode: " + mode + "}}\n")));
    };
    EXPECT_EQ(in_mode("observe"), "(sound)");
    EXPECT_EQ(in_mode("enforce"),
              "trueup.yaml:16: rules.stray.mode is 'enforce', and no executor of this release can "
              "create pods; write observe or off");
}

TEST_F(PolicyFiles, WhatTheBuildCannotJudgeIsOff) {
    write("mine.yaml", small("", "do: {follow: pods}"));
    EXPECT_EQ(flaws_of(of(kMine)), "(sound)");
    EXPECT_EQ(policy_settings(*load(of(kMine))).rules[0].mode, Mode::kOff);
    EXPECT_EQ(flaws_of(of(kMine + std::string("    rules: {stray: {mode: observe}}\n"))),
              "trueup.yaml:16: rules.stray.mode is 'observe', and nothing in this build can follow "
              "pods; write off");
}

TEST_F(PolicyFiles, LabelsThatItReadsArePublished) {
    write("mine.yaml", small("", "do: report"));
    EXPECT_EQ(load(of(kMine))->source("workers")->kubernetes()->labels, std::vector<std::string>{});
    const std::string labelled = with(small(), "{kind: pod, key: name}",
                                      "{kind: pod, key: label.worker, live: {label.tier: gold}}");
    write("mine.yaml", labelled);
    const Result<Config> config = load(of(kMine));
    ASSERT_TRUE(config.ok()) << config.error().what;
    const SourceConfig& pods = *config->source("workers");
    EXPECT_EQ(pods.kubernetes()->labels, (std::vector<std::string>{"tier", "worker"}));
    EXPECT_EQ(key_label_of(config->policies[0], pods), "worker");
    const std::string hashed =
        with(of(kMine), "role=worker\n", "role=worker\n      fields: {label.tier: hash}\n");
    EXPECT_EQ(flaws_of(hashed),
              "trueup.yaml:8: sources.workers.kubernetes.fields.label.tier is hash, but the policy "
              "needs its text; write map");
}

// By a list of who has the label (executors/read_set.h).
TEST_F(PolicyFiles, RulesActOnObjectsThatALabelNames) {
    write("mine.yaml", with(small("", "do: {delete: pods}"), "{kind: pod, key: name}",
                            "{kind: pod, key: label.worker}"));
    const std::string acts = "    rules: {stray: {mode: approve}}\n";
    EXPECT_EQ(flaws_of(of(kMine + acts, kBoth)), "(sound)");
    const std::string list =
        with(small("", "do: [{delete: pods}, {update: rows, set: {state: down}}]"), "rows: none",
             "rows: {one: {state: up}}");
    write("mine.yaml", with(list, "{kind: pod, key: name}", "{kind: pod, key: label.worker}"));
    EXPECT_NE(flaws_of(of(kMine + acts, kBoth))
                  .find("lets stray act, with a list of steps of which one is for pods, which are "
                        "known by a label"),
              std::string::npos)
        << flaws_of(of(kMine + acts, kBoth));
}

TEST_F(PolicyFiles, KeysAreWhatSourcesCanTell) {
    const auto keyed = [&](const std::string& from, const std::string& to) {
        write("mine.yaml", with(small(), from, to));
        return flaws_of(of(kMine));
    };
    EXPECT_EQ(keyed("key: pod,", "key: lower(pod),"),
              "trueup.yaml:14: policies[0].keys.rows is lower(pod): it uses lower(...), which a "
              "table does not have; write columns, 'literals', || and coalesce(...)");
    EXPECT_EQ(keyed("key: pod,", "key: '\"podName\"',"), "(sound)")
        << "SQL would fold it without quotes";
    EXPECT_EQ(keyed("key: name", "key: \"namespace || '.' || name\""),
              "trueup.yaml:14: policies[0].keys.pods is namespace || '.' || name, and this release "
              "knows objects of Kubernetes by their name or by one label; write name or label.KEY");
    write("mine.yaml", small());
    const std::string other =
        of(kMine + std::string("    keys: {rows: \"coalesce(pod, host)\"}\n"));
    const Result<Config> config = load(other);
    ASSERT_TRUE(config.ok()) << config.error().what;
    EXPECT_EQ(config->source("table")->postgres()->columns,
              (std::vector<std::string>{"host", "pod", "state"}));
    EXPECT_EQ(policy::key_text(config->policies[0].role_of("table")->key), "coalesce(pod, host)");
    EXPECT_EQ(flaws_of(of(kMine + std::string("    keys: {pods: owner}\n"))),
              "trueup.yaml:16: policies[0].keys.pods is owner, and this release knows objects of "
              "Kubernetes by their name or by one label; write name or label.KEY");
}

// Symptom: a list of pods without `deleting` was one of pods that go, and their rows were failed.
TEST_F(PolicyFiles, WhatEveryObjectHasIsNotDeclared) {
    const auto declared = [&](const std::string& field) {
        write("mine.yaml", with(small(), "{kind: pod, key: name}",
                                "{kind: pod, key: name, fields: {" + field + ": text}, live: {" +
                                    field + ": x}}"));
        return flaws_of(of(kMine));
    };
    for (const std::string field : {"created", "deleting", "in_scope", "namespace", "uid"}) {
        EXPECT_EQ(
            declared(field),
            "trueup.yaml:14: policies[0].file reads a field " + field +
                " besides the one that every object has (leave it out of fields) for its role "
                "pods, and no source of this release says that; set the rules that ask for it "
                "to mode: off, or use a policy without");
    }
    EXPECT_EQ(declared("phase"), "(sound)");
    EXPECT_EQ(declared("zone").find("reads the field zone of objects for its role pods"),
              std::string("trueup.yaml:14: policies[0].file ").size());
}

TEST_F(PolicyFiles, OptionalRolesThatArePlayedMayBeAskedFor) {
    const std::string text = with(small("  old: {kind: pod, key: name, optional: true}\n"),
                                  "{pods: one, rows: none}", "{pods: one, rows: none, old: none}");
    write("mine.yaml", text);
    const std::string config =
        with(of("    file: mine.yaml\n    roles: {pods: workers, rows: table, old: older}\n"),
             "sources:\n",
             "sources:\n  older: {kubernetes: {kubeconfig: k, namespace: jobs, selector: a=b}}\n");
    EXPECT_EQ(flaws_of(config), "(sound)");
    EXPECT_EQ(
        flaws_of(of(kMine)),
        "trueup.yaml:14: policies[0].file cannot be run by this release: a rule asks for old, "
        "and no source has any");
}

// Symptom: `config check` ended with a lost invariant.
TEST_F(PolicyFiles, MoreThanABuildHasRoomForIsRefusedWithASentence) {
    std::string live = "state: up";
    std::string fields = "state: text, pod: text";
    std::string key = "coalesce(c0";
    for (int i = 1; i <= 35; ++i) {
        const std::string number = std::to_string(i);
        live += ", f" + number + ": up";
        fields += ", f" + number + ": text";
        if (i <= 30) key += ", c" + number;
    }
    write("mine.yaml", with(small(), "live: {state: up}, fields: {state: text, pod: text}",
                            "live: {" + live + "}, fields: {" + fields + "}"));
    EXPECT_EQ(flaws_of(of(kMine)), "(sound)");
    EXPECT_EQ(flaws_of(of(kMine + ("    keys: {rows: \"" + key + ")\"}\n"))),
              "trueup.yaml:14: policies[0].file cannot be run by this release: the policy reads 67 "
              "fields of rows; this build has room for 64");
}

// Symptom: a deadline from a pod's creation was never over, and nothing said so.
TEST_F(PolicyFiles, ADeadlineNeedsASourceWithAClock) {
    write("mine.yaml", with(small("", "do: report"), "    grace: 2m\n",
                            "    grace: 2m\n    past: pods.created + 1h\n"));
    EXPECT_EQ(
        flaws_of(of(kMine + std::string("    rules: {stray: {mode: observe}}\n"))),
        "trueup.yaml:16: rules.stray.mode is 'observe', and no source of pods tells its time, "
        "so that what begins at pods.created is never over; write off");
}

// Symptom: a row was never written, since its pod is looked up in one namespace, and the source has
// all of them.
TEST_F(PolicyFiles, NothingActsOnWhatIsNotFoundAgain) {
    write("mine.yaml", with(small("", "do: {update: rows, set: {state: down}}"),
                            "{pods: one, rows: none}", "{rows: {one: {state: up}}, pods: none}"));
    const std::string acts =
        of(kMine + std::string("    rules: {stray: {mode: enforce}}\n"), kBoth);
    EXPECT_EQ(flaws_of(acts), "(sound)");
    const std::string all = with(acts, "namespace: jobs", "all_namespaces: true");
    EXPECT_EQ(flaws_of(all),
              "trueup.yaml:16: policies[0].rules lets stray act, but sources.workers has all "
              "namespaces, and a name of pods says nothing of the namespace that is meant; write "
              "mode: observe, or a source for each namespace, as in roles: {pods: [one, two]}; of "
              "objects that lie in no namespace write cluster_scoped: true");
    EXPECT_EQ(flaws_of(with(all, "mode: enforce", "mode: observe")), "(sound)");
    write("mine.yaml", with(small("  jobs: {kind: object, key: name}\n", "do: {delete: pods}"),
                            "{pods: one, rows: none}", "{pods: one, rows: none, jobs: none}"));
    const std::string elsewhere =
        with(with(acts, "roles: {pods: workers, rows: table}",
                  "roles: {pods: workers, rows: table, jobs: batch}"),
             "sources:\n",
             "sources:\n  batch: {kubernetes: {kubeconfig: k, namespace: batch, selector: a=b, "
             "resource: batch/v1/jobs}}\n");
    EXPECT_EQ(flaws_of(elsewhere), "(sound)") << "each is looked up where its source looks";
}

TEST_F(PolicyFiles, ARoleMayHaveSeveralSources) {
    write("mine.yaml", small("", "do: {delete: pods}"));
    const std::string one = of(kMine + std::string("    rules: {stray: {mode: enforce}}\n"),
                               "{delete_pod: [{source: workers}, {source: west}]}");
    const auto two = [&](const std::string& west, const std::string& roles = "[workers, west]") {
        return with(with(one, "{pods: workers, rows: table}", "{pods: " + roles + ", rows: table}"),
                    "sources:\n", "sources:\n  west: {kubernetes: {" + west + "}}\n");
    };
    const std::string there = "kubeconfig: west.yaml, namespace: jobs, selector: role=worker";
    const Result<Config> config = load(two(there));
    ASSERT_TRUE(config.ok()) << config.error().what;
    EXPECT_EQ(config->policies[0].sources_of("pods"),
              (std::vector<std::string>{"workers", "west"}));
    EXPECT_EQ(policy_settings(*config).sources.size(), 3U);
    EXPECT_EQ(flaws_of(two("kubeconfig: kube.yaml, namespace: jobs, selector: of=others")),
              "trueup.yaml:16: policies[0].roles.pods has 'workers' and 'west', which look at the "
              "same place, so that an object would be there twice; write one of them");
    EXPECT_EQ(flaws_of(two(there, "[workers, workers, west]")),
              "trueup.yaml:16: policies[0].roles.pods names 'workers', which plays pods already; "
              "write another source");
    EXPECT_EQ(flaws_of(with(two(there), ", {source: west}", "")),
              "trueup.yaml:17: rules.stray.mode is enforce, and executors.delete_pod does not act "
              "on 'west'; add it, as in delete_pod: [{source: NAME}, {source: west}]");
    EXPECT_EQ(flaws_of(two(there, "[]")),
              "trueup.yaml:16: policies[0].roles.pods is empty; write the source that plays it, or "
              "a list of them");
}

TEST_F(PolicyFiles, WhatLiesInNoNamespaceIsActedOn) {
    write("mine.yaml", with(small("", "do: {delete: pods}"), "{kind: pod, key: name}",
                            "{kind: object, key: name}"));
    const std::string nodes = with(of(kMine + std::string("    rules: {stray: {mode: enforce}}\n"),
                                      "{delete_object: {sources: [workers]}}"),
                                   "      namespace: jobs\n", "      resource: v1/nodes\n");
    EXPECT_EQ(flaws_of(nodes), "(sound)");
    EXPECT_EQ(flaws_of(with(nodes, "v1/nodes\n", "v1/nodes\n      namespace: jobs\n")),
              "trueup.yaml:7: sources.workers.kubernetes.namespace is 'jobs', and nodes lie in no "
              "namespace; leave it out");
    const std::string boxes =
        with(nodes, "v1/nodes\n", "lab.example/v1/boxes\n      cluster_scoped: true\n");
    EXPECT_EQ(flaws_of(boxes), "(sound)");
    EXPECT_EQ(
        flaws_of(with(boxes, "lab.example/v1/boxes", "v1/configmaps")),
        "trueup.yaml:7: sources.workers.kubernetes.cluster_scoped is true, and configmaps lie "
        "in namespaces; write namespace: NAME");
}

/// Fields of a custom resource are set where no row has it.
std::string setting(const std::string& set) {
    return with(with(small("", "do: {update: pods, set: {" + set + "}}"), "{kind: pod, key: name}",
                     "{kind: object, key: name, fields: {off: {boolean: spec.off}, "
                     "code: {text: spec.token}}}"),
                "{pods: one, rows: none}", "{pods: {one: {off: {not: true}}}, rows: none}");
}

TEST_F(PolicyFiles, RowsAreInsertedByTheAccountThatUpdatesThem) {
    write("mine.yaml", small("", "do: {insert: rows, set: {pod: '{subject}'}}"));
    const auto by = [this](const std::string& executors) {
        return flaws_of(
            of(kMine + std::string("    rules: {stray: {mode: enforce}}\n"), executors));
    };
    EXPECT_EQ(by("{update_row: {source: table}}"),
              "trueup.yaml:16: rules.stray.mode is enforce, and executors.insert_row is missing; "
              "write executors: {insert_row: {source: table}}");
    EXPECT_EQ(by("{insert_row: {source: table}}"), "(sound)");
    EXPECT_EQ(by("{insert_row: {source: table}, update_row: {source: table}}"), "(sound)");
    EXPECT_EQ(by("{insert_row: {source: table, conninfo_env: W}, update_row: {source: table}}"),
              "trueup.yaml:17: executors.update_row.source names 'table', which line 17 acts on as "
              "another account; write the same conninfo in both");
}

TEST_F(PolicyFiles, WhatIsCreatedNeedsAnExecutorAndIsSeenByItsSource) {
    const auto making = [this](const std::string& object) {
        write("mine.yaml",
              with(small("", "do: {create: pods, name: '{subject}', object: " + object + "}"),
                   "{pods: one, rows: none}", "{rows: one, pods: none}"));
    };
    const auto by = [](const std::string& executors) {
        return of(kMine + std::string("    rules: {stray: {mode: enforce}}\n"), executors);
    };
    making("{metadata: {labels: {role: worker}}, spec: {}}");
    EXPECT_EQ(
        flaws_of(by("{}")),
        "trueup.yaml:16: rules.stray.mode is enforce, and executors.create_object is missing; "
        "write executors: {create_object: {sources: [workers]}}");
    const std::string sound = by("{create_object: {sources: [workers]}}");
    EXPECT_EQ(flaws_of(sound), "(sound)");
    EXPECT_EQ(flaws_of(with(with(by("{create_object: {sources: [workers, west]}}"),
                                 "{pods: workers,", "{pods: [workers, west],"),
                            "sources:\n",
                            "sources:\n  west: {kubernetes: {kubeconfig: west.yaml, namespace: "
                            "jobs, selector: role=worker}}\n")),
              "trueup.yaml:17: rules.stray.mode is enforce, and pods has several sources: nobody "
              "says where it creates; name one source");
    making("{metadata: {labels: {role: '{rows.pod}'}}, spec: {}}");
    EXPECT_EQ(flaws_of(sound), "(sound)") << "an executor asks once more";
    for (const char* other : {"{spec: {}}", "{metadata: {labels: {role: other}}}"}) {
        making(other);
        EXPECT_EQ(
            flaws_of(sound),
            "trueup.yaml:14: policies[0].file creates pods in stray without the label role by "
            "which source workers selects its objects (role=worker), so that nobody would see "
            "it; write it under object.metadata.labels");
    }
}

TEST_F(PolicyFiles, WhatIsSetInObjectsNeedsAnExecutorThatMay) {
    write("mine.yaml", setting("off: true"));
    const auto by = [](const std::string& executors) {
        return with(of(kMine + std::string("    rules: {stray: {mode: enforce}}\n"), executors),
                    "      kubeconfig: kube.yaml\n",
                    "      kubeconfig: kube.yaml\n      resource: lab.example/v1/boxes\n");
    };
    EXPECT_EQ(
        flaws_of(by("{}")),
        "trueup.yaml:17: rules.stray.mode is enforce, and executors.update_object is missing; "
        "write executors: {update_object: {sources: [workers]}}");
    EXPECT_EQ(
        flaws_of(by("{delete_object: {sources: [workers]}}")),
        "trueup.yaml:17: rules.stray.mode is enforce, and executors.update_object is missing; "
        "write executors: {update_object: {sources: [workers]}}");
    EXPECT_EQ(flaws_of(by("{update_object: {sources: [workers]}}")), "(sound)");
    EXPECT_EQ(flaws_of(by("{update_object: {sources: [workers]}, delete_object: {sources: "
                          "[workers]}}")),
              "(sound)");
    EXPECT_EQ(flaws_of(by("{update_object: {sources: [workers], kubeconfig: other.yaml}, "
                          "delete_object: {sources: [workers]}}")),
              "trueup.yaml:18: executors.update_object.sources names 'workers', which line 18 acts "
              "on as another account; write the same kubeconfig and context in both");
    EXPECT_EQ(flaws_of(by("{update_object: [{sources: [workers]}, {sources: [workers]}], "
                          "delete_object: {sources: [workers]}}")),
              "trueup.yaml:18: executors.update_object[1].sources names 'workers', which line 18 "
              "acts on already; leave one out");
    EXPECT_EQ(flaws_of(with(by("{update_object: {sources: [workers]}}"),
                            "      selector: role=worker\n", "")),
              "trueup.yaml:16: policies[0].rules relaxes stray.no_selector: it updates boxes "
              "because of what is not there, and their source selects nothing, so that every one "
              "of the namespace is a candidate; add acknowledge: [stray.no_selector] if this is "
              "intended");
}

TEST_F(PolicyFiles, NeitherASecretNorABrakeNorASelectionIsSet) {
    const std::string config =
        with(of(kMine + std::string("    rules: {stray: {mode: observe}}\n")),
             "      kubeconfig: kube.yaml\n",
             "      kubeconfig: kube.yaml\n      resource: lab.example/v1/boxes\n");
    const std::string where = "trueup.yaml:15: policies[0].file sets ";
    write("mine.yaml", setting("off: true, code: x"));
    EXPECT_EQ(flaws_of(config), where +
                                    "spec.token of pods in stray, which looks like a secret, and "
                                    "would stand in commands; set another one");
    write("mine.yaml", setting("off: true, label.role: x"));
    EXPECT_EQ(flaws_of(config), where +
                                    "label.role of pods in stray, by which source workers selects "
                                    "its objects; set another one");
    write("mine.yaml", setting("off: true, annotation.trueup.io/hold: x"));
    EXPECT_EQ(flaws_of(config), where +
                                    "annotation.trueup.io/hold of pods in stray, by which source "
                                    "workers knows a hold; set another one");
    write("mine.yaml", setting("off: true, label.worker-role: x"));
    EXPECT_EQ(flaws_of(config), "(sound)");
}

// Symptom (§16, K irreversible and no_selector): a volume was deleted by a rule in enforce, from a
// source that selected nothing, and no word was said of either.
TEST_F(PolicyFiles, WhatDoesNotComeBackAndWhatNobodySelectedIsAcknowledged) {
    write("mine.yaml", with(small("", "do: {delete: pods}"), "{kind: pod, key: name}",
                            "{kind: object, key: name}"));
    const std::string deletes =
        with(with(of(kMine + std::string("    rules: {stray: {mode: enforce}}\n"),
                     "{delete_object: {sources: [workers]}}"),
                  "      selector: role=worker\n", ""),
             "      kubeconfig: kube.yaml\n",
             "      kubeconfig: kube.yaml\n      resource: v1/persistentvolumeclaims\n");
    EXPECT_EQ(
        flaws_of(deletes),
        "trueup.yaml:16: policies[0].rules relaxes stray.irreversible: what is in "
        "persistentvolumeclaims does not come back; mode: approve asks somebody each time; add "
        "acknowledge: [stray.irreversible] if this is intended\n"
        "trueup.yaml:16: policies[0].rules relaxes stray.no_selector: it deletes "
        "persistentvolumeclaims because of what is not there, and their source selects "
        "nothing, so that every one of the namespace is a candidate; add acknowledge: "
        "[stray.no_selector] if this is intended");
    const std::string known =
        with(deletes,
             "executors:", "    acknowledge: [stray.irreversible, stray.no_selector]\nexecutors:");
    EXPECT_EQ(flaws_of(known), "(sound)");
    const std::string careful =
        with(with(deletes, "mode: enforce", "mode: approve"), "      namespace: jobs\n",
             "      namespace: jobs\n      selector: owner=jobs\n");
    EXPECT_EQ(flaws_of(careful), "(sound)");
}

// Symptom: a rule said acknowledge: [irreversible], as the manual asked, and was refused all the
// same; and nobody could say so of a resource of his own.
TEST_F(PolicyFiles, WhatDoesNotComeBackIsAcknowledgedByItsRuleToo) {
    const std::string boxes =
        with(of(kMine + std::string("    rules: {stray: {mode: enforce}}\n"),
                "{delete_object: {sources: [workers]}}"),
             "      kubeconfig: kube.yaml\n",
             "      kubeconfig: kube.yaml\n      resource: lab.example/v1/boxes\n"
             "      irreversible: true\n");
    const auto stray = [&](const std::string& known) {
        write("mine.yaml", with(with(small("", "do: {delete: pods}"), "{kind: pod, key: name}",
                                     "{kind: object, key: name}"),
                                "[open_words]", known));
    };
    stray("[]");
    EXPECT_EQ(flaws_of(boxes),
              "trueup.yaml:18: policies[0].rules relaxes stray.irreversible: what is in boxes does "
              "not come back; mode: approve asks somebody each time; add acknowledge: "
              "[stray.irreversible] if this is intended");
    EXPECT_EQ(flaws_of(with(boxes, "irreversible: true", "irreversible: false")), "(sound)");
    const std::string topics = with(boxes, "lab.example/v1/boxes\n      irreversible: true\n",
                                    "kafka.strimzi.io/v1beta2/kafkatopics\n");
    EXPECT_NE(flaws_of(topics).find("what is in kafkatopics"), std::string::npos);
    stray("[irreversible]");
    EXPECT_EQ(flaws_of(boxes), "(sound)");
    EXPECT_EQ(flaws_of(topics), "(sound)");
    // What is relaxed is said at each start, whoever knows it; and both may.
    const Result<Config> relaxed = load(topics);
    ASSERT_TRUE(relaxed) << relaxed.error().what;
    EXPECT_EQ(relaxed->policies.front().known, std::vector<std::string>{"stray.irreversible"});
    EXPECT_EQ(
        flaws_of(with(topics, "executors:", "    acknowledge: [stray.irreversible]\nexecutors:")),
        "(sound)");
}

// Symptom: volumes of a fifth of all subjects could go within five minutes, by a default.
TEST_F(PolicyFiles, WhatDoesNotComeBackGoesOneByOneUnlessABudgetIsWritten) {
    write("mine.yaml", with(small("", "do: {delete: pods}"), "{kind: pod, key: name}",
                            "{kind: object, key: name}"));
    const auto volumes = [&](const std::string& budget) {
        return with(of(kMine + ("    rules: {stray: {mode: observe" + budget + "}}\n")),
                    "      kubeconfig: kube.yaml\n",
                    "      kubeconfig: kube.yaml\n      resource: v1/persistentvolumeclaims\n");
    };
    const auto budget_of = [](const Result<Config>& config) {
        return config ? config->policies.front().rules.front().budget : Budget{0, 0};
    };
    const Result<Config> usual = load(volumes(""));
    EXPECT_EQ(budget_of(usual), (Budget{1, 0}));
    ASSERT_TRUE(usual) << usual.error().what;
    EXPECT_NE(describe(*usual).find("at most 1 in 5m\n"), std::string::npos) << describe(*usual);
    EXPECT_EQ(budget_of(load(volumes(", budget: {max: 5}"))), (Budget{5, 0}));
    write("mine.yaml", small("", "do: {delete: pods}"));
    EXPECT_EQ(budget_of(load(of(kMine))), Budget{});
}

TEST_F(PolicyFiles, WhatStandsSomewhereInAnObjectIsReadByItsPath) {
    const auto reads = [&](const std::string& field, const std::string& name = "plan") {
        std::string text = with(small(), "{kind: pod, key: name}",
                                "{kind: object, key: name, fields: {" + name + ": " + field + "}}");
        write("mine.yaml", with(text, "{pods: one,", "{pods: {one: {" + name + ": x}},"));
        return with(of(kMine), "      kubeconfig: kube.yaml\n",
                    "      kubeconfig: kube.yaml\n      resource: example.org/v1/boxes\n");
    };
    const Result<Config> config = load(reads("{text: spec.plan}"));
    ASSERT_TRUE(config) << config.error().what;
    EXPECT_EQ(config->policies.front().paths_of("workers"),
              std::vector{*policy::FieldPath::parse("plan", "spec.plan")});
    for (const char* name : {"hold", "name", "label.a"}) {
        const std::string flaws = flaws_of(reads("{text: spec.plan}", name));
        EXPECT_NE(flaws.find("call it otherwise"), std::string::npos) << flaws;
    }
    const std::string hashed =
        with(reads("{text: spec.nodeName}", "node"), "      selector: role=worker\n",
             "      selector: role=worker\n      fields: {node: hash}\n");
    EXPECT_NE(flaws_of(hashed).find("the policy needs its text; write map"), std::string::npos);
    EXPECT_NE(flaws_of(reads("{text: spec.plan}", "uid")).find("leave it out"), std::string::npos);
}

// Symptom (had it been taken): of two policies over one source each published both paths, under one
// name, and nobody could say which of them a value was of.
TEST_F(PolicyFiles, EachPolicyReadsASourceByItsOwnPaths) {
    const auto reads = [&](const std::string& path) {
        return with(with(small(), "{kind: pod, key: name}",
                         "{kind: object, key: name, fields: {plan: {text: " + path + "}}}"),
                    "{pods: one,", "{pods: {one: {plan: x}},");
    };
    write("mine.yaml", reads("spec.plan"));
    write("theirs.yaml", reads("spec.other"));
    const std::string other =
        "  - name: theirs\n    file: theirs.yaml\n    roles: {pods: workers, rows: "
        "more}\nexecutors:";
    const Result<Config> config = load(with(
        with(with(of(kMine), "executors:", other), "      kubeconfig: kube.yaml\n",
             "      kubeconfig: kube.yaml\n      resource: example.org/v1/boxes\n"),
        "sources:\n", "sources:\n  more: {postgres: {conninfo_env: X, table: public.more}}\n"));
    ASSERT_TRUE(config) << config.error().what;
    const std::vector<Config> each = of_each_policy(*config);
    ASSERT_EQ(each.size(), 2U);
    for (std::size_t i = 0; i < 2; ++i) {
        EXPECT_EQ(
            each[i].policies.front().paths_of("workers"),
            std::vector{*policy::FieldPath::parse("plan", i == 0 ? "spec.plan" : "spec.other")});
    }
}

// Symptom (had it been taken): a field of an innocent name published what a Secret holds.
TEST_F(PolicyFiles, NoPathLeadsToWhatLooksLikeASecret) {
    const auto reads = [&](const std::string& path, const std::string& resource) {
        const std::string text =
            with(small(), "{kind: pod, key: name}",
                 "{kind: object, key: name, fields: {plan: {text: '" + path + "'}}}");
        write("mine.yaml", with(text, "{pods: one,", "{pods: {one: {plan: x}},"));
        return flaws_of(with(of(kMine), "      kubeconfig: kube.yaml\n",
                             "      kubeconfig: kube.yaml\n      resource: " + resource + "\n"));
    };
    EXPECT_EQ(reads("spec.adminPassword", "example.org/v1/boxes"),
              "trueup.yaml:15: policies[0].file reads spec.adminPassword of pods (field plan), "
              "which looks like a secret, and would be published and kept; use another one");
    EXPECT_NE(reads("spec.env[name=API_TOKEN].value", "example.org/v1/boxes"), "(sound)");
    EXPECT_NE(reads("spec.api.key", "example.org/v1/boxes"), "(sound)");
    EXPECT_NE(reads("annotation.example.org/api-token", "example.org/v1/boxes"), "(sound)");
    EXPECT_NE(reads("data.plan", "v1/secrets"), "(sound)");
    // No word allows it.
    const std::string node = with(with(small(), "{kind: pod, key: name}",
                                       "{kind: object, key: name, fields: {node: {text: data.x}}}"),
                                  "{pods: one,", "{pods: {one: {node: x}},");
    write("mine.yaml", node);
    EXPECT_NE(flaws_of(with(of(kMine), "      selector: role=worker\n",
                            "      selector: role=worker\n      resource: v1/secrets\n"
                            "      fields: {node: map}\n")),
              "(sound)");
    EXPECT_EQ(reads("spec.plan", "example.org/v1/boxes"), "(sound)");
}

TEST_F(PolicyFiles, AColumnIsNotReadUnderTheNameOfTheVeto) {
    write("mine.yaml", with(small(), "live: {state: up}, fields: {state: text, pod: text}",
                            "live: {hold: up}, fields: {hold: text, pod: text}"));
    EXPECT_EQ(flaws_of(of(kMine)).find("reads a column of the name hold for its role rows"),
              std::string("trueup.yaml:14: policies[0].file ").size());
}

TEST_F(PolicyFiles, ColumnsThatLookLikeSecretsAreNotPublishedInPassing) {
    write("mine.yaml",
          with(small(), "live: {state: up}, fields: {state: text, pod: text}",
               "live: {api_token: {set: true}}, fields: {api_token: text, pod: text}"));
    EXPECT_EQ(flaws_of(of(kMine)),
              "trueup.yaml:14: policies[0].file reads 'api_token' of rows, which looks like a "
              "secret, and would be published and kept; use another one, or name it under "
              "sources.table in fields and acknowledge");
}

TEST_F(PolicyFiles, OneSourcePlaysOneRole) {
    write("mine.yaml", small("  old: {kind: pod, key: name, optional: true}\n"));
    EXPECT_EQ(flaws_of(of("    file: mine.yaml\n"
                          "    roles: {pods: workers, rows: table, old: workers}\n")),
              "trueup.yaml:15: policies[0].roles.old names 'workers', which plays pods already; "
              "write another source");
}

}  // namespace
}  // namespace trueup::config
