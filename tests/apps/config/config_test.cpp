// Proves apps/config/config.h: what a sound file means, defaults included, and what goes into the
// journal.
#include "apps/config/config.h"

#include "policies/shipped.h"
#include "tests/apps/config/support.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace trueup::config {
namespace {

namespace fs = std::filesystem;

class ConfigFiles : public testing::Test {
  protected:
    ConfigFiles() {
        std::string name = (fs::temp_directory_path() / "trueup-config-XXXXXX").string();
        TRUEUP_CHECK(mkdtemp(name.data()) != nullptr);
        folder_ = name;
    }
    ~ConfigFiles() override { fs::remove_all(folder_); }

    std::string write(const std::string& name, const std::string& text) const {
        std::ofstream(folder_ / name) << text;
        fs::permissions(folder_ / name, fs::perms::owner_read | fs::perms::owner_write);
        return (folder_ / name).string();
    }

    fs::path folder_;
};

TEST(Config, DefaultsAreThoseOfTheDocument) {
    const Config config = parsed(sound());
    EXPECT_EQ(config.state_dir, "/var/lib/trueup");
    EXPECT_EQ(config.memory_bytes, std::uint64_t{512} << 20U);
    EXPECT_EQ(config.checkpoint_every, Millis(900'000));
    EXPECT_EQ(config.checkpoints_kept, 3U);
    EXPECT_TRUE(config.fsync);
    EXPECT_EQ(config.max_clock_step, Millis(10'000));
    EXPECT_EQ(config.max_broker_skew, Millis(0));
    EXPECT_EQ(config.finding_headers, FindingHeaders::kId);
    EXPECT_EQ(config.listen, "127.0.0.1:9464");
    EXPECT_EQ(config.log_level, LogLevel::kInfo);
    EXPECT_FALSE(config.log_format) << "that of the feed";
    ASSERT_EQ(config.sources.size(), 2U);
    for (const SourceConfig& source : config.sources) {
        EXPECT_EQ(source.idle, Millis(15'000));
        EXPECT_EQ(source.active, Millis(2'000));
        EXPECT_EQ(source.relist_every, std::chrono::hours(6));
        EXPECT_EQ(source.at_least, 1U);
    }
    const KubernetesSource& pods = *config.sources[0].kubernetes();
    EXPECT_EQ(pods.kubeconfig, "kube.yaml");
    EXPECT_EQ(pods.resource.api_path, "/api/v1");
    EXPECT_EQ(pods.resource.plural, "pods");
    EXPECT_EQ(pods.resource.name_space, "graph");
    EXPECT_EQ(pods.selector, "app=wrapper");
    EXPECT_EQ(pods.veto_label, "trueup.io/hold");
    const PostgresSource& rows = *config.sources[1].postgres();
    EXPECT_EQ(rows.from, Conninfo::kEnvironment);
    EXPECT_EQ(rows.conninfo, "TRUEUP_DATABASE");
    EXPECT_EQ(rows.table.schema, "public");
    EXPECT_EQ(rows.table.name, "instances");
    EXPECT_EQ(rows.publication, "trueup");
    EXPECT_EQ(rows.slot, "trueup_rows");
    EXPECT_EQ(rows.columns, (std::vector<std::string>{"pod_name", "status", "url_slug"}));
    EXPECT_FALSE(rows.emit_message);
}

/// Without where its sources look, which has a test of its own.
Settings but_for_places(Settings settings) {
    for (SourceSettings& source : settings.sources) {
        source.selects.clear();
        source.mapping = 0;
    }
    return settings;
}

TEST(Config, SettingsCarryDefaultsAndOrder) {
    Settings expected;
    expected.policy = "graph-instances";
    expected.text = policies::shipped("graph-instances");
    expected.sources = {{"pods", Topic::kChangesPods, 0}, {"rows", Topic::kChangesRows, 1}};
    expected.rules = {{"orphaned_pod", Mode::kObserve, Millis(60'000), Millis(30'000)},
                      {"missing_pod", Mode::kObserve, Millis(60'000), Millis(30'000)},
                      {"status_drift", Mode::kObserve, Millis(0), Millis(0)},
                      {"ttl_expired", Mode::kOff, Millis(0), Millis(0)},
                      {"inactive", Mode::kOff, Millis(0), Millis(0)},
                      {"untracked_record", Mode::kObserve, Millis(60'000), Millis(30'000)},
                      {"stuck_transition", Mode::kObserve, Millis(900'000), Millis(30'000)},
                      {"stopping_with_pod", Mode::kObserve, Millis(900'000), Millis(0)},
                      {"finished_pod", Mode::kObserve, Millis(0), Millis(0)},
                      {"duplicate_claim", Mode::kObserve, Millis(0), Millis(0)},
                      {"termination_requested", Mode::kOff, Millis(0), Millis(0)}};
    EXPECT_EQ(but_for_places(policy_settings(parsed(sound()))), expected);
}

// ADR 34: where a source looks is part of what rules mean; as whom it asks is not.
TEST(Config, SettingsSayWhereSourcesLookWithoutCredentials) {
    const auto places = [](const std::string& text) {
        std::vector<std::string> all;
        for (const SourceSettings& source : policy_settings(parsed(text)).sources) {
            all.push_back(source.selects);
        }
        return all;
    };
    const std::vector<std::string> before = places(sound());
    EXPECT_EQ(before[0], "/api/v1/pods namespace=graph selector=app=wrapper context= key=");
    EXPECT_EQ(before[1], "table=public.instances publication=trueup");
    EXPECT_NE(places(with(sound(), "app=wrapper", "app=wrappers")), before);
    EXPECT_NE(places(with(sound(), "namespace: graph", "namespace: graphs")), before);
    EXPECT_EQ(places(with(sound(), "TRUEUP_DATABASE", "ANOTHER_VARIABLE")), before);
    const std::string read_only = with(sound(), ", update_row: {source: rows}", "");
    EXPECT_EQ(places(with(read_only, "table: public.instances",
                          "query: 'SELECT * FROM v; '\n      primary_key: [id, part]"))[1],
              "query=" + to_hex(hash128("SELECT * FROM v")) + " primary_key=id,part");
}

TEST(Config, WhatRulesMayMeanIsGivenAsHashes) {
    const std::string hash = "520a9e85638941eb57dc2b78f2e629cb";
    const auto enabled = [](const std::string& list) {
        return with(sound(), "    use: graph-instances\n",
                    "    use: graph-instances\n    enabled: [" + list + "]\n");
    };
    EXPECT_EQ(policy_settings(parsed(enabled(hash))).enabled,
              std::vector<Hash128>{*hash_from_hex(hash)});
    const auto wrong = parse_config(enabled("orphaned_pod"), "trueup.yaml");
    ASSERT_FALSE(wrong.ok());
    EXPECT_NE(wrong.error().what.find("`trueup policy check --hash` prints"), std::string::npos)
        << wrong.error().what;
}

TEST(Config, SourcesKeepTheOrderOfTheFileAndNodesHaveATopicOfTheirOwn) {
    const Settings settings = policy_settings(
        parsed(with(sound(), "sources:\n",
                    "sources:\n  nodes: {kubernetes: {in_cluster: true, all_namespaces: true, "
                    "resource: v1/nodes}}\n")));
    const std::vector<SourceSettings> expected{{"nodes", Topic::kChangesResources},
                                               {"pods", Topic::kChangesPods, 0},
                                               {"rows", Topic::kChangesRows, 1}};
    EXPECT_EQ(but_for_places(settings).sources, expected);
}

TEST(Config, WhatASourceMustHaveShownIsInTheJournal) {
    const Settings settings =
        policy_settings(parsed(with(with(sound(), "  rows:\n    postgres:",
                                         "    expect: {at_least: 40}\n  rows:\n    postgres:"),
                                    "policies:", "    expect: {at_least: 0}\npolicies:")));
    EXPECT_EQ(settings.sources[0].at_least, 40U);
    EXPECT_EQ(settings.sources[1].at_least, 0U);
}

TEST(Config, RulesAreThoseOfThePolicyInItsOrder) {
    const Settings settings = policy_settings(parsed(sound()));
    const policy::Policy& policy = *settings.text;
    ASSERT_EQ(policy.rules.size(), settings.rules.size());
    for (std::size_t i = 0; i < settings.rules.size(); ++i) {
        EXPECT_EQ(policy.rules[i].name, settings.rules[i].rule);
    }
}

TEST(Config, EverythingThatIsWrittenIsRead) {
    std::string text =
        with(sound(), "version: 1\n",
             "version: 1\n"
             "bus: {embedded: {fsync: false}, max_clock_step: 5s, max_broker_skew: 1s,\n"
             "  finding_headers: cloudevents}\n"
             "state_dir: state\n"
             "memory: 1GiB\n"
             "checkpoints: {every: 1h, keep: 5}\n"
             "http: {listen: off}\n"
             "log: {level: warn, format: text}\n");
    text = with(
        text, "  rows:\n    postgres:",
        "    heartbeat: {idle: 10s, active: 1s}\n    relist_every: 1h\n  rows:\n    postgres:");
    text = with(text, "      table: public.instances\n",
                "      table: graph.Instances\n      publication: p\n      slot: trueup_s\n"
                "      columns: [pod_name, status, ttl]\n      veto_column: hold\n"
                "      emit_message: true\n");
    text = with(text, "executors:",
                "    rules: {orphaned_pod: {mode: enforce, grace: 2m, create_window: 1m,\n"
                "      budget: {max: 3, percent: 5%, window: 10m}}}\n"
                "    stale_after: 1m\n    max_drop: 30%\n    command_ttl: 90s\nexecutors:");
    const Config config = parsed(text);
    EXPECT_EQ(config.state_dir, "state");
    EXPECT_EQ(config.memory_bytes, std::uint64_t{1} << 30U);
    EXPECT_EQ(config.checkpoint_every, std::chrono::hours(1));
    EXPECT_EQ(config.checkpoints_kept, 5U);
    EXPECT_FALSE(config.fsync);
    EXPECT_EQ(config.finding_headers, FindingHeaders::kCloudEvents);
    EXPECT_EQ(config.listen, "");
    EXPECT_EQ(config.log_level, LogLevel::kWarn);
    EXPECT_EQ(config.log_format, LogFormat::kText);
    EXPECT_EQ(config.sources[0].idle, Millis(10'000));
    EXPECT_EQ(config.sources[0].active, Millis(1'000));
    EXPECT_EQ(config.sources[0].relist_every, std::chrono::hours(1));
    const PostgresSource& rows = *config.source("rows")->postgres();
    EXPECT_EQ(rows.table.schema, "graph");
    EXPECT_EQ(rows.table.name, "Instances");
    EXPECT_EQ(rows.columns, (std::vector<std::string>{"pod_name", "status", "ttl", "url_slug"}));
    EXPECT_EQ(rows.veto_column, "hold");
    EXPECT_TRUE(rows.emit_message);
    const Settings settings = policy_settings(config);
    EXPECT_EQ(settings.rules[0], (RuleSettings{"orphaned_pod",
                                               Mode::kEnforce,
                                               Millis(120'000),
                                               Millis(60'000),
                                               {3, 5, Millis(600'000)}}));
    EXPECT_EQ(settings.max_clock_step, Millis(5'000));
    EXPECT_EQ(settings.max_broker_skew, Millis(1'000));
    EXPECT_EQ(settings.stale_after, Millis(60'000));
    EXPECT_EQ(settings.max_drop_percent, 30U);
    EXPECT_EQ(settings.command_ttl, Millis(90'000));
}

TEST(Config, AnyResourceOfKubernetesMayBeNamed) {
    const auto resource = [](const std::string& text) {
        const Config config = parsed(
            with(sound(), "sources:\n",
                 "sources:\n  x: {kubernetes: {in_cluster: true, namespace: a, resource: " + text +
                     "}}\n"));
        const ports::Resource& read = config.sources[0].kubernetes()->resource;
        return read.api_path + " " + read.plural;
    };
    EXPECT_EQ(resource("v1/configmaps"), "/api/v1 configmaps");
    EXPECT_EQ(resource("apps/v1/deployments"), "/apis/apps/v1 deployments");
    EXPECT_EQ(resource("longhorn.io/v1beta2/volumes"), "/apis/longhorn.io/v1beta2 volumes");
}

TEST(Config, RelativePathsStartAtTheFile) {
    const Result<Config> config =
        parse_config(with(sound(), "version: 1\n", "version: 1\nstate_dir: ../state\n"),
                     "/etc/trueup/trueup.yaml");
    ASSERT_TRUE(config.ok());
    EXPECT_EQ(config->state_dir, "/etc/state");
    EXPECT_EQ(config->sources[0].kubernetes()->kubeconfig, "/etc/trueup/kube.yaml");
}

TEST(Config, TheExampleIsSoundAndTouchesNothing) {
    const Result<Config> config = load_config(TRUEUP_EXAMPLES "/quickstart.yaml");
    ASSERT_TRUE(config.ok()) << config.error().what;
    for (const RuleSettings& rule : policy_settings(*config).rules) {
        EXPECT_TRUE(rule.mode == Mode::kObserve || rule.mode == Mode::kOff) << rule.rule;
    }
    // What it writes out are the defaults.
    EXPECT_EQ(but_for_places(policy_settings(*config)),
              but_for_places(policy_settings(parsed(sound()))));
}

TEST(Config, TheExampleOfEveryRuleIsSoundAndDeletesNothingUnasked) {
    const Result<Config> config = load_config(TRUEUP_EXAMPLES "/graph-instances.yaml");
    ASSERT_TRUE(config.ok()) << config.error().what;
    const Settings settings = policy_settings(*config);
    EXPECT_EQ(settings.rules.size(), 11U);
    EXPECT_EQ(settings.rules[0].mode, Mode::kApprove);
    EXPECT_EQ(settings.windows.size(), 2U);
    EXPECT_EQ(settings.windows[0], (Window{0x1f, 6 * 60, 20 * 60}));
    EXPECT_EQ(settings.windows[1], (Window{0x60, 10 * 60, 16 * 60}));
}

TEST_F(ConfigFiles, AFileThatCannotBeReadIsNamed) {
    const std::string missing = (folder_ / "none.yaml").string();
    EXPECT_EQ(load_config(missing).error().what,
              missing + ": cannot read the configuration: No such file or directory");
    EXPECT_EQ(load_config(folder_.string()).error().what,
              folder_.string() + ": cannot read the configuration: it is a folder");
    const std::string large = write("large.yaml", std::string(1'100'000, '#'));
    EXPECT_EQ(load_config(large).error().what,
              large + ": cannot read the configuration: it is longer than 1MiB");
}

TEST_F(ConfigFiles, TheConnectionComesFromTheFileThatIsNamed) {
    write("secret", "host=db password=pw\n\n");
    const std::string path = write(
        "trueup.yaml", with(sound(), "conninfo_env: TRUEUP_DATABASE", "conninfo_file: secret"));
    const Result<Config> config = load_config(path);
    ASSERT_TRUE(config.ok()) << config.error().what;
    EXPECT_EQ(read_conninfo(*config->source("rows")).value(), "host=db password=pw");

    write("secret", " \n");
    EXPECT_EQ(read_conninfo(*config->source("rows")).error().what,
              (folder_ / "secret").string() +
                  " is empty, but should have the connection of sources.rows; write \"host=... "
                  "dbname=... user=... password=...\" there");
    fs::remove(folder_ / "secret");
    EXPECT_EQ(read_conninfo(*config->source("rows")).error().what,
              "the connection of sources.rows: cannot read " + (folder_ / "secret").string() +
                  ": No such file or directory");
}

// Symptom: passwords were read from files that every account could read.
TEST_F(ConfigFiles, PasswordsAreReadOnlyFromFilesThatNobodyElseMayRead) {
    write("secret", "host=db password=pw\n");
    const std::string rows =
        write("rows.yaml", with(sound(), "conninfo_env: TRUEUP_DATABASE", "conninfo_file: secret"));
    const auto kafka = [&] {
        const std::string path = write(
            "kafka.yaml", sound() + "bus: {kafka: {bootstrap: 'b:9092', client_file: secret}}\n");
        const Result<Config> read = load_config(path);
        return read.ok() ? std::string("read") : read.error().what;
    };
    EXPECT_EQ(kafka().find("secret (mode"), std::string::npos) << kafka();
    fs::permissions(folder_ / "secret", fs::perms::others_read, fs::perm_options::add);
    const std::string wanted = "may be read by others; write chmod 600 ";
    EXPECT_NE(kafka().find(wanted), std::string::npos) << kafka();
    const Result<Config> config = load_config(rows);
    ASSERT_TRUE(config.ok()) << config.error().what;
    EXPECT_NE(read_conninfo(*config->source("rows")).error().what.find(wanted), std::string::npos);
}

TEST(Config, WhatHoldsASecretInTheEnvironmentIsKnownByName) {
    EXPECT_EQ(secret_variables(parsed(sound())),
              (std::set<std::string>{"PGPASSWORD", "TRUEUP_DATABASE"}));
    EXPECT_EQ(secret_variables(parsed(
                  with(sound(), "{source: rows}", "{source: rows, conninfo_env: TRUEUP_WRITER}"))),
              (std::set<std::string>{"PGPASSWORD", "TRUEUP_DATABASE", "TRUEUP_WRITER"}));
}

TEST(Config, TheConnectionComesFromTheEnvironmentOrTheText) {
    const Config config = parsed(with(sound(), "TRUEUP_DATABASE", "TRUEUP_CONFIG_TEST_CONNINFO"));
    const SourceConfig& rows = *config.source("rows");
    unsetenv("TRUEUP_CONFIG_TEST_CONNINFO");
    EXPECT_EQ(
        read_conninfo(rows).error().what,
        "the environment variable TRUEUP_CONFIG_TEST_CONNINFO is empty, but should have the "
        "connection of sources.rows; write \"host=... dbname=... user=... password=...\" there");
    setenv("TRUEUP_CONFIG_TEST_CONNINFO", "host=db", 1);
    EXPECT_EQ(read_conninfo(rows).value(), "host=db");
    unsetenv("TRUEUP_CONFIG_TEST_CONNINFO");
    const Config literal =
        parsed(with(sound(), "conninfo_env: TRUEUP_DATABASE", "conninfo: host=here"));
    EXPECT_EQ(read_conninfo(*literal.source("rows")).value(), "host=here");
}

}  // namespace
}  // namespace trueup::config
