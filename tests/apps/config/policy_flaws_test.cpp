// Proves that whatever is wrong with a policy or an executor of the configuration is said in one
// sentence, with its line and what to write (apps/config/config.h; design §4.8).
#include "tests/apps/config/support.h"

#include <gtest/gtest.h>

#include <string>

namespace trueup::config {
namespace {

/// The flaws of the sound file with these lines in its policy, that is from line 18 on.
std::string flaws_of_policy(const std::string& lines) {
    return flaws_with("executors:", lines + "executors:");
}

TEST(ConfigPolicyFlaws, NamesFitIntoSubjectKeys) {
    const std::string rest =
        "', which cannot be the first part of a key; write 1 to 63 letters, digits, '-', '_' or "
        "'.', a letter or digit first";
    for (const std::string& wrong : {std::string("a/b"), std::string(64, 'a'), std::string("!a")}) {
        std::string said = "trueup.yaml:13: policies[0].name is '";
        said.append(wrong).append(rest);
        EXPECT_EQ(flaws_with("name: graph-instances", "name: \"" + wrong + "\""), said);
    }
}

TEST(ConfigPolicyFlaws, ThereIsAtLeastOneAndEachUsesTheSetThatThereIs) {
    EXPECT_EQ(flaws("version: 1\nsources: {}\npolicies: []\n"),
              "trueup.yaml:3: policies is empty; write [{name: graph-instances, ...}]");
    EXPECT_EQ(flaws_with("use: graph-instances", "use: graph-instance"),
              "trueup.yaml:14: policies[0].use is 'graph-instance', which this release does not "
              "carry; did you mean 'graph-instances'?; or write file: FILE with a policy of your "
              "own");
}

TEST(ConfigPolicyFlaws, SourcesExistAndFitTheirSide) {
    EXPECT_EQ(flaws_with("{pods: pods, ", "{pods: pod, "),
              "trueup.yaml:15: policies[0].roles.pods names the source 'pod', which is not under "
              "sources; did you mean 'pods'?");
    EXPECT_EQ(flaws_with(", rows: rows}", ", rows: databases}"),
              "trueup.yaml:15: policies[0].roles.rows names the source 'databases', which is not "
              "under sources; add it there");
    EXPECT_EQ(flaws_with(", rows: rows}", ", rows: pods}"),
              "trueup.yaml:15: policies[0].roles.rows names 'pods', which is not a source of "
              "postgres; name one that is");
    EXPECT_EQ(flaws_with("selector: app=wrapper", "resource: v1/nodes"),
              "trueup.yaml:6: sources.pods.kubernetes.namespace is 'graph', and nodes lie in no "
              "namespace; leave it out\ntrueup.yaml:15: policies[0].roles.pods names 'pods', which "
              "is not a source of pods of "
              "kubernetes; name one that is\ntrueup.yaml:18: executors.delete_pod.source names "
              "'pods', which is not a source of pods of kubernetes; name one that is");
}

TEST(ConfigPolicyFlaws, CorrelationErrorsHaveAPosition) {
    EXPECT_EQ(flaws_with("'wrapper-' || url_slug", "'wrapper-' || upper(url_slug)"),
              "trueup.yaml:17: correlation expression, position 34: coalesce is the only function "
              "allowed here");
    EXPECT_EQ(flaws_with("\"coalesce(pod_name, 'wrapper-' || url_slug)\"", "\"'wrapper'\""),
              "trueup.yaml:17: correlation expression, position 10: names no column, so all rows "
              "would claim one name");
    EXPECT_EQ(flaws_with("\"coalesce(pod_name, 'wrapper-' || url_slug)\"", "\"\""),
              "trueup.yaml:17: policies[0].keys.rows is empty; write which subject an object "
              "belongs to, as in rows: \"coalesce(pod_name, 'wrapper-' || url_slug)\", or leave it "
              "out");
}

TEST(ConfigPolicyFlaws, Modes) {
    for (const char* mode : {"observe", "approve", "enforce", "off"}) {
        EXPECT_EQ(flaws_of_policy("    rules: {orphaned_pod: {mode: " + std::string(mode) + "}}\n"),
                  "(sound)");
    }
    EXPECT_EQ(flaws_of_policy("    rules: {orphaned_pod: {mode: on}}\n"),
              "trueup.yaml:18: rules.orphaned_pod.mode is 'on'; write observe, approve, enforce or "
              "off");
    EXPECT_EQ(flaws_of_policy("    rules: {finished_pod: {mode: enforce}}\n"),
              "trueup.yaml:18: rules.finished_pod.mode is 'enforce', and this rule only reports; "
              "write observe or off");
}

TEST(ConfigPolicyFlaws, ARuleThatIsNotOffNeedsItsColumns) {
    std::string listed = with(sound(), "table: public.instances",
                              "table: public.instances\n      columns: [status, pod_name]");
    listed = with(listed, "executors:", "    rules: {ttl_expired: {mode: observe}}\nexecutors:");
    EXPECT_EQ(flaws(listed),
              "trueup.yaml:8: sources.rows.postgres.columns lacks 'created_at', which "
              "graph-instances reads; add it\n"
              "trueup.yaml:8: sources.rows.postgres.columns lacks 'ttl', which graph-instances "
              "reads; add it");
    EXPECT_EQ(flaws_of_policy("    rules: {ttl_expired: {mode: off}}\n"), "(sound)");
    EXPECT_EQ(flaws_of_policy("    rules: {ttl_expired: {}, inactive: {mode: enforce}}\n"),
              "(sound)")
        << "where no columns are listed they come along";
}

TEST(ConfigPolicyFlaws, ABrakeIsLoosenedByNameOnly) {
    EXPECT_EQ(flaws_of_policy("    max_drop: 95%\n"),
              "trueup.yaml:18: policies[0].max_drop relaxes max_drop: 95% believes a source that "
              "lost nearly everything; add acknowledge: [max_drop] if this is intended");
    EXPECT_EQ(flaws_of_policy("    max_drop: 95%\n    acknowledge: [max_drop]\n"), "(sound)");
    EXPECT_EQ(flaws_of_policy("    rules: {missing_pod: {create_window: 0s}}\n"),
              "trueup.yaml:18: policies[0].rules relaxes missing_pod.create_window: with 0s a pod "
              "that is seen before its row, or a row before its pod, is at risk; add acknowledge: "
              "[missing_pod.create_window] if this is intended");
    EXPECT_EQ(flaws_of_policy("    acknowledge: [max_drop]\n"),
              "trueup.yaml:18: policies[0].acknowledge names 'max_drop', which is not relaxed; "
              "leave it out");
}

TEST(ConfigPolicyFlaws, AGracePeriodIsWholeSecondsOfARuleThatDeletesPods) {
    const auto said = [](const std::string& rule, const std::string& value) {
        return flaws_of_policy("    rules: {" + rule + ": {grace_period: " + value + "}}\n");
    };
    EXPECT_EQ(said("orphaned_pod", "5s"), "(sound)");
    EXPECT_EQ(said("ttl_expired", "24h"), "(sound)");
    EXPECT_EQ(said("orphaned_pod", "30"),
              "trueup.yaml:18: rules.orphaned_pod.grace_period has no unit; write 30s, not 30");
    for (const char* wrong : {"1500ms", "2d"}) {
        EXPECT_EQ(said("orphaned_pod", wrong),
                  std::string("trueup.yaml:18: rules.orphaned_pod.grace_period is ") + wrong +
                      "; write whole seconds, at most 24h, or leave it out: then each pod's own "
                      "terminationGracePeriodSeconds applies");
    }
    EXPECT_EQ(said("missing_pod", "5s"),
              "trueup.yaml:18: rules.missing_pod.grace_period does not exist: this rule deletes no "
              "pod; leave it out");
}

TEST(ConfigPolicyFlaws, KillingPodsIsAcknowledged) {
    const std::string kills = "    rules: {orphaned_pod: {grace_period: 0s}}\n";
    EXPECT_EQ(flaws_of_policy(kills),
              "trueup.yaml:18: policies[0].rules relaxes orphaned_pod.grace_period: with 0s a pod "
              "is killed: its name and its volumes are free while its processes may still run; add "
              "acknowledge: [orphaned_pod.grace_period] if this is intended");
    EXPECT_EQ(flaws_of_policy(kills + "    acknowledge: [orphaned_pod.grace_period]\n"), "(sound)");
}

// A file's `grace: 0s` needs a word; the same in the configuration took a rule's grace in passing.
TEST(ConfigPolicyFlaws, ActingWithoutAGraceIsAcknowledged) {
    const std::string hasty = "    rules: {orphaned_pod: {grace: 0s}}\n";
    EXPECT_EQ(
        flaws_of_policy(hasty),
        "trueup.yaml:18: policies[0].rules relaxes orphaned_pod.grace: with 0s it acts on what "
        "is wrong for a moment only; add acknowledge: [orphaned_pod.grace] if this is intended");
    EXPECT_EQ(flaws_of_policy(hasty + "    acknowledge: [orphaned_pod.grace]\n"), "(sound)");
}

// An executor found no pod by the id that the label had, and a row was failed whose pod ran.
TEST(ConfigPolicyFlaws, NothingActsOnPodsThatALabelNames) {
    const std::string named = with(sound(), "selector: app=wrapper\n",
                                   "selector: app=wrapper\n      key_label: instance-id\n");
    EXPECT_EQ(flaws(named), "(sound)");
    EXPECT_EQ(
        flaws(with(named, "executors:",
                   "    rules: {orphaned_pod: {mode: approve}, missing_pod: {mode: "
                   "enforce}, status_drift: {}}\nexecutors:")),
        "trueup.yaml:19: policies[0].rules lets orphaned_pod and missing_pod act, but "
        "pods are known by the label instance-id in the configuration and by their name in the "
        "policy, which is what is looked up before a write; write mode: observe, or key: "
        "label.instance-id in the policy instead of sources.pods.kubernetes.key_label");
}

std::string over_kafka(int partitions, const std::string& policy) {
    return with(with(sound(), "version: 1\n",
                     "version: 1\nbus: {kafka: {bootstrap: b, partitions: " +
                         std::to_string(partitions) + "}}\n"),
                "executors:", policy + "executors:");
}

// With four shards orphans were deleted that a row of another shard may have owned.
TEST(ConfigPolicyFlaws, OverSeveralShardsWhatAsksWhileSomethingIsCountedObserves_G25) {
    const std::string acts = "    rules: {orphaned_pod: {mode: enforce}}\n";
    EXPECT_EQ(flaws(over_kafka(1, acts)), "(sound)");
    EXPECT_EQ(flaws(over_kafka(4, "")), "(sound)");
    EXPECT_EQ(flaws(over_kafka(4, "    rules: {status_drift: {mode: enforce}}\n")), "(sound)")
        << "it asks for no count";
    EXPECT_EQ(flaws(over_kafka(4, acts)),
              "trueup.yaml:19: policies[0].rules lets orphaned_pod act, which asks while a count "
              "over all subjects is not 0 (uncorrelated_rows), and with bus.kafka.partitions 4 "
              "each shard counts for itself; write partitions: 1, or mode: observe, or take "
              "ask_while out of a policy of your own");
    // Which was a way to have a count that is none.
    EXPECT_EQ(flaws(over_kafka(4, acts + "    acknowledge: [partitions]\n")),
              flaws(over_kafka(4, acts)) +
                  "\ntrueup.yaml:20: policies[0].acknowledge names 'partitions', which is not "
                  "relaxed; leave it out");
}

TEST(ConfigPolicyFlaws, Windows) {
    EXPECT_EQ(flaws_of_policy("    windows: [\"Mon-Fri 08:00-18:00\", \"Sat,Sun 10:00-24:00\"]\n"),
              "(sound)");
    for (const char* text :
         {"always", "Mon-Fri", "Fri-Mon 08:00-18:00", "Mon 18:00-08:00", "Mon 08:00-24:01",
          "Mon 8:00-9:00", "Mo 08:00-09:00", "Mon, 08:00-09:00", "Mon 08:60-09:00"}) {
        EXPECT_EQ(flaws_of_policy("    windows: [\"" + std::string(text) + "\"]\n"),
                  "trueup.yaml:18: policies[0].windows has '" + std::string(text) +
                      "'; write days and hours in UTC, as in 'Mon-Fri 08:00-18:00'; split a window "
                      "over midnight in two");
    }
}

TEST(ConfigPolicyFlaws, PassesAndClocks) {
    EXPECT_EQ(flaws_of_policy("    reconcile_every: 0s\n"), "(sound)");
    EXPECT_EQ(
        flaws_of_policy("    reconcile_every: 5s\n"),
        "trueup.yaml:18: policies[0].reconcile_every is shorter than 10s; write 5m, or 0s for "
        "none");
    EXPECT_EQ(flaws_of_policy("    max_clock_skew: 10m\n"),
              "trueup.yaml:18: policies[0].max_clock_skew is 10m; write at most 5m: a clock that "
              "is further off says nothing about a TTL");
}

TEST(ConfigPolicyFlaws, MaxStepIsBelowEveryGrace) {
    const std::string rest =
        ", so one step of the clock could use it up; write a longer grace or a shorter "
        "max_clock_step";
    EXPECT_EQ(
        flaws_of_policy("    rules: {missing_pod: {grace: 10s}}\n"),
        "trueup.yaml:18: rules.missing_pod.grace 10s is not longer than bus.max_clock_step 10s" +
            rest);
    EXPECT_EQ(
        flaws_with("version: 1\n", "version: 1\nbus: {max_clock_step: 2m}\n"),
        "trueup.yaml:14: rules.orphaned_pod.grace 1m is not longer than bus.max_clock_step 2m" +
            rest +
            "\ntrueup.yaml:14: rules.missing_pod.grace 1m is not longer than bus.max_clock_step "
            "2m" +
            rest +
            "\ntrueup.yaml:14: rules.untracked_record.grace 1m is not longer than "
            "bus.max_clock_step 2m" +
            rest);
    EXPECT_EQ(flaws_of_policy("    rules: {missing_pod: {grace: 10001ms}}\n"), "(sound)");
}

// Symptom: a rule that acted at once could not be given time, though its status flickered.
TEST(ConfigPolicyFlaws, EveryRuleMayWaitAndAWindowIsForWhatIsNotThere) {
    const Config config =
        parsed(with(sound(), "executors:", "    rules: {status_drift: {grace: 60s}}\nexecutors:"));
    EXPECT_EQ(policy_settings(config).rules[2].grace, Millis(60'000));
    EXPECT_EQ(flaws_of_policy("    rules: {status_drift: {grace: 5s}}\n"),
              "trueup.yaml:18: rules.status_drift.grace 5s is not longer than bus.max_clock_step "
              "10s, so one step of the clock could use it up; write a longer grace or a shorter "
              "max_clock_step");
    EXPECT_EQ(flaws_of_policy("    rules: {status_drift: {create_window: 5s}}\n"),
              "trueup.yaml:18: rules.status_drift.create_window does not exist: this rule does not "
              "wait; leave it out");
    EXPECT_EQ(
        flaws_of_policy("    rules: {status_drift: {colour: red}}\n"),
        "trueup.yaml:18: unknown key 'colour' under rules.status_drift; known are mode, grace "
        "and budget");
}

TEST(ConfigPolicyFlaws, TimesFitTheSources) {
    EXPECT_EQ(flaws_of_policy("    stale_after: 15s\n"),
              "trueup.yaml:18: policies[0].stale_after 15s is not longer than heartbeat.idle 15s "
              "of sources.pods, so the source would be stale between two heartbeats; write about "
              "three times that\ntrueup.yaml:18: policies[0].stale_after 15s is not longer than "
              "heartbeat.idle 15s of sources.rows, so the source would be stale between two "
              "heartbeats; write about three times that");
    EXPECT_EQ(flaws_of_policy("    command_ttl: 500ms\n"),
              "trueup.yaml:18: policies[0].command_ttl is shorter than 1s, too short for any "
              "executor; write 60s");
}

TEST(ConfigPolicyFlaws, EnforcementNeedsItsExecutor) {
    const std::string enforced =
        "    rules:\n      orphaned_pod: {mode: enforce}\n"
        "      status_drift: {mode: enforce}\n";
    EXPECT_EQ(flaws_with("executors: {delete_pod: {source: pods}, update_row: {source: rows}}\n",
                         enforced),
              "trueup.yaml:19: rules.orphaned_pod.mode is enforce, and executors.delete_pod is "
              "missing; write executors: {delete_pod: {source: pods}}\n"
              "trueup.yaml:20: rules.status_drift.mode is enforce, and executors.update_row is "
              "missing; write executors: {update_row: {source: rows}}");
    EXPECT_EQ(flaws_of_policy(enforced), "(sound)");
}

TEST(ConfigPolicyFlaws, WhatServesAnInstanceIsDeletedByAnExecutorThatSaysSo_G7) {
    EXPECT_EQ(flaws_with(", rows: rows}", ", rows: rows, services: pods}"),
              "trueup.yaml:15: policies[0].roles.services names 'pods', which is not a source of a "
              "resource of kubernetes other than pods; name one that is");
    const std::string served =
        with(with(sound(), "sources:\n",
                  "sources:\n  services: {kubernetes: {in_cluster: true, namespace: graph, "
                  "selector: a, resource: v1/services}}\n"),
             ", rows: rows}", ", rows: rows, services: services}");
    EXPECT_EQ(flaws(served), "(sound)") << "nothing is ended yet";
    const std::string columns =
        with(served, "      table: public.instances\n",
             "      table: public.instances\n      columns: [status, pod_name, url_slug, "
             "owner_username]\n");
    const std::string ends = with(columns, "executors: {",
                                  "    rules: {termination_requested: {mode: enforce}}\n"
                                  "executors: {");
    EXPECT_EQ(flaws(ends),
              "trueup.yaml:20: rules.termination_requested.mode is enforce, and "
              "executors.delete_object is missing; write executors: {delete_object: {sources: "
              "[services]}}");
    EXPECT_EQ(
        flaws(with(ends, "executors: {", "executors: {delete_object: {sources: [services]}, ")),
        "(sound)");
}

TEST(ConfigPolicyFlaws, AsWhomIsWrittenIsSaidOnceAndWhole) {
    const auto rows = [](const std::string& keys) {
        return flaws_with("{source: rows}", "{source: rows, " + keys + "}");
    };
    const auto pods = [](const std::string& keys) {
        return flaws_with("{source: pods}", "{source: pods, " + keys + "}");
    };
    EXPECT_EQ(rows("conninfo_env: W"), "(sound)");
    EXPECT_EQ(rows("conninfo_env: W, acknowledge: [sslmode]"), "(sound)");
    EXPECT_EQ(rows("conninfo_env: W, conninfo_file: w"),
              "trueup.yaml:18: executors.update_row.conninfo_env and conninfo_file exclude each "
              "other; leave one out");
    EXPECT_EQ(rows("conninfo_env: W, acknowledge: [slot]"),
              "trueup.yaml:18: executors.update_row.acknowledge names 'slot'; for an executor's "
              "connection only sslmode can be acknowledged");
    EXPECT_EQ(rows("acknowledge: [sslmode]"),
              "trueup.yaml:18: executors.update_row.acknowledge needs a connection of its own; add "
              "conninfo_env, conninfo_file or conninfo, or leave it out");
    EXPECT_EQ(pods("kubeconfig: w.yaml, context: writer"), "(sound)");
    EXPECT_EQ(pods("context: writer"), "(sound)") << "of the source's kubeconfig";
    EXPECT_EQ(pods("in_cluster: true"), "(sound)");
    EXPECT_EQ(pods("in_cluster: true, kubeconfig: w.yaml"),
              "trueup.yaml:18: executors.delete_pod.in_cluster and kubeconfig exclude each other; "
              "leave one out");
    EXPECT_EQ(flaws(with(with(sound(), "kubeconfig: kube.yaml", "in_cluster: true"),
                         "{source: pods}", "{source: pods, context: writer}")),
              "trueup.yaml:18: executors.delete_pod.context belongs to a kubeconfig, and the "
              "source has none; add kubeconfig: FILE");
}

TEST(ConfigPolicyFlaws, ExecutorsActOnThePolicysSources) {
    EXPECT_EQ(
        flaws(with(with(sound(), "sources:\n",
                        "sources:\n  more: {kubernetes: {in_cluster: true, namespace: a, "
                        "selector: a}}\n"),
                   "{source: pods}", "{source: more}")),
        "trueup.yaml:19: executors.delete_pod acts on 'more', which plays no role of a policy; "
        "use a source that does");
    EXPECT_EQ(flaws_with("update_row:", "update_rows:"),
              "trueup.yaml:18: unknown key 'update_rows' under executors; did you mean "
              "'update_row'?");
}

}  // namespace
}  // namespace trueup::config
