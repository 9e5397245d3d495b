// Proves that each guard of the Kubernetes connector is needed: the test of its name fails without
// it (docs/guards.md; tests/guards/mutants.sh switches them off one by one).
#include "tests/connectors/kubernetes/connector_fixture.h"

namespace trueup::testing {
namespace {

constexpr BrokerTime kMarked = from_millis<BrokerTime>(777);
constexpr std::uint32_t kWholeList = 500;
constexpr std::uint32_t kQuestion = 1;

/// Answers the open list that asks for pages of this size.
void answer(ConnectorFixture& fixture, std::uint32_t limit, const std::string& body) {
    for (const Asked& asked : fixture.cluster.open(Asked::Kind::kList)) {
        if (asked.list.limit != limit) continue;
        fixture.cluster.answer(asked.call, 200, body);
        return;
    }
    ADD_FAILURE() << "no open list has the limit " << limit;
}

/// w1 left the selector and an audit's list lacks w2: the server is asked for both by name.
void lose_two(ConnectorFixture& fixture) {
    fixture.settle(50, {{"w1", 7}, {"w2", 8}});
    fixture.connector.relist();
    fixture.say(line("DELETED", {"w1", 51}));
    answer(fixture, kWholeList, page(60, {}));
    fixture.step();
    EXPECT_FALSE(fixture.cluster.open(Asked::Kind::kGet).empty());
}

// Design §4.1: what left the selector is not gone.
TEST(Guard, Guard_kubernetes_may_have_left_DeletedUnderASelectorIsAskedFor) {
    ConnectorFixture fixture;
    fixture.settle(50, {{"w1", 7}});
    EXPECT_EQ(fixture.say(line("DELETED", {"w1", 51})), Lines{});
}

// Design §4.1: nor is what a list of the selector lacks.
TEST(Guard, Guard_kubernetes_asks_for_missing_AnEpochEndsWhenTheServerWasAskedForWhatItLacks) {
    ConnectorFixture fixture;
    fixture.settle(50, {{"w1", 7}});
    fixture.connector.relist();
    fixture.step();
    answer(fixture, kWholeList, page(60, {}));
    EXPECT_EQ(fixture.step(), Lines{"begin@60"});
}

// Design §4.1: nor is what a list lacks that nobody can hold against what is known.
TEST(Guard, Guard_kubernetes_reads_twice_NoStreamBeginsWithAListThatIsHeldAgainstNone) {
    ConnectorFixture fixture(ConnectorFixture::usual(), ConnectorFixture::Begin::kAtTheStart);
    fixture.step();
    fixture.cluster.answer(fixture.list().call, 200, page(50, {{"w1", 7}}));
    EXPECT_EQ(fixture.step(), Lines{});
}

// Design §4.1: nor while two lists in a row do not agree on what there was.
TEST(Guard, Guard_kubernetes_lists_agree_AListThatTellsOfALackInTheFirstOneEndsNothing) {
    ConnectorFixture fixture(ConnectorFixture::usual(), ConnectorFixture::Begin::kAtTheStart);
    fixture.step();
    answer(fixture, kWholeList, page(50, {}));
    fixture.step();
    if (fixture.watching()) return;  // the other guard is off, and that was the only list
    answer(fixture, kWholeList, page(51, {{"w1", 7}}));
    EXPECT_EQ(fixture.step(), (Lines{"begin@51", "upsert! g/w1@7 uid-w1"}));
}

// Design §4.1: an error is never an absence.
TEST(Guard, Guard_kubernetes_own_word_A404OfAProxyIsNoAbsence) {
    ConnectorFixture fixture;
    lose_two(fixture);
    for (const Asked& get : fixture.cluster.open(Asked::Kind::kGet)) {
        fixture.cluster.answer(get.call, 404, "404 page not found");
    }
    EXPECT_EQ(fixture.step(), Lines{});
}

// Design §4.1: nor is a list that was cut and goes on elsewhere.
TEST(Guard, Guard_kubernetes_one_list_PagesOfTwoListsMakeNoEpoch) {
    ConnectorFixture fixture;
    fixture.step();
    fixture.cluster.answer(fixture.list().call, 200, page(50, {{"w1", 7}}, "next"));
    fixture.step();
    fixture.cluster.answer(fixture.list().call, 200, page(51, {}));
    EXPECT_EQ(fixture.step(), Lines{});
}

// Design §4.7: a rewound source is a new incarnation. etcd was restored under a counter that was
// bumped, as its manual advises, so that nothing but the object itself tells.
TEST(Guard, Guard_kubernetes_history_is_one_AnObjectFromBeforeWhatWasToldIsARewoundServer) {
    ConnectorFixture fixture;
    fixture.settle(50, {{"w1", 7}});
    fixture.say(line("MODIFIED", {"w1", 51}));
    fixture.connector.relist();
    fixture.step();
    answer(fixture, kWholeList, page(1'000'050, {{"w1", 7}}));
    fixture.step();
    EXPECT_TRUE(fixture.connector.needs_new_incarnation());
}

// Design §4.7: what was told of its end is newer. Symptom: after a restore that brought it back for
// good, the pod counted as absent for ever, for it had been listed at that version before.
TEST(Guard, Guard_kubernetes_gone_stays_gone_APageOlderThanItsEndBringsNoPodBack) {
    ConnectorFixture fixture;
    fixture.settle(50, {{"w1", 7}, {"w2", 8}});
    fixture.connector.relist();
    fixture.step();
    answer(fixture, kWholeList, page(60, {{"w1", 7}}, "next"));
    fixture.step();
    fixture.say(line("DELETED", {.name = "w2", .version = 61, .more = kEnding}));
    answer(fixture, kWholeList, page(60, {{"w2", 8}}));
    EXPECT_EQ(fixture.step(), Lines{"end@60"});
}

// Design §4.1: labels that are missing say nothing, also not under which key a pod is.
TEST(Guard, Guard_kubernetes_labels_as_selected_APodShownWithoutThemIsNotMoved) {
    ConnectorFixture fixture(ConnectorFixture::by_label());
    fixture.settle(50, {{.name = "w1", .version = 7, .labels = R"("app":"w","id":"i1")"}});
    EXPECT_EQ(fixture.say(line("MODIFIED", {.name = "w1", .version = 51, .labels = ""})), Lines{});
    fixture.connector.relist();
    fixture.step(Millis(60'000));
    answer(fixture, kWholeList, page(60, {{.name = "w1", .version = 51, .labels = ""}}));
    EXPECT_EQ(fixture.step(), Lines{});
    EXPECT_NE(fixture.connector.health().trouble.find("without the labels"), std::string::npos);
}

// Design §4.2: no progress over a hole.
TEST(Guard, Guard_kubernetes_no_hole_AnEventThatCouldNotBeReadEndsTheProofs) {
    ConnectorFixture fixture;
    fixture.settle(50, {});
    std::string opaque = line("ADDED", {"w1", 51});
    opaque.replace(opaque.find("uid-w1"), 6, "");
    fixture.say(opaque);
    fixture.connector.marker_appended(kMarked, fixture.now);
    answer(fixture, kQuestion, page(50, {}));
    EXPECT_EQ(fixture.step(), Lines{});
}

// Design §4.3: progress counts only after the first complete epoch.
TEST(Guard, Guard_kubernetes_epoch_first_TheStreamAloneProvesNothing) {
    ConnectorFixture fixture;
    fixture.settle(50, {{"w1", 7}});
    fixture.connector.restart(fixture.now);
    fixture.read_first();
    answer(fixture, kWholeList, page(60, {}));
    fixture.step();
    fixture.cluster.head(fixture.watch().call, 200);
    fixture.step();
    // Only while the end waits for a word on w1 is there a stream before the first epoch is whole.
    if (fixture.cluster.open(Asked::Kind::kGet).empty()) return;
    EXPECT_EQ(fixture.step(Millis(15'000)), Lines{"alive"});
}

// Design §4.4: everything up to the answer is published first.
TEST(Guard, Guard_kubernetes_catches_up_AStreamThatIsBehindProvesNothing) {
    ConnectorFixture fixture;
    fixture.settle(50, {});
    fixture.connector.marker_appended(kMarked, fixture.now);
    answer(fixture, kQuestion, page(55, {}));
    EXPECT_EQ(fixture.step(), Lines{});
}

// Design §4.4: and what it led to.
TEST(Guard, Guard_kubernetes_lookups_first_NoProgressWhileTheServerIsAskedForAPod) {
    ConnectorFixture fixture;
    lose_two(fixture);
    fixture.connector.marker_appended(kMarked, fixture.now);
    answer(fixture, kQuestion, page(51, {}));
    EXPECT_EQ(fixture.step(), Lines{});
}

}  // namespace
}  // namespace trueup::testing
