// Proves apps/config/describe.h: the effective configuration is whole, can be read back, and holds
// no secret; what is rarely meant is warned of.
#include "apps/config/describe.h"

#include "connectors/postgres/redaction.h"
#include "tests/apps/config/support.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace trueup::config {
namespace {

std::string with_conninfo(const std::string& conninfo) {
    return with(sound(), "conninfo_env: TRUEUP_DATABASE", "conninfo: \"" + conninfo + "\"");
}

TEST(ConfigDescribe, SaysEverythingInAFewLines) {
    EXPECT_EQ(
        describe(parsed(sound())),
        "bus       embedded, fsync on, max_clock_step 10s, max_broker_skew 0s, journal kept: "
        "forever\n"
        "state     /var/lib/trueup, 512MiB of memory, a checkpoint every 15m, 3 kept\n"
        "source    pods: pods in namespace graph, selector \"app=wrapper\", at least 1\n"
        "source    rows: rows of public.instances (pod_name, status, url_slug), at least 1, "
        "publication trueup, slot trueup_rows, conninfo_env \"TRUEUP_DATABASE\"\n"
        "policy    graph-instances: graph-instances\n"
        "role      pods: source pods, by name\n"
        "role      rows: source rows, by coalesce(pod_name, 'wrapper-' || url_slug)\n"
        "rule      orphaned_pod: observe, grace 1m, create window 30s, at most 10 or 20% in 5m\n"
        "rule      missing_pod: observe, grace 1m, create window 30s, at most 10 or 20% in 5m\n"
        "rule      status_drift: observe, at most 10 or 20% in 5m\n"
        "rule      ttl_expired: off\n"
        "rule      inactive: off\n"
        "rule      untracked_record: observe, grace 1m, create window 30s, at most 10 or 20% in "
        "5m\n"
        "rule      stuck_transition: observe, grace 15m, create window 30s, at most 10 or 20% in "
        "5m\n"
        "rule      stopping_with_pod: observe, grace 15m, at most 10 or 20% in 5m\n"
        "rule      finished_pod: observe, at most 10 or 20% in 5m\n"
        "rule      duplicate_claim: observe, at most 10 or 20% in 5m\n"
        "rule      termination_requested: off\n"
        "limits    stale after 45s, a snapshot may drop 50%, commands live 1m\n"
        "reconcile every 5m\n"
        "executor  delete_pod: on pods\n"
        "executor  update_row: on rows\n"
        "http      127.0.0.1:9464\n"
        "log       info, as -o says\n");
}

TEST(ConfigDescribe, SaysWhatPodsHaveToEndWhereItIsNotTheirOwn) {
    const Config config =
        parsed(with(sound(), "executors:",
                    "    rules: {orphaned_pod: {grace_period: 90s}, ttl_expired: {grace_period: "
                    "0s}}\n    acknowledge: [ttl_expired.grace_period]\nexecutors:"));
    const std::string text = describe(config);
    EXPECT_NE(text.find("create window 30s, pods have 90s to end, at most 10"), std::string::npos)
        << text;
    EXPECT_NE(text.find("ttl_expired: observe, pods have 0s to end,"), std::string::npos) << text;
    const Settings settings = policy_settings(config);
    EXPECT_EQ(settings.rules[0].grace_period, 90U);
    EXPECT_EQ(settings.rules[3].grace_period, 0U);
    EXPECT_EQ(settings.rules[4].grace_period, std::nullopt);
    EXPECT_EQ(policy_settings(parsed(describe_json(config))), settings);
}

TEST(ConfigDescribe, JsonIsAConfigurationAgain) {
    const std::string nodes =
        "sources:\n  nodes: {kubernetes: {kubeconfig: k, context: c, all_namespaces: true, "
        "resource: a.b/v1/c, labels: [x], key_label: y}}\n";
    const std::string full = with(with(sound(), "sources:\n", nodes), "version: 1\n",
                                  "version: 1\nhttp: {listen: off}\nlog: {level: error}\n");
    const std::string query =
        with(with(sound(), ", update_row: {source: rows}", ""), "table: public.instances\n",
             "query: SELECT * FROM v\n      primary_key: [id, part]\n");
    for (const std::string& text : {sound(), full, query}) {
        const std::string json = describe_json(parsed(text));
        EXPECT_EQ(describe_json(parsed(json)), json);
        EXPECT_EQ(policy_settings(parsed(json)), policy_settings(parsed(text)));
    }
}

TEST(ConfigDescribe, PasswordsAreNowhere) {
    for (const char* conninfo :
         {"host=db user=u password=hunter2", "host=db user=u password='hun''ter2 hunter2'",
          "host=db password = hunter2", "password=hunter2 broken",
          "postgresql://u:hunter2@db:5432/graph", "postgres://u@db/graph?password=hunter2",
          "postgres://u:hunter2@db/graph?sslmode=require", "postgres://u:pa/hunter2@db/graph",
          "postgres://u:pa?hunter2@db/graph", "postgres://u:pa@hunter2@db/graph", "hunter2"}) {
        const Config config = parsed(with_conninfo(conninfo));
        EXPECT_EQ(describe(config).find("hunter2"), std::string::npos) << describe(config);
        EXPECT_EQ(describe_json(config).find("hunter2"), std::string::npos) << conninfo;
        EXPECT_EQ(
            warnings(config),
            (std::vector<std::string>{"sources.rows.postgres.conninfo seems to contain a password; "
                                      "conninfo_file or conninfo_env keeps it out of this file"}))
            << conninfo;
    }
}

TEST(ConfigDescribe, AsWhomIsWrittenIsShownWithoutSecrets) {
    const std::string text =
        with(with(sound(), "{source: pods}", "{source: pods, kubeconfig: w.yaml, context: w}"),
             "{source: rows}", "{source: rows, conninfo: host=db user=w password=hunter2}");
    const Config config = parsed(text);
    const std::string said = describe(config);
    EXPECT_NE(said.find("delete_pod: on pods, as kubeconfig \"w.yaml\", context \"w\"\n"),
              std::string::npos)
        << said;
    EXPECT_NE(said.find("update_row: on rows, as conninfo \"user=w password=*** host=db\"\n"),
              std::string::npos)
        << said;
    EXPECT_EQ(describe_json(config).find("hunter2"), std::string::npos);
    EXPECT_EQ(warnings(config), (std::vector<std::string>{
                                    "executors.update_row.conninfo seems to contain a password; "
                                    "conninfo_file or conninfo_env keeps it out of this file"}));
}

TEST(ConfigDescribe, RedactionKeepsWhereItLeads) {
    using connectors::postgres::redact_conninfo;
    EXPECT_EQ(redact_conninfo("host=db port=5432 password=pw dbname='a b'"),
              "password=*** dbname='a b' host=db port=5432");
    EXPECT_EQ(redact_conninfo("password='it\\'s' host=db"), "password=*** host=db");
    EXPECT_EQ(redact_conninfo("password=a\\ b host=db"), "password=*** host=db");
    EXPECT_EQ(redact_conninfo("sslpassword=pw user=it\\'s"), "user='it\\'s' sslpassword=***");
    EXPECT_EQ(redact_conninfo("postgresql://u:pw@db:5432/graph?sslmode=require&password=x"),
              "user=u password=*** dbname=graph host=db port=5432 sslmode=require");
    for (const char* whole : {"postgres://db/graph", "postgres://me%40here@db/graph", "host=db"}) {
        EXPECT_EQ(redact_conninfo(whole), whole);
    }
}

// A parser of our own took a string apart otherwise than libpq, which reads it in the end.
TEST(ConfigDescribe, WhatIsNotSurelyReadAsItIsMeantIsHiddenWhole) {
    for (const char* unclear : {"password='open", "postgres://u:pw/db", "postgres://u:p/w@db",
                                "postgres://u:12/w@db/graph", "postgres://u:12/x?sslmode=w@db",
                                "postgres://u:p@w@db", "host=db pasword=pw", "pw"}) {
        EXPECT_EQ(connectors::postgres::redact_conninfo(unclear), "***") << unclear;
    }
}

TEST(ConfigWarnings, ASoundFileHasNone) {
    EXPECT_EQ(warnings(parsed(sound())), std::vector<std::string>());
}

TEST(ConfigWarnings, ANameIsOneInANamespaceOnly) {
    const std::vector<std::string> expected{
        "sources.pods watches all namespaces: two pods with the same name claim one subject, and "
        "then nothing is done about either"};
    EXPECT_EQ(warnings(parsed(with(sound(), "namespace: graph", "all_namespaces: true"))),
              expected);
}

TEST(ConfigWarnings, WhatIsRarelyMeantIsSaid) {
    std::string text = with(sound(), "version: 1\n",
                            "version: 1\nmemory: 32MiB\nhttp: {listen: \"0.0.0.0:9464\", "
                            "acknowledge: [plain_http]}\n"
                            "bus: {embedded: {fsync: false}, max_clock_step: 1s}\n");
    text = with(text, "sources:\n",
                "sources:\n  nodes: {kubernetes: {in_cluster: true, all_namespaces: true, "
                "resource: v1/nodes}, relist_every: 1m}\n");
    text =
        with(text, "  rows:\n    postgres:", "    expect: {at_least: 0}\n  rows:\n    postgres:");
    text = with(text, "executors:",
                "    rules: {orphaned_pod: {mode: enforce, grace: 9s, create_window: 0s}}\n"
                "    command_ttl: 5s\n    max_drop: 95%\n"
                "    acknowledge: [max_drop, orphaned_pod.create_window]\nexecutors:");
    const std::vector<std::string> expected{
        "sources.nodes is used by no policy: it is watched, but nothing is judged",
        "sources.nodes.relist_every 1m reads the whole source very often; 6h is typical",
        "sources.pods.expect.at_least is 0: an empty first list is believed, and then everything "
        "on the other side counts as wrong",
        "rules.orphaned_pod acts after only 9s; below 10s a slow start is taken for a disagreement",
        "command_ttl 5s is shorter than 10s: a lost command is never sent again",
        "max_drop is relaxed (acknowledged)",
        "orphaned_pod.create_window is relaxed (acknowledged)",
        "memory 32MiB is low; below 64MiB the projection reads from disk all the time",
        "bus.embedded.fsync is false: a power failure may lose decisions",
        "http.listen 0.0.0.0:9464 is open to other machines without TLS (acknowledged): tokens are "
        "sent unencrypted"};
    EXPECT_EQ(warnings(parsed(text)), expected);
}

TEST(ConfigDescribe, SaysWhatIsHashedAndReadsItBack_Design_4_15) {
    const std::string text =
        with(with(sound(), "public.instances\n",
                  "public.instances\n      columns: [status, pod_name, url_slug]\n"
                  "      fields: {email: hash, api_token: map, note: drop}\n"
                  "      acknowledge: [api_token]\n"),
             "selector: app=wrapper\n",
             "selector: app=wrapper\n      fields: {label.team: hash, node: drop}\n");
    const Config config = parsed(text);
    EXPECT_NE(describe(config).find("(status, pod_name, url_slug, api_token, email (hash))"),
              std::string::npos)
        << describe(config);
    EXPECT_EQ(config.source("pods")->kubernetes()->labels, std::vector<std::string>{"team"});
    const std::string json = describe_json(config);
    EXPECT_EQ(describe_json(parsed(json)), json);
    EXPECT_EQ(parsed(json).source("rows")->postgres()->fields.at("email").treatment,
              ports::Treatment::kHash);
}

}  // namespace
}  // namespace trueup::config
