// Proves that whatever is wrong with a source of the configuration is said in one sentence, with
// its line and what to write (apps/config/config.h; safety S31, design §4.15).
#include "tests/apps/config/support.h"

#include <gtest/gtest.h>

#include <string>

namespace trueup::config {
namespace {

/// The flaws of the sound file with more keys under kubernetes, that is from line 8 on.
std::string flaws_of_pods(const std::string& more) {
    return flaws_with("selector: app=wrapper\n", "selector: app=wrapper\n      " + more + "\n");
}
/// The same under postgres, from line 12 on.
std::string flaws_of_rows(const std::string& more) {
    return flaws_with("public.instances\n", "public.instances\n      " + more + "\n");
}

TEST(ConfigSourceFlaws, AnEmptySelectorIsRefused_S31) {
    const std::string rest =
        ", and an empty selector would make every pod in the namespace a candidate; write one, as "
        "in \"app in (one, two)\"";
    EXPECT_EQ(flaws_with("selector: app=wrapper", "selector: \"\""),
              "trueup.yaml:7: sources.pods.kubernetes.selector is empty" + rest);
    EXPECT_EQ(flaws_with("selector: app=wrapper", "selector: \"  \""),
              "trueup.yaml:7: sources.pods.kubernetes.selector is empty" + rest);
    EXPECT_EQ(flaws_with("      selector: app=wrapper\n", ""),
              "trueup.yaml:4: sources.pods.kubernetes.selector is missing" + rest);
}

TEST(ConfigSourceFlaws, WhatIsExpectedIsANumber) {
    EXPECT_EQ(flaws_with("policies:", "    expect: {at_least: some}\npolicies:"),
              "trueup.yaml:12: sources.rows.expect.at_least is 'some'; write a whole number");
    EXPECT_EQ(flaws_with("policies:", "    expect: {atleast: 3}\npolicies:"),
              "trueup.yaml:12: unknown key 'atleast' under sources.rows.expect; did you mean "
              "'at_least'?");
}

TEST(ConfigSourceFlaws, AnEmptyNamespaceIsRefused) {
    EXPECT_EQ(
        flaws_with("namespace: graph", "namespace: \"\""),
        "trueup.yaml:6: sources.pods.kubernetes.namespace is empty, which would mean every "
        "namespace of the cluster; write its name, or all_namespaces: true if that is intended");
    EXPECT_EQ(flaws_with("namespace: graph", "namespace: Graph"),
              "trueup.yaml:6: sources.pods.kubernetes.namespace is 'Graph'; write a name of "
              "lower-case letters, digits and '-'");
    EXPECT_EQ(flaws_of_pods("all_namespaces: true"),
              "trueup.yaml:8: sources.pods.kubernetes.all_namespaces and namespace exclude each "
              "other; leave one out");
    EXPECT_EQ(flaws_with("namespace: graph", "all_namespaces: true"), "(sound)");
}

TEST(ConfigSourceFlaws, TheClusterIsNamedOnce) {
    EXPECT_EQ(flaws_with("      kubeconfig: kube.yaml\n", ""),
              "trueup.yaml:4: sources.pods.kubernetes needs the key 'kubeconfig'; write "
              "kubeconfig: FILE, or in_cluster: true if Trueup runs in a pod");
    EXPECT_EQ(
        flaws_of_pods("in_cluster: true"),
        "trueup.yaml:8: sources.pods.kubernetes.in_cluster and kubeconfig exclude each other; "
        "leave one out");
    EXPECT_EQ(
        flaws_with("kubeconfig: kube.yaml", "in_cluster: true\n      context: a"),
        "trueup.yaml:6: sources.pods.kubernetes.context belongs to a kubeconfig; leave it out "
        "with in_cluster: true");
    EXPECT_EQ(flaws_with("kubeconfig: kube.yaml", "kubeconfig: \"\""),
              "trueup.yaml:5: sources.pods.kubernetes.kubeconfig is empty; write the file's path");
}

TEST(ConfigSourceFlaws, ResourcesHaveAGroupAndAVersion) {
    for (const char* wrong : {"nodes", "a/b/c/d", "apps//deployments", "apps/v1/Deployments"}) {
        EXPECT_EQ(flaws_with("selector: app=wrapper",
                             "selector: a\n      resource: " + std::string(wrong)),
                  "trueup.yaml:8: sources.pods.kubernetes.resource is '" + std::string(wrong) +
                      "'; write pods, v1/nodes for another one of the core, or "
                      "group/version/plural, as in apps/v1/deployments");
    }
}

TEST(ConfigSourceFlaws, VetoesAndLabels) {
    EXPECT_NE(flaws_with("namespace: graph", "namespace: ${NAMESPACE}").find("variables are not"),
              std::string::npos);
    EXPECT_EQ(
        flaws_of_pods("veto_label: \"\""),
        "trueup.yaml:8: sources.pods.kubernetes.veto_label is empty; write the label or annotation "
        "that protects an object, as in trueup.io/hold");
    EXPECT_EQ(
        flaws_of_pods("labels: [app, api-token]"),
        "trueup.yaml:8: sources.pods.kubernetes.labels has 'api-token', which looks like a secret, "
        "and would be published and kept; leave it out, or write fields: {label.api-token: hash}");
}

TEST(ConfigSourceFlaws, OneWorldPerSource) {
    EXPECT_EQ(flaws_with("sources:\n", "sources:\n  x: {}\n"),
              "trueup.yaml:3: sources.x needs the key 'kubernetes'; write kubernetes: {...} or "
              "postgres: {...}");
    EXPECT_EQ(flaws_with("    kubernetes:\n",
                         "    postgres: {conninfo_env: A, table: a}\n"
                         "    kubernetes:\n"),
              "trueup.yaml:4: sources.pods.postgres and kubernetes exclude each other; remove one "
              "of the two");
    EXPECT_EQ(
        flaws_with("sources:\n",
                   "sources:\n  a/b: {kubernetes: {in_cluster: true, "
                   "namespace: a, resource: v1/x}}\n"),
        "trueup.yaml:3: sources.a/b cannot be a name; write 1 to 63 letters, digits, '-', '_' "
        "or '.', a letter or digit first");
}

TEST(ConfigSourceFlaws, TheConnectionIsNamedOnce) {
    EXPECT_EQ(flaws_with("      conninfo_env: TRUEUP_DATABASE\n", ""),
              "trueup.yaml:9: sources.rows.postgres needs the key 'conninfo_env'; write "
              "conninfo_env: VARIABLE, conninfo_file: FILE or conninfo: \"host=... dbname=...\"");
    EXPECT_EQ(flaws_of_rows("conninfo_file: a"),
              "trueup.yaml:10: sources.rows.postgres.conninfo_env and conninfo_file exclude each "
              "other; leave one out");
    EXPECT_NE(flaws_with("conninfo_env: TRUEUP_DATABASE",
                         "conninfo_env: TRUEUP_DATABASE\n      slot: theirs")
                  .find("write one that begins with trueup, or add acknowledge: [slot]"),
              std::string::npos);
    EXPECT_EQ(
        flaws_with("conninfo_env: TRUEUP_DATABASE",
                   "conninfo_env: TRUEUP_DATABASE\n      slot: theirs\n      acknowledge: [slot, "
                   "sslmode]"),
        "(sound)");
    EXPECT_EQ(flaws_with("conninfo_env: TRUEUP_DATABASE", "conninfo: \"\""),
              "trueup.yaml:10: sources.rows.postgres.conninfo is empty; write where the database "
              "is");
    EXPECT_EQ(flaws_with("conninfo_env: TRUEUP_DATABASE", "conninfo_env: host=db"),
              "trueup.yaml:10: sources.rows.postgres.conninfo_env is not the name of an "
              "environment variable; write one of letters, digits and '_', as in TRUEUP_DATABASE");
}

TEST(ConfigSourceFlaws, NoSentenceShowsAPassword) {
    EXPECT_EQ(flaws(with(sound(),
                         "    postgres:\n      conninfo_env: TRUEUP_DATABASE\n"
                         "      table: public.instances\n",
                         "    postgres: {table: a, conninfo: host=db password=hun,ter2}\n")),
              "trueup.yaml:9: a key without a value under sources.rows.postgres; it is not shown, "
              "because it may be part of conninfo: put quotes around that");
    EXPECT_EQ(flaws_with("conninfo_env: TRUEUP_DATABASE", "conninfo: [hunter2]"),
              "trueup.yaml:10: sources.rows.postgres.conninfo is a list; write a single value");
}

TEST(ConfigSourceFlaws, TablesAndSlots) {
    for (const char* wrong : {"a.b.c", ".a", "a."}) {
        EXPECT_EQ(flaws_with("table: public.instances", "table: " + std::string(wrong)),
                  "trueup.yaml:11: sources.rows.postgres.table is '" + std::string(wrong) +
                      "'; write schema.table, as in public.instances");
    }
    EXPECT_EQ(flaws_of_rows("slot: Trueup-rows"),
              "trueup.yaml:12: sources.rows.postgres.slot is 'Trueup-rows'; the name of a "
              "replication slot has 1 to 63 lower-case letters, digits and '_'");
    EXPECT_EQ(flaws_of_rows("publication: \"\""),
              "trueup.yaml:12: sources.rows.postgres.publication is empty; write its name");
    EXPECT_EQ(flaws_with("sources:\n",
                         "sources:\n  old: {postgres: {conninfo_env: A, table: a, "
                         "slot: trueup_rows}}\n"),
              "trueup.yaml:3: sources.old plays no role of a policy, so nothing says what its rows "
              "mean; use it in a policy or leave it out\ntrueup.yaml:9: sources.rows uses the "
              "slot 'trueup_rows' of sources.old; write another slot, because two readers of one "
              "slot take each other's changes");
}

TEST(ConfigSourceFlaws, AQueryIsOneThatReads) {
    const auto flaws_of_query = [](const std::string& keys) {
        return flaws(with(with(sound(), ", update_row: {source: rows}", ""),
                          "table: public.instances", keys));
    };
    EXPECT_EQ(flaws_of_query("query: WITH a AS (SELECT 1) SELECT * FROM a\n"
                             "      primary_key: [id]"),
              "(sound)");
    EXPECT_EQ(
        flaws_of_query("query: SELECT * FROM v"),
        "trueup.yaml:9: sources.rows.postgres needs the key 'primary_key'; write primary_key: "
        "[COLUMN], what tells its rows apart");
    EXPECT_EQ(
        flaws_of_query("query: DELETE FROM v\n      primary_key: [id]"),
        "trueup.yaml:11: sources.rows.postgres.query does not begin with SELECT or WITH; write "
        "one query, as in SELECT id, data ->> 'state' AS state FROM public.users");
    EXPECT_EQ(flaws_of_query("query: SELECT * FROM v\n      primary_key: [session_token]"),
              "trueup.yaml:12: sources.rows.postgres.primary_key has 'session_token', which is "
              "published in clear text and cannot be hashed or dropped; write another column, or "
              "fields: {session_token: map} if its text may be published");
    EXPECT_EQ(flaws_of_query("query: SELECT * FROM v\n      primary_key: []"),
              "trueup.yaml:12: sources.rows.postgres.primary_key is empty; write the columns that "
              "tell its rows apart");
    EXPECT_EQ(
        flaws_of_query("table: public.instances\n      query: SELECT * FROM v\n"
                       "      primary_key: [id]"),
        "trueup.yaml:11: sources.rows.postgres.table is of a table, and this is a query; leave "
        "one out");
    EXPECT_EQ(
        flaws_of_rows("primary_key: [id]"),
        "trueup.yaml:12: sources.rows.postgres.primary_key is of a query, and a table has its "
        "own; leave it out");
    EXPECT_EQ(
        flaws_with("table: public.instances", "query: SELECT * FROM v\n      primary_key: [id]"),
        "trueup.yaml:19: executors.update_row.source names 'rows', which is a query and can "
        "only be read; name a source with the table that is to be written");
}

TEST(ConfigSourceFlaws, ColumnsHoldNoSecrets) {
    EXPECT_EQ(flaws_of_rows("columns: [status, pod_name, db_password]"),
              "trueup.yaml:12: sources.rows.postgres.columns has 'db_password', which looks like a "
              "secret, and would be published and kept; leave it out, or write fields: "
              "{db_password: hash}");
    EXPECT_EQ(flaws_with("|| url_slug", "|| session_token"),
              "trueup.yaml:16: policies[0].keys reads 'session_token' of rows, which looks like a "
              "secret, and would be published and kept; use another one, or name it under "
              "sources.rows in fields and acknowledge");
}

TEST(ConfigSourceFlaws, ColumnsAreWhatTheRulesRead) {
    EXPECT_EQ(flaws_of_rows("columns: [pod_name, ttl]"),
              "trueup.yaml:8: sources.rows.postgres.columns lacks 'status', which "
              "graph-instances reads; add it");
    EXPECT_EQ(flaws_of_rows("columns: []"),
              "trueup.yaml:12: sources.rows.postgres.columns is empty; leave it out to use the "
              "columns that the policy reads");
    EXPECT_EQ(flaws_of_rows("columns: [status, pod_name, status]"),
              "trueup.yaml:12: sources.rows.postgres.columns has 'status' twice; leave one out");
}

TEST(ConfigSourceFlaws, ProgressAndAudits) {
    EXPECT_EQ(flaws_with("  rows:\n    postgres:",
                         "    heartbeat: {idle: 5s, active: 6s}\n  rows:\n    postgres:"),
              "trueup.yaml:8: sources.pods.heartbeat.active 6s is longer than idle 5s; write at "
              "most that");
    EXPECT_EQ(
        flaws_with("  rows:\n    postgres:", "    heartbeat: {active: 0s}\n  rows:\n    postgres:"),
        "trueup.yaml:8: sources.pods.heartbeat.active is 0s; write at least 500ms, as in 2s");
    EXPECT_EQ(
        flaws_with("  rows:\n    postgres:", "    relist_every: 0s\n  rows:\n    postgres:"),
        "trueup.yaml:8: sources.pods.relist_every is 0s; write how often the source is listed "
        "again, as in 6h");
}

TEST(ConfigSourceFlaws, ASecretInTheClearIsSaidTwice_Design_4_15) {
    EXPECT_EQ(flaws_of_rows("fields: {api_token: map}"),
              "trueup.yaml:12: sources.rows.postgres.fields.api_token is map, but looks like a "
              "secret, which would be published and kept in clear text; write hash, or "
              "acknowledge: [api_token] beside fields if this is intended");
    EXPECT_EQ(flaws_of_rows("fields: {api_token: map}\n      acknowledge: [api_token]"), "(sound)");
    EXPECT_EQ(flaws_of_rows("fields: {api_token: hash}"), "(sound)");
    for (const char* needless :
         {"fields: {api_token: hash}", "fields: {note: map}", "slot: trueup_a"}) {
        EXPECT_EQ(
            flaws_of_rows(std::string(needless) + "\n      acknowledge: [api_token]"),
            "trueup.yaml:13: sources.rows.postgres.acknowledge names 'api_token', which is not a "
            "field that looks like a secret and is published in clear text; leave it out");
    }
    EXPECT_EQ(flaws_of_pods("fields: {label.auth: map}"),
              "trueup.yaml:8: sources.pods.kubernetes.fields.label.auth is map, but looks like a "
              "secret, which would be published and kept in clear text; write hash, or "
              "acknowledge: [label.auth] beside fields if this is intended");
}

TEST(ConfigSourceFlaws, WhatRulesReadStaysAsItIs_Design_4_15) {
    const std::string rest = ", but the policy needs its text; write map";
    for (const char* column : {"status", "pod_name", "url_slug"}) {
        EXPECT_EQ(flaws_of_rows("fields:\n        " + std::string(column) + ": hash"),
                  "trueup.yaml:13: sources.rows.postgres.fields." + std::string(column) +
                      " is hash" + rest);
    }
    EXPECT_EQ(flaws_of_rows("fields: {pod_name: drop}"),
              "trueup.yaml:12: sources.rows.postgres.fields.pod_name is drop" + rest);
    const std::string hashed =
        with(sound(), "public.instances\n", "public.instances\n      fields: {ttl: hash}\n");
    EXPECT_EQ(flaws(hashed), "(sound)") << "ttl_expired is off";
    EXPECT_EQ(flaws(with(hashed, "executors:",
                         "    rules: {ttl_expired: {mode: observe}}\n"
                         "executors:")),
              "trueup.yaml:12: sources.rows.postgres.fields.ttl is hash" + rest);
}

TEST(ConfigSourceFlaws, FieldsAreWhatCanBeChosen_Design_4_15) {
    EXPECT_EQ(flaws_of_rows("fields: {note: clear}"),
              "trueup.yaml:12: sources.rows.postgres.fields.note is 'clear'; write map, hash or "
              "drop");
    EXPECT_EQ(flaws_of_rows("columns: [status, pod_name, note]\n      fields: {note: drop}"),
              "trueup.yaml:12: sources.rows.postgres.columns has 'note', which fields drops; "
              "remove one of the two");
    for (const char* name : {"phase", "name", "uid", "app", "label."}) {
        EXPECT_EQ(flaws_of_pods("fields: {" + std::string(name) + ": hash}"),
                  "trueup.yaml:8: sources.pods.kubernetes.fields." + std::string(name) +
                      " is not a field that can be chosen; write label.KEY, node or created");
    }
    EXPECT_EQ(flaws_of_pods("fields: {label.a/b: hash, node: drop, created: hash}"), "(sound)");
    const std::string names =
        ", which names each object in clear text, so it cannot be hashed or dropped, or look like "
        "a secret; use another label";
    EXPECT_EQ(flaws_of_pods("fields: {label.id: hash}\n      key_label: id"),
              "trueup.yaml:9: sources.pods.kubernetes.key_label is 'id'" + names);
    EXPECT_EQ(flaws_of_pods("key_label: session-token"),
              "trueup.yaml:8: sources.pods.kubernetes.key_label is 'session-token'" + names);
}

}  // namespace
}  // namespace trueup::config
