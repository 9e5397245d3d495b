// Proves api/routes.h over a real socket: who gets in, what is asked, and what is answered (G8,
// G15).
#include "api/routes.h"

#include "tests/api/server_fixture.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <string>

namespace trueup::api {
namespace {

class Routes : public Served {
  protected:
    Routes() { serve(); }
    /// The status, then the body.
    std::string post(const std::string& path, char letter, const std::string& body) {
        const auto reply = ask("POST", path, token(letter), body);
        return std::to_string(reply.status) + " " + reply.body;
    }
    std::string get(const std::string& path, char letter) {
        const auto reply = ask("GET", path, token(letter));
        return std::to_string(reply.status) + " " + reply.body;
    }
};

TEST_F(Routes, AReconcileStartsAPassForOperationsOnly_G15) {
    EXPECT_TRUE(has(post("/internal/reconcile", '?', ""), "401 "));
    EXPECT_TRUE(has(post("/internal/reconcile", 'v', ""), "403 "));
    EXPECT_TRUE(has(post("/internal/reconcile", 'a', ""), "403 "));
    EXPECT_TRUE(asked.empty());
    EXPECT_EQ(post("/internal/reconcile", 'o', ""),
              "202 {\"request\":\"00000000000000000000000000000001\"}\n");
    ASSERT_EQ(asked.size(), 1U);
    EXPECT_EQ(asked[0].kind, RequestKind::kReconcile);
    EXPECT_EQ(asked[0].issued_by, "olga");
    EXPECT_EQ(asked[0].role, "ops");
}

TEST_F(Routes, AListOfFindingsNamesEachQuarantineAndTheCommandThatEndsIt) {
    EXPECT_TRUE(has(get("/v1/findings", 'v'), R"("quarantines":[])"));
    SourceView pods;
    pods.name = "pods";
    pods.quarantine = {Quarantine::kEmpty, 0, 1, 0};
    snapshot.sources.push_back(pods);
    EXPECT_TRUE(has(get("/v1/findings", 'v'), "`trueup unquarantine pods -c …`"));
}

TEST_F(Routes, AFindingSaysHowOldItIsAndWhatIsDoneAboutItAndTheListWhatIsPaused) {
    snapshot.shards = {{PartitionNumber(0), 5'000}, {PartitionNumber(1), 90'000}};
    snapshot.partitions = 4;
    RuleView rule;
    rule.rule = "orphaned_pod";
    rule.does = "delete the pod";
    snapshot.rules = {rule};
    snapshot.pauses = {{"", "olga", "a look first", 7}};
    FindingEdge edge;
    edge.id = FindingId({1, 2});
    edge.rule = "orphaned_pod";
    edge.shard = PartitionNumber(1);
    edge.since = from_millis<JournalTime>(60'000);
    edge.evidence = {Offset(4), Offset(9)};
    findings.take(edge);
    const auto page = nlohmann::json::parse(get("/v1/findings", 'v').substr(4));
    const auto& shown = page["findings"][0];
    EXPECT_EQ(shown["age_seconds"], 30);
    EXPECT_EQ(shown["does"], "delete the pod");
    EXPECT_EQ(shown["shard"], 1);
    EXPECT_EQ(shown["evidence"], (std::vector<int>{4, 9}));
    EXPECT_EQ(page["shards"], 4);
    EXPECT_EQ(page["seen"].size(), 4U) << "each has a journal of its own";
    EXPECT_EQ(page["pauses"][0]["by"], "olga");
    EXPECT_EQ(page["pauses"][0]["comment"], "a look first");
    EXPECT_FALSE(page["pauses"][0].contains("rule")) << "of all rules";
}

// Symptom: `findings list --rule orphan_pod` showed "0 open" while eight were.
TEST_F(Routes, AFilterByARuleOrReasonThatDoesNotExistIsRefusedWithWhatWasMeant) {
    RuleView rule;
    rule.rule = "orphaned_pod";
    snapshot.rules = {rule};
    EXPECT_TRUE(has(get("/v1/findings?rule=orphan_pod", 'v'), "did you mean 'orphaned_pod'?"));
    EXPECT_TRUE(has(get("/v1/findings?reason=aproval", 'v'), "did you mean 'approval'?"));
    EXPECT_TRUE(has(get("/v1/findings?rule=orphaned_pod&reason=approval", 'v'), "200 "));
}

TEST_F(Routes, ATokenWhoseTimeIsOverSaysSo) {
    const std::string reply = get("/v1/findings", 'x');
    EXPECT_TRUE(has(reply, "401 ")) << reply;
    EXPECT_TRUE(has(reply, "the token has expired")) << reply;
}

TEST_F(Routes, FindingsAreShownToEverybodyWithAToken) {
    FindingEdge edge;
    edge.id = FindingId({1, 2});
    edge.rule = "orphaned_pod";
    edge.subject = "graph-instances/wrapper-7";
    edge.state = FindingState::kConfirmed;
    edge.reason = Reason::kApproval;
    edge.offset = Offset(17);
    edge.sentence = "a \"quoted\" word";
    findings.take(edge);
    EXPECT_TRUE(has(get("/v1/findings", '?'), "401 "));
    const std::string reply = get("/v1/findings?reason=approval", 'v');
    ASSERT_TRUE(has(reply, "200 ")) << reply;
    const auto page = nlohmann::json::parse(reply.substr(4));
    ASSERT_EQ(page["findings"].size(), 1U);
    EXPECT_EQ(page["findings"][0]["id"], to_hex(edge.id));
    EXPECT_EQ(page["findings"][0]["offset"], 17);
    EXPECT_EQ(page["findings"][0]["sentence"], edge.sentence);
    EXPECT_EQ(page["seen"], 17);
    EXPECT_TRUE(has(get("/v1/findings?rule=missing_pod", 'v'), "\"findings\":[]"));
    EXPECT_FALSE(page["findings"][0].contains("age_seconds")) << "its shard does not run here";
    EXPECT_TRUE(has(get("/v1/findings?limit=x", 'v'), "400 "));
}

TEST_F(Routes, ARequestIsTakenWithItsScopeAndTheNameOfTheOneWhoAsks) {
    const std::string body =
        R"({"kind": "approve", "subject": "graph-instances/wrapper-7", "rule": "orphaned_pod",
            "finding": "00000000000000010000000000000002", "seen": 17, "comment": "looked"})";
    EXPECT_TRUE(has(post("/v1/requests", 'o', body), "202 "));
    ASSERT_EQ(asked.size(), 1U);
    EXPECT_EQ(asked[0].scope.subject, "graph-instances/wrapper-7");
    EXPECT_EQ(asked[0].scope.finding_id, FindingId({1, 2}));
    EXPECT_EQ(asked[0].scope.finding_offset, Offset(17));
    EXPECT_EQ(asked[0].comment, "looked");
    EXPECT_EQ(asked[0].issued_by, "olga") << "never what the body claims";
}

// Symptom: "everything is approved" was the answer also where nothing waited.
TEST_F(Routes, AnApprovalByReasonSaysHowManyWait) {
    RuleView acts;
    acts.rule = "orphaned_pod";
    acts.does = "delete the pod";
    RuleView reports;
    reports.rule = "uncorrelated_row";
    snapshot.rules = {acts, reports};
    const auto add = [&](std::uint64_t id, const char* rule, const char* subject, Offset offset) {
        FindingEdge edge;
        edge.id = FindingId({1, id});
        edge.rule = rule;
        edge.subject = subject;
        edge.state = FindingState::kConfirmed;
        edge.reason = Reason::kUncorrelatedRows;
        edge.offset = offset;
        findings.take(edge);
    };
    add(1, "orphaned_pod", "p/a", Offset(16));
    add(2, "orphaned_pod", "p/b", Offset(17));
    add(3, "orphaned_pod", "p/changed_since", Offset(18));
    add(4, "orphaned_pod", "!rows/no_key", Offset(3));
    add(5, "uncorrelated_row", "p/a", Offset(3));
    const auto waiting = [&](const std::string& scope) {
        const std::string body = R"({"kind": "approve", "seen": 17, )" + scope + "}";
        return nlohmann::json::parse(post("/v1/requests", 'o', body).substr(4));
    };
    EXPECT_EQ(waiting(R"("reason": "uncorrelated_rows")")["waiting"], 2);
    EXPECT_EQ(waiting(R"("reason": "approval")")["waiting"], 0);
    const std::string by_shard =
        R"({"kind": "approve", "seen": [16, 400], "reason": "uncorrelated_rows"})";
    EXPECT_EQ(nlohmann::json::parse(post("/v1/requests", 'o', by_shard).substr(4))["waiting"], 1)
        << "what shard 1 has seen says nothing of shard 0";
    EXPECT_EQ(asked.back().seen, (std::vector{Offset(16), Offset(400)}));
    EXPECT_EQ(waiting(R"("reason": "uncorrelated_rows", "rule": "uncorrelated_row")")["waiting"],
              0);
    EXPECT_FALSE(waiting(R"("subject": "graph-instances/a")").contains("waiting"))
        << "its answer has the number";
}

TEST_F(Routes, ThePolicySaysWhatEachRuleMeansAndWhoEnabledIt) {
    snapshot.policy = "graph-instances";
    snapshot.partitions = 2;
    snapshot.shards = {{PartitionNumber(1), 5'000, Offset(1'842)}};
    RuleView rule;
    rule.rule = "orphaned_pod";
    rule.mode = "enforce";
    rule.text = "00000000000000010000000000000002";
    rule.former = true;
    rule.waits_ms = 90'000;
    snapshot.rules = {rule, {}};
    const auto page = nlohmann::json::parse(get("/v1/policy", 'v').substr(4));
    EXPECT_EQ(page["policy"], "graph-instances");
    EXPECT_EQ(page["partitions"], 2);
    EXPECT_EQ(page["shards"][0]["seen"], 1'842);
    ASSERT_EQ(page["rules"].size(), 1U) << "one that left the policy is none";
    EXPECT_EQ(page["rules"][0]["text"], rule.text);
    EXPECT_EQ(page["rules"][0]["enabled"], false);
    EXPECT_EQ(page["rules"][0]["former"], true);
    EXPECT_EQ(page["rules"][0]["waits_ms"], 90'000);
    EXPECT_TRUE(has(get("/v1/policy", '?'), "401 "));
}

TEST_F(Routes, TheSettingsInForceAreShownToEverybodyWithAToken) {
    const auto page = nlohmann::json::parse(get("/v1/settings", 'v').substr(4));
    EXPECT_EQ(page["policy"], "graph-instances");
    EXPECT_TRUE(has(get("/v1/settings", '?'), "401 "));
    EXPECT_TRUE(has(get("/v1/settings?policy=none", 'v'), "404 "));
}

TEST_F(Routes, EnablingTakesAnAdminAndDisablingWhoMayPause) {
    const std::string enable =
        R"({"kind": "enable", "policy": "graph-instances", "seen": [1842, -1], "rules":
            [{"rule": "orphaned_pod", "text": "00000000000000010000000000000002"}]})";
    EXPECT_TRUE(has(post("/v1/requests", 'o', enable), "403 "));
    const auto read = request_of(enable);
    ASSERT_TRUE(read.ok()) << read.error().what;
    EXPECT_EQ(read->rules, (std::vector<NamedRule>{{"orphaned_pod", {1, 2}}}));
    EXPECT_EQ(read->seen, (std::vector{Offset(1'842), kNoOffset}));
    EXPECT_TRUE(has(post("/v1/requests", 'o', R"({"kind": "disable", "rules": ["orphaned_pod"]})"),
                    "202 "));
    ASSERT_EQ(asked.size(), 1U);
    EXPECT_EQ(asked[0].rules, (std::vector<NamedRule>{{"orphaned_pod", {}}}));
}

TEST_F(Routes, RulesAndOffsetsThatMeanNothingAreRefused) {
    for (const char* body : {R"({"kind": "enable", "rules": "orphaned_pod"})",
                             R"({"kind": "enable", "rules": [{"rule": "x", "text": "y"}]})",
                             R"({"kind": "enable", "rules": [], "seen": ["17"]})",
                             R"({"kind": "enable", "rules": [], "seen": 17})",
                             R"({"kind": "pause", "rules": ["orphaned_pod"]})",
                             R"({"kind": "dismiss", "seen": [17]})"}) {
        EXPECT_FALSE(request_of(body).ok()) << body;
    }
}

TEST_F(Routes, AUserMayAskForAnEndAndForNothingElse_G8) {
    EXPECT_TRUE(
        has(post("/v1/requests", 'a', R"({"kind": "terminate", "subject": "graph-instances/w"})"),
            "202"));
    EXPECT_TRUE(has(post("/v1/requests", 'a', R"({"kind": "pause"})"), "403 "));
    EXPECT_TRUE(
        has(post("/v1/requests", 'v', R"({"kind": "terminate", "subject": "graph-instances/w"})"),
            "403"));
    const char* drain = R"({"kind": "request", "name": "drain", "subject": "graph-instances/w"})";
    EXPECT_TRUE(has(post("/v1/requests", 'a', drain), "202"));
    EXPECT_TRUE(has(post("/v1/requests", 'v', drain), "403"));
    ASSERT_EQ(asked.size(), 2U);
    EXPECT_EQ(asked[0].role, "user");
    EXPECT_EQ(asked[0].issued_by, "alice");
    EXPECT_EQ(asked[1].name, "drain");
}

TEST_F(Routes, ACallerWhoAsksTooMuchIsToldToWaitAndNobodyElse) {
    busy = "alice";
    const std::string end = R"({"kind": "terminate", "subject": "graph-instances/w"})";
    const std::string reply = post("/v1/requests", 'a', end);
    EXPECT_EQ(reply, "429 {\"error\":\"'alice' has asked too much: wait\"}\n");
    EXPECT_TRUE(has(post("/v1/requests", 'o', end), "202 "));
    EXPECT_EQ(asked.size(), 1U);
}

TEST_F(Routes, ADismissalMayDropAnEndingThatIsHalfDone) {
    const std::string about = R"("subject": "graph-instances/wrapper-7")";
    EXPECT_TRUE(has(post("/v1/requests", 'o', R"({"kind": "dismiss", )" + about + "}"), "202 "));
    EXPECT_TRUE(has(
        post("/v1/requests", 'o', R"({"kind": "dismiss", "drop": true, )" + about + "}"), "202 "));
    ASSERT_EQ(asked.size(), 2U);
    EXPECT_FALSE(asked[0].drop);
    EXPECT_TRUE(asked[1].drop);
}

TEST_F(Routes, AWrongBodyIsRefusedWithOneSentence) {
    for (const char* body :
         {"", "[]", "{", "{}", R"({"kind": "explode"})", R"({"kind": 7})",
          R"({"kind": "approve", "seen": "now"})", R"({"kind": "approve", "finding": "12"})",
          R"({"kind": "pause", "colour": "red"})", R"({"kind": "pause", "drop": true})",
          R"({"kind": "dismiss", "drop": "yes"})", R"({"kind": "request", "subject": "p/w"})",
          R"({"kind": "terminate", "subject": "p/w", "name": "drain"})",
          R"({"kind": "pause", "issued_by": "somebody else"})"}) {
        const std::string reply = post("/v1/requests", 'o', body);
        EXPECT_TRUE(has(reply, "400 {\"error\":")) << body << " -> " << reply;
    }
    EXPECT_TRUE(has(post("/v1/requests", 'o', std::string(100'000, ' ')), "413"));
    EXPECT_TRUE(asked.empty());
}

TEST_F(Routes, AnAnswerIsPendingUntilTheEngineHasComeToIt) {
    EXPECT_TRUE(has(get("/v1/requests/00000000000000000000000000000002", 'v'), "\"pending\""));
    const std::string reply = get("/v1/requests/00000000000000000000000000000001", 'v');
    EXPECT_TRUE(has(reply, "\"granted\"") && has(reply, "\"sentence\":\"paused\"")) << reply;
    EXPECT_TRUE(has(get("/v1/requests/xyz", 'v'), "400 "));
}

}  // namespace
}  // namespace trueup::api
