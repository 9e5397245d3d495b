// Proves how credentials are got from a kubeconfig's exec plugin (client.authentication.k8s.io):
// what it is told, when it is run, and what is said when it fails.
#include "connectors/kubernetes/exec_plugin.h"

#include "tests/support/manual_clock.h"
#include "tests/support/temp_dir.h"

#include <gtest/gtest.h>
#include <poll.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

namespace trueup::testing {
namespace {

using connectors::ExecConfig;
using connectors::ExecCredential;
using connectors::ExecPlugin;
using connectors::parse_exec_credential;
using connectors::parse_rfc3339;
using State = ExecPlugin::State;

constexpr const char* kApi = "client.authentication.k8s.io/v1";

/// An ExecCredential with this status.
std::string printed(const std::string& status) {
    return std::string(R"({"kind":"ExecCredential","apiVersion":")") + kApi + R"(","status":)" +
           status + "}";
}

/// A plugin that is a shell script.
ExecConfig script(const std::string& text) {
    ExecConfig config;
    config.command = "login";
    config.program = "/bin/sh";
    config.args = {"-c", text};
    config.api_version = kApi;
    return config;
}
/// Prints this status, and a line into `runs`.
ExecConfig prints(const std::string& status, const std::string& runs) {
    return script("echo run >> '" + runs + "'; echo '" + printed(status) + "'");
}

std::string read(const std::string& path) {
    std::ifstream file(path);
    return {std::istreambuf_iterator<char>(file), {}};
}
std::size_t lines(const std::string& path) {
    const std::string text = read(path);
    return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
}

/// Until the plugin said what became of it; the manual clock stands still meanwhile.
State settle(ExecPlugin& plugin) {
    State state = plugin.advance();
    for (int i = 0; i < 2000 && state == State::kRunning; ++i) {
        ::poll(nullptr, 0, 5);
        state = plugin.advance();
    }
    return state;
}
/// The same, for a run that nobody waits for.
void finish(ExecPlugin& plugin) {
    for (int i = 0; i < 2000 && plugin.tend(); ++i) ::poll(nullptr, 0, 5);
}

TEST(ExecCredential, IsATokenOrACertificateWithItsKey) {
    const Result<ExecCredential> token = parse_exec_credential(
        printed(R"({"token":"t","expirationTimestamp":"2026-01-01T00:00:00Z"})"), kApi);
    ASSERT_TRUE(token.ok()) << token.error().what;
    EXPECT_EQ(token->token, "t");
    EXPECT_EQ(token->expires_ms, 1'767'225'600'000);
    const Result<ExecCredential> cert = parse_exec_credential(
        printed(R"({"clientCertificateData":"C\nC","clientKeyData":"K"})"), kApi);
    ASSERT_TRUE(cert.ok()) << cert.error().what;
    EXPECT_EQ(cert->cert, "C\nC");
    EXPECT_EQ(cert->key, "K");
    EXPECT_EQ(cert->expires_ms, std::nullopt);
}

TEST(ExecCredential, WhatIsNoneIsSaidWithoutAWordOfIt) {
    const std::vector<std::string> texts{
        "",
        "hush",
        R"({"kind":"Pod","status":{"token":"hush"}})",
        (R"({"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1beta1",)"
         R"("status":{"token":"hush"}})"),
        R"({"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1"})",
        printed("{}"),
        printed(R"({"token":""})"),
        printed(R"({"token":7})"),
        printed(R"({"clientKeyData":"hush"})"),
        printed(R"({"token":"hush","clientCertificateData":"hush"})"),
        printed(R"({"token":"hush","expirationTimestamp":"tomorrow"})"),
        printed(R"({"token":"hush"})").substr(0, 90)};
    for (const std::string& text : texts) {
        const Result<ExecCredential> read = parse_exec_credential(text, kApi);
        ASSERT_FALSE(read.ok()) << text;
        EXPECT_EQ(read.error().what.find("hush"), std::string::npos) << read.error().what;
        EXPECT_TRUE(read.error().what.starts_with("printed ")) << read.error().what;
    }
}

TEST(ExecCredential, TimesAreThoseOfRfc3339) {
    EXPECT_EQ(parse_rfc3339("1970-01-01T00:00:00Z"), 0);
    EXPECT_EQ(parse_rfc3339("1970-01-02T00:00:01.987654321Z"), 86'401'000);
    EXPECT_EQ(parse_rfc3339("2018-03-05T17:30:20-08:00"), 1'520'299'820'000);
    EXPECT_EQ(parse_rfc3339("2024-02-29T23:59:60+00:30"), 1'709'249'400'000);
    for (const char* text :
         {"", "2026", "2026-02-29T00:00:00Z", "2026-13-01T00:00:00Z", "2026-01-01T24:00:00Z",
          "2026-01-01T00:60:00Z", "2026-01-01T00:00:00", "2026-01-01T00:00:00+1:00",
          "2026-01-01T00:00:00Zulu", "-026-01-01T00:00:00Z", "2026-01-01T00:00:00+00:00 "}) {
        EXPECT_EQ(parse_rfc3339(text), std::nullopt) << text;
    }
}

TEST(ExecPlugin, CredentialsAreKeptUntilShortlyBeforeTheyExpire) {
    const TempDir folder;
    ManualClock clock(1'767'225'600'000 - 100'000);  // 2026-01-01, less 100 s
    ExecPlugin plugin(
        prints(R"({"token":"t","expirationTimestamp":"2026-01-01T00:00:00Z"})", folder / "runs"),
        clock);
    EXPECT_EQ(plugin.advance(), State::kRunning) << "nobody waits for it";
    EXPECT_EQ(settle(plugin), State::kReady);
    EXPECT_EQ(plugin.credential().token, "t");
    clock.advance(Millis{89'000});
    EXPECT_EQ(plugin.advance(), State::kReady);
    EXPECT_EQ(lines(folder / "runs"), 1U);
    clock.advance(Millis{1'000});
    EXPECT_EQ(plugin.advance(), State::kReady) << "the old ones are good for 10 s more";
    finish(plugin);
    EXPECT_EQ(lines(folder / "runs"), 2U);
    EXPECT_EQ(plugin.generation(), 2U);
}

TEST(ExecPlugin, CredentialsThatNeverExpireAreKept) {
    const TempDir folder;
    ManualClock clock;
    ExecPlugin plugin(prints(R"({"token":"t"})", folder / "runs"), clock);
    EXPECT_EQ(settle(plugin), State::kReady);
    clock.advance(Millis{1'000'000'000});
    EXPECT_EQ(plugin.advance(), State::kReady);
    EXPECT_EQ(lines(folder / "runs"), 1U);
}

TEST(ExecPlugin, ARefusalRunsItAgainButNotInALoop) {
    const TempDir folder;
    ManualClock clock;
    ExecPlugin plugin(prints(R"({"token":"t"})", folder / "runs"), clock);
    EXPECT_EQ(settle(plugin), State::kReady);
    plugin.refused(plugin.generation());
    EXPECT_EQ(plugin.advance(), State::kReady) << "none better are to be had so soon";
    EXPECT_EQ(lines(folder / "runs"), 1U);
    clock.advance(ExecPlugin::kRunGap);
    EXPECT_EQ(plugin.advance(), State::kRunning) << "these are of no use";
    EXPECT_EQ(settle(plugin), State::kReady);
    EXPECT_EQ(lines(folder / "runs"), 2U);
    plugin.refused(1);  // the late answer to a call that was sent with the old ones
    clock.advance(ExecPlugin::kRunGap);
    EXPECT_EQ(plugin.advance(), State::kReady);
    EXPECT_EQ(lines(folder / "runs"), 2U);
}

TEST(ExecPlugin, IsToldItsEnvironmentAndNothingGoesThroughAShell) {
    const TempDir folder;
    ManualClock clock;
    ExecConfig config =
        script("printf '%s|' \"$@\" \"$INFO\" \"$HOME\" > '" + (folder / "told") + "'; cat >> '" +
               (folder / "told") + "'; echo '" + printed(R"({"token":"t"})") + "'");
    config.args.insert(config.args.end(), {"login", "a b", "$(touch x)", "", "*"});
    config.env = {{"INFO", "{\"x\": 1}"}, {"HOME", "/elsewhere"}};
    ExecPlugin plugin(config, clock);
    EXPECT_EQ(settle(plugin), State::kReady);
    EXPECT_EQ(read(folder / "told"), "a b|$(touch x)||*|{\"x\": 1}|/elsewhere|")
        << "and standard input is empty";
}

// Symptom: the password of the database was in the environment of every exec plugin.
TEST(ExecPlugin, IsGivenOurEnvironmentWithoutOurSecrets) {
    const TempDir folder;
    ManualClock clock;
    ExecConfig config = script("echo \"$TRUEUP_TEST_A|$TRUEUP_TEST_B|$TRUEUP_TEST_C\" > '" +
                               (folder / "told") + "'; echo '" + printed(R"({"token":"t"})") + "'");
    config.env = {{"TRUEUP_TEST_C", "given"}};
    config.withheld = {"TRUEUP_TEST_B", "TRUEUP_TEST_C"};
    for (const char* name : {"TRUEUP_TEST_A", "TRUEUP_TEST_B", "TRUEUP_TEST_C"}) {
        ::setenv(name, "ours", 1);
    }
    ExecPlugin plugin(config, clock);
    EXPECT_EQ(settle(plugin), State::kReady);
    for (const char* name : {"TRUEUP_TEST_A", "TRUEUP_TEST_B", "TRUEUP_TEST_C"}) ::unsetenv(name);
    EXPECT_EQ(read(folder / "told"), "ours||given\n");
}

struct Failing {
    std::string text;
    std::string said;
};

TEST(ExecPlugin, EachFailureIsOneSentenceThatNamesTheCommandAndKeepsSecrets) {
    const std::vector<Failing> cases{
        {"echo hush; echo 'token has\n expired' >&2; exit 3", "ended with 3: token has expired"},
        {"echo hush; exit 1", "ended with 1"},
        {"kill -9 $$", "was killed"},
        {"echo hush", "printed no ExecCredential"},
        {"yes hush", "was killed"}};  // beyond a megabyte
    for (const Failing& failing : cases) {
        ManualClock clock;
        ExecPlugin plugin(script(failing.text), clock);
        EXPECT_EQ(settle(plugin), State::kFailed) << failing.text;
        EXPECT_EQ(plugin.failure().what,
                  "credentials: the kubeconfig's exec command 'login' " + failing.said);
        EXPECT_EQ(plugin.advance(), State::kFailed) << "not run in a loop";
    }
}

TEST(ExecPlugin, ACommandThatIsMissingBringsItsInstallHint) {
    ManualClock clock;
    ExecConfig config = script("");
    config.program = "no-such-program-of-trueup";
    EXPECT_EQ(ExecPlugin(config, clock).advance(), State::kFailed);
    ExecPlugin bare(config, clock);
    bare.advance();
    EXPECT_NE(bare.failure().what.find("cannot be run (No such file or directory): install it, or "
                                       "give the user a client certificate"),
              std::string::npos)
        << bare.failure().what;
    config.install_hint = "get it from\n\n  https://example.com/login\n";
    ExecPlugin hinted(config, clock);
    EXPECT_EQ(hinted.advance(), State::kFailed);
    EXPECT_NE(hinted.failure().what.find(": get it from https://example.com/login"),
              std::string::npos)
        << hinted.failure().what;
}

TEST(ExecPlugin, AHangEndsAndTakesAlongWhatItStarted) {
    const TempDir folder;
    ManualClock clock;
    ExecPlugin plugin(script("sleep 1000 & echo $! > '" + (folder / "pid") + "'; wait"), clock);
    EXPECT_EQ(plugin.advance(), State::kRunning);
    for (int i = 0; i < 2000 && lines(folder / "pid") == 0; ++i) ::poll(nullptr, 0, 5);
    clock.advance(ExecPlugin::kRunLimit - Millis{1});
    EXPECT_EQ(plugin.advance(), State::kRunning);
    clock.advance(Millis{1});
    EXPECT_EQ(plugin.advance(), State::kFailed);
    EXPECT_NE(plugin.failure().what.find("'login' printed no credentials within 20 s"),
              std::string::npos)
        << plugin.failure().what;
    finish(plugin);
    EXPECT_FALSE(plugin.tend());
    std::string pid = read(folder / "pid");
    pid.pop_back();
    std::string state;  // gone, or a zombie that nobody has fetched yet
    for (int i = 0; i < 2000; ++i) {
        state = read("/proc/" + pid + "/stat");
        if (state.empty() || state.find(") Z") != std::string::npos) break;
        ::poll(nullptr, 0, 5);
    }
    EXPECT_TRUE(state.empty() || state.find(") Z") != std::string::npos) << state;
}

TEST(ExecPlugin, AFailureForOnceLeavesTheLastCredentialsInUse) {
    const TempDir folder;
    ManualClock clock(1'767'225'600'000 - 100'000);
    ExecPlugin plugin(
        script("test -e '" + (folder / "broken") + "' && exit 1; echo '" +
               printed(R"({"token":"t","expirationTimestamp":"2026-01-01T00:00:00Z"})") + "'"),
        clock);
    EXPECT_EQ(settle(plugin), State::kReady);
    std::ofstream(folder / "broken") << "";
    clock.advance(Millis{95'000});
    EXPECT_EQ(plugin.advance(), State::kReady);
    finish(plugin);
    EXPECT_EQ(plugin.advance(), State::kReady);
    clock.advance(ExecPlugin::kRunGap);
    EXPECT_EQ(settle(plugin), State::kFailed) << "they have expired";
    std::filesystem::remove(folder / "broken");
    clock.advance(ExecPlugin::kRunGap);
    EXPECT_EQ(settle(plugin), State::kReady);
}

TEST(ExecPlugin, ARunThatNobodyNeedsAnyMoreIsEnded) {
    ManualClock clock;
    auto plugin = std::make_unique<ExecPlugin>(script("sleep 1000"), clock);
    EXPECT_EQ(plugin->advance(), State::kRunning);
    plugin.reset();
}

}  // namespace
}  // namespace trueup::testing
