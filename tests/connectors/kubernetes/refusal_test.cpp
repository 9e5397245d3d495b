// Proves S3 and S11 for a server that refuses, is overloaded or ends its streams with an ERROR: it
// is asked again when it wants to be, from where we were, and nothing is concluded.
#include "tests/connectors/kubernetes/bench.h"

namespace trueup::testing {
namespace {

using Kind = Asked::Kind;

constexpr BrokerTime kMarked = from_millis<BrokerTime>(777);

std::string throttled(int code, int seconds) {
    return R"({"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"slow",)"
           R"("reason":"TooManyRequests","details":{"retryAfterSeconds":)" +
           std::to_string(seconds) + R"(},"code":)" + std::to_string(code) + "}";
}
std::string error_event(const std::string& object) {
    return R"({"type":"ERROR","object":)" + object + "}\n";
}

/// The watch ends with this line; what was published goes with it.
Lines end_with(Bench& bench, const std::string& bytes) {
    bench.wait_for(Kind::kWatch);
    bench.cluster.head(bench.watch().call, 200);
    bench.cluster.data(bench.watch().call, bytes);
    return bench.step();
}

TEST(KubernetesRefusal, AnErrorInTheStreamIsNoAbsenceAndTheStreamGoesOnWhereItWas_S11) {
    const std::vector<std::string> objects{status(403, "Forbidden"),
                                           status(429, "TooManyRequests"),
                                           status(500, "InternalError"),
                                           status(503, "ServiceUnavailable"),
                                           status(504, "Timeout"),
                                           R"({"kind":"Status","status":"Failure"})",
                                           R"({"kind":"Pod","metadata":{"name":"w1"}})",
                                           "\"a string\"",
                                           "null"};
    for (const std::string& object : objects) {
        SCOPED_TRACE(object);
        Bench bench;
        bench.settle(50, {{"w1", 7}});
        bench.say(bookmark(58));
        EXPECT_EQ(bench.say(error_event(object)), Lines{});
        EXPECT_FALSE(bench.watching()) << "it backs off";
        EXPECT_FALSE(bench.listing());
        EXPECT_FALSE(bench.connector.health().trouble.empty());
        bench.wait_for(Kind::kWatch);
        EXPECT_EQ(bench.watch().watch.resource_version, "58");
    }
}

// Whether the server said something before cannot be known, so that only a list tells.
TEST(KubernetesRefusal, AnErrorWithoutAnyObjectCostsAnEpoch_S11) {
    Bench bench;
    bench.settle(50, {{"w1", 7}});
    EXPECT_EQ(bench.say("{\"type\":\"ERROR\"}\n"), Lines{});
    EXPECT_EQ(bench.connector.unreadable(), 1U);
    bench.wait_for(Kind::kList);
}

TEST(KubernetesRefusal, AnErrorInTheStreamIsRestedForAsLongAsItSays_S3) {
    Bench bench;
    bench.settle(50, {});
    EXPECT_EQ(bench.say(error_event(throttled(429, 20))), Lines{});
    bench.step(Millis(19'900));
    EXPECT_FALSE(bench.watching());
    bench.step(Millis(200));
    EXPECT_TRUE(bench.watching());
}

// A thousand clients that list everything anew are what keeps an overloaded server down.
TEST(KubernetesRefusal, AServerUnderLoadIsNotListedAnew_S3) {
    for (const int code : {429, 503}) {
        SCOPED_TRACE(code);
        Bench bench;
        bench.settle(50, {});
        for (int refusal = 0; refusal < 10; ++refusal) {
            end_with(bench, error_event(status(code, "No")));
            bench.wait_for(Kind::kWatch);
            EXPECT_EQ(bench.watch().watch.resource_version, "50");
            bench.cluster.answer(bench.watch().call, code, status(code, "No"));
            bench.step();
            EXPECT_FALSE(bench.listing());
        }
        end_with(bench, bookmark(60));
        EXPECT_TRUE(bench.connector.health().answering) << bench.connector.health().trouble;
    }
}

TEST(KubernetesRefusal, ARestOfMoreThanAMinuteIsNotTaken_S3) {
    Bench bench;
    bench.step();
    bench.cluster.answer(bench.list().call, 503, status(503, "No"), 3'600'000);
    bench.step();
    bench.step(Millis(59'900));
    EXPECT_FALSE(bench.listing());
    bench.step(Millis(200));
    EXPECT_TRUE(bench.listing());
}

TEST(KubernetesRefusal, ALookupRestsAsLongAsItIsAskedTo_S3) {
    Bench bench;
    bench.settle(50, {{"w1", 7}});
    bench.say(line("DELETED", {"w1", 51}));
    bench.cluster.answer(bench.get().call, 429, throttled(429, 20));
    EXPECT_EQ(bench.step(), Lines{});
    bench.step(Millis(19'900));
    EXPECT_TRUE(bench.cluster.open(Kind::kGet).empty());
    bench.step(Millis(200));
    EXPECT_FALSE(bench.cluster.open(Kind::kGet).empty());
}

TEST(KubernetesRefusal, AProofRestsToo_S3) {
    Bench bench;
    bench.connector.pace_progress(Millis(1'000));
    bench.settle(50, {});
    bench.connector.marker_appended(kMarked, bench.now);
    bench.cluster.answer(bench.list().call, 429, throttled(429, 20));
    EXPECT_EQ(bench.step(), Lines{"alive"});
    for (int i = 0; i < 19; ++i) {
        EXPECT_EQ(bench.step(Millis(1'000)), Lines{"alive"}) << "a sign of life, but no question";
    }
    EXPECT_EQ(bench.step(Millis(1'000)), Lines{"marker"});
}

/// A list of three pages whose second meets a 410 with the token of an inconsistent continuation.
void expire_second_page(Bench& bench) {
    bench.cluster.answer(bench.list().call, 200, page(50, {{"w1", 7}}, "page-2"));
    EXPECT_EQ(bench.step(), (Lines{"begin@50", "upsert! g/w1@7 uid-w1"}));
    EXPECT_EQ(bench.list().list.continue_token, "page-2");
    bench.cluster.answer(bench.list().call, 410,
                         status(410, "Expired", R"({"continue":"inconsistent"})"));
    EXPECT_EQ(bench.step(), Lines{}) << "no end: what was not listed is not absent";
}

TEST(KubernetesRefusal, AListThatExpiresBetweenItsPagesBeginsAnewAndItsOfferIsNeverTaken_S5_S11) {
    Bench bench;
    bench.step();
    for (int round = 0; round < 3; ++round) {
        bench.wait_for(Kind::kList);
        EXPECT_EQ(bench.list().list.continue_token, "") << "from the first page";
        if (round > 0) bench.read_first(50, {{"w1", 7}});
        expire_second_page(bench);
    }
    bench.wait_for(Kind::kList);
    EXPECT_EQ(bench.list().list.continue_token, "");
    bench.read_first(90, {{"w1", 7}, {"w2", 60}});
    bench.cluster.answer(bench.list().call, 200, page(90, {{"w1", 7}, {"w2", 60}}));
    EXPECT_EQ(bench.step(),
              (Lines{"begin@90", "upsert! g/w1@7 uid-w1", "upsert! g/w2@60 uid-w2", "end@90"}));
    for (const Asked& asked : bench.cluster.asked()) {
        EXPECT_NE(asked.list.continue_token, "inconsistent");
    }
}

// The same beside a live watch: the stream stays, and so does what it says.
TEST(KubernetesRefusal, AnAuditThatExpiresBetweenItsPagesLeavesTheWatchAlone_S11) {
    Bench bench;
    bench.settle(50, {{"w1", 7}});
    bench.connector.relist();
    bench.step();
    expire_second_page(bench);
    EXPECT_EQ(bench.say(line("ADDED", {"w2", 61})), Lines{"upsert g/w2@61 uid-w2"});
    bench.wait_for(Kind::kList);
    EXPECT_EQ(bench.list().list.continue_token, "");
}

}  // namespace
}  // namespace trueup::testing
