// Proves api/scope.cpp over a real socket: of several policies each request reaches those that it
// is about, and what is shown says of which it is.
#include "tests/api/server_fixture.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <string>
#include <vector>

namespace trueup::api {
namespace {

using Json = nlohmann::json;

/// Beside `graph-instances` there is `workers`.
class Policies : public Served {
  protected:
    Policies() {
        snapshot.policy = "graph-instances";
        snapshot.caught_up = true;
        theirs.policy = "workers";
        theirs.caught_up = true;
        Backend other;
        other.policy = "workers";
        other.unavailable = [this] { return unavailable; };
        other.snapshot = [this] { return theirs; };
        other.findings = [this](const projections::FindingsFilter& filter) {
            return their_findings.list(filter);
        };
        other.finding = [this](const std::string& id) { return found(their_findings, id); };
        other.why = [](const std::string& subject, const std::string&) -> Result<WhyView> {
            WhyView shown;
            shown.subject = subject;
            return shown;
        };
        other.too_much = [](const Request&) { return std::nullopt; };
        other.ask = [this](const Request& request) -> Result<RequestId> {
            if (!their_trouble.empty()) {
                return Error{Next::kRetry, Code::kUnavailable, their_trouble};
            }
            theirs_asked.push_back(request);
            return request.id == RequestId{} ? RequestId({7, 7}) : request.id;
        };
        other.answer = [this](const RequestId&) { return their_answer; };
        others = {other};
        serve();
    }
    static Result<std::pair<FindingEdge, SubjectView>> found(const projections::FindingsView& view,
                                                             const std::string& id) {
        const auto page = view.list({.id = id});
        if (page.findings.empty()) return Error{Next::kSkip, Code::kNotFound, "no such finding"};
        return std::pair{page.findings.front(), SubjectView{}};
    }
    FindingEdge finding(const std::string& policy, std::uint64_t number, std::int64_t offset) {
        FindingEdge edge;
        edge.id = FindingId({number, number});
        edge.rule = policy == "workers" ? "stale_worker" : "orphaned_pod";
        edge.subject = policy + "/one";
        edge.offset = Offset(offset);
        edge.state = FindingState::kSuspected;
        return edge;
    }
    Json get(const std::string& path) {
        const auto reply = ask("GET", path, token('o'));
        Json body = Json::parse(reply.body);
        body["status"] = reply.status;
        return body;
    }
    Json post(const std::string& body) {
        const auto reply = ask("POST", "/v1/requests", token('o'), body);
        Json json = Json::parse(reply.body);
        json["status"] = reply.status;
        return json;
    }

