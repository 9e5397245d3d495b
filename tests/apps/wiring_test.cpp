// Proves apps/wiring.h where no server is needed: making the parts of a process asks nobody.
#include "apps/wiring.h"

#include "tests/support/temp_dir.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace trueup::apps {
namespace {

constexpr const char* kConfig = R"(version: 1
bus: {embedded: {}}
state_dir: /nonexistent
sources:
  pods:
    kubernetes: {kubeconfig: KUBECONFIG, namespace: graphs, selector: app=x}
  rows:
    postgres:
      conninfo: CONNINFO
      table: public.instances
policies:
  - name: graph-instances
    use: graph-instances
    roles: {pods: pods, rows: rows}
    keys: {rows: pod_name}
    rules:
      orphaned_pod: {mode: enforce}
executors:
  delete_pod: {source: pods}
  update_row: {source: rows}
)";

/// Port 1 of this machine: nobody is there.
class WiringTest : public ::testing::Test {
  protected:
    config::Config load(const std::string& conninfo) {
        write("kubeconfig", R"(apiVersion: v1
kind: Config
current-context: it
contexts: [{name: it, context: {cluster: it, user: it}}]
clusters: [{name: it, cluster: {server: "https://127.0.0.1:1"}}]
users: [{name: it, user: {token: abc}}]
)");
        std::string text = kConfig;
        text.replace(text.find("KUBECONFIG"), 10, dir / "kubeconfig");
        text.replace(text.find("CONNINFO"), 8, '"' + conninfo + '"');
        write("trueup.yaml", text);
        auto loaded = config::load_config(dir / "trueup.yaml");
        EXPECT_TRUE(loaded.ok()) << loaded.error().what;
        return std::move(*loaded);
    }
    void write(const std::string& name, const std::string& text) {
        std::ofstream(dir / name) << text;
        std::filesystem::permissions(
            dir / name, std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
    }
    testing::TempDir dir;
};

// Symptom: executors asked PostgreSQL for a primary key before anything else, and a start beside a
// server that was away ended.
TEST_F(WiringTest, ExecutorsAreMadeWithoutAskingAndDoNothingBeforeTheirSourcesWereChecked) {
    const auto made = make_executors(load("host=127.0.0.1 port=1 dbname=x"));
    ASSERT_TRUE(made.ok()) << made.error().what;
    ASSERT_EQ(made->sources.rows.count("rows"), 1U);
    EXPECT_FALSE(made->sources.rows.at("rows").doubt.empty());
    EXPECT_TRUE(made->sources.rows.at("rows").pk_columns.empty());
    EXPECT_FALSE(made->sources.pods.at("pods").doubt.empty());
}

TEST_F(WiringTest, WhoDoesNotAnswerIsToldFromWhatIsWrong) {
    const config::Config config = load("host=127.0.0.1 port=1 dbname=x");
    const Flaws away = check_sources(config, "trueup.yaml");
    EXPECT_TRUE(away.wrong.empty()) << away.wrong.front();
    ASSERT_EQ(away.unanswered.size(), 2U);
    EXPECT_EQ(away.exit_code(), 1);
    EXPECT_TRUE(away.unanswered[0].starts_with("trueup.yaml:5: source pods: the API server"))
        << away.unanswered[0];
    EXPECT_TRUE(away.unanswered[1].starts_with("trueup.yaml:7: source rows: cannot connect"))
        << away.unanswered[1];
    std::filesystem::remove(dir / "kubeconfig");
    const Flaws flaws = check_sources(config, "trueup.yaml");
    ASSERT_EQ(flaws.wrong.size(), 1U);
    EXPECT_EQ(flaws.exit_code(), 2) << "what is wrong counts more";
    EXPECT_EQ(Flaws{}.exit_code(), 0);
}

}  // namespace
}  // namespace trueup::apps
