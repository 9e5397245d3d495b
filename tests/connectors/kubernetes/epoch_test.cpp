// Proves design §4.1 and §4.3 for Kubernetes: an epoch ends only after one whole, consistent list.
#include "tests/connectors/kubernetes/connector_fixture.h"

namespace trueup::testing {
namespace {

using Kind = Asked::Kind;

TEST(KubernetesEpoch, ListsPagesConsistentlyAndThenWatchesFromTheListsVersion) {
    ConnectorFixture fixture;
    EXPECT_EQ(fixture.step(), Lines{});
    const Asked first = fixture.list();
    EXPECT_EQ(first.list.limit, 500U);
    EXPECT_EQ(first.list.resource_version, "");
    EXPECT_EQ(first.list.label_selector, "app=w");
    fixture.cluster.answer(first.call, 200, page(50, {{"w1", 7}}, "next"));
    EXPECT_EQ(fixture.step(), (Lines{"begin@50", "upsert! g/w1@7 uid-w1"}));
    EXPECT_FALSE(fixture.watching());
    const Asked second = fixture.list();
    EXPECT_EQ(second.list.continue_token, "next");
    EXPECT_EQ(second.list.resource_version, "");
    fixture.cluster.answer(second.call, 200, page(50, {{"w2", 9}}));
    EXPECT_EQ(fixture.step(), (Lines{"upsert! g/w2@9 uid-w2", "end@50"}));
    const Asked watch = fixture.watch();
    EXPECT_EQ(watch.watch.resource_version, "50");
    EXPECT_EQ(watch.watch.label_selector, "app=w");
    EXPECT_TRUE(watch.watch.bookmarks);
    EXPECT_EQ(fixture.connector.health().epochs, 1U);
    EXPECT_TRUE(fixture.connector.health().answering);
}

TEST(KubernetesEpoch, AnEmptyListIsReportedAsItIs_S4) {
    ConnectorFixture fixture;
    fixture.step();
    fixture.cluster.answer(fixture.list().call, 200, page(50, {}));
    EXPECT_EQ(fixture.step(), (Lines{"begin@50", "end@50"}));
}

TEST(KubernetesEpoch, FieldsComeInOrderAndManagedFieldsAreSkipped) {
    ConnectorFixture fixture;
    Pod pod{"w1", 7};
    pod.more = R"(,"deletionTimestamp":"2026-01-02T00:00:00Z","annotations":{"trueup.io/hold":""})";
    fixture.step();
    fixture.cluster.answer(fixture.list().call, 200, page(50, {pod}));
    fixture.step();
    ASSERT_EQ(fixture.facts.size(), 3U);
    std::string text;
    ObjectView(fixture.facts[1].object).each([&](const Field& field) {
        text += std::string(field.name) + "=" + std::string(*field.value) + " ";
    });
    EXPECT_EQ(text,
              "created=2026-01-01T00:00:00Z deleting=true hold=true label.app=w name=w1 "
              "namespace=graph node=n1 phase=Running ");
    EXPECT_EQ(fixture.facts[1].event_id, "7");
}

// Symptom: a connector that had just been started took a list for whole whose last page had come
// without its objects, and pods that ran counted as absent, under a proof.
TEST(KubernetesEpoch, AFreshConnectorKnowsWhatItsFirstListMustNotLack_S5) {
    ConnectorFixture fixture(ConnectorFixture::usual(), ConnectorFixture::Begin::kAtTheStart);
    fixture.step();
    fixture.cluster.answer(fixture.list().call, 200, page(50, {{"w1", 7}}, "next"));
    EXPECT_EQ(fixture.step(), Lines{});
    fixture.cluster.answer(fixture.list().call, 200, page(50, {{"w2", 9}}));
    EXPECT_EQ(fixture.step(), Lines{});
    EXPECT_FALSE(fixture.watching());
    EXPECT_EQ(fixture.list().list.continue_token, "");
    fixture.cluster.answer(fixture.list().call, 200, page(51, {{"w1", 7}}, "next"));
    EXPECT_EQ(fixture.step(), (Lines{"begin@51", "upsert! g/w1@7 uid-w1"}));
    fixture.cluster.answer(fixture.list().call, 200, page(51, {}));
    EXPECT_EQ(fixture.step(), Lines{});
    fixture.cluster.answer(fixture.get().call, 200, Pod{"w2", 9}.json());
    EXPECT_EQ(fixture.step(), Lines{});
    EXPECT_EQ(fixture.connector.health().epochs, 0U);
    // Nor need the first one have been true: two lists anew.
    fixture.wait_for(Kind::kList);
    EXPECT_FALSE(fixture.watching());
    fixture.cluster.answer(fixture.list().call, 200, page(52, {{"w1", 7}, {"w2", 9}}));
    EXPECT_EQ(fixture.step(), Lines{});
    fixture.cluster.answer(fixture.list().call, 200, page(52, {{"w1", 7}, {"w2", 9}}));
    EXPECT_EQ(fixture.step(),
              (Lines{"begin@52", "upsert! g/w1@7 uid-w1", "upsert! g/w2@9 uid-w2", "end@52"}));
}

TEST(KubernetesEpoch, AFreshConnectorPublishesOnlyItsSecondList_S5) {
    ConnectorFixture fixture(ConnectorFixture::usual(), ConnectorFixture::Begin::kAtTheStart);
    fixture.step();
    fixture.cluster.answer(fixture.list().call, 200, page(50, {{"w1", 7}}));
    EXPECT_EQ(fixture.step(), Lines{});
    fixture.cluster.answer(fixture.list().call, 200, page(51, {{"w1", 7}, {"w2", 51}}));
    EXPECT_EQ(fixture.step(),
              (Lines{"begin@51", "upsert! g/w1@7 uid-w1", "upsert! g/w2@51 uid-w2", "end@51"}));
    EXPECT_TRUE(fixture.watching());
}

/// A list has just shown that the one before it was not true. The next that agrees with the one
/// before it counts.
void w1_was_lacking(ConnectorFixture& fixture) {
    EXPECT_FALSE(fixture.watching());
    EXPECT_NE(fixture.connector.health().trouble.find("lacked w1"), std::string::npos);
    fixture.wait_for(Kind::kList);
    fixture.cluster.answer(fixture.list().call, 200, page(50, {{"w1", 7}, {"w2", 8}}));
    EXPECT_EQ(fixture.step(),
              (Lines{"begin@50", "upsert! g/w1@7 uid-w1", "upsert! g/w2@8 uid-w2"}));
    fixture.wait_for(Kind::kList);
    fixture.cluster.answer(fixture.list().call, 200, page(50, {{"w1", 7}, {"w2", 8}}));
    EXPECT_EQ(fixture.step(),
              (Lines{"begin@50", "upsert! g/w1@7 uid-w1", "upsert! g/w2@8 uid-w2", "end@50"}));
    EXPECT_TRUE(fixture.watching());
}

// Symptom: the first list of a fresh connector came empty and the second one cut, and what both
// lacked counted as absent, under a proof.
TEST(KubernetesEpoch, AListThatShowsThatTheFirstOneWasNotTrueIsTheFirstOne_S5) {
    ConnectorFixture fixture(ConnectorFixture::usual(), ConnectorFixture::Begin::kAtTheStart);
    fixture.step();
    fixture.cluster.answer(fixture.list().call, 200, page(50, {}));
    EXPECT_EQ(fixture.step(), Lines{});
    fixture.cluster.answer(fixture.list().call, 200, page(50, {{"w1", 7}}));
    EXPECT_EQ(fixture.step(), (Lines{"begin@50", "upsert! g/w1@7 uid-w1"}));
    w1_was_lacking(fixture);
}

// Symptom: a stream had begun with two lists that came empty, and the first list beside it was cut:
// what that one lacked as well counted as absent, under a proof.
TEST(KubernetesEpoch, AListBesideTheStreamThatShowsThatItBeganWronglyEndsIt_S5) {
    ConnectorFixture fixture(ConnectorFixture::usual(), ConnectorFixture::Begin::kAtTheStart);
    fixture.step();
    fixture.cluster.answer(fixture.list().call, 200, page(50, {}));
    EXPECT_EQ(fixture.step(), Lines{});
    fixture.cluster.answer(fixture.list().call, 200, page(50, {}));
    EXPECT_EQ(fixture.step(), (Lines{"begin@50", "end@50"}));
    EXPECT_TRUE(fixture.watching());
    fixture.connector.relist();
    fixture.wait_for(Kind::kList);
    fixture.cluster.answer(fixture.list().call, 200, page(50, {{"w1", 7}}));
    EXPECT_EQ(fixture.step(), (Lines{"begin@50", "upsert! g/w1@7 uid-w1"}));
    w1_was_lacking(fixture);
}

// Symptom: what was made while a connector stood by, and was lacking in its first list since,
// counted as absent.
TEST(KubernetesEpoch, ANewIncarnationAndAGapInTheWatchBeginAnewWithTwoLists_S5) {
    for (const bool gap : {false, true}) {
        ConnectorFixture fixture;
        fixture.settle(50, {{"w1", 7}});
        if (gap) {
            fixture.cluster.data(fixture.watch().call, error_line(410, "Expired"));
        } else {
            fixture.connector.restart(fixture.now);
        }
        fixture.step();
        fixture.cluster.answer(fixture.list().call, 200, page(60, {{"w1", 7}, {"w2", 55}}));
        EXPECT_EQ(fixture.step(), Lines{});
        fixture.cluster.answer(fixture.list().call, 200, page(60, {{"w1", 7}}));
        EXPECT_EQ(fixture.step(), (Lines{"begin@60", "upsert! g/w1@7 uid-w1"}));
        EXPECT_EQ(fixture.get().get.name, "w2");
    }
}

// Symptom: a list that was read for its own sake hid that the server had been restored.
TEST(KubernetesEpoch, TheFirstOfTwoListsTellsOfARewoundServerToo_S13) {
    ConnectorFixture fixture;
    fixture.settle(50, {{"w1", 7}});
    fixture.say(line("DELETED", {.name = "w1", .version = 51, .more = kEnding}));
    fixture.cluster.data(fixture.watch().call, error_line(410, "Expired"));
    fixture.step();
    fixture.cluster.answer(fixture.list().call, 200, page(1'000'050, {{"w1", 7}}));
    fixture.step();
    EXPECT_TRUE(fixture.connector.needs_new_incarnation());
}

TEST(KubernetesEpoch, AFreshConnectorReadsAgainWhereItsListFailed_S3) {
    ConnectorFixture fixture(ConnectorFixture::usual(), ConnectorFixture::Begin::kAtTheStart);
    fixture.step();
    fixture.cluster.answer(fixture.list().call, 200, page(50, {{"w1", 7}}, "next"));
    fixture.step();
    fixture.cluster.answer(fixture.list().call, 500, status(500, "InternalError"));
    EXPECT_EQ(fixture.step(), Lines{});
    fixture.wait_for(Kind::kList);
    fixture.cluster.answer(fixture.list().call, 200, page(51, {{"w1", 7}}));
    EXPECT_EQ(fixture.step(), Lines{}) << "it is the first whole one, and not published";
}

/// Every answer that must not end an epoch, with the page that it comes for.
struct Flaw {
    std::string about;
    int status = 200;
    std::string body;
};

std::vector<Flaw> flaws() {
    const std::string good = page(50, {{"w2", 9}});
    Pod no_uid{"w2", 9};
    std::string missing_uid = page(50, {no_uid});
    const std::string uid = R"("uid":"uid-w2",)";
    missing_uid.erase(missing_uid.find(uid), uid.size());
    std::string opaque = good;
    opaque.replace(opaque.find(R"("9")"), 3, R"("x9")");
    return {
        {"server error", 500, status(500, "InternalError")},
        {"not signed in", 401, status(401, "Unauthorized")},
        {"no right", 403, status(403, "Forbidden")},
        {"too many", 429, status(429, "TooManyRequests")},
        {"expired", 410, status(410, "Expired", R"({"continue":"inconsistent"})")},
        {"redirect", 302, ""},
        {"HTML", 200, "<html>sign in</html>"},
        {"empty body", 200, ""},
        {"another kind", 200, R"({"kind":"Pod","metadata":{"resourceVersion":"5"},"items":[]})"},
        {"a Status", 200, status(200, "Fine")},
        {"no version", 200, R"({"kind":"PodList","metadata":{},"items":[]})"},
        {"opaque version", 200,
         R"({"kind":"PodList","metadata":{"resourceVersion":"a1"},"items":[]})"},
        {"no items", 200, R"({"kind":"PodList","metadata":{"resourceVersion":"50"}})"},
        {"null items", 200,
         R"({"kind":"PodList","metadata":{"resourceVersion":"50"},"items":null})"},
        {"item without uid", 200, missing_uid},
        {"item with an opaque version", 200, opaque},
        {"cut body", 200, good.substr(0, good.size() / 2)},
        {"other version", 200, page(51, {{"w2", 9}})}};
}

TEST(KubernetesEpoch, NoFlawOnTheSecondPageEndsAnEpoch_S3_S5) {
    for (const Flaw& flaw : flaws()) {
        SCOPED_TRACE(flaw.about);
        ConnectorFixture fixture;
        fixture.step();
        fixture.cluster.answer(fixture.list().call, 200, page(50, {{"w1", 7}}, "next"));
        fixture.step();
        fixture.cluster.answer(fixture.list().call, flaw.status, flaw.body);
        EXPECT_EQ(fixture.step(), Lines{});
        EXPECT_FALSE(fixture.listing()) << "it backs off first";
        EXPECT_FALSE(fixture.watching());
        EXPECT_FALSE(fixture.connector.health().answering);
        EXPECT_FALSE(fixture.connector.health().trouble.empty());
        // A new epoch from the first page; no token of the old one is used.
        fixture.wait_for(Kind::kList);
        EXPECT_EQ(fixture.list().list.continue_token, "");
        fixture.read_first(60, {{"w1", 7}});
        fixture.cluster.answer(fixture.list().call, 200, page(60, {{"w1", 7}}));
        EXPECT_EQ(fixture.step(), (Lines{"begin@60", "upsert! g/w1@7 uid-w1", "end@60"}));
    }
}

TEST(KubernetesEpoch, NoFlawOnTheFirstPageBeginsOne_S3) {
    for (const Flaw& flaw : flaws()) {
        if (flaw.about == "other version") continue;
        SCOPED_TRACE(flaw.about);
        ConnectorFixture fixture;
        fixture.step();
        fixture.cluster.answer(fixture.list().call, flaw.status, flaw.body);
        EXPECT_EQ(fixture.step(), Lines{});
        EXPECT_FALSE(fixture.watching());
        EXPECT_EQ(fixture.connector.health().failures, 1U);
    }
}

TEST(KubernetesEpoch, AListCutAnywhereNeverEndsAnEpoch_S5) {
    const std::string whole = page(50, {{"w1", 7}, {"w2", 9}});
    for (std::size_t cut = 0; cut < whole.size(); ++cut) {
        ConnectorFixture fixture;
        fixture.step();
        fixture.cluster.head(fixture.list().call, 200);
        fixture.cluster.data(fixture.list().call, whole.substr(0, cut));
        if (cut % 2 == 0) {
            fixture.cluster.end(fixture.list().call);
        } else {
            fixture.cluster.fail(fixture.list().call, "transfer closed with outstanding read data");
        }
        ASSERT_EQ(fixture.step(), Lines{}) << "cut at " << cut;
    }
}

TEST(KubernetesEpoch, AListThatHangsIsCancelledAndTakenAnew_S3) {
    ConnectorFixture fixture;
    fixture.step();
    fixture.cluster.head(fixture.list().call, 200);
    fixture.cluster.data(fixture.list().call, page(50, {}).substr(0, 20));
    fixture.step();
    fixture.step(Millis(29'000));
    EXPECT_TRUE(fixture.listing());
    fixture.step(Millis(1'001));
    EXPECT_FALSE(fixture.listing());
    fixture.wait_for(Kind::kList);
}

/// The list under way ends for want of time; what came of its page before, if anything.
void time_out(ConnectorFixture& fixture, const std::string& part) {
    fixture.wait_for(Kind::kList);
    if (!part.empty()) {
        fixture.cluster.head(fixture.list().call, 200);
        fixture.cluster.data(fixture.list().call, part);
        fixture.step();
    }
    fixture.step(Millis(30'000));
}

// Symptom: a collection whose pages took too long was never read at all.
TEST(KubernetesEpoch, PagesThatAreTooMuchAreHalvedAndGrowAgain_S3) {
    ConnectorFixture fixture;
    fixture.step();
    std::vector<std::uint32_t> limits;
    for (int i = 0; i < 6; ++i) {
        fixture.wait_for(Kind::kList);
        limits.push_back(fixture.list().list.limit);
        time_out(fixture, i % 2 == 0 ? "{" : "");
    }
    EXPECT_EQ(limits, (std::vector<std::uint32_t>{500, 250, 125, 62, 50, 50}));
    limits.clear();
    fixture.wait_for(Kind::kList);
    fixture.read_first(50, {{"w1", 7}});
    fixture.cluster.answer(fixture.list().call, 200, page(50, {{"w1", 7}}));
    EXPECT_EQ(fixture.step(), (Lines{"begin@50", "upsert! g/w1@7 uid-w1", "end@50"}));
    for (int i = 0; i < 5; ++i) {
        fixture.connector.relist();
        fixture.step();
        limits.push_back(fixture.list().list.limit);
        fixture.cluster.answer(fixture.list().call, 200, page(50, {{"w1", 7}}));
        fixture.step();
    }
    EXPECT_EQ(limits, (std::vector<std::uint32_t>{50, 100, 100, 100, 200}));
}

// Symptom: one slow hour left pages of one object, with which no long list ended before its
// continue token expired, so that pages never grew again either.
TEST(KubernetesEpoch, AListThatOutlivedItsTokenIsAskedForInLargerPages_S3) {
    ConnectorFixture fixture;
    fixture.step();
    for (int i = 0; i < 4; ++i) time_out(fixture, "{");
    std::vector<std::uint32_t> limits;
    for (int i = 0; i < 5; ++i) {
        fixture.wait_for(Kind::kList);
        limits.push_back(fixture.list().list.limit);
        fixture.cluster.answer(fixture.list().call, 200, page(50, {{"w1", 7}}, "more"));
        fixture.step();
        fixture.cluster.answer(fixture.list().call, 410, status(410, "Expired"));
        fixture.step();
    }
    EXPECT_EQ(limits, (std::vector<std::uint32_t>{50, 100, 200, 400, 500}));
}

TEST(KubernetesEpoch, AServerThatIsSilentOrAwayIsNotAskedForSingleObjects_S3) {
    ConnectorFixture fixture;
    fixture.step();
    for (int i = 0; i < 10; ++i) time_out(fixture, "");
    for (int i = 0; i < 5; ++i) {
        fixture.wait_for(Kind::kList);
        EXPECT_EQ(fixture.list().list.limit, 50U);
        fixture.cluster.fail(fixture.list().call, "connection refused");
        fixture.step();
    }
}

TEST(KubernetesEpoch, RetryAfterIsHonoured) {
    ConnectorFixture fixture;
    fixture.step();
    fixture.cluster.answer(fixture.list().call, 429, status(429, "TooManyRequests"), 20'000);
    fixture.step();
    fixture.step(Millis(19'900));
    EXPECT_FALSE(fixture.listing());
    fixture.step(Millis(200));
    EXPECT_TRUE(fixture.listing());
}

TEST(KubernetesEpoch, BackoffGrowsIsBoundedAndDeterministic) {
    std::vector<std::int64_t> waits[2];
    for (auto& measured : waits) {
        ConnectorFixture fixture;
        fixture.step();
        for (int i = 0; i < 12; ++i) {
            fixture.cluster.fail(fixture.list().call, "connection refused");
            fixture.step();
            const SteadyTime from = fixture.now;
            fixture.wait_for(Kind::kList);
            measured.push_back((fixture.now - from).count());
        }
    }
    EXPECT_EQ(waits[0], waits[1]);
    EXPECT_LE(waits[0].front(), 600);
    EXPECT_GE(waits[0].back(), 15'000);
    EXPECT_LE(waits[0].back(), 30'100);
}

TEST(KubernetesEpoch, AnAuditRunsBesideTheLiveWatchAndOnlyOnce) {
    ConnectorFixture fixture;
    fixture.settle(50, {{"w1", 7}});
    fixture.connector.relist();
    fixture.step();
    const Asked audit = fixture.list();
    fixture.connector.relist();
    fixture.step();
    EXPECT_EQ(fixture.list().call, audit.call);
    EXPECT_EQ(fixture.say(line("ADDED", {"w2", 61})), Lines{"upsert g/w2@61 uid-w2"});
    fixture.cluster.answer(audit.call, 200, page(60, {{"w1", 7}}));
    EXPECT_EQ(fixture.step(), (Lines{"begin@60", "upsert! g/w1@7 uid-w1", "end@60"}));
    EXPECT_EQ(fixture.watch().watch.resource_version, "50") << "the same watch goes on";
}

TEST(KubernetesEpoch, AFailedAuditLeavesTheWatchAlone) {
    ConnectorFixture fixture;
    fixture.settle(50, {{"w1", 7}});
    fixture.connector.relist();
    fixture.step();
    fixture.cluster.answer(fixture.list().call, 503, status(503, "ServiceUnavailable"));
    fixture.step();
    EXPECT_TRUE(fixture.watching());
    fixture.wait_for(Kind::kList);
}

TEST(KubernetesEpoch, AnObjectMissingFromAListIsLookedUpBeforeTheEndAndMayHaveLeft_S5) {
    ConnectorFixture fixture;
    fixture.settle(50, {{"w1", 7}, {"w2", 8}});
    fixture.connector.relist();
    fixture.step();
    fixture.cluster.answer(fixture.list().call, 200, page(60, {{"w1", 7}}));
    EXPECT_EQ(fixture.step(), (Lines{"begin@60", "upsert! g/w1@7 uid-w1"}));
    fixture.cluster.answer(fixture.get().call, 200, Pod{"w2", 58, "", "Running", ""}.json());
    EXPECT_EQ(fixture.step(), (Lines{"upsert! g/w2@58 uid-w2 out", "end@60"}));
}

/// An audit's list of version 60 lacks w2, which is asked for by name and is there like this.
Lines lacking_w2(ConnectorFixture& fixture, const Pod& now) {
    fixture.settle(50, {{"w1", 7}, {"w2", 8}});
    fixture.connector.relist();
    fixture.step();
    fixture.cluster.answer(fixture.list().call, 200, page(60, {{"w1", 7}}));
    fixture.step();
    fixture.cluster.answer(fixture.get().call, 200, now.json());
    return fixture.step();
}

// An empty answer had every pod out of the selector until it changed.
TEST(KubernetesEpoch, AListThatLacksWhatHasNotChangedIsNotBelieved_S4) {
    ConnectorFixture fixture;
    EXPECT_EQ(lacking_w2(fixture, {"w2", 8}), Lines{});
    EXPECT_NE(fixture.connector.health().trouble.find("lacks w2"), std::string::npos)
        << fixture.connector.health().trouble;
    fixture.wait_for(Kind::kList);
    fixture.cluster.answer(fixture.list().call, 200, page(61, {{"w1", 7}, {"w2", 8}}));
    EXPECT_EQ(fixture.step(),
              (Lines{"begin@61", "upsert! g/w1@7 uid-w1", "upsert! g/w2@8 uid-w2", "end@61"}));
}

// Symptom: a list came empty, and the pod itself without its labels: it had left the selector,
// under a proof.
TEST(KubernetesEpoch, NorDoesAnAnswerWithoutLabelsExcuseIt_S23) {
    ConnectorFixture fixture;
    EXPECT_EQ(lacking_w2(fixture, {.name = "w2", .version = 8, .labels = ""}), Lines{});
    EXPECT_NE(fixture.connector.health().trouble.find("lacks w2"), std::string::npos);
}

// Such a pod counted as one that had left the selector, where there was none.
TEST(KubernetesEpoch, NothingLeavesAListWithoutASelector_S4) {
    connectors::KubernetesSettings settings = ConnectorFixture::usual();
    settings.label_selector = "";
    ConnectorFixture fixture(settings);
    EXPECT_EQ(lacking_w2(fixture, {"w2", 61}), Lines{});
    EXPECT_NE(fixture.connector.health().trouble.find("lacks w2"), std::string::npos)
        << fixture.connector.health().trouble;
}

// And of a connector that had been away for a while, where the pod had changed meanwhile.
TEST(KubernetesEpoch, NorIsAListThatLacksWhatTheSelectorTook_S4) {
    ConnectorFixture before;
    EXPECT_EQ(lacking_w2(before, {"w2", 60}), Lines{});
    ConnectorFixture behind;  // what it was at the list nobody knows; the stream tells what it is
    EXPECT_EQ(lacking_w2(behind, {"w2", 61}), (Lines{"upsert! g/w2@60 uid-w2 out", "end@60"}));
}

// The next, true list was older than the word on the pod, or as old, and was not heard.
TEST(KubernetesEpoch, WhatAFalseAnswerSaidOfAVersionIsTakenBackByATrueList_S4) {
    ConnectorFixture fixture;
    EXPECT_EQ(lacking_w2(fixture, {"w2", 58, "", "Running", ""}),
              (Lines{"upsert! g/w2@58 uid-w2 out", "end@60"}));
    fixture.connector.relist();
    fixture.step();
    fixture.cluster.answer(fixture.list().call, 200, page(61, {{"w2", 58}, {"w1", 60}}));
    EXPECT_EQ(fixture.step(),
              (Lines{"begin@61", "upsert! g/w2@58.1 uid-w2", "upsert! g/w1@60 uid-w1", "end@61"}));
}

TEST(KubernetesEpoch, AnObjectMissingFromAListAndFromTheServerIsRemoved_S11) {
    ConnectorFixture fixture;
    fixture.settle(50, {{"w1", 7}, {"w2", 8}});
    fixture.cluster.data(fixture.watch().call, error_line(410, "Expired"));
    fixture.step();
    fixture.read_first(60, {{"w1", 7}});
    fixture.cluster.answer(fixture.list().call, 200, page(60, {{"w1", 7}}));
    EXPECT_EQ(fixture.step(), (Lines{"begin@60", "upsert! g/w1@7 uid-w1"}));
    fixture.cluster.answer(fixture.get().call, 404, not_found("w2"));
    EXPECT_EQ(fixture.step(), (Lines{"remove g/w2@60 uid-w2", "end@60"}));
}

TEST(KubernetesEpoch, AnswersForAnAbandonedEpochAreNotCountedInTheNextOne) {
    ConnectorFixture fixture;
    fixture.settle(50, {{"w1", 7}});
    fixture.say(line("DELETED", {"w1", 51}));
    fixture.cluster.answer(fixture.get().call, 200, Pod{"w1", 51}.json());
    fixture.step();
    fixture.connector.relist();
    fixture.step();
    fixture.cluster.answer(fixture.list().call, 200, page(60, {}));
    EXPECT_EQ(fixture.step(), Lines{"begin@60"});
    EXPECT_EQ(fixture.get().get.name, "w1");
    fixture.cluster.data(fixture.watch().call, error_line(410, "Expired"));
    EXPECT_EQ(fixture.step(), Lines{});
    EXPECT_TRUE(fixture.cluster.open(Kind::kGet).empty());
    fixture.read_first(70);
    fixture.cluster.answer(fixture.list().call, 200, page(70, {}));
    EXPECT_EQ(fixture.step(), Lines{"begin@70"});
    fixture.cluster.answer(fixture.get().call, 200, Pod{"w1", 51, "", "Running", ""}.json());
    EXPECT_EQ(fixture.step(), (Lines{"upsert! g/w1@51 uid-w1 out", "end@70"}));
}

TEST(KubernetesEpoch, AnEventOlderThanTheListDoesNotAnswerForIt) {
    ConnectorFixture fixture;
    fixture.settle(50, {{"w1", 7}});
    fixture.connector.relist();
    fixture.step();
    fixture.cluster.answer(fixture.list().call, 200, page(60, {}));
    EXPECT_EQ(fixture.step(), Lines{"begin@60"});
    EXPECT_EQ(fixture.say(line("MODIFIED", {"w1", 55})), Lines{"upsert g/w1@55 uid-w1"});
    fixture.cluster.answer(fixture.get().call, 200, Pod{"w1", 58, "", "Running", ""}.json());
    EXPECT_EQ(fixture.step(), (Lines{"upsert! g/w1@58 uid-w1 out", "end@60"}));
}

TEST(KubernetesEpoch, AnObjectThatALaggingWatchTellsOfLateIsNotSweptEither) {
    ConnectorFixture fixture;
    fixture.settle(50, {{"w1", 7}});
    fixture.connector.relist();
    fixture.step();
    fixture.cluster.answer(fixture.list().call, 200, page(60, {}));
    EXPECT_EQ(fixture.step(), Lines{"begin@60"});
    const Asked first = fixture.get();
    // w2 came at 55 and left before 60; the list rightly lacks it.
    EXPECT_EQ(fixture.say(line("ADDED", {"w2", 55})), Lines{"upsert g/w2@55 uid-w2"});
    fixture.cluster.answer(first.call, 404, not_found("w1"));
    EXPECT_EQ(fixture.step(), Lines{"remove g/w1@60 uid-w1"});
    fixture.cluster.answer(fixture.get().call, 200, Pod{"w2", 58, "", "Running", ""}.json());
    EXPECT_EQ(fixture.step(), (Lines{"upsert! g/w2@58 uid-w2 out", "end@60"}));
}

TEST(KubernetesEpoch, AThousandMissingObjectsAreLeftToTheBreaker_S4) {
    connectors::KubernetesSettings settings = ConnectorFixture::usual();
    settings.max_followed = 3;
    ConnectorFixture fixture(settings);
    fixture.settle(50, {{"w1", 11}, {"w2", 12}, {"w3", 13}, {"w4", 14}});
    fixture.connector.relist();
    fixture.step();
    fixture.cluster.answer(fixture.list().call, 200, page(60, {}));
    EXPECT_EQ(fixture.step(), (Lines{"begin@60", "end@60"}));
}

TEST(KubernetesEpoch, ARewoundServerAsksForANewIncarnation_S13) {
    ConnectorFixture fixture;
    fixture.settle(50, {{"w1", 7}});
    fixture.connector.relist();
    fixture.step();
    fixture.cluster.answer(fixture.list().call, 200, page(30, {{"w1", 7}}));
    fixture.step();
    EXPECT_TRUE(fixture.connector.needs_new_incarnation());
    EXPECT_EQ(fixture.watch().watch.resource_version, "30");
    fixture.cluster.head(fixture.watch().call, 200);
    fixture.step();
    EXPECT_NE(fixture.connector.health().trouble.find("went back"), std::string::npos);
    fixture.connector.restart(fixture.now);
    EXPECT_FALSE(fixture.connector.needs_new_incarnation());
    EXPECT_FALSE(fixture.watching());
    fixture.read_first(31, {{"w1", 7}});
    fixture.cluster.answer(fixture.list().call, 200, page(31, {{"w1", 7}}));
    EXPECT_EQ(fixture.step(), (Lines{"begin@31", "upsert! g/w1@7 uid-w1", "end@31"}));
}

/// What the begin of an epoch said in the last step.
std::optional<bool> rewound(const ConnectorFixture& fixture) {
    for (const Fact& fact : fixture.facts) {
        if (fact.kind == Fact::Kind::kSnapshotBegin) return fact.rewound;
    }
    return std::nullopt;
}

/// A new incarnation, up to a list of the restored server that is whole, or is cut.
void begin_restored(ConnectorFixture& fixture, std::uint64_t version, bool whole = true) {
    fixture.connector.restart(fixture.now);
    fixture.read_first(version, {{"w1", 7}});
    fixture.cluster.answer(fixture.list().call, 200,
                           page(version, {{"w1", 7}}, whole ? "" : "next"));
    fixture.step();
}

TEST(KubernetesEpoch, ARewindIsSaidUntilAnEpochWithItIsPublished_S13) {
    ConnectorFixture fixture;
    fixture.settle(50, {{"w1", 7}});
    fixture.connector.relist();
    fixture.step();
    fixture.cluster.answer(fixture.list().call, 200, page(30, {{"w1", 7}}));
    fixture.step();
    EXPECT_EQ(rewound(fixture), true);
    begin_restored(fixture, 31, false);
    EXPECT_EQ(rewound(fixture), true) << "that incarnation ended with its epoch";
    begin_restored(fixture, 32);
    EXPECT_EQ(rewound(fixture), true) << "the epoch was cut";
    begin_restored(fixture, 33);
    EXPECT_EQ(rewound(fixture), true) << "the log lost it";
    fixture.cluster.head(fixture.watch().call, 200);
    ASSERT_EQ(fixture.step(), Lines{"marker"});
    fixture.connector.marker_appended(BrokerTime{}, fixture.now);
    begin_restored(fixture, 34);
    EXPECT_EQ(rewound(fixture), false) << "the log has it";
}

TEST(KubernetesEpoch, ARewindBetweenTwoIncarnationsIsSaid_S13) {
    for (const std::uint64_t version : {20U, 50U}) {
        ConnectorFixture fixture;
        fixture.settle(50, {{"w1", 7}});
        begin_restored(fixture, version);
        EXPECT_EQ(rewound(fixture), version < 50) << version;
    }
}

// A pod that a backup brought back was absent for ever: older than its own removal.
TEST(KubernetesEpoch, APodThatIsBackFromTheDeadIsOfARewoundServer_S13) {
    ConnectorFixture fixture;
    fixture.settle(50, {{"w1", 7}});
    fixture.say(line("DELETED", {.name = "w1", .version = 51, .more = kEnding}));
    fixture.connector.relist();
    fixture.step();
    fixture.cluster.answer(fixture.list().call, 200, page(1'000'050, {{"w1", 7}}));
    fixture.step();
    EXPECT_TRUE(fixture.connector.needs_new_incarnation());
    fixture.connector.restart(fixture.now);
    fixture.read_first(1'000'051, {{"w1", 7}});
    fixture.cluster.answer(fixture.list().call, 200, page(1'000'051, {{"w1", 7}}));
    EXPECT_EQ(fixture.step(), (Lines{"begin@1000051", "upsert! g/w1@7 uid-w1", "end@1000051"}));
    EXPECT_FALSE(fixture.connector.needs_new_incarnation());
}

// Symptom: a pod that a backup brought back while its connector stood by was never listed again: it
// was gone at a version that the restored server had not come to yet.
TEST(KubernetesEpoch, ARestartForgetsTheVersionsThatARestoreMayHaveTakenBack_S13) {
    ConnectorFixture fixture;
    fixture.settle(50, {{"w1", 7}});
    fixture.say(line("DELETED", {.name = "w1", .version = 51, .more = kEnding}));
    fixture.connector.restart(fixture.now);
    fixture.read_first(20, {{"w1", 7}});
    fixture.cluster.answer(fixture.list().call, 200, page(20, {{"w1", 7}}));
    EXPECT_EQ(fixture.step(), (Lines{"begin@20", "upsert! g/w1@7 uid-w1", "end@20"}));
}

// Symptom: a pod that a backup brought back while the server was being asked for it was out of the
// selector until the next list, and that was proven.
TEST(KubernetesEpoch, APodThatIsThereAsItWasBeforeItLeftIsOfARewoundServer_S13) {
    for (const std::uint64_t version : {50U, 51U}) {
        ConnectorFixture fixture;
        fixture.settle(50, {{"w1", 7}});
        fixture.say(line("DELETED", {"w1", 51}));
        fixture.step();
        fixture.cluster.answer(fixture.get().call, 200, Pod{"w1", version}.json());
        EXPECT_EQ(fixture.step().empty(), version < 51);
        EXPECT_EQ(fixture.connector.needs_new_incarnation(), version < 51) << version;
    }
}

// Beside a stream that lags, a list may have shown more than the stream.
TEST(KubernetesEpoch, AListOlderThanTheLastOneIsOfARewoundServer_S13) {
    ConnectorFixture fixture;
    fixture.settle(50, {{"w1", 7}});
    for (const std::uint64_t version : {60U, 55U}) {
        fixture.connector.relist();
        fixture.step();
        fixture.cluster.answer(fixture.list().call, 200, page(version, {{"w1", 7}}));
        fixture.step();
    }
    EXPECT_TRUE(fixture.connector.needs_new_incarnation());
}

// A list is as of its first page; the stream beside it may know more.
TEST(KubernetesEpoch, AnObjectThatChangedBehindTheListIsNoRewoundServer) {
    ConnectorFixture fixture;
    fixture.settle(50, {{"w1", 7}});
    fixture.connector.relist();
    fixture.step();
    fixture.say(line("MODIFIED", {"w1", 52}));
    fixture.cluster.answer(fixture.list().call, 200, page(51, {{"w1", 7}}));
    fixture.step();
    EXPECT_FALSE(fixture.connector.needs_new_incarnation());
}

TEST(KubernetesEpoch, RestartDropsWhatIsInFlight) {
    ConnectorFixture fixture;
    fixture.settle(50, {{"w1", 7}});
    fixture.connector.restart(fixture.now);
    EXPECT_FALSE(fixture.watching());
    EXPECT_EQ(fixture.step(), Lines{});
    EXPECT_EQ(fixture.list().list.continue_token, "");
}

// A pod that had lost its id label was filed under its name, where no row ever is: an orphan.
TEST(KubernetesEpoch, WhatLacksTheLabelThatIsItsKeyIsNobodys_S31_S23) {
    ConnectorFixture fixture(ConnectorFixture::by_label());
    Pod pod{"w1", 7};
    pod.labels = R"("app":"w","id":"a")";
    fixture.settle(50, {pod});
    pod.version = 51;
    pod.labels = R"("app":"w")";
    EXPECT_EQ(fixture.say(line("MODIFIED", pod)),
              (Lines{"remove g/a@51 uid-w1", "upsert !pods/uid-w1@51 uid-w1"}));
    pod.version = 52;
    pod.labels = R"("app":"w","id":"")";
    EXPECT_EQ(fixture.say(line("MODIFIED", pod)), Lines{"upsert !pods/uid-w1@52 uid-w1"});
    pod.version = 53;
    pod.labels = R"("app":"w","id":"a")";
    EXPECT_EQ(fixture.say(line("MODIFIED", pod)),
              (Lines{"remove !pods/uid-w1@53 uid-w1", "upsert g/a@53 uid-w1"}));
}

// An object that is looked up by its name stands under it; one without a key where no name is.
TEST(KubernetesEpoch, WhatIsLookedUpStandsUnderItsName) {
    connectors::KubernetesSettings settings = ConnectorFixture::by_label();
    settings.subject_prefix = "!pods/";
    ConnectorFixture fixture(settings);
    Pod pod{"w1", 7};
    pod.labels = R"("app":"w","id":"a")";
    fixture.step();
    fixture.cluster.answer(fixture.list().call, 200, page(50, {pod, {"w2", 8}}));
    EXPECT_EQ(fixture.step(), (Lines{"begin@50", "upsert! !pods/a@7 uid-w1",
                                     "upsert! !pods//uid-w2@8 uid-w2", "end@50"}));
}

TEST(KubernetesEpoch, ALabelMayStandForTheNameAndAMovedKeyRemovesTheOldFacet_S31) {
    ConnectorFixture fixture(ConnectorFixture::by_label());
    Pod pod{"w1", 7};
    pod.labels = R"("app":"w","id":"a")";
    Pod plain{"w2", 8};
    fixture.step();
    fixture.cluster.answer(fixture.list().call, 200, page(50, {pod, plain}));
    EXPECT_EQ(fixture.step(), (Lines{"begin@50", "upsert! g/a@7 uid-w1",
                                     "upsert! !pods/uid-w2@8 uid-w2", "end@50"}));
    pod.version = 51;
    pod.labels = R"("app":"w","id":"b")";
    EXPECT_EQ(fixture.say(""), Lines{});
    fixture.cluster.head(fixture.watch().call, 200);
    fixture.step();
    EXPECT_EQ(fixture.say(line("MODIFIED", pod)),
              (Lines{"remove g/a@51 uid-w1", "upsert g/b@51 uid-w1"}));
}

}  // namespace
}  // namespace trueup::testing
