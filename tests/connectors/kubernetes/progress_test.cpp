// Proves design §4.4 and details 13: what a progress proof asks, in which order, and what it needs.
#include "tests/connectors/kubernetes/connector_fixture.h"

namespace trueup::testing {
namespace {

using Kind = Asked::Kind;

constexpr BrokerTime kMarked = from_millis<BrokerTime>(777);

/// The main watch and, beside it, the probe.
Asked probe(ConnectorFixture& fixture) {
    const std::vector<Asked> open = fixture.cluster.open(Kind::kWatch);
    EXPECT_EQ(open.size(), 2U);
    return open.size() == 2 ? open[1] : Asked{};
}
void answer_newest(ConnectorFixture& fixture, std::uint64_t version) {
    const Asked list = fixture.list();
    EXPECT_EQ(list.list.limit, 1U);
    EXPECT_EQ(list.list.label_selector, "") << "the server would look for one that matches";
    EXPECT_EQ(list.list.resource_version, "");
    std::string answer = page(version, {}, "more");
    answer.replace(answer.find("[]"), 2, R"([{"kind":"somebody's"}])");
    fixture.cluster.answer(list.call, 200, answer);
}
/// On the main watch, while a probe may be open too.
Lines say(ConnectorFixture& fixture, const std::string& bytes) {
    fixture.cluster.data(fixture.cluster.open(Kind::kWatch).front().call, bytes);
    return fixture.step();
}

TEST(KubernetesProgress, TheSourceIsAskedOnlyAfterTheMarkerWasAppended_P1) {
    ConnectorFixture fixture;
    fixture.settle(50, {});
    for (int i = 0; i < 5; ++i) fixture.step(Millis(1000));
    EXPECT_FALSE(fixture.listing()) << "the marker is still on its way";
    fixture.connector.marker_appended(kMarked, fixture.now);
    EXPECT_TRUE(fixture.listing());
    answer_newest(fixture, 50);
    EXPECT_EQ(fixture.step(), Lines{"progress 777"});
    EXPECT_FALSE(fixture.listing()) << "further pages are of no interest";
}

TEST(KubernetesProgress, AStreamThatIsBehindWaitsForItsEvents) {
    ConnectorFixture fixture;
    fixture.settle(50, {});
    fixture.connector.marker_appended(kMarked, fixture.now);
    answer_newest(fixture, 55);
    EXPECT_EQ(fixture.step(), Lines{});
    EXPECT_EQ(say(fixture, line("ADDED", {"w1", 54})), Lines{"upsert g/w1@54 uid-w1"});
    EXPECT_EQ(say(fixture, line("ADDED", {"w2", 55})),
              (Lines{"upsert g/w2@55 uid-w2", "progress 777"}));
    EXPECT_EQ(fixture.cluster.open(Kind::kWatch).size(), 1U) << "the probe is over";
}

TEST(KubernetesProgress, AProbeProvesTheQuietOfAnIdleStream) {
    ConnectorFixture fixture;
    fixture.settle(50, {});
    fixture.connector.marker_appended(kMarked, fixture.now);
    answer_newest(fixture, 99);
    fixture.step();
    const Asked asked = probe(fixture);
    EXPECT_EQ(asked.watch.resource_version, "50");
    EXPECT_EQ(asked.watch.timeout_seconds, 5U);
    EXPECT_TRUE(asked.watch.bookmarks);
    EXPECT_EQ(asked.watch.label_selector, "app=w");
    fixture.cluster.head(asked.call, 200);
    fixture.cluster.data(asked.call, bookmark(98));
    EXPECT_EQ(fixture.step(Millis(1000)), Lines{}) << "98 proves nothing about 99";
    fixture.cluster.data(asked.call, bookmark(100));
    EXPECT_EQ(fixture.step(Millis(1000)), Lines{"progress 777"});
    // What was proven is the new position.
    fixture.cluster.end(fixture.watch().call);
    fixture.step();
    EXPECT_EQ(fixture.watch().watch.resource_version, "99");
}

TEST(KubernetesProgress, WhatTheProbeShowedMustBeDeliveredByTheStream_P2) {
    ConnectorFixture fixture;
    fixture.settle(50, {});
    fixture.connector.marker_appended(kMarked, fixture.now);
    answer_newest(fixture, 99);
    fixture.step();
    const Asked asked = probe(fixture);
    fixture.cluster.head(asked.call, 200);
    fixture.cluster.data(asked.call, line("ADDED", {"w1", 60}) + bookmark(100));
    EXPECT_EQ(fixture.step(), Lines{}) << "the probe's events are not published";
    EXPECT_EQ(say(fixture, line("ADDED", {"w1", 60})),
              (Lines{"upsert g/w1@60 uid-w1", "progress 777"}));
}

TEST(KubernetesProgress, AnEventBeyondTheNewestProvesItTooAndNeedNotBeDelivered) {
    ConnectorFixture fixture;
    fixture.settle(50, {});
    fixture.connector.marker_appended(kMarked, fixture.now);
    answer_newest(fixture, 99);
    fixture.step();
    const Asked asked = probe(fixture);
    fixture.cluster.head(asked.call, 200);
    fixture.cluster.data(asked.call, line("ADDED", {"w1", 101}));
    EXPECT_EQ(fixture.step(), Lines{"progress 777"});
    fixture.cluster.end(fixture.watch().call);
    fixture.step();
    EXPECT_EQ(fixture.watch().watch.resource_version, "99") << "101 is still to come";
}

TEST(KubernetesProgress, AProbeWithoutABookmarkIsRepeatedAndThriceRelists) {
    ConnectorFixture fixture;
    fixture.settle(50, {});
    fixture.connector.marker_appended(kMarked, fixture.now);
    answer_newest(fixture, 99);
    fixture.step();
    for (int round = 1; round <= 3; ++round) {
        const Asked asked = probe(fixture);
        fixture.cluster.head(asked.call, 200);
        fixture.cluster.end(asked.call);
        EXPECT_EQ(fixture.step(Millis(5'000)), round == 3 ? Lines{"alive"} : Lines{});
    }
    EXPECT_FALSE(fixture.watching()) << "the stream that could not prove itself is given up";
    EXPECT_TRUE(fixture.listing());
    EXPECT_EQ(fixture.list().list.limit, 500U);
}

TEST(KubernetesProgress, AStreamThatNeverDeliversWhatProbesShowIsReplaced_S11) {
    ConnectorFixture fixture;
    fixture.connector.pace_progress(Millis(60'000));
    fixture.settle(50, {});
    fixture.connector.marker_appended(kMarked, fixture.now);
    answer_newest(fixture, 99);
    fixture.step();
    for (int round = 1; round <= 3; ++round) {
        const Asked asked = probe(fixture);
        fixture.cluster.head(asked.call, 200);
        fixture.cluster.data(asked.call, line("DELETED", {"w1", 60}) + bookmark(100));
        EXPECT_EQ(fixture.step(), Lines{});
        EXPECT_EQ(fixture.step(Millis(5'001)), Lines{});
    }
    EXPECT_FALSE(fixture.watching());
    EXPECT_TRUE(fixture.listing());
}

TEST(KubernetesProgress, AnExpiredProbeStartsAFullEpoch) {
    ConnectorFixture fixture;
    fixture.settle(50, {});
    fixture.connector.marker_appended(kMarked, fixture.now);
    answer_newest(fixture, 99);
    fixture.step();
    const Asked asked = probe(fixture);
    fixture.cluster.head(asked.call, 200);
    fixture.cluster.data(asked.call, error_line(410, "Expired"));
    fixture.step();
    EXPECT_FALSE(fixture.watching());
    EXPECT_EQ(fixture.list().list.limit, 500U);
}

TEST(KubernetesProgress, ASilentSourceGetsAliveInstead_S3) {
    for (const int code : {500, 403, 429, 410}) {
        ConnectorFixture fixture;
        fixture.settle(50, {});
        fixture.connector.marker_appended(kMarked, fixture.now);
        fixture.cluster.answer(fixture.list().call, code, status(code, "No"));
        EXPECT_EQ(fixture.step(), Lines{"alive"});
        EXPECT_TRUE(fixture.watching());
        EXPECT_EQ(fixture.step(Millis(15'000)), Lines{"marker"})
            << "and is asked again in its turn";
    }
}

TEST(KubernetesProgress, AHangingQuestionTimesOut) {
    ConnectorFixture fixture;
    fixture.connector.pace_progress(Millis(60'000));
    fixture.settle(50, {});
    fixture.connector.marker_appended(kMarked, fixture.now);
    EXPECT_EQ(fixture.step(Millis(29'000)), Lines{});
    EXPECT_EQ(fixture.step(Millis(1'001)), Lines{"alive"});
}

TEST(KubernetesProgress, NoneBeforeTheFirstEpochIsComplete) {
    ConnectorFixture fixture;
    fixture.step();
    EXPECT_EQ(fixture.step(Millis(15'000)), Lines{"alive"});
    fixture.cluster.answer(fixture.list().call, 200, page(50, {}, "next"));
    EXPECT_EQ(fixture.step(), Lines{"begin@50"});
    EXPECT_EQ(fixture.step(Millis(15'000)), Lines{"alive"});
    fixture.cluster.answer(fixture.list().call, 200, page(50, {}));
    EXPECT_EQ(fixture.step(), Lines{"end@50"});
    EXPECT_EQ(fixture.step(Millis(1)), Lines{}) << "the watch is not up yet";
    fixture.cluster.head(fixture.watch().call, 200);
    EXPECT_EQ(fixture.step(), Lines{"marker"});
}

TEST(KubernetesProgress, NoneWhileTheWatchIsDown) {
    ConnectorFixture fixture;
    fixture.settle(50, {});
    fixture.connector.marker_appended(kMarked, fixture.now);
    answer_newest(fixture, 50);
    fixture.cluster.end(fixture.watch().call);
    EXPECT_EQ(fixture.step(), Lines{});
    EXPECT_EQ(fixture.step(Millis(15'000)), Lines{"alive"});
    fixture.cluster.head(fixture.watch().call, 200);
    EXPECT_EQ(fixture.step(), Lines{"progress 777"});
}

TEST(KubernetesProgress, NoneWhileAnEpochMustComeFirst) {
    ConnectorFixture fixture;
    fixture.settle(50, {});
    fixture.connector.marker_appended(kMarked, fixture.now);
    fixture.cluster.answer(fixture.list().call, 200, page(50, {}));
    fixture.cluster.data(fixture.watch().call, error_line(410, "Expired"));
    fixture.step();
    for (int i = 0; i < 3; ++i) EXPECT_EQ(fixture.step(Millis(15'000)), Lines{"alive"});
}

TEST(KubernetesProgress, NoneWhileALookupIsOpen) {
    ConnectorFixture fixture;
    fixture.settle(50, {{"w1", 7}});
    fixture.say(line("DELETED", {"w1", 51}));
    fixture.connector.marker_appended(kMarked, fixture.now);
    answer_newest(fixture, 51);
    EXPECT_EQ(fixture.step(), Lines{});
    fixture.cluster.answer(fixture.get().call, 404, not_found("w1"));
    EXPECT_EQ(fixture.step(), (Lines{"remove g/w1@51 uid-w1", "progress 777"}));
}

TEST(KubernetesProgress, NoneOverAnEventThatCouldNotBeRead) {
    ConnectorFixture fixture;
    fixture.settle(50, {});
    std::string opaque = line("ADDED", {"w1", 51});
    opaque.replace(opaque.find("uid-w1"), 6, "");
    fixture.say(opaque);
    fixture.connector.marker_appended(kMarked, fixture.now);
    answer_newest(fixture, 50);
    EXPECT_EQ(fixture.step(), Lines{});
    fixture.step(Millis(30'000));
    fixture.cluster.answer(fixture.list().call, 200, page(60, {}));
    const Lines healed = fixture.step();
    ASSERT_GE(healed.size(), 3U);
    EXPECT_EQ(healed.back(), "progress 777");
}

TEST(KubernetesProgress, AStrayObjectIsAskedForAndItsEndIsToldBeforeTheProgress) {
    ConnectorFixture fixture;
    fixture.settle(50, {{"w1", 7}});
    fixture.say(line("DELETED", {"w1", 51}));
    fixture.cluster.answer(fixture.get().call, 200, Pod{"w1", 51}.json());
    fixture.step(Millis(20'000));
    fixture.connector.marker_appended(kMarked, fixture.now);
    answer_newest(fixture, 51);
    EXPECT_EQ(fixture.step(), Lines{});
    fixture.cluster.answer(fixture.get().call, 404, not_found("w1"));
    EXPECT_EQ(fixture.step(), (Lines{"remove g/w1@52 uid-w1", "progress 777"}));
}

TEST(KubernetesProgress, AnOlderNewestIsARewoundServer_S13) {
    ConnectorFixture fixture;
    fixture.settle(50, {});
    fixture.connector.marker_appended(kMarked, fixture.now);
    answer_newest(fixture, 40);
    EXPECT_EQ(fixture.step(), Lines{});
    fixture.step(Millis(1000));
    fixture.cluster.answer(fixture.list().call, 200, page(41, {}));
    fixture.step();
    EXPECT_TRUE(fixture.connector.needs_new_incarnation());
}

// The restored server may have caught up with what was seen before, until it is listed.
TEST(KubernetesProgress, AnEpochSaysThatTheNewestWasOlder_S13) {
    ConnectorFixture fixture;
    fixture.settle(50, {});
    fixture.connector.marker_appended(kMarked, fixture.now);
    answer_newest(fixture, 40);
    fixture.step();
    fixture.read_first(60);
    fixture.cluster.answer(fixture.list().call, 200, page(60, {}));
    fixture.step();
    ASSERT_FALSE(fixture.facts.empty());
    EXPECT_EQ(fixture.facts.front().kind, Fact::Kind::kSnapshotBegin);
    EXPECT_TRUE(fixture.facts.front().rewound);
}

TEST(KubernetesProgress, AMarkerOfAnEarlierIncarnationIsIgnored) {
    ConnectorFixture fixture;
    fixture.settle(50, {});
    fixture.connector.restart(fixture.now);
    fixture.connector.marker_appended(kMarked, fixture.now);
    EXPECT_FALSE(fixture.listing());
}

TEST(KubernetesProgress, AShorterPaceTakesEffectAtOnce) {
    ConnectorFixture fixture;
    fixture.settle(50, {});
    fixture.connector.marker_appended(kMarked, fixture.now);
    answer_newest(fixture, 50);
    EXPECT_EQ(fixture.step(), Lines{"progress 777"});
    EXPECT_EQ(fixture.step(Millis(3'000)), Lines{});
    fixture.connector.pace_progress(Millis(2'000));
    EXPECT_EQ(fixture.step(), Lines{"marker"});
    EXPECT_EQ(fixture.step(Millis(2'000)), Lines{"alive"}) << "its marker is still under way";
}

TEST(KubernetesProgress, StepsSleepUntilSomethingIsDue) {
    ConnectorFixture fixture;
    fixture.settle(50, {});
    fixture.connector.marker_appended(kMarked, fixture.now);
    answer_newest(fixture, 50);
    fixture.step();
    fixture.step();
    EXPECT_EQ(fixture.cluster.last_wait(), Millis(1000));
    fixture.step(Millis(14'700));
    EXPECT_EQ(fixture.cluster.last_wait(), Millis(300));
}

}  // namespace
}  // namespace trueup::testing
