// Proves api/why.h and its route over a real socket: who may ask, and what every word of it is.
#include "tests/api/server_fixture.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <string>

namespace trueup::api {
namespace {

constexpr const char* kPath = "/v1/why?subject=graph-instances%2Fwrapper-7";

class Why : public Served {
  protected:
    Why() {
        why.subject = "graph-instances/wrapper-7";
        why.shard = PartitionNumber(3);
        why.offset = Offset(1842);
        why.rules = {grace(), healthy()};
        serve();
    }

    static RuleWhyView grace() {
        RuleTrace trace;
        trace.rule = "orphaned_pod";
        trace.finds = "pod without an instance row";
        trace.mode = Mode::kEnforce;
        trace.kind = Verdict::Kind::kWaiting;
        trace.reason = Reason::kGrace;
        trace.object_id = "a";
        trace.finding = FindingId({1, 2});
        trace.again = Millis{41'001};
        DecidingFact fact;
        fact.kind = DecidingFact::Kind::kTime;
        fact.answer = DecidingFact::Answer::kNo;
        fact.name = "grace";
        fact.value = "18s";
        fact.asked = "60s";
        fact.left = Millis{41'001};
        trace.stages = {{Stage::kPattern, 0, "pods: one", false, {}},
                        {Stage::kGrace, 0, {}, true, {fact}}};
        return {trace, ""};
    }

    static RuleWhyView healthy() {
        RuleTrace trace;
        trace.rule = "missing_pod";
        trace.mode = Mode::kObserve;
        DecidingFact fact;
        fact.answer = DecidingFact::Answer::kNo;
        fact.role = fact.source = "rows";
        fact.object = "public.instances/42";
        fact.name = "status";
        fact.read = DecidingFact::Read::kNull;
        fact.asked = "[running, starting]";
        fact.offset = Offset(812);
        fact.at = from_millis<BrokerTime>(1'764'000'000'000);
        trace.stages = {{Stage::kPattern, 2, "rows: one", true, {fact}}};
        return {trace, ""};
    }

    std::string get(const std::string& path, char letter) {
        const auto reply = ask("GET", path, token(letter));
        return std::to_string(reply.status) + " " + reply.body;
    }
    nlohmann::json read(const std::string& path) {
        return nlohmann::json::parse(get(path, 'v').substr(4));
    }
};

TEST_F(Why, EveryRoleMayAskAndNobodyElse_G8) {
    EXPECT_TRUE(has(get(kPath, '?'), "401 "));
    EXPECT_TRUE(has(get(kPath, 'x'), "401 ")) << "its time is over";
    for (const char letter : {'v', 'a', 'o'}) EXPECT_TRUE(has(get(kPath, letter), "200 "));
    EXPECT_EQ(ask("POST", kPath, token('o'), "{}").status, 405U);
}

TEST_F(Why, EachRuleSaysWhereItStoppedAndByWhichFact) {
    const auto page = read(kPath);
    EXPECT_EQ(page["subject"], "graph-instances/wrapper-7");
    EXPECT_EQ(page["shard"], 3);
    EXPECT_EQ(page["offset"], 1842);
    ASSERT_EQ(page["rules"].size(), 2U);
    const auto& waits = page["rules"][0];
    EXPECT_EQ(waits["verdict"], "waits");
    EXPECT_EQ(waits["reason"], "grace");
    EXPECT_EQ(waits["mode"], "enforce");
    EXPECT_EQ(waits["object"], "a");
    EXPECT_EQ(waits["finding"], to_hex(FindingId({1, 2})));
    EXPECT_EQ(waits["again_seconds"], 42) << "not before it is over";
    EXPECT_EQ(waits["stopped_at"], "grace");
    EXPECT_EQ(waits["stages"][0]["asked"], "pods: one");
    EXPECT_EQ(waits["stages"][0]["stopped"], false);
    EXPECT_EQ(waits["stages"][1]["number"], 8);
    EXPECT_EQ(waits["stages"][1]["facts"][0]["left_seconds"], 42);
}

TEST_F(Why, AFactHasItsValueAsItWasReadAndWhereItComesFrom) {
    const auto rule = read(kPath)["rules"][1];
    EXPECT_EQ(rule["verdict"], "healthy");
    EXPECT_FALSE(rule.contains("reason"));
    EXPECT_EQ(rule["stages"][0]["case"], 2);
    const auto expected = nlohmann::json::parse(R"({"kind": "field", "answer": "no",
        "role": "rows", "source": "rows", "object": "public.instances/42", "name": "status",
        "read": "null", "asked": "[running, starting]", "offset": 812,
        "at_ms": 1764000000000})");
    EXPECT_EQ(rule["stages"][0]["facts"][0], expected);
}

TEST_F(Why, OneRuleMayBeAskedForAndWhatNobodyKnowsIsNotFound) {
    const auto one = read(std::string(kPath) + "&rule=missing_pod");
    ASSERT_EQ(one["rules"].size(), 1U);
    EXPECT_EQ(one["rules"][0]["rule"], "missing_pod");
    EXPECT_TRUE(has(get("/v1/why?subject=wrapper-8", 'v'), "404 "));
    EXPECT_TRUE(has(get("/v1/why", 'v'), "400 ")) << "it says how";
}

}  // namespace
}  // namespace trueup::api
