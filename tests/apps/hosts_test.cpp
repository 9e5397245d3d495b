// Proves apps/hosts.h over the embedded log, with threads and on real time: of two policies in one
// process, each with a world of its own, one that does not run or halts leaves the other alone.
#include "apps/hosts.h"

#include "apps/config/config.h"
#include "apps/operate.h"
#include "apps/sandbox_host.h"
#include "connectors/embedded/embedded_log.h"
#include "engine/ports/clock.h"
#include "sandbox/wiring/demo_policy.h"
#include "sandbox/wiring/sandbox_wiring.h"
#include "sandbox/world.h"
#include "tests/support/raw_http.h"
#include "tests/support/temp_dir.h"
#include "tests/support/wrapped_log.h"

#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace trueup::apps {
namespace {

constexpr Millis kAtMost{30'000};

sandbox::WorldSettings world_settings() {
    sandbox::WorldSettings settings;
    settings.evaluate_key = sandbox::evaluate_key;
    return settings;
}

/// A journal that can no longer be read, once `damaged` says so.
class DamagedLog final : public trueup::testing::WrappedLog {
  public:
    DamagedLog(std::unique_ptr<ports::Log> below, const std::atomic<bool>& damaged)
        : WrappedLog(std::move(below)), damaged_(damaged) {}
    Result<ports::Fetched> read(ports::Partition partition, Offset offset,
                                std::size_t max_bytes) override {
        if (damaged_ && partition.topic == Topic::kJournal) {
            return Error{Next::kStop, Code::kCorrupt, "the journal is damaged"};
        }
        return WrappedLog::read(partition, offset, max_bytes);
    }

  private:
    const std::atomic<bool>& damaged_;
};

/// Policies `eu` and `us`, each over a world with one good instance.
class HostsTest : public ::testing::Test {
  protected:
    HostsTest() {
        std::filesystem::create_directories(dir / "keys");
        std::ofstream(dir / "olga") << "oooooooooooooooooooo\n";
        std::ofstream(dir / "keys/tokens") << "olga ops oooooooooooooooooooo\n";
        std::filesystem::permissions(dir / "keys/tokens", std::filesystem::perms::owner_read);
        for (sandbox::World* world : {&eu, &us}) {
            world->create_pod("wrapper-good", {{"app", "ryugraph-wrapper"}}, "Running");
            world->insert_row({{"name", "good"},
                               {"url_slug", "good"},
                               {"status", "running"},
                               {"pod_name", "wrapper-good"}});
        }
    }
    void open() {
        auto secrets = Secrets::load(dir / "keys", true);
        ASSERT_TRUE(secrets.ok()) << secrets.error().what;
        std::vector<HostSettings> both(2);
        for (std::size_t i = 0; i < both.size(); ++i) {
            both[i].secrets = *secrets;
            both[i].policy = sandbox::demo_policy();
            both[i].policy.policy = i == 0 ? "eu" : "us";
            for (RuleSettings& rule : both[i].policy.rules) {
                rule.grace = rule.create_window = Millis{0};
            }
            both[i].state_dir = config::policy_folder(dir.path(), both[i].policy.policy);
        }
        api::ServerSettings http;
        http.listen = "127.0.0.1:0";
        auto opened = Hosts::open(http, std::move(both));
        ASSERT_TRUE(opened.ok()) << opened.error().what;
        hosts = std::move(*opened);
    }
    Host& host(std::size_t i) { return *hosts->all()[i]; }
    void begin(std::size_t i) {
        const Status begun = begin_in_sandbox(host(i), i == 0 ? eu : us);
        ASSERT_TRUE(begun.ok()) << begun.error().what;
    }
    /// Over a log of which the test has a word to say.
    void begin_on(std::size_t i, std::unique_ptr<ports::Log> log) {
        const Status begun = host(i).begin(std::move(log), {}, {}, nullptr);
        ASSERT_TRUE(begun.ok()) << begun.error().what;
    }
    std::unique_ptr<ports::Log> log_of(std::size_t i) {
        connectors::EmbeddedLog::Settings settings;
        settings.path = host(i).settings().state_dir + "/log";
        auto opened = connectors::EmbeddedLog::open(settings);
        EXPECT_TRUE(opened.ok()) << opened.error().what;
        return std::move(*opened);
    }
    bool wait_until(const std::function<bool()>& done) {
        const SteadyTime limit = ports::system_clock().steady_now() + kAtMost;
        while (!done()) {
            if (ports::system_clock().steady_now() > limit) return false;
            host(0).log().wait(host(0).log().changes_seen(), Millis{50});
        }
        return true;
    }
    static bool deleted(sandbox::World& world, const std::string& name) {
        for (const sandbox::Pod& pod : world.truth().pods) {
            if (pod.name == name) return pod.deletion_ms.has_value();
        }
        return true;
    }
    int ask(const std::string& kind, const std::string& policy = {}) {
        OperateOptions options;
        options.engine.url = "http://" + hosts->address();
        options.engine.token_file = dir / "olga";
        options.policy = policy;
        return run_request(options, kind);
    }
    test_support::RawAnswer get(const std::string& path) {
        return test_support::call(hosts->address(), "GET", path, "oooooooooooooooooooo", "");
    }

    testing::TempDir dir;
    sandbox::World eu{1, ports::system_clock(), world_settings()};
    sandbox::World us{2, ports::system_clock(), world_settings()};
    std::unique_ptr<Hosts> hosts;
};

// Symptom (had they shared one): what one policy lists was the other's loss.
TEST_F(HostsTest, EachJudgesItsOwnWorldInAJournalOfItsOwn_9_7) {
    open();
    begin(0);
    begin(1);
    ASSERT_TRUE(wait_until([this] {
        return hosts->all()[0]->snapshot().not_ready().empty() &&
               hosts->all()[1]->snapshot().not_ready().empty();
    }));
    us.create_pod("wrapper-orphan", {{"app", "ryugraph-wrapper"}}, "Running");
    EXPECT_TRUE(wait_until([this] { return deleted(us, "wrapper-orphan"); }));
    EXPECT_FALSE(deleted(eu, "wrapper-good") || deleted(us, "wrapper-good"));
    EXPECT_EQ(host(0).snapshot().outbox, 0U);
    for (const char* policy : {"eu", "us"}) {
        EXPECT_TRUE(std::filesystem::exists(config::policy_folder(dir.path(), policy) + "/log"));
    }
}

TEST_F(HostsTest, OneThatIsLeftOutIsToldOfAndTheOtherWorks) {
    open();
    begin(0);
    host(1).leave_out("trueup.yaml:20: policies[1].rows is missing");
    us.create_pod("wrapper-orphan", {{"app", "ryugraph-wrapper"}}, "Running");
    eu.create_pod("wrapper-orphan", {{"app", "ryugraph-wrapper"}}, "Running");
    EXPECT_TRUE(wait_until([this] { return deleted(eu, "wrapper-orphan"); }));
    EXPECT_FALSE(deleted(us, "wrapper-orphan"));
    EXPECT_EQ(get("/readyz").status, 503);
    EXPECT_NE(get("/readyz").body.find("policy us: the policy does not run: trueup.yaml:20"),
              std::string::npos)
        << get("/readyz").body;
    EXPECT_EQ(ask("pause"), 1) << "one policy was not reached";
    EXPECT_EQ(host(0).snapshot().pauses.size(), 1U);
    EXPECT_EQ(ask("resume", "eu"), 0);
    EXPECT_EQ(ask("resume", "us"), 2);
}

TEST_F(HostsTest, OneThatHaltsLeavesTheOtherAlone_9_7) {
    open();
    begin(0);
    std::atomic<bool> damaged{false};
    begin_on(1, std::make_unique<DamagedLog>(log_of(1), damaged));
    ASSERT_TRUE(wait_until([this] { return host(1).snapshot().caught_up; }));
    damaged = true;
    host(1).log().wake();
    EXPECT_TRUE(wait_until([this] { return !host(1).fatal().empty(); }));
    EXPECT_NE(hosts->fatal().find("policy us: "), std::string::npos) << hosts->fatal();
    eu.create_pod("wrapper-orphan", {{"app", "ryugraph-wrapper"}}, "Running");
    EXPECT_TRUE(wait_until([this] { return deleted(eu, "wrapper-orphan"); }));
    hosts.reset();
}

TEST_F(HostsTest, ABrakeIsForAllUnlessAPolicyIsNamed_S24) {
    open();
    begin(0);
    begin(1);
    EXPECT_EQ(ask("pause"), 0);
    EXPECT_EQ(host(0).snapshot().pauses.size(), 1U);
    EXPECT_EQ(host(1).snapshot().pauses.size(), 1U);
    EXPECT_EQ(ask("resume"), 2) << "which one?";
    EXPECT_EQ(ask("resume", "eu"), 0);
    EXPECT_EQ(host(0).snapshot().pauses.size(), 0U);
    EXPECT_EQ(host(1).snapshot().pauses.size(), 1U);
    EXPECT_EQ(ask("resume"), 0) << "the one that is left";
    EXPECT_EQ(host(1).snapshot().pauses.size(), 0U);
    EXPECT_EQ(ask("resume", "eus"), 2) << "there is none of that name";
}

}  // namespace
}  // namespace trueup::apps
