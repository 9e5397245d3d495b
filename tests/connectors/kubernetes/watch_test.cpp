// Proves design §4.1, §4.7 and details 12 for the live stream: what a watch may conclude, and how
// it goes on after each way to end.
#include "tests/connectors/kubernetes/connector_fixture.h"

namespace trueup::testing {
namespace {

using Kind = Asked::Kind;

Pod ending(const std::string& name, std::uint64_t version, const std::string& uid = "") {
    Pod pod{name, version, uid};
    pod.more = R"(,"deletionTimestamp":"2026-01-02T00:00:00Z","deletionGracePeriodSeconds":0)";
    return pod;
}

connectors::KubernetesSettings without_selector() {
    connectors::KubernetesSettings settings = ConnectorFixture::usual();
    settings.label_selector.clear();
    return settings;
}

TEST(KubernetesWatch, EventsBecomeFactsWithTheirVersions) {
    ConnectorFixture fixture;
    fixture.settle(50, {});
    EXPECT_EQ(fixture.say(line("ADDED", {"w1", 51}) + line("MODIFIED", {"w1", 52}) + bookmark(53) +
                          line("DELETED", ending("w1", 54))),
              (Lines{"upsert g/w1@51 uid-w1", "upsert g/w1@52 uid-w1", "remove g/w1@54 uid-w1"}));
}

// A pod whose name is as long as Kubernetes allows had its source unproven for ever: the key of its
// change was longer than a key may be, so that every epoch that listed it had a hole.
TEST(KubernetesWatch, ANameThatIsTooLongForAKeyIsSeenUnderItsUid) {
    const std::string longest(251, 'w');  // beside `g/`
    ConnectorFixture fixture;
    fixture.settle(50, {});
    EXPECT_EQ(
        fixture.say(line("ADDED", {longest, 51, "u1"}) + line("ADDED", {longest + "w", 52, "u2"}) +
                    line("DELETED", ending(longest + "w", 53, "u2"))),
        (Lines{"upsert g/" + longest + "@51 u1", "upsert !pods/u2@52 u2",
               "remove !pods/u2@53 u2"}));
}

TEST(KubernetesWatch, AStreamCutIntoChunksAnywhereSaysTheSame) {
    const std::string bytes = line("ADDED", {"w1", 51}) + bookmark(52) +
                              line("MODIFIED", {"w1", 53}) + line("DELETED", ending("w1", 54));
    const Lines whole{"upsert g/w1@51 uid-w1", "upsert g/w1@53 uid-w1", "remove g/w1@54 uid-w1"};
    for (std::size_t cut = 0; cut <= bytes.size(); ++cut) {
        ConnectorFixture fixture;
        fixture.settle(50, {});
        Lines said = fixture.say(bytes.substr(0, cut));
        for (const std::string& more : fixture.say(bytes.substr(cut))) said.push_back(more);
        ASSERT_EQ(said, whole) << "cut at " << cut;
    }
    ConnectorFixture fixture;
    fixture.settle(50, {});
    Lines said;
    for (const char byte : bytes) {
        for (const std::string& more : fixture.say(std::string(1, byte))) said.push_back(more);
    }
    EXPECT_EQ(said, whole);
}

TEST(KubernetesWatch, AStreamThatEndsAnywhereLosesNothingAndResumesBehindItsLastWholeLine_S5) {
    const std::string first = line("ADDED", {"w1", 51});
    const std::string bytes = first + line("ADDED", {"w2", 52});
    for (std::size_t cut = 0; cut <= bytes.size(); ++cut) {
        ConnectorFixture fixture;
        fixture.settle(50, {});
        fixture.cluster.data(fixture.watch().call, bytes.substr(0, cut));
        fixture.cluster.end(fixture.watch().call);
        const std::size_t said = fixture.step().size();
        ASSERT_EQ(said, cut == bytes.size() ? 2U : cut >= first.size() ? 1U : 0U) << cut;
        fixture.wait_for(Kind::kWatch);
        const std::uint64_t from = 50 + said;
        ASSERT_EQ(fixture.watch().watch.resource_version, std::to_string(from)) << cut;
        ASSERT_FALSE(fixture.listing());
    }
}

TEST(KubernetesWatch, ADeletedPodThatSaysRunningIsGone_S9) {
    ConnectorFixture fixture(without_selector());
    fixture.settle(50, {{"w1", 7}});
    EXPECT_EQ(fixture.say(line("DELETED", {"w1", 51})), Lines{"remove g/w1@51 uid-w1"});
}

TEST(KubernetesWatch, DeletedUnderASelectorIsAskedForAndOutOfScopeWhileItExists_S31) {
    ConnectorFixture fixture;
    fixture.settle(50, {{"w1", 7}});
    EXPECT_EQ(fixture.say(line("DELETED", {"w1", 51})), Lines{});
    const Asked get = fixture.get();
    EXPECT_EQ(get.get.name, "w1");
    EXPECT_EQ(get.get.resource.name_space, "graph");
    fixture.cluster.answer(get.call, 200, Pod{"w1", 51, "", "Running", ""}.json());
    EXPECT_EQ(fixture.step(), Lines{"upsert g/w1@51 uid-w1 out"});
}

TEST(KubernetesWatch, DeletedUnderASelectorIsGoneWhenTheServerSaysNotFound) {
    ConnectorFixture fixture;
    fixture.settle(50, {{"w1", 7}});
    fixture.say(line("DELETED", {"w1", 51}));
    fixture.cluster.answer(fixture.get().call, 404, not_found("w1"));
    EXPECT_EQ(fixture.step(), Lines{"remove g/w1@51 uid-w1"});
}

// A pod that was gone before its deletion was told went once more, at a version that the server had
// not reached, and a later list was older than that: a source that was well had gone back in time.
TEST(KubernetesWatch, NoVersionIsAheadOfTheServers_S13) {
    ConnectorFixture fixture;
    fixture.settle(50, {});
    fixture.say(line("DELETED", {"w1", 51}));
    fixture.cluster.answer(fixture.get().call, 404, not_found("w1"));
    EXPECT_EQ(fixture.step(), Lines{"remove g/w1@51 uid-w1"});
}

TEST(KubernetesWatch, DeletedUnderASelectorIsGoneWhenAnotherUidHasTheName_S1) {
    ConnectorFixture fixture;
    fixture.settle(50, {{"w1", 7}});
    fixture.say(line("DELETED", {"w1", 51}));
    fixture.cluster.answer(fixture.get().call, 200, Pod{"w1", 52, "uid-other"}.json());
    EXPECT_EQ(fixture.step(), Lines{"remove g/w1@51 uid-w1"});
}

TEST(KubernetesWatch, AnErrorOfTheLookupIsNeverAnAbsence_S3) {
    const std::vector<std::pair<int, std::string>> answers{
        {500, status(500, "InternalError")},
        {403, status(403, "Forbidden")},
        {404, "404 page not found"},
        {404, status(404, "NotFound")},
        {404, not_found("w2")},
        {200, "{}"},
        {200, Pod{"w2", 60}.json()},
        {200, Pod{"w1", 60}.json().substr(0, 50)},
        {410, status(410, "Expired")}};
    for (const auto& [code, body] : answers) {
        SCOPED_TRACE(std::to_string(code) + " " + body);
        ConnectorFixture fixture;
        fixture.settle(50, {{"w1", 7}});
        fixture.say(line("DELETED", {"w1", 51}));
        fixture.cluster.answer(fixture.get().call, code, body);
        EXPECT_EQ(fixture.step(), Lines{});
        fixture.wait_for(Kind::kGet);
        fixture.cluster.fail(fixture.get().call, "connection refused");
        EXPECT_EQ(fixture.step(), Lines{});
        fixture.wait_for(Kind::kGet);
        fixture.cluster.answer(fixture.get().call, 404, not_found("w1"));
        EXPECT_EQ(fixture.step(), Lines{"remove g/w1@51 uid-w1"});
    }
}

TEST(KubernetesWatch, AFinalizerOrAGraceKeepsATerminatingObjectAskedFor_S32) {
    for (const char* more : {R"(,"finalizers":["f"])", R"(,"deletionGracePeriodSeconds":30)"}) {
        ConnectorFixture fixture;
        fixture.settle(50, {{"w1", 7}});
        Pod pod{"w1", 51};
        pod.more = kEnding + std::string(more);
        EXPECT_EQ(fixture.say(line("DELETED", pod)), Lines{});
        fixture.cluster.answer(fixture.get().call, 200, pod.json());
        EXPECT_EQ(fixture.step(), Lines{"upsert g/w1@51 uid-w1 out"});
    }
}

TEST(KubernetesWatch, AnObjectThatCameBackIsNotReportedOutOfScope) {
    ConnectorFixture fixture;
    fixture.settle(50, {{"w1", 7}});
    fixture.say(line("DELETED", {"w1", 51}));
    EXPECT_FALSE(fixture.cluster.open(Kind::kGet).empty());
    EXPECT_EQ(fixture.say(line("ADDED", {"w1", 52})), Lines{"upsert g/w1@52 uid-w1"});
    EXPECT_TRUE(fixture.cluster.open(Kind::kGet).empty());
}

TEST(KubernetesWatch, AnAnswerNewerThanTheEventKeepsTheEventsVersion) {
    // The object may be back in scope at 52, which the stream will tell under that very version.
    ConnectorFixture fixture;
    fixture.settle(50, {{"w1", 7}});
    fixture.say(line("DELETED", {"w1", 51}));
    fixture.cluster.answer(fixture.get().call, 200, Pod{"w1", 52}.json());
    EXPECT_EQ(fixture.step(), Lines{"upsert g/w1@51 uid-w1 out"});
    EXPECT_EQ(fixture.say(line("ADDED", {"w1", 52})), Lines{"upsert g/w1@52 uid-w1"});
}

TEST(KubernetesWatch, AnOldAnswerIsAskedForAgainAfterANewerEvent) {
    ConnectorFixture fixture;
    fixture.settle(50, {{"w1", 7}});
    fixture.say(line("DELETED", {"w1", 51}));
    const Asked first = fixture.get();
    fixture.say(line("ADDED", {"w1", 52}) + line("DELETED", {"w1", 53}));
    const Asked second = fixture.get();
    EXPECT_NE(first.call, second.call);
    fixture.cluster.answer(second.call, 404, not_found("w1"));
    EXPECT_EQ(fixture.step(), Lines{"remove g/w1@53 uid-w1"});
}

TEST(KubernetesWatch, AnObjectOutOfTheSelectorIsFollowedThroughEpochsUntilItIsGone) {
    ConnectorFixture fixture;
    fixture.settle(50, {{"w1", 7}});
    fixture.say(line("DELETED", {"w1", 51}));
    fixture.cluster.answer(fixture.get().call, 200, Pod{"w1", 51}.json());
    fixture.step();
    fixture.connector.relist();
    fixture.step();
    fixture.cluster.answer(fixture.list().call, 200, page(60, {}));
    EXPECT_EQ(fixture.step(), Lines{"begin@60"});
    fixture.cluster.answer(fixture.get().call, 200, Pod{"w1", 55, "", "Running", ""}.json());
    EXPECT_EQ(fixture.step(), (Lines{"upsert! g/w1@51 uid-w1 out", "end@60"}));
    fixture.connector.relist();
    fixture.step();
    fixture.cluster.answer(fixture.list().call, 200, page(70, {}));
    fixture.step();
    fixture.cluster.answer(fixture.get().call, 404, not_found("w1"));
    EXPECT_EQ(fixture.step(), (Lines{"remove g/w1@70 uid-w1", "end@70"}));
}

TEST(KubernetesWatch, FollowedObjectsAreBounded) {
    connectors::KubernetesSettings settings = ConnectorFixture::usual();
    settings.max_followed = 2;
    ConnectorFixture fixture(settings);
    fixture.settle(50, {});
    for (std::uint64_t i = 1; i <= 3; ++i) {
        const Pod pod{"w" + std::to_string(i), 50 + i};
        fixture.say(line("DELETED", pod));
        fixture.cluster.answer(fixture.get().call, 200, pod.json());
        fixture.step();
    }
    fixture.connector.relist();
    fixture.step();
    fixture.cluster.answer(fixture.list().call, 200, page(60, {}));
    fixture.step();
    EXPECT_EQ(fixture.cluster.open(Kind::kGet).size(), 2U);
}

TEST(KubernetesWatch, LookupsAreBoundedInParallel) {
    ConnectorFixture fixture;
    fixture.settle(50, {});
    std::string bytes;
    for (std::uint64_t i = 1; i <= 20; ++i) {
        bytes += line("DELETED", {"w" + std::to_string(i), 50 + i});
    }
    fixture.say(bytes);
    EXPECT_EQ(fixture.cluster.open(Kind::kGet).size(), 8U);
    for (int i = 0; i < 20; ++i) {
        const Asked get = fixture.cluster.open(Kind::kGet).front();
        fixture.cluster.answer(get.call, 404, not_found(get.get.name));
        EXPECT_EQ(fixture.step().size(), 1U);
    }
    EXPECT_TRUE(fixture.cluster.open(Kind::kGet).empty());
}

TEST(KubernetesWatch, OlderAndDoubledEventsKeepTheirVersionsAndMoveNothingBack_S12) {
    ConnectorFixture fixture;
    fixture.settle(50, {});
    EXPECT_EQ(fixture.say(line("ADDED", {"w1", 55}) + line("MODIFIED", {"w1", 53}) +
                          line("ADDED", {"w1", 55})),
              (Lines{"upsert g/w1@55 uid-w1", "upsert g/w1@53 uid-w1", "upsert g/w1@55 uid-w1"}));
    fixture.cluster.end(fixture.watch().call);
    fixture.step();
    EXPECT_EQ(fixture.watch().watch.resource_version, "55");
}

TEST(KubernetesWatch, EofReconnectsAtOnceFromTheLastVersionBookmarksIncluded) {
    ConnectorFixture fixture;
    fixture.settle(50, {});
    fixture.say(line("ADDED", {"w1", 51}) + bookmark(58));
    fixture.cluster.end(fixture.watch().call);
    EXPECT_EQ(fixture.step(), Lines{});
    EXPECT_EQ(fixture.watch().watch.resource_version, "58");
    EXPECT_TRUE(fixture.connector.health().answering);
}

TEST(KubernetesWatch, ReconnectsThatBringNoEventBackOff) {
    ConnectorFixture fixture;
    fixture.settle(50, {});
    fixture.cluster.end(fixture.watch().call);
    fixture.step();
    EXPECT_TRUE(fixture.watching()) << "the first time at once";
    fixture.cluster.answer(fixture.watch().call, 200, "");
    fixture.step();
    EXPECT_FALSE(fixture.watching());
    fixture.wait_for(Kind::kWatch);
    EXPECT_EQ(fixture.watch().watch.resource_version, "50");
}

TEST(KubernetesWatch, Gone410StartsAFullEpochByEventAndByStatus_S11) {
    for (const bool by_status : {false, true}) {
        ConnectorFixture fixture;
        fixture.settle(50, {{"w1", 7}});
        fixture.say(bookmark(51));
        if (by_status) {
            fixture.cluster.end(fixture.watch().call);
            fixture.step();
            fixture.cluster.answer(fixture.watch().call, 410, status(410, "Expired"));
        } else {
            fixture.cluster.data(fixture.watch().call, error_line(410, "Expired"));
        }
        EXPECT_EQ(fixture.step(), Lines{});
        EXPECT_FALSE(fixture.watching());
        // The list fails too, then works.
        fixture.cluster.answer(fixture.list().call, 500, status(500, "InternalError"));
        EXPECT_EQ(fixture.step(), Lines{});
        fixture.wait_for(Kind::kList);
        fixture.read_first(90, {{"w1", 7}});
        fixture.cluster.answer(fixture.list().call, 200, page(90, {{"w1", 7}}));
        EXPECT_EQ(fixture.step(), (Lines{"begin@90", "upsert! g/w1@7 uid-w1", "end@90"}));
        EXPECT_EQ(fixture.watch().watch.resource_version, "90");
    }
}

TEST(KubernetesWatch, Error500RetriesFromTheSameVersionAndThriceRelists_S11) {
    ConnectorFixture fixture;
    fixture.settle(50, {});
    for (int failure = 1; failure <= 3; ++failure) {
        fixture.wait_for(Kind::kWatch);
        EXPECT_EQ(fixture.watch().watch.resource_version, "50");
        fixture.cluster.head(fixture.watch().call, 200);
        fixture.cluster.data(fixture.watch().call, error_line(500, "PrevKv"));
        fixture.step();
        EXPECT_FALSE(fixture.watching()) << "it backs off";
        EXPECT_EQ(fixture.listing(), failure == 3);
    }
}

TEST(KubernetesWatch, AnEventBetweenFailuresStartsTheCountAnew) {
    ConnectorFixture fixture;
    fixture.settle(50, {});
    for (std::uint64_t i = 1; i <= 6; ++i) {
        fixture.wait_for(Kind::kWatch);
        fixture.cluster.head(fixture.watch().call, 200);
        fixture.cluster.data(fixture.watch().call, bookmark(50 + i));
        fixture.cluster.fail(fixture.watch().call, "connection reset");
        fixture.step();
        EXPECT_FALSE(fixture.listing());
    }
}

/// The watch fails once more, in one of the ways of a server that is away.
void fail_watch(ConnectorFixture& fixture, int how) {
    const Asked watch = fixture.watch();
    if (how % 4 == 0) fixture.cluster.fail(watch.call, "connection refused");
    if (how % 4 == 1) fixture.cluster.answer(watch.call, 502, "<html>Bad Gateway</html>");
    if (how % 4 == 2) fixture.cluster.answer(watch.call, 500, status(500, "InternalError"));
    if (how % 4 == 3) {
        fixture.cluster.head(watch.call, 200);
        fixture.cluster.fail(watch.call, "connection reset by peer");
    }
    EXPECT_EQ(fixture.step(), Lines{});
}

// Symptom: three seconds without the API server ended the stream, and each connector listed all its
// objects twice from a server that had just come back.
TEST(KubernetesWatch, AServerThatIsAwayForMinutesIsWatchedFromWhereWeWere_S11) {
    ConnectorFixture fixture;
    fixture.settle(50, {{"w1", 7}});
    fixture.connector.pace_progress(Millis(3'600'000));
    fixture.say(line("ADDED", {"w2", 51}));
    const SteadyTime since = fixture.now;
    const SteadyTime until = since + Millis(240'000);  // five minutes, less the longest wait
    for (int failure = 0; fixture.now < until; ++failure) {
        fixture.wait_for(Kind::kWatch);
        EXPECT_EQ(fixture.watch().watch.resource_version, failure == 0 ? "50" : "51");
        fail_watch(fixture, failure);
        EXPECT_FALSE(fixture.listing());
        EXPECT_FALSE(fixture.connector.health().answering);
    }
    const SteadyTime last = fixture.now;
    fixture.wait_for(Kind::kWatch);
    EXPECT_LE(fixture.now - last, Millis(30'100));
    fixture.cluster.head(fixture.watch().call, 200);
    fixture.cluster.data(fixture.watch().call,
                         line("MODIFIED", {"w1", 52}) + line("ADDED", {"w3", 53}));
    EXPECT_EQ(fixture.step(), (Lines{"upsert g/w1@52 uid-w1", "upsert g/w3@53 uid-w3"}));
    EXPECT_TRUE(fixture.connector.health().answering);
    EXPECT_EQ(fixture.connector.health().epochs, 1U);
}

/// The same, whatever was due to be said.
void fail_watch_quietly(ConnectorFixture& fixture) {
    fixture.cluster.fail(fixture.watch().call, "connection refused");
    fixture.step();
}

// Symptom: an etcd that was restored while it was away, and had counted on past our version when it
// came back, was watched from there: what it had done before was never told, and all was proven.
TEST(KubernetesWatch, AServerThatWasAwayForLongerThanFiveMinutesIsListedOnceItIsBack_S11) {
    ConnectorFixture fixture;
    fixture.settle(50, {{"w1", 7}});
    fixture.connector.pace_progress(Millis(3'600'000));
    const SteadyTime since = fixture.now;
    for (int failure = 0; fixture.now - since <= Millis(600'000); ++failure) {
        fixture.wait_for(Kind::kWatch);
        fail_watch(fixture, failure % 3);
        EXPECT_FALSE(fixture.listing()) << "nothing is asked of a server that is away";
    }
    fixture.wait_for(Kind::kWatch);
    EXPECT_EQ(fixture.watch().watch.resource_version, "50");
    fixture.cluster.head(fixture.watch().call, 200);
    fixture.cluster.data(fixture.watch().call, line("ADDED", {"w3", 93}));
    EXPECT_EQ(fixture.step(), Lines{});
    fixture.read_first(90, {{"w2", 60}});
    fixture.cluster.answer(fixture.list().call, 200, page(90, {{"w2", 60}}));
    EXPECT_EQ(fixture.step(), (Lines{"begin@90", "upsert! g/w2@60 uid-w2"}));
}

TEST(KubernetesWatch, AServerThatSaysNothingAfterALongAbsenceProvesNothing_S11) {
    ConnectorFixture fixture;
    fixture.settle(50, {});
    const SteadyTime since = fixture.now;
    for (int failure = 0; fixture.now - since <= Millis(400'000); ++failure) {
        fixture.wait_for(Kind::kWatch);
        fail_watch_quietly(fixture);
    }
    fixture.wait_for(Kind::kWatch);
    fixture.cluster.head(fixture.watch().call, 200);
    fixture.step();
    EXPECT_FALSE(fixture.listing()) << "it may go on to say that it is overloaded";
    EXPECT_EQ(fixture.step(Millis(16'000)), Lines{"alive"});
    fixture.step();
    EXPECT_TRUE(fixture.listing());
}

// Symptom: a line that was no JSON, or was cut short, came again and again from one version.
TEST(KubernetesWatch, ALineThatIsNeverWholeIsNotAskedForForEver_S11) {
    for (const std::string& text : {std::string("<html>\n"), std::string(R"({"type":"ADD)")}) {
        ConnectorFixture fixture;
        fixture.settle(50, {});
        fixture.cluster.end(fixture.watch().call);
        for (int failure = 1; failure <= 3; ++failure) {
            fixture.wait_for(Kind::kWatch);
            EXPECT_FALSE(fixture.listing());
            fixture.cluster.head(fixture.watch().call, 200);
            fixture.cluster.data(fixture.watch().call, text);
            fixture.cluster.end(fixture.watch().call);
            fixture.step();
        }
        EXPECT_TRUE(fixture.listing()) << text;
    }
}

TEST(KubernetesWatch, AServerThatForgotTheVersionMeanwhileIsListed_S11) {
    ConnectorFixture fixture;
    fixture.settle(50, {{"w1", 7}});
    for (int failure = 0; failure < 9; ++failure) {
        fixture.wait_for(Kind::kWatch);
        fail_watch(fixture, 0);
        EXPECT_FALSE(fixture.listing());
    }
    fixture.wait_for(Kind::kWatch);
    fixture.cluster.answer(fixture.watch().call, 410, status(410, "Expired"));
    fixture.step();
    fixture.read_first(90, {{"w1", 7}});
    fixture.cluster.answer(fixture.list().call, 200, page(90, {{"w1", 7}}));
    EXPECT_EQ(fixture.step(), (Lines{"begin@90", "upsert! g/w1@7 uid-w1", "end@90"}));
}

// What the store does not have any more is no outage: it would come again for ever.
TEST(KubernetesWatch, AVersionFromWhichNoWatchGoesOnIsListedAnew_S11) {
    std::string too_large = status(504, "Timeout");
    too_large.replace(too_large.find("said Timeout"), 12, "Too large resource version: 50");
    for (const bool refused : {false, true}) {
        ConnectorFixture fixture;
        fixture.settle(50, {});
        fixture.cluster.end(fixture.watch().call);
        for (int failure = 1; failure <= 3; ++failure) {
            fixture.wait_for(Kind::kWatch);
            EXPECT_FALSE(fixture.listing());
            if (refused) {
                fixture.cluster.answer(fixture.watch().call, 504, too_large);
            } else {
                fixture.cluster.head(fixture.watch().call, 200);
                fixture.cluster.data(fixture.watch().call, std::string(5U << 20U, 'x'));
            }
            fixture.step();
        }
        EXPECT_TRUE(fixture.listing());
    }
}

TEST(KubernetesWatch, AWatchThatLivedBeginsTheWaitsAnew) {
    ConnectorFixture fixture;
    fixture.settle(50, {});
    for (int failure = 0; failure < 8; ++failure) {
        fixture.wait_for(Kind::kWatch);
        fail_watch(fixture, 0);
    }
    fixture.wait_for(Kind::kWatch);
    fixture.cluster.head(fixture.watch().call, 200);
    fixture.step();
    fixture.step(Millis(31'000));
    fixture.cluster.fail(fixture.watch().call, "connection reset by peer");
    fixture.step();
    fixture.step(Millis(1'000));
    EXPECT_TRUE(fixture.watching());
}

TEST(KubernetesWatch, RefusalsBackOffAndHonourRetryAfter_S3) {
    for (const int code : {401, 403, 404, 429, 500, 503}) {
        ConnectorFixture fixture;
        fixture.settle(50, {});
        fixture.cluster.end(fixture.watch().call);
        fixture.step();
        fixture.cluster.answer(fixture.watch().call, code, status(code, "No"), 20'000);
        fixture.step(Millis(1));
        EXPECT_FALSE(fixture.connector.health().answering);
        EXPECT_NE(fixture.connector.health().trouble.find(std::to_string(code)), std::string::npos);
        fixture.step(Millis(19'000));
        EXPECT_FALSE(fixture.watching());
        fixture.step(Millis(2'000));
        EXPECT_TRUE(fixture.watching());
    }
}

TEST(KubernetesWatch, ADeafWatchIsNoticedAndCancelled_S11) {
    ConnectorFixture fixture;
    fixture.settle(50, {});
    const Asked deaf = fixture.watch();
    fixture.step(Millis(319'000));
    EXPECT_TRUE(fixture.watching());
    fixture.step(Millis(2'000));
    fixture.wait_for(Kind::kWatch);
    EXPECT_NE(fixture.watch().call, deaf.call);
    EXPECT_EQ(fixture.watch().watch.resource_version, "50");
}

TEST(KubernetesWatch, ALineThatIsNotJsonEndsTheWatchAndNothingIsConcluded) {
    ConnectorFixture fixture;
    fixture.settle(50, {});
    EXPECT_EQ(fixture.say("<html>\n" + line("ADDED", {"w1", 51})), Lines{});
    EXPECT_FALSE(fixture.connector.health().answering);
    fixture.wait_for(Kind::kWatch);
    EXPECT_EQ(fixture.watch().watch.resource_version, "50");
}

TEST(KubernetesWatch, ALineBeyondFourMegabytesIsAnError) {
    ConnectorFixture fixture;
    fixture.settle(50, {});
    const std::string chunk(1U << 20U, 'x');
    for (int i = 0; i < 5; ++i) fixture.cluster.data(fixture.watch().call, chunk);
    fixture.step();
    EXPECT_FALSE(fixture.watching());
    EXPECT_NE(fixture.connector.health().trouble.find("4 MiB"), std::string::npos);
}

TEST(KubernetesWatch, AnUnreadableEventIsSkippedCountedAndHealedByAnEpoch) {
    ConnectorFixture fixture;
    fixture.settle(50, {});
    std::string opaque = line("ADDED", {"w1", 51});
    opaque.replace(opaque.find(R"("51")"), 4, R"("x")");
    EXPECT_EQ(fixture.say(opaque + line("ADDED", {"w2", 52})), Lines{"upsert g/w2@52 uid-w2"});
    EXPECT_EQ(fixture.connector.unreadable(), 1U);
    EXPECT_FALSE(fixture.connector.health().trouble.empty());
    fixture.wait_for(Kind::kList);
    EXPECT_TRUE(fixture.watching());
}

}  // namespace
}  // namespace trueup::testing