    Snapshot theirs;
    projections::FindingsView their_findings;
    std::vector<Request> theirs_asked;
    std::string their_trouble;  ///< of their log
    Answers their_answer;
    std::string unavailable;
};

TEST_F(Policies, TheListHasTheFindingsOfAllAndSaysWhoseEachIs) {
    findings.take(finding("graph-instances", 1, 17));
    their_findings.take(finding("workers", 2, 5));
    theirs.pauses = {{"", "olga", "", 7}};
    const Json page = get("/v1/findings");
    ASSERT_EQ(page["findings"].size(), 2U);
    EXPECT_EQ(page["findings"][0]["policy"], "graph-instances");
    EXPECT_EQ(page["findings"][1]["policy"], "workers");
    EXPECT_EQ(page["policies"][0]["seen"], 17);
    EXPECT_EQ(page["policies"][1]["seen"], 5);
    EXPECT_FALSE(page.contains("seen")) << "there is no one journal";
    EXPECT_EQ(page["pauses"][0]["policy"], "workers");
    const Json one = get("/v1/findings?policy=workers&rule=stale_worker");
    EXPECT_EQ(one["findings"].size(), 1U);
    EXPECT_EQ(one["seen"], 5);
    EXPECT_EQ(get("/v1/findings?limit=1")["more"], 1);
    EXPECT_EQ(get("/v1/findings?subject=one")["findings"].size(), 2U) << "of whichever policy";
}

TEST_F(Policies, AWordThatNoPolicyHasIsRefusedWithThoseThatThereAre) {
    EXPECT_EQ(get("/v1/findings?policy=worker")["error"],
              "there is no policy 'worker'; did you mean 'workers'?");
    RuleView rule;
    rule.rule = "orphaned_pod";
    snapshot.rules = theirs.rules = {rule};
    EXPECT_EQ(get("/v1/findings?rule=x")["error"], "there is no rule 'x'; known are orphaned_pod");
    EXPECT_EQ(get("/v1/policy")["error"],
              "several policies run here; name one of the policies graph-instances, workers");
    EXPECT_EQ(get("/v1/policy?policy=workers")["policy"], "workers");
    EXPECT_EQ(get("/v1/why?subject=one")["error"],
              "one may be of several policies: write POLICY/one; name one of the policies "
              "graph-instances, workers");
    EXPECT_EQ(get("/v1/why?subject=workers/one")["subject"], "workers/one");
}

TEST_F(Policies, AFindingIsFoundByItsIdWhereverItIs) {
    their_findings.take(finding("workers", 2, 5));
    const Json shown = get("/v1/findings/" + to_hex(FindingId({2, 2})));
    EXPECT_EQ(shown["policy"], "workers") << shown.dump();
}

// Symptom (had it gone to the first): one policy stood still, and the other went on deleting.
TEST_F(Policies, ABrakeWithoutANameIsForAllUnderOneId) {
    EXPECT_EQ(post(R"({"kind": "pause"})")["status"], 202);
    ASSERT_EQ(asked.size(), 1U);
    ASSERT_EQ(theirs_asked.size(), 1U);
    EXPECT_EQ(theirs_asked[0].id, RequestId({0, 1})) << "the first one's";
    EXPECT_EQ(post(R"({"kind": "pause", "policy": "workers"})")["status"], 202);
    EXPECT_EQ(asked.size(), 1U);
    EXPECT_EQ(theirs_asked.size(), 2U);
}

TEST_F(Policies, WhomABrakeDidNotReachIsNamed) {
    unavailable = "it is still starting: the journal is read";
    const Json taken = post(R"({"kind": "pause"})");
    EXPECT_EQ(taken["status"], 202) << "the others stop";
    EXPECT_EQ(taken["not_asked"][0]["policy"], "workers");
    EXPECT_EQ(taken["not_asked"][0]["sentence"], unavailable);
    EXPECT_EQ(post(R"({"kind": "pause", "policy": "workers"})")["status"], 503);
    EXPECT_EQ(get("/v1/findings")["policies"][1]["unavailable"], unavailable);
}

// Symptom (had the first failure ended it): "503", and nobody knew that the other policy stood
// still.
TEST_F(Policies, ABrakeIsForAsManyAsItReaches) {
    their_trouble = "the log does not answer";
    const Json half = post(R"({"kind": "pause"})");
    EXPECT_EQ(half["status"], 202);
    EXPECT_EQ(asked.size(), 1U);
    EXPECT_EQ(half["not_asked"][0]["policy"], "workers");
    EXPECT_EQ(half["not_asked"][0]["sentence"], their_trouble);
    busy = "olga";  // with the first policy
    their_trouble.clear();
    const Json other = post(R"({"kind": "pause"})");
    EXPECT_EQ(other["status"], 202);
    EXPECT_EQ(theirs_asked.size(), 1U);
    EXPECT_EQ(other["not_asked"][0]["policy"], "graph-instances");
    their_trouble = "the log does not answer";
    EXPECT_EQ(post(R"({"kind": "pause"})")["status"], 429) << "which reached nobody";
}

TEST_F(Policies, WhatIsAboutOneThingGoesToThePolicyThatHasIt) {
    SourceView pods;
    pods.name = "worker-pods";
    theirs.sources = {pods};
    their_findings.take(finding("workers", 2, 5));
    EXPECT_EQ(post(R"({"kind": "release", "source": "worker-pods"})")["status"], 202);
    EXPECT_EQ(
        post(R"({"kind": "dismiss", "finding": ")" + to_hex(FindingId({2, 2})) + R"("})")["status"],
        202);
    EXPECT_EQ(post(R"({"kind": "hold", "subject": "workers/one"})")["status"], 202);
    EXPECT_EQ(theirs_asked.size(), 3U);
    EXPECT_TRUE(asked.empty());
    EXPECT_EQ(post(R"({"kind": "release", "source": "pod"})")["error"],
              "no policy has a source pod");
    EXPECT_EQ(post(R"({"kind": "hold", "subject": "one"})")["status"], 400);
    snapshot.sources = {pods};
    EXPECT_EQ(
        post(R"({"kind": "release", "source": "worker-pods"})")["error"],
        "several policies have this source, each with a quarantine of its own; name one of the "
        "policies graph-instances, workers");
}

// Symptom (had it been taken): what was approved by one journal's offset was let through in
// another.
TEST_F(Policies, AnOffsetIsOfOneJournal) {
    EXPECT_EQ(post(R"({"kind": "approve", "rule": "orphaned_pod", "seen": 17})")["error"],
              "each policy has its own rules and its own journal, so an offset does not say what "
              "was seen; name one of the policies graph-instances, workers");
    EXPECT_TRUE(asked.empty() && theirs_asked.empty());
}

// Symptom (had the first refusal stood for all): "refused", and one policy acted again.
TEST_F(Policies, AnAnswerSaysWhatEachThatWasAskedHasSaid) {
    const std::string path = "/v1/requests/" + to_hex(RequestId({0, 1}));
    their_answer.pending = true;
    EXPECT_EQ(get(path)["state"], "pending");
    EXPECT_EQ(get(path)["answers"][0]["policy"], "graph-instances") << "which has answered";
    their_answer.pending = false;
    EXPECT_EQ(get(path)["state"], "granted");
    their_answer.word = AnswerView{RequestKind::kPause, false, "olga", "no"};
    const Json mixed = get(path);
    EXPECT_EQ(mixed["state"], "mixed");
    EXPECT_EQ(mixed["answers"][0]["state"], "granted");
    EXPECT_EQ(mixed["answers"][1]["state"], "refused");
    EXPECT_EQ(mixed["answers"][1]["sentence"], "no");
}

// What lets something go on is no brake: whoever says it has looked at one policy.
TEST_F(Policies, APauseEndsWhereThereIsOneAndOfSeveralOneIsNamed) {
    theirs.pauses = {{"", "olga", "", 7}};
    EXPECT_EQ(post(R"({"kind": "resume"})")["status"], 202);
    EXPECT_TRUE(asked.empty());
    EXPECT_EQ(theirs_asked.size(), 1U);
    snapshot.pauses = {{"", "bob", "", 7}};
    EXPECT_EQ(post(R"({"kind": "resume"})")["error"],
              "several policies are paused, perhaps by several people; name one of the policies "
              "graph-instances, workers");
    EXPECT_EQ(post(R"({"kind": "resume", "policy": "workers"})")["status"], 202);
}

// Symptom: a finding of an object without a key could not be dismissed: "there is no policy
// '!rows'".
TEST_F(Policies, AnObjectWithoutAKeyGoesByItsFindingOrByThePolicy) {
    FindingEdge edge = finding("workers", 2, 5);
    edge.subject = "!rows/17";
    their_findings.take(edge);
    EXPECT_EQ(post(R"({"kind": "dismiss", "subject": "!rows/17", "finding": ")" +
                   to_hex(FindingId({2, 2})) + R"("})")["status"],
              202);
    EXPECT_EQ(post(R"({"kind": "hold", "subject": "!rows/17", "policy": "workers"})")["status"],
              202);
    EXPECT_EQ(theirs_asked.size(), 2U);
    EXPECT_EQ(post(R"({"kind": "hold", "subject": "!rows/17"})")["status"], 400);
}

TEST_F(Policies, TheProcessIsReadyOnceEachIsAndSaysWhichIsNot) {
    EXPECT_EQ(ask("GET", "/readyz").body, "ready\n");
    theirs.left_out = "trueup.yaml:20: policies[1].rows is missing";
    const auto known = ask("GET", "/readyz", token('v'));
    EXPECT_EQ(known.status, 503);
    EXPECT_EQ(known.body,
              "policy workers: the policy does not run: trueup.yaml:20: policies[1].rows is "
              "missing\n");
    EXPECT_EQ(ask("GET", "/readyz").body,
              "not ready: a policy does not run; with a token /readyz says more\n");
    const std::string metrics = ask("GET", "/metrics").body;
    for (const char* line :
         {"trueup_ready{policy=\"graph-instances\"} 1\n", "trueup_ready{policy=\"workers\"} 0\n",
          "trueup_emitting{policy=\"workers\"} 0\n"}) {
        EXPECT_TRUE(has(metrics, line)) << line << metrics;
    }
    EXPECT_EQ(metrics.find("# TYPE trueup_ready "), metrics.rfind("# TYPE trueup_ready "))
        << "one family, however many policies";
}

}  // namespace
}  // namespace trueup::api
