// Proves design §4.4 and details 13: what a progress proof asks, in which order, and what it needs.
#include "tests/connectors/kubernetes/bench.h"

namespace trueup::testing {
namespace {

using Kind = Asked::Kind;

constexpr BrokerTime kMarked = from_millis<BrokerTime>(777);

/// The main watch and, beside it, the probe.
Asked probe(Bench& bench) {
    const std::vector<Asked> open = bench.cluster.open(Kind::kWatch);
    EXPECT_EQ(open.size(), 2U);
    return open.size() == 2 ? open[1] : Asked{};
}
void answer_newest(Bench& bench, std::uint64_t version) {
    const Asked list = bench.list();
    EXPECT_EQ(list.list.limit, 1U);
    EXPECT_EQ(list.list.label_selector, "") << "the server would look for one that matches";
    EXPECT_EQ(list.list.resource_version, "");
    std::string answer = page(version, {}, "more");
    answer.replace(answer.find("[]"), 2, R"([{"kind":"somebody's"}])");
    bench.cluster.answer(list.call, 200, answer);
}
/// On the main watch, while a probe may be open too.
Lines say(Bench& bench, const std::string& bytes) {
    bench.cluster.data(bench.cluster.open(Kind::kWatch).front().call, bytes);
    return bench.step();
}

TEST(KubernetesProgress, TheSourceIsAskedOnlyAfterTheMarkerWasAppended_P1) {
    Bench bench;
    bench.settle(50, {});
    for (int i = 0; i < 5; ++i) bench.step(Millis(1000));
    EXPECT_FALSE(bench.listing()) << "the marker is still on its way";
    bench.connector.marker_appended(kMarked, bench.now);
    EXPECT_TRUE(bench.listing());
    answer_newest(bench, 50);
    EXPECT_EQ(bench.step(), Lines{"progress 777"});
    EXPECT_FALSE(bench.listing()) << "further pages are of no interest";
}

TEST(KubernetesProgress, AStreamThatIsBehindWaitsForItsEvents) {
    Bench bench;
    bench.settle(50, {});
    bench.connector.marker_appended(kMarked, bench.now);
    answer_newest(bench, 55);
    EXPECT_EQ(bench.step(), Lines{});
    EXPECT_EQ(say(bench, line("ADDED", {"w1", 54})), Lines{"upsert g/w1@54 uid-w1"});
    EXPECT_EQ(say(bench, line("ADDED", {"w2", 55})),
              (Lines{"upsert g/w2@55 uid-w2", "progress 777"}));
    EXPECT_EQ(bench.cluster.open(Kind::kWatch).size(), 1U) << "the probe is over";
}

TEST(KubernetesProgress, AProbeProvesTheQuietOfAnIdleStream) {
    Bench bench;
    bench.settle(50, {});
    bench.connector.marker_appended(kMarked, bench.now);
    answer_newest(bench, 99);
    bench.step();
    const Asked asked = probe(bench);
    EXPECT_EQ(asked.watch.resource_version, "50");
    EXPECT_EQ(asked.watch.timeout_seconds, 5U);
    EXPECT_TRUE(asked.watch.bookmarks);
    EXPECT_EQ(asked.watch.label_selector, "app=w");
    bench.cluster.head(asked.call, 200);
    bench.cluster.data(asked.call, bookmark(98));
    EXPECT_EQ(bench.step(Millis(1000)), Lines{}) << "98 proves nothing about 99";
    bench.cluster.data(asked.call, bookmark(100));
    EXPECT_EQ(bench.step(Millis(1000)), Lines{"progress 777"});
    // What was proven is the new position.
    bench.cluster.end(bench.watch().call);
    bench.step();
    EXPECT_EQ(bench.watch().watch.resource_version, "99");
}

TEST(KubernetesProgress, WhatTheProbeShowedMustBeDeliveredByTheStream_P2) {
    Bench bench;
    bench.settle(50, {});
    bench.connector.marker_appended(kMarked, bench.now);
    answer_newest(bench, 99);
    bench.step();
    const Asked asked = probe(bench);
    bench.cluster.head(asked.call, 200);
    bench.cluster.data(asked.call, line("ADDED", {"w1", 60}) + bookmark(100));
    EXPECT_EQ(bench.step(), Lines{}) << "the probe's events are not published";
    EXPECT_EQ(say(bench, line("ADDED", {"w1", 60})),
              (Lines{"upsert g/w1@60 uid-w1", "progress 777"}));
}

TEST(KubernetesProgress, AnEventBeyondTheNewestProvesItTooAndNeedNotBeDelivered) {
    Bench bench;
    bench.settle(50, {});
    bench.connector.marker_appended(kMarked, bench.now);
    answer_newest(bench, 99);
    bench.step();
    const Asked asked = probe(bench);
    bench.cluster.head(asked.call, 200);
    bench.cluster.data(asked.call, line("ADDED", {"w1", 101}));
    EXPECT_EQ(bench.step(), Lines{"progress 777"});
    bench.cluster.end(bench.watch().call);
    bench.step();
    EXPECT_EQ(bench.watch().watch.resource_version, "99") << "101 is still to come";
}

TEST(KubernetesProgress, AProbeWithoutABookmarkIsRepeatedAndThriceRelists) {
    Bench bench;
    bench.settle(50, {});
    bench.connector.marker_appended(kMarked, bench.now);
    answer_newest(bench, 99);
    bench.step();
    for (int round = 1; round <= 3; ++round) {
        const Asked asked = probe(bench);
        bench.cluster.head(asked.call, 200);
        bench.cluster.end(asked.call);
        EXPECT_EQ(bench.step(Millis(5'000)), round == 3 ? Lines{"alive"} : Lines{});
    }
    EXPECT_FALSE(bench.watching()) << "the stream that could not prove itself is given up";
    EXPECT_TRUE(bench.listing());
    EXPECT_EQ(bench.list().list.limit, 500U);
}

TEST(KubernetesProgress, AStreamThatNeverDeliversWhatProbesShowIsReplaced_S11) {
    Bench bench;
    bench.connector.pace_progress(Millis(60'000));
    bench.settle(50, {});
    bench.connector.marker_appended(kMarked, bench.now);
    answer_newest(bench, 99);
    bench.step();
    for (int round = 1; round <= 3; ++round) {
        const Asked asked = probe(bench);
        bench.cluster.head(asked.call, 200);
        bench.cluster.data(asked.call, line("DELETED", {"w1", 60}) + bookmark(100));
        EXPECT_EQ(bench.step(), Lines{});
        EXPECT_EQ(bench.step(Millis(5'001)), Lines{});
    }
    EXPECT_FALSE(bench.watching());
    EXPECT_TRUE(bench.listing());
}

TEST(KubernetesProgress, AnExpiredProbeStartsAFullEpoch) {
    Bench bench;
    bench.settle(50, {});
    bench.connector.marker_appended(kMarked, bench.now);
    answer_newest(bench, 99);
    bench.step();
    const Asked asked = probe(bench);
    bench.cluster.head(asked.call, 200);
    bench.cluster.data(asked.call, error_line(410, "Expired"));
    bench.step();
    EXPECT_FALSE(bench.watching());
    EXPECT_EQ(bench.list().list.limit, 500U);
}

TEST(KubernetesProgress, ASilentSourceGetsAliveInstead_S3) {
    for (const int code : {500, 403, 429, 410}) {
        Bench bench;
        bench.settle(50, {});
        bench.connector.marker_appended(kMarked, bench.now);
        bench.cluster.answer(bench.list().call, code, status(code, "No"));
        EXPECT_EQ(bench.step(), Lines{"alive"});
        EXPECT_TRUE(bench.watching());
        EXPECT_EQ(bench.step(Millis(15'000)), Lines{"marker"}) << "and is asked again in its turn";
    }
}

TEST(KubernetesProgress, AHangingQuestionTimesOut) {
    Bench bench;
    bench.connector.pace_progress(Millis(60'000));
    bench.settle(50, {});
    bench.connector.marker_appended(kMarked, bench.now);
    EXPECT_EQ(bench.step(Millis(29'000)), Lines{});
    EXPECT_EQ(bench.step(Millis(1'001)), Lines{"alive"});
}

TEST(KubernetesProgress, NoneBeforeTheFirstEpochIsComplete) {
    Bench bench;
    bench.step();
    EXPECT_EQ(bench.step(Millis(15'000)), Lines{"alive"});
    bench.cluster.answer(bench.list().call, 200, page(50, {}, "next"));
    EXPECT_EQ(bench.step(), Lines{"begin@50"});
    EXPECT_EQ(bench.step(Millis(15'000)), Lines{"alive"});
    bench.cluster.answer(bench.list().call, 200, page(50, {}));
    EXPECT_EQ(bench.step(), Lines{"end@50"});
    EXPECT_EQ(bench.step(Millis(1)), Lines{}) << "the watch is not up yet";
    bench.cluster.head(bench.watch().call, 200);
    EXPECT_EQ(bench.step(), Lines{"marker"});
}

TEST(KubernetesProgress, NoneWhileTheWatchIsDown) {
    Bench bench;
    bench.settle(50, {});
    bench.connector.marker_appended(kMarked, bench.now);
    answer_newest(bench, 50);
    bench.cluster.end(bench.watch().call);
    EXPECT_EQ(bench.step(), Lines{});
    EXPECT_EQ(bench.step(Millis(15'000)), Lines{"alive"});
    bench.cluster.head(bench.watch().call, 200);
    EXPECT_EQ(bench.step(), Lines{"progress 777"});
}

TEST(KubernetesProgress, NoneWhileAnEpochMustComeFirst) {
    Bench bench;
    bench.settle(50, {});
    bench.connector.marker_appended(kMarked, bench.now);
    bench.cluster.answer(bench.list().call, 200, page(50, {}));
    bench.cluster.data(bench.watch().call, error_line(410, "Expired"));
    bench.step();
    for (int i = 0; i < 3; ++i) EXPECT_EQ(bench.step(Millis(15'000)), Lines{"alive"});
}

TEST(KubernetesProgress, NoneWhileALookupIsOpen) {
    Bench bench;
    bench.settle(50, {{"w1", 7}});
    bench.say(line("DELETED", {"w1", 51}));
    bench.connector.marker_appended(kMarked, bench.now);
    answer_newest(bench, 51);
    EXPECT_EQ(bench.step(), Lines{});
    bench.cluster.answer(bench.get().call, 404, not_found("w1"));
    EXPECT_EQ(bench.step(), (Lines{"remove g/w1@51 uid-w1", "progress 777"}));
}

TEST(KubernetesProgress, NoneOverAnEventThatCouldNotBeRead) {
    Bench bench;
    bench.settle(50, {});
    std::string opaque = line("ADDED", {"w1", 51});
    opaque.replace(opaque.find("uid-w1"), 6, "");
    bench.say(opaque);
    bench.connector.marker_appended(kMarked, bench.now);
    answer_newest(bench, 50);
    EXPECT_EQ(bench.step(), Lines{});
    bench.step(Millis(30'000));
    bench.cluster.answer(bench.list().call, 200, page(60, {}));
    const Lines healed = bench.step();
    ASSERT_GE(healed.size(), 3U);
    EXPECT_EQ(healed.back(), "progress 777");
}

TEST(KubernetesProgress, AStrayObjectIsAskedForAndItsEndIsToldBeforeTheProgress) {
    Bench bench;
    bench.settle(50, {{"w1", 7}});
    bench.say(line("DELETED", {"w1", 51}));
    bench.cluster.answer(bench.get().call, 200, Pod{"w1", 51}.json());
    bench.step(Millis(20'000));
    bench.connector.marker_appended(kMarked, bench.now);
    answer_newest(bench, 51);
    EXPECT_EQ(bench.step(), Lines{});
    bench.cluster.answer(bench.get().call, 404, not_found("w1"));
    EXPECT_EQ(bench.step(), (Lines{"remove g/w1@52 uid-w1", "progress 777"}));
}

TEST(KubernetesProgress, AnOlderNewestIsARewoundServer_S13) {
    Bench bench;
    bench.settle(50, {});
    bench.connector.marker_appended(kMarked, bench.now);
    answer_newest(bench, 40);
    EXPECT_EQ(bench.step(), Lines{});
    bench.step(Millis(1000));
    bench.cluster.answer(bench.list().call, 200, page(41, {}));
    bench.step();
    EXPECT_TRUE(bench.connector.needs_new_incarnation());
}

// The restored server may have caught up with what was seen before, until it is listed.
TEST(KubernetesProgress, AnEpochSaysThatTheNewestWasOlder_S13) {
    Bench bench;
    bench.settle(50, {});
    bench.connector.marker_appended(kMarked, bench.now);
    answer_newest(bench, 40);
    bench.step();
    bench.read_first(60);
    bench.cluster.answer(bench.list().call, 200, page(60, {}));
    bench.step();
    ASSERT_FALSE(bench.facts.empty());
    EXPECT_EQ(bench.facts.front().kind, Fact::Kind::kSnapshotBegin);
    EXPECT_TRUE(bench.facts.front().rewound);
}

TEST(KubernetesProgress, AMarkerOfAnEarlierIncarnationIsIgnored) {
    Bench bench;
    bench.settle(50, {});
    bench.connector.restart(bench.now);
    bench.connector.marker_appended(kMarked, bench.now);
    EXPECT_FALSE(bench.listing());
}

TEST(KubernetesProgress, AShorterPaceTakesEffectAtOnce) {
    Bench bench;
    bench.settle(50, {});
    bench.connector.marker_appended(kMarked, bench.now);
    answer_newest(bench, 50);
    EXPECT_EQ(bench.step(), Lines{"progress 777"});
    EXPECT_EQ(bench.step(Millis(3'000)), Lines{});
    bench.connector.pace_progress(Millis(2'000));
    EXPECT_EQ(bench.step(), Lines{"marker"});
    EXPECT_EQ(bench.step(Millis(2'000)), Lines{"alive"}) << "its marker is still under way";
}

TEST(KubernetesProgress, StepsSleepUntilSomethingIsDue) {
    Bench bench;
    bench.settle(50, {});
    bench.connector.marker_appended(kMarked, bench.now);
    answer_newest(bench, 50);
    bench.step();
    bench.step();
    EXPECT_EQ(bench.cluster.last_wait(), Millis(1000));
    bench.step(Millis(14'700));
    EXPECT_EQ(bench.cluster.last_wait(), Millis(300));
}

}  // namespace
}  // namespace trueup::testing
