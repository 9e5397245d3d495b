// Proves S3 and S11 for a server that refuses, is overloaded or ends its streams with an ERROR: it
// is asked again when it wants to be, from where we were, and nothing is concluded.
#include "tests/connectors/kubernetes/connector_fixture.h"

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
Lines end_with(ConnectorFixture& fixture, const std::string& bytes) {
    fixture.wait_for(Kind::kWatch);
    fixture.cluster.head(fixture.watch().call, 200);
    fixture.cluster.data(fixture.watch().call, bytes);
    return fixture.step();
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
        ConnectorFixture fixture;
        fixture.settle(50, {{"w1", 7}});
        fixture.say(bookmark(58));
        EXPECT_EQ(fixture.say(error_event(object)), Lines{});
        EXPECT_FALSE(fixture.watching()) << "it backs off";
        EXPECT_FALSE(fixture.listing());
        EXPECT_FALSE(fixture.connector.health().trouble.empty());
        fixture.wait_for(Kind::kWatch);
        EXPECT_EQ(fixture.watch().watch.resource_version, "58");
    }
}

// Whether the server said something before cannot be known, so that only a list tells.
TEST(KubernetesRefusal, AnErrorWithoutAnyObjectCostsAnEpoch_S11) {
    ConnectorFixture fixture;
    fixture.settle(50, {{"w1", 7}});
    EXPECT_EQ(fixture.say("{\"type\":\"ERROR\"}\n"), Lines{});
    EXPECT_EQ(fixture.connector.unreadable(), 1U);
    fixture.wait_for(Kind::kList);
}

TEST(KubernetesRefusal, AnErrorInTheStreamIsRestedForAsLongAsItSays_S3) {
    ConnectorFixture fixture;
    fixture.settle(50, {});
    EXPECT_EQ(fixture.say(error_event(throttled(429, 20))), Lines{});
    fixture.step(Millis(19'900));
    EXPECT_FALSE(fixture.watching());
    fixture.step(Millis(200));
    EXPECT_TRUE(fixture.watching());
}

// A thousand clients that list everything anew are what keeps an overloaded server down.
TEST(KubernetesRefusal, AServerUnderLoadIsNotListedAnew_S3) {
    for (const int code : {429, 503}) {
        SCOPED_TRACE(code);
        ConnectorFixture fixture;
        fixture.settle(50, {});
        for (int refusal = 0; refusal < 10; ++refusal) {
            end_with(fixture, error_event(status(code, "No")));
            fixture.wait_for(Kind::kWatch);
            EXPECT_EQ(fixture.watch().watch.resource_version, "50");
            fixture.cluster.answer(fixture.watch().call, code, status(code, "No"));
            fixture.step();
            EXPECT_FALSE(fixture.listing());
        }
        end_with(fixture, bookmark(60));
        EXPECT_TRUE(fixture.connector.health().answering) << fixture.connector.health().trouble;
    }
}

TEST(KubernetesRefusal, ARestOfMoreThanAMinuteIsNotTaken_S3) {
    ConnectorFixture fixture;
    fixture.step();
    fixture.cluster.answer(fixture.list().call, 503, status(503, "No"), 3'600'000);
    fixture.step();
    fixture.step(Millis(59'900));
    EXPECT_FALSE(fixture.listing());
    fixture.step(Millis(200));
    EXPECT_TRUE(fixture.listing());
}

TEST(KubernetesRefusal, ALookupRestsAsLongAsItIsAskedTo_S3) {
    ConnectorFixture fixture;
    fixture.settle(50, {{"w1", 7}});
    fixture.say(line("DELETED", {"w1", 51}));
    fixture.cluster.answer(fixture.get().call, 429, throttled(429, 20));
    EXPECT_EQ(fixture.step(), Lines{});
    fixture.step(Millis(19'900));
    EXPECT_TRUE(fixture.cluster.open(Kind::kGet).empty());
    fixture.step(Millis(200));
    EXPECT_FALSE(fixture.cluster.open(Kind::kGet).empty());
}

TEST(KubernetesRefusal, AProofRestsToo_S3) {
    ConnectorFixture fixture;
    fixture.connector.pace_progress(Millis(1'000));
    fixture.settle(50, {});
    fixture.connector.marker_appended(kMarked, fixture.now);
    fixture.cluster.answer(fixture.list().call, 429, throttled(429, 20));
    EXPECT_EQ(fixture.step(), Lines{"alive"});
    for (int i = 0; i < 19; ++i) {
        EXPECT_EQ(fixture.step(Millis(1'000)), Lines{"alive"}) << "a sign of life, but no question";
    }
    EXPECT_EQ(fixture.step(Millis(1'000)), Lines{"marker"});
}

/// A list of three pages whose second meets a 410 with the token of an inconsistent continuation.
void expire_second_page(ConnectorFixture& fixture) {
    fixture.cluster.answer(fixture.list().call, 200, page(50, {{"w1", 7}}, "page-2"));
    EXPECT_EQ(fixture.step(), (Lines{"begin@50", "upsert! g/w1@7 uid-w1"}));
    EXPECT_EQ(fixture.list().list.continue_token, "page-2");
    fixture.cluster.answer(fixture.list().call, 410,
                           status(410, "Expired", R"({"continue":"inconsistent"})"));
    EXPECT_EQ(fixture.step(), Lines{}) << "no end: what was not listed is not absent";
}

TEST(KubernetesRefusal, AListThatExpiresBetweenItsPagesBeginsAnewAndItsOfferIsNeverTaken_S5_S11) {
    ConnectorFixture fixture;
    fixture.step();
    for (int round = 0; round < 3; ++round) {
        fixture.wait_for(Kind::kList);
        EXPECT_EQ(fixture.list().list.continue_token, "") << "from the first page";
        if (round > 0) fixture.read_first(50, {{"w1", 7}});
        expire_second_page(fixture);
    }
    fixture.wait_for(Kind::kList);
    EXPECT_EQ(fixture.list().list.continue_token, "");
    fixture.read_first(90, {{"w1", 7}, {"w2", 60}});
    fixture.cluster.answer(fixture.list().call, 200, page(90, {{"w1", 7}, {"w2", 60}}));
    EXPECT_EQ(fixture.step(),
              (Lines{"begin@90", "upsert! g/w1@7 uid-w1", "upsert! g/w2@60 uid-w2", "end@90"}));
    for (const Asked& asked : fixture.cluster.asked()) {
        EXPECT_NE(asked.list.continue_token, "inconsistent");
    }
}

// The same beside a live watch: the stream stays, and so does what it says.
TEST(KubernetesRefusal, AnAuditThatExpiresBetweenItsPagesLeavesTheWatchAlone_S11) {
    ConnectorFixture fixture;
    fixture.settle(50, {{"w1", 7}});
    fixture.connector.relist();
    fixture.step();
    expire_second_page(fixture);
    EXPECT_EQ(fixture.say(line("ADDED", {"w2", 61})), Lines{"upsert g/w2@61 uid-w2"});
    fixture.wait_for(Kind::kList);
    EXPECT_EQ(fixture.list().list.continue_token, "");
}

}  // namespace
}  // namespace trueup::testing
