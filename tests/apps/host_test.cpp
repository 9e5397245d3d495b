// Proves apps/host.h over the embedded log, with threads and on real time: what an operator says
// stops what it is about (S24, S40), whoever asks how much, and whatever the clock did.
#include "apps/host.h"

#include "apps/enable_command.h"
#include "apps/enable_look.h"
#include "apps/hosts.h"
#include "apps/keys.h"
#include "apps/operate.h"
#include "apps/plan.h"
#include "apps/seen_offsets.h"
#include "apps/why.h"
#include "connectors/embedded/embedded_log.h"
#include "connectors/kubernetes/connector.h"
#include "connectors/postgres/connector.h"
#include "engine/codec/outcome_codec.h"
#include "policies/shipped.h"
#include "sandbox/wiring/demo_policy.h"
#include "sandbox/wiring/sandbox_wiring.h"
#include "sandbox/world.h"
#include "tests/support/certificate.h"
#include "tests/support/keys.h"
#include "tests/support/raw_http.h"
#include "tests/support/temp_dir.h"
#include "tests/support/wrapped_log.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace trueup::apps {
namespace {

constexpr const char* kSelector = "app=ryugraph-wrapper";
constexpr Millis kAtMost{30'000};

/// The machine's clock, when nobody has set it wrong.
class LeapingClock final : public ports::Clock {
  public:
    std::atomic<std::int64_t> ahead{0};  ///< ms
    SteadyTime steady_now() override { return ports::system_clock().steady_now(); }
    std::int64_t wall_millis() override { return ports::system_clock().wall_millis() + ahead; }
};

/// A log that many processes share, by its name.
class NamedLog final : public trueup::testing::WrappedLog {
  public:
    static constexpr const char* kName = "kafka:cluster:trueup";
    using WrappedLog::WrappedLog;
    std::string name() const override { return kName; }
};

sandbox::WorldSettings world_settings() {
    sandbox::WorldSettings settings;
    settings.evaluate_key = sandbox::evaluate_key;
    return settings;
}

/// A world with one good instance and one orphan, a state folder, and hosts over them, one after
/// the other.
class HostTest : public ::testing::Test {
  protected:
    HostTest() {
        std::filesystem::create_directories(dir / "keys");
        std::ofstream(dir / "olga") << "oooooooooooooooooooo\n";
        std::ofstream(dir / "keys/tokens") << "olga ops oooooooooooooooooooo\n"
                                              "alice user aaaaaaaaaaaaaaaaaaaa\n";
        std::filesystem::permissions(dir / "keys/tokens", std::filesystem::perms::owner_read);
        policy = sandbox::demo_policy();
        for (RuleSettings& rule : policy.rules) rule.grace = rule.create_window = Millis{0};
        for (const char* name : {"wrapper-good", "wrapper-orphan"}) {
            world.create_pod(name, {{"app", "ryugraph-wrapper"}}, "Running");
        }
        world.insert_row({{"name", "good"},
                          {"url_slug", "good"},
                          {"status", "running"},
                          {"pod_name", "wrapper-good"}});
    }

    void start(bool with_executors, std::unique_ptr<SourceChecks> checks = nullptr) {
        connectors::EmbeddedLog::Settings log;
        log.path = dir / "log";
        log.clock = &clock;
        auto opened = connectors::EmbeddedLog::open(log);
        ASSERT_TRUE(opened.ok()) << opened.error().what;
        HostSettings settings;
        settings.state_dir = dir.path();
        settings.policy = policy;
        http.listen = "127.0.0.1:0";
        settings.retention = retention;
        settings.checkpoint_every = settings.shorten_every = every;
        ExecutorSpec executors;
        if (with_executors) {
            executors.clusters.push_back(world.cluster());
            executors.databases.push_back(world.database());
            executors.sources = sandbox::sandbox_reach(*executors.clusters.back(),
                                                       *executors.databases.back(), kSelector);
        }
        auto made = Hosts::open(http, {std::move(settings)});
        ASSERT_TRUE(made.ok()) << made.error().what;
        hosts = std::move(*made);
        host = &hosts->front();
        std::unique_ptr<ports::Log> bus = std::move(*opened);
        if (shared) bus = std::make_unique<NamedLog>(std::move(bus));
        const Status begun =
            host->begin(std::move(bus), sources(), std::move(executors), std::move(checks));
        ASSERT_TRUE(begun.ok()) << begun.error().what;
    }

    /// False: it took too long.
    bool wait_until(const std::function<bool()>& done) {
        const SteadyTime limit = ports::system_clock().steady_now() + kAtMost;
        while (!done()) {
            if (ports::system_clock().steady_now() > limit) return false;
            host->log().wait(host->log().changes_seen(), Millis{50});
        }
        return true;
    }

    std::size_t commands() {
        return host->log()
            .read({Topic::kCommands, PartitionNumber(0)}, kFirstOffset, 1U << 20U)
            .value()
            .records.size();
    }
    std::vector<Outcome> outcomes() {
        std::vector<Outcome> found;
        const auto fetched =
            host->log()
                .read({Topic::kOutcomes, PartitionNumber(0)}, kFirstOffset, 1U << 20U)
                .value();
        for (const ports::Record& record : fetched.records) {
            if (!record.value.empty()) {
                found.push_back(codec::decode_outcome(record.value).value());
            }
        }
        return found;
    }
    /// As olga's `trueup KIND` ends.
    int ask(const std::string& kind) {
        OperateOptions options;
        options.engine.url = "http://" + hosts->address();
        options.engine.token_file = dir / "olga";
        return run_request(options, kind);
    }

    Settings policy;
    api::ServerSettings http;
    runtime::RetentionSettings retention;
    Millis every{3'600'000};  ///< checkpoints, and shortening the log
    bool shared = false;      ///< the log has a name
    LeapingClock clock;
    testing::TempDir dir;
    sandbox::World world{1, ports::system_clock(), world_settings()};
    std::unique_ptr<Hosts> hosts;
    Host* host = nullptr;  ///< the one policy's

  private:
    std::vector<SourceSpec> sources() {
        std::vector<SourceSpec> specs(2);
        specs[0].name = "pods";
        specs[0].topic = Topic::kChangesPods;
        specs[0].cluster = world.cluster();
        specs[0].connector = std::make_unique<connectors::KubernetesConnector>(
            *specs[0].cluster, sandbox::sandbox_pods(kSelector));
        specs[1].name = "rows";
        specs[1].topic = Topic::kChangesRows;
        specs[1].database = world.database();
        specs[1].connector = connectors::postgres::PostgresConnector::open(sandbox::sandbox_rows(),
                                                                           *specs[1].database)
                                 .value();
        for (SourceSpec& spec : specs) spec.pace_idle = spec.pace_waiting = Millis{200};
        return specs;
    }
};

// Symptom: a deletion was ordered, the process stopped, the rule set to observe, and the process
// started again: its executor took the command from the log, and the pod was gone.
TEST_F(HostTest, WhatWasOrderedUnderEnforceIsNotDoneUnderObserve_S40) {
    start(false);
    ASSERT_TRUE(wait_until([this] { return commands() > 0; }));
    hosts.reset();
    policies::rule_settings(policy, "orphaned_pod").mode = Mode::kObserve;
    start(true);
    ASSERT_TRUE(wait_until([this] { return !outcomes().empty(); }));
    EXPECT_EQ(outcomes()[0].kind, OutcomeKind::kRefused);
    EXPECT_TRUE(outcomes()[0].retryable);
    EXPECT_EQ(outcomes()[0].detail,
              "ordered before the rule was enabled, disabled, changed or set to observe");
    const sandbox::Truth truth = world.truth();
    EXPECT_EQ(truth.pods.size(), 2U);
    for (const sandbox::Pod& pod : truth.pods) EXPECT_FALSE(pod.deletion_ms) << pod.name;
}

// Symptom: TRUEUP_CONFIG named one engine and --state-dir another, and the first one was paused.
TEST_F(HostTest, WhoNamesAnEngineMeansThatOneWhateverTheEnvironmentSays) {
    start(false);
    write_address(dir.path(), hosts->address());
    ASSERT_EQ(::setenv("TRUEUP_CONFIG", "/nowhere/trueup.yaml", 1), 0);
    OperateOptions options;
    EXPECT_NE(run_request(options, "pause"), 0) << "of nowhere";
    options.engine.state_dir = dir.path();
    EXPECT_EQ(run_request(options, "pause"), 0);
    ::unsetenv("TRUEUP_CONFIG");
    EXPECT_TRUE(wait_until([this] { return host->snapshot().pauses.size() == 1; }));
}

// Symptom: before an approval nobody was shown what the two sides had said, nor what was proposed.
TEST_F(HostTest, AFindingIsShownWithBothSidesAndWhatWouldBeDone) {
    policies::rule_settings(policy, "orphaned_pod").mode = Mode::kApprove;
    http.socket = dir / "trueup.sock";
    start(false);
    ASSERT_TRUE(wait_until([this] { return host->snapshot().open_findings > 0; }));
    EngineAddress where;
    where.state_dir = dir.path();  // so that it goes by the socket
    const auto engine = EngineClient::find(where);
    ASSERT_TRUE(engine.ok()) << engine.error().what;
    const auto page = engine->get("/v1/findings");
    ASSERT_TRUE(page.ok()) << page.error().what;
    const std::string id = (*page)["findings"][0]["id"];
    const auto confirmed = [&] {
        const auto shown = engine->get("/v1/findings/" + id.substr(0, 8));
        return shown.ok() && (*shown)["reason"] == "approval";
    };
    ASSERT_TRUE(wait_until(confirmed));
    const auto shown = engine->get("/v1/findings/" + id.substr(0, 8));
    ASSERT_TRUE(shown.ok()) << shown.error().what;
    EXPECT_EQ((*shown)["sources"], (std::vector<std::string>{"pods", "rows"}));
    ASSERT_EQ((*shown)["objects"].size(), 1U) << *shown;
    EXPECT_EQ((*shown)["objects"][0]["source"], "pods");
    EXPECT_EQ((*shown)["objects"][0]["present"], true);
    EXPECT_EQ((*shown)["objects"][0]["fields"]["phase"], "Running");
    const std::string proposes = (*shown)["proposes"]["text"];
    EXPECT_TRUE(proposes.starts_with("delete_pod wrapper-orphan (uid ")) << proposes;
    EXPECT_EQ((*shown)["why"]["rule"], "orphaned_pod");
    EXPECT_EQ((*shown)["why"]["stopped_at"], "approval");
    const auto none = engine->get("/v1/findings/ffff");
    ASSERT_FALSE(none.ok());
    EXPECT_NE(none.error().what.find("no open finding begins with ffff"), std::string::npos);
}

// Symptom: where no deletion waited, a cleanup asked about whatever else did, and approved that.
TEST_F(HostTest, ACleanupLeavesAloneWhatIsNoDeletion_G16) {
    policies::rule_settings(policy, "orphaned_pod").mode = Mode::kObserve;
    policies::rule_settings(policy, "missing_pod").mode = Mode::kApprove;
    for (const char* name : {"gone", "fine", "well"}) {
        const std::string pod = std::string("wrapper-") + name;
        if (name != std::string("gone")) {
            world.create_pod(pod, {{"app", "ryugraph-wrapper"}}, "Running");
        }
        world.insert_row(
            {{"name", name}, {"url_slug", name}, {"status", "running"}, {"pod_name", pod}});
    }
    http.socket = dir / "trueup.sock";
    start(false);
    OperateOptions options;
    options.engine.state_dir = dir.path();
    options.yes = true;
    const auto engine = EngineClient::find(options.engine);
    ASSERT_TRUE(engine.ok()) << engine.error().what;
    const auto waiting = [&] {
        const auto page = engine->get("/v1/findings", {{"reason", "approval"}});
        return page.ok() ? (*page)["findings"].size() : 0;
    };
    ASSERT_TRUE(wait_until([&] { return waiting() == 1; }));
    ::testing::internal::CaptureStdout();
    EXPECT_EQ(run_cleanup(options), 0);
    const std::string said = ::testing::internal::GetCapturedStdout();
    EXPECT_TRUE(said.starts_with("no deletion waits for an approval")) << said;
    EXPECT_EQ(waiting(), 1U);
    EXPECT_EQ(commands(), 0U);
}

TEST_F(HostTest, WhyEachRuleStoppedIsToldOfAnySubject) {
    policies::rule_settings(policy, "orphaned_pod").mode = Mode::kApprove;
    http.socket = dir / "trueup.sock";
    start(false);
    EngineAddress where;
    where.state_dir = dir.path();
    const auto engine = EngineClient::find(where);
    ASSERT_TRUE(engine.ok()) << engine.error().what;
    const auto asked = [&](const std::string& subject, const std::string& rule) {
        return engine->get("/v1/why", {{"subject", subject}, {"rule", rule}});
    };
    const auto waits = [&] {
        const auto why = asked("wrapper-orphan", "orphaned_pod");
        return why.ok() && (*why)["rules"][0]["stopped_at"] == "approval";
    };
    ASSERT_TRUE(wait_until(waits));
    const auto why = asked("graph-instances/wrapper-orphan", "");
    ASSERT_TRUE(why.ok()) << why.error().what;
    EXPECT_EQ((*why)["rules"].size(), policy.rules.size());
    const auto rule = *asked("wrapper-orphan", "orphaned_pod");
    const std::string orders = rule["rules"][0]["orders"];
    EXPECT_TRUE(orders.starts_with("delete_pod wrapper-orphan (uid ")) << orders;

    const auto nobody = asked("wrapper-nobody", "");
    ASSERT_FALSE(nobody.ok());
    EXPECT_EQ(nobody.error().code, Code::kNotFound);
    EXPECT_NE(nobody.error().what.find("no source has an object of graph-instances/wrapper-nobody"),
              std::string::npos);
    const auto meant = asked("wrapper-orphan", "orphan_pod");
    ASSERT_FALSE(meant.ok());
    EXPECT_NE(meant.error().what.find("did you mean 'orphaned_pod'?"), std::string::npos);

    OperateOptions options;
    options.engine = where;
    options.subject = "wrapper-orphan";
    EXPECT_EQ(run_why(options), 0);
    options.rule = "orphan_pod";
    EXPECT_EQ(run_why(options), 1);
    options.engine.state_dir = dir / "nobody-runs-here";
    EXPECT_EQ(run_why(options), 2);
}

// ADR 34.
TEST_F(HostTest, WhoLookedLetsARuleActAndAScriptSaysWhatWasSeen) {
    policy.enabled_by.clear();
    policy.reconcile_every = Millis{0};
    http.socket = dir / "trueup.sock";
    std::filesystem::permissions(dir / "keys/tokens", std::filesystem::perms::owner_all);
    std::ofstream(dir / "keys/tokens") << "adam admin oooooooooooooooooooo\n";
    start(false);
    EnableOptions options;
    options.engine.state_dir = dir.path();
    options.policy = "graph-instances";
    options.rules = {"orphaned_pod"};
    const auto engine = EngineClient::find(options.engine);
    ASSERT_TRUE(engine.ok()) << engine.error().what;
    const auto waits = [&] {
        const auto page = engine->get("/v1/findings", {{"reason", "not_enabled"}});
        return page.ok() && (*page)["findings"].size() == 1;
    };
    ASSERT_TRUE(wait_until(waits));
    options.yes = true;
    EXPECT_EQ(run_policy_enable(options), 2) << "nobody says what was seen";
    options.seen = "1";
    EXPECT_EQ(run_policy_enable(options), 1) << "there was nothing to see yet";
    EXPECT_EQ(ask("reconcile"), 0);
    const auto seen = [&] { return (*engine->get("/v1/policy"))["shards"][0]["seen"].dump(); };
    const auto shown = [&] { return (*engine->get("/v1/policy"))["rules"][0]["shown"] == true; };
    ASSERT_TRUE(wait_until(shown));
    EXPECT_EQ(commands(), 0U);
    const auto page = engine->get("/v1/findings");
    ASSERT_TRUE(page.ok()) << page.error().what;
    const RuleLook look = look_of(*engine, *page, "orphaned_pod");
    EXPECT_EQ(look.found, 1U);
    EXPECT_EQ(look.lone, (std::map<std::string, std::size_t>{{"pods", 1}}));
    EXPECT_EQ(look.examples.size(), 1U);
    EnableOptions dry = options;
    dry.dry_run = true;
    dry.format = OutputFormat::kJson;
    ::testing::internal::CaptureStdout();
    EXPECT_EQ(run_policy_enable(dry), 0);
    const auto told = nlohmann::json::parse(::testing::internal::GetCapturedStdout());
    EXPECT_EQ(told["alone"]["pods"], 1);
    EXPECT_EQ(told["rules"][0]["examples"], look.examples);
    EXPECT_EQ(told["rules"][0]["waits_ms"], 0) << "as the test has set it";
    options.seen = seen();
    EXPECT_EQ(run_policy_enable(options), 0);
    EXPECT_TRUE(wait_until([this] { return commands() > 0; }));
    EXPECT_EQ(run_policy_disable(options), 0);
    EXPECT_TRUE(
        wait_until([&] { return (*engine->get("/v1/policy"))["rules"][0]["enabled"] == false; }));
    options.policy = "processors";
    EXPECT_EQ(run_policy_enable(options), 2) << "there is no such policy";
}

// Symptom: "everything is approved" was the answer also where nothing waited.
TEST_F(HostTest, AnApprovalByReasonSaysHowManyWaited) {
    policies::rule_settings(policy, "orphaned_pod").mode = Mode::kApprove;
    http.socket = dir / "trueup.sock";
    start(false);
    OperateOptions options;
    options.engine.state_dir = dir.path();
    options.reason = "approval";
    const auto engine = EngineClient::find(options.engine);
    ASSERT_TRUE(engine.ok()) << engine.error().what;
    const auto waits = [&] {
        const auto page = engine->get("/v1/findings", {{"reason", "approval"}});
        if (!page || (*page)["findings"].size() != 1) return false;
        options.seen = {Offset((*page)["seen"].get<std::int64_t>())};
        return true;
    };
    ASSERT_TRUE(wait_until(waits));
    OperateOptions of_two_shards = options;
    of_two_shards.seen.push_back(options.seen.front());
    EXPECT_NE(run_findings_approve(of_two_shards), 0) << "there is one, and waits for one offset";
    const auto said = [&] {
        ::testing::internal::CaptureStdout();
        EXPECT_EQ(run_findings_approve(options), 0);
        return ::testing::internal::GetCapturedStdout();
    };
    const std::string first = said();
    EXPECT_TRUE(first.ends_with(" is approved; 1 finding waited\n")) << first;
    ASSERT_TRUE(wait_until([&] { return !waits(); }));
    const std::string second = said();
    EXPECT_TRUE(second.ends_with(" is approved; no finding waited\n")) << second;
}

// ADR 34.
TEST_F(HostTest, APlanIsHeldAgainstWhatIsInForce) {
    http.socket = dir / "trueup.sock";
    start(false);
    EngineAddress where;
    where.state_dir = dir.path();
    const auto same = [&] { return loosening_of(where, policy).unknown.empty(); };
    ASSERT_TRUE(wait_until(same)) << loosening_of(where, policy).unknown;
    EXPECT_EQ(loosening_of(where, policy).looser, std::vector<std::string>{});
    Settings looser = policy;
    looser.stale_after = policy.stale_after + Millis(1'000);
    EXPECT_EQ(loosening_of(where, looser).looser.size(), 1U);
    looser.policy = "processors";
    EXPECT_NE(loosening_of(where, looser).unknown.find("there is no policy 'processors'"),
              std::string::npos);
}

TEST(EnableCommand, WhatWasSeenIsOneOffsetForEachShard) {
    EXPECT_EQ(parse_seen("242").value(), std::vector{Offset(242)});
    EXPECT_EQ(parse_seen("242.-.77").value(), (std::vector{Offset(242), kNoOffset, Offset(77)}));
    EXPECT_TRUE(parse_seen("").value().empty());
    for (const char* wrong : {"x", "-1", "1 2"}) {
        EXPECT_FALSE(parse_seen(wrong).ok()) << wrong;
    }
}

// Symptom: a pause that was recorded under one prefix was followed under another with the same
// keys.
TEST_F(HostTest, AWordThatIsSignedForAnotherLogIsNobodys) {
    shared = true;
    start(false);
    const codec::KeyRing keys = read_keys(dir / "keys", "requests").value();
    std::uint64_t id = 0;
    const auto pause_for = [&](const std::string& log) {
        Request request;
        request.id = RequestId({9, ++id});
        request.kind = RequestKind::kPause;
        request.issued_by = "olga";
        request.role = "ops";
        request.issued_ms = clock.wall_millis();
        const std::string bytes = testing::signed_bytes(request, keys.for_log(log));
        ASSERT_TRUE(ports::append_now(host->log(), {Topic::kRequests, PartitionNumber(0)},
                                      {{{}, bytes, {}}})
                        .ok());
    };
    for (const char* other : {"", "kafka:cluster:other"}) pause_for(other);
    EXPECT_EQ(ask("reconcile"), 0) << "which comes behind them";
    EXPECT_EQ(host->snapshot().pauses.size(), 0U);
    pause_for(NamedLog::kName);
    EXPECT_TRUE(wait_until([this] { return host->snapshot().pauses.size() == 1; }));
}

// Nothing of the product ever called what makes the log shorter: it grew for ever.
TEST_F(HostTest, WhatIsOlderThanTheConfigurationKeepsIsForgotten) {
    retention.topics = retention.journal = Millis{1};
    every = Millis{50};
    start(false);
    const auto begins_later = [this](Topic topic) {
        return host->log().describe({topic, PartitionNumber(0)}).value().first_offset >
               kFirstOffset;
    };
    EXPECT_TRUE(wait_until([&] { return begins_later(Topic::kChangesPods); }));
    EXPECT_TRUE(wait_until([&] { return begins_later(Topic::kJournal); }));
    EXPECT_TRUE(wait_until([this] { return host->snapshot().log_bytes > 0; }));
    EXPECT_GT(host->snapshot().state_free_bytes, 0);
}

// The other way round nothing is in the way.
TEST_F(HostTest, WhatIsOrderedAfterAStartUnderEnforceIsDone) {
    policies::rule_settings(policy, "orphaned_pod").mode = Mode::kObserve;
    start(false);
    ASSERT_TRUE(wait_until([this] { return host->snapshot().open_findings > 0; }));
    hosts.reset();
    policies::rule_settings(policy, "orphaned_pod").mode = Mode::kEnforce;
    start(true);
    ASSERT_TRUE(wait_until([this] { return !outcomes().empty(); }));
    EXPECT_EQ(outcomes()[0].kind, OutcomeKind::kDone) << outcomes()[0].detail;
}

// Symptom: the clock leapt an hour ahead and was set right, and for an hour the engine refused
// every word, each as asked an hour before it arrived.
TEST_F(HostTest, AClockThatLeaptAheadAndWasSetRightStopsNoWord) {
    clock.ahead = 3'600'000;
    start(false);
    ASSERT_TRUE(wait_until([this] { return host->snapshot().journal_offset > kFirstOffset; }));
    clock.ahead = 0;
    EXPECT_EQ(ask("pause"), 0);
    EXPECT_EQ(host->snapshot().pauses.size(), 1U);
    EXPECT_EQ(ask("resume"), 0);
    EXPECT_EQ(ask("reconcile"), 0);
}

TEST_F(HostTest, OverTlsTheCommandLineBelievesTheCertificateOfItsEngineAndNoOther) {
    test_support::write_certificate(dir.path(), "engine");
    http.cert_file = dir / "cert.pem";
    http.key_file = dir / "key.pem";
    start(false);
    OperateOptions options;
    options.engine.url = "https://" + hosts->address();
    options.engine.token_file = dir / "olga";
    EXPECT_EQ(run_request(options, "reconcile"), 2) << "the system knows nobody who signed it";
    options.engine = {};
    options.engine.state_dir = dir.path();
    std::ofstream(dir / "http.addr") << "https://" << hosts->address() << '\n' << http.cert_file;
    EXPECT_EQ(run_request(options, "reconcile"), 0);
    std::filesystem::create_directory(dir / "other");
    test_support::write_certificate(dir / "other", "engine");
    std::ofstream(dir / "http.addr") << "https://" << hosts->address() << '\n'
                                     << dir / "other/cert.pem";
    EXPECT_EQ(run_request(options, "reconcile"), 2);
}

// Symptom: 260 requests of a user's token, and an operator's pause stayed pending for ever.
TEST_F(HostTest, AFloodOfAUsersRequestsIsAnswered429AndStopsNoPause) {
    start(true);
    const auto alice = [this](const std::string& method, const std::string& path,
                              const std::string& body = {}) {
        return test_support::call(hosts->address(), method, path, "aaaaaaaaaaaaaaaaaaaa", body);
    };
    std::string last;
    int refused = 0;
    for (int i = 0; i < 300; ++i) {
        const auto reply =
            alice("POST", "/v1/requests",
                  R"({"kind": "terminate", "subject": "graph-instances/wrapper-good"})");
        if (reply.status == 429) {
            ++refused;
            EXPECT_NE(reply.body.find("wait a few minutes and ask again"), std::string::npos);
            continue;
        }
        ASSERT_EQ(reply.status, 202) << reply.body;
        last = reply.body.substr(reply.body.find(':') + 2, 32);
    }
    ASSERT_TRUE(wait_until([&] {
        return alice("GET", "/v1/requests/" + last).body.find("refused") != std::string::npos;
    })) << "the last one that was taken is pending";
    const auto more =
        alice("POST", "/v1/requests", R"({"kind": "terminate", "subject": "graph-instances/b"})");
    EXPECT_EQ(more.status, 429) << refused << " of 300 were";
    EXPECT_EQ(ask("pause"), 0);
    EXPECT_EQ(host->snapshot().pauses.size(), 1U);
}

/// Of pods nothing is in doubt; of rows the server does not answer until it is told to.
class DoubtfulHostTest : public HostTest {
  protected:
    std::unique_ptr<SourceChecks> rows_in_doubt() {
        SourceCheck check{
            "rows", "trueup.yaml:7", [this]() -> Result<std::vector<std::string>> {
                if (!answers) return Error{Next::kRetry, Code::kUnavailable, "connection refused"};
                return std::vector<std::string>{"id"};
            }};
        SourceCheck good{"pods", "trueup.yaml:3", [] { return std::vector<std::string>{}; }};
        return std::make_unique<SourceChecks>(std::vector{std::move(check), std::move(good)},
                                              Pauses(Millis{5}, Millis{5}));
    }
    static const api::SourceView& rows_of(const api::Snapshot& shown) {
        for (const api::SourceView& source : shown.sources) {
            if (source.name == "rows") return source;
        }
        ADD_FAILURE() << "rows are not shown";
        return shown.sources.front();
    }
    std::atomic<bool> answers{false};
};

// Symptom (had it started without): nothing would have asked again whether a source is as
// configured, and whatever answered would have been read.
TEST_F(DoubtfulHostTest, ASourceThatIsNotCheckedYetIsNotReadAndTheProcessIsNotReady) {
    start(false, rows_in_doubt());
    ASSERT_TRUE(wait_until([this] { return host->snapshot().sources[0].known; })) << "pods";
    const api::Snapshot shown = host->snapshot();
    EXPECT_EQ(rows_of(shown).published, 0U) << "not even an incarnation";
    EXPECT_FALSE(rows_of(shown).known);
    EXPECT_FALSE(rows_of(shown).answering);
    EXPECT_TRUE(host->log()
                    .read({Topic::kChangesRows, PartitionNumber(0)}, kFirstOffset, 1U << 20U)
                    .value()
                    .records.empty());
    const char* why = "source rows: nothing is read or written there until it answers: ";
    EXPECT_TRUE(wait_until([&] { return host->snapshot().not_ready().starts_with(why); }))
        << host->snapshot().not_ready();
    answers = true;
    EXPECT_TRUE(wait_until([this] { return host->snapshot().not_ready().empty(); }))
        << host->snapshot().not_ready();
}

// A command that was ordered before the start meets an executor that may not ask its sources yet.
TEST_F(DoubtfulHostTest, WhatLeansOnASourceThatIsNotCheckedYetIsNotDoneAndIsOrderedAgain) {
    start(false);
    ASSERT_TRUE(wait_until([this] { return commands() > 0; }));
    hosts.reset();
    start(true, rows_in_doubt());
    ASSERT_TRUE(wait_until([this] { return !outcomes().empty(); }));
    EXPECT_EQ(outcomes()[0].kind, OutcomeKind::kFailed);
    EXPECT_TRUE(outcomes()[0].retryable);
    EXPECT_NE(outcomes()[0].detail.find("source rows: "), std::string::npos)
        << outcomes()[0].detail;
    for (const sandbox::Pod& pod : world.truth().pods) EXPECT_FALSE(pod.deletion_ms) << pod.name;
    answers = true;
    EXPECT_TRUE(wait_until([this] { return outcomes().back().kind == OutcomeKind::kDone; }));
}

// Symptom: while the brokers did not answer neither did /healthz and /readyz, and after a minute
// the process ended.
TEST_F(HostTest, ItsHttpSideIsThereBeforeTheLogAndSaysWhatIsWaitedFor) {
    HostSettings settings;
    settings.state_dir = dir.path();
    settings.policy = policy;
    http.listen = "127.0.0.1:0";
    auto made = Hosts::open(http, {std::move(settings)});
    ASSERT_TRUE(made.ok()) << made.error().what;
    hosts = std::move(*made);
    host = &hosts->front();
    const auto get = [this](const std::string& path, const std::string& token) {
        return test_support::call(hosts->address(), "GET", path, token, "");
    };
    host->waiting().tell("kafka: no answer from the brokers");
    EXPECT_EQ(get("/healthz", "").status, 200);
    EXPECT_EQ(get("/readyz", "").status, 503);
    EXPECT_EQ(get("/readyz", "").body.find("kafka"), std::string::npos) << "to a stranger";
    EXPECT_EQ(get("/readyz", "oooooooooooooooooooo").body,
              "it is still starting: kafka: no answer from the brokers\n");
    EXPECT_NE(get("/metrics", "").body.find("trueup_starting{policy=\"graph-instances\"} 1\n"),
              std::string::npos);
    const auto findings = get("/v1/findings", "oooooooooooooooooooo");
    EXPECT_EQ(findings.status, 503) << "none would be a lie";
    EXPECT_EQ(ask("pause"), 2);
}

}  // namespace
}  // namespace trueup::apps
