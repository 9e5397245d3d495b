// Proves the orphaned-pod rule (G1, G22, G24, G25; S2, S6, S7; design §4.1, §4.5, §4.8).
#include "tests/support/journal_script.h"

#include <gtest/gtest.h>

namespace trueup::testing {
namespace {

TEST(OrphanedPod, WaitsOutTheGraceOf60s_G1) {
    JournalScript s = quiet_world();
    s.pod({.name = "wrapper-7", .uid = "a", .version = 11});
    s.quiet_until(155s);
    EXPECT_EQ(s.news(), "100s suspected orphaned_pod wrapper-7 a: grace\n");
    s.quiet_until(160s);
    EXPECT_EQ(s.news(),
              "160s commanded orphaned_pod wrapper-7 a\n"
              "160s delete_pod wrapper-7 a\n");
}

TEST(OrphanedPod, TheCommandNamesTheUidAndWhatWasRead_G1) {
    JournalScript s = quiet_world();
    s.pod({.name = "wrapper-7", .uid = "a", .version = 11});
    const std::int64_t seen_at = s.records().back().offset;
    s.quiet_until(160s);
    ASSERT_EQ(s.commands().size(), 1U);
    const Command& command = s.commands().front();
    EXPECT_EQ(command.draft.target, (Target{"pods", "a", "wrapper-7", "graphs"}));
    EXPECT_EQ(command.draft.action.kind, Action::Kind::kDeletePod);
    EXPECT_EQ(command.draft.action.grace_seconds, std::nullopt) << "the pod's own holds";
    const std::vector<Predicate> read{
        {Predicate::Kind::kNone, "rows", {}, "key", "wrapper-7"},
        {Predicate::Kind::kNone, "rows", {}, "pod_name", "wrapper-7"},
        {Predicate::Kind::kExists, "pods", "a", {}, {}},
        {Predicate::Kind::kNoVeto, "pods", "a", {}, {}},
    };
    EXPECT_EQ(command.draft.read_set, read);
    EXPECT_EQ(command.evidence, std::vector<std::int64_t>{seen_at});
    EXPECT_EQ(command.issued, broker(160s));
    EXPECT_EQ(command.not_after, broker(220s));
    EXPECT_EQ(command.subject, "graph-instances/wrapper-7");
    EXPECT_EQ(command.rule, "orphaned_pod");
    EXPECT_EQ(command.finding_id, s.findings().front().id);
    EXPECT_EQ(s.findings().back().command_id, command.id);
    EXPECT_EQ(s.findings().back().sentence,
              "wrapper-7: pod without an instance row; delete_pod ordered (for 60 s)");
}

TEST(OrphanedPod, ARowThatCommits20sAfterThePodOwnsIt_S6) {
    JournalScript s = quiet_world();
    s.pod({.name = "wrapper-7", .uid = "a", .version = 11});
    s.quiet_until(120s);
    s.row({.pk = "7", .name = "wrapper-7", .version = 50});
    s.quiet_until(400s);
    EXPECT_EQ(s.news(),
              "100s suspected orphaned_pod wrapper-7 a: grace\n"
              "120s resolved orphaned_pod wrapper-7 a: retracted\n");
}

TEST(OrphanedPod, ARowThatWasReadBeforeThePodOwnsIt_S6) {
    JournalScript s = quiet_world();
    s.row({.pk = "7", .name = "wrapper-7", .version = 50});
    s.at(101s).pod({.name = "wrapper-7", .uid = "a", .version = 11});
    s.quiet_until(400s);
    EXPECT_TRUE(s.commands().empty());
    EXPECT_EQ(s.news().find("orphaned_pod"), std::string::npos);
}

TEST(OrphanedPod, RowsThatLagBeyondTheGraceHoldIt_S6) {
    JournalScript s = quiet_world();
    s.pod({.name = "wrapper-7", .uid = "a", .version = 11});
    while (s.now() < 190s) s.at(s.now() + 5s).progress("pods");
    EXPECT_EQ(s.news(),
              "100s suspected orphaned_pod wrapper-7 a: grace\n"
              "160s waiting orphaned_pod wrapper-7 a: unseen\n");
    s.at(195s).row({.pk = "7", .name = "wrapper-7", .version = 50});
    EXPECT_EQ(s.news(), "195s resolved orphaned_pod wrapper-7 a: retracted\n");
}

TEST(OrphanedPod, RowsMustHavePassedFirstSeenPlus30sByOneMillisecond_G1) {
    JournalScript s = quiet_world();
    s.pod({.name = "wrapper-7", .uid = "a", .version = 11});
    while (s.now() < 160s) s.at(s.now() + 5s).progress("pods");
    s.news();
    s.progress("rows", 130s);
    EXPECT_EQ(s.news(), "");
    s.progress("rows", 130s + 1ms);
    EXPECT_EQ(s.news(),
              "160s commanded orphaned_pod wrapper-7 a\n"
              "160s delete_pod wrapper-7 a\n");
}

TEST(OrphanedPod, SkewBetweenPartitionsWidensTheWindow) {
    Settings settings = graph_settings();
    settings.max_skew = 1s;
    JournalScript s(settings);
    s.all_known();
    s.quiet_until(100s).pod({.name = "wrapper-7", .uid = "a", .version = 11});
    while (s.now() < 160s) s.at(s.now() + 5s).progress("pods");
    s.progress("rows", 131s);
    EXPECT_TRUE(s.commands().empty());
    s.progress("rows", 131s + 1ms);
    EXPECT_EQ(s.commands().size(), 1U);
}

/// A pod without a row, a leap of the brokers' clock by a day, and one proof of the rows right
/// behind it; then its grace passes.
JournalScript leap_over_a_window(const Settings& settings) {
    JournalScript s(settings);
    s.all_known();
    s.quiet_until(100s).pod({.name = "wrapper-7", .uid = "a", .version = 11});
    s.at(24h).tick();
    s.at(24h + 1s).progress("rows");
    while (s.now() < 24h + 80s) s.at(s.now() + 5s).progress("pods");
    return s;
}

Settings patient_settings() {
    Settings settings = graph_settings();
    settings.stale_after = 600s;
    return settings;
}

// A pod was to be deleted whose row came 20 s after it: in between the brokers' clock had leapt by
// a day, so that a proof from before the row was "a day younger" than the pod (docs/adr/0020).
TEST(OrphanedPod, ALeapOfTheClockIsNoCreateWindow_S35) {
    const JournalScript s = leap_over_a_window(patient_settings());
    EXPECT_TRUE(s.commands().empty()) << "rows are proven until 1 s behind the leap only";
}

TEST(OrphanedPod, UnknownRowsAreNoAbsence_G22) {
    JournalScript s;
    s.known("pods");
    s.own("rows");
    s.pod({.name = "wrapper-7", .uid = "a", .version = 11});
    s.quiet_until(600s);
    EXPECT_EQ(s.news(), "");
    s.rows_listed(20, {});
    EXPECT_EQ(s.news(), "600s suspected orphaned_pod wrapper-7 a: grace\n");
}

TEST(OrphanedPod, SilentPodsHoldTheDelete) {
    JournalScript s = quiet_world();
    s.pod({.name = "wrapper-7", .uid = "a", .version = 11});
    while (s.now() < 160s) s.at(s.now() + 5s).progress("rows");
    EXPECT_EQ(s.news(),
              "100s suspected orphaned_pod wrapper-7 a: grace\n"
              "160s waiting orphaned_pod wrapper-7 a: stale\n");
    s.at(165s).progress("pods");
    EXPECT_EQ(s.commands().size(), 1U);
}

TEST(OrphanedPod, ATerminatingPodIsNeverDeletedAgain_G24) {
    JournalScript s = quiet_world();
    s.pod({.name = "wrapper-7", .uid = "a", .version = 11, .deleting = true});
    s.quiet_until(400s);
    EXPECT_EQ(s.news(), "");
}

TEST(OrphanedPod, StartingToTerminateRetractsIt_G24) {
    JournalScript s = quiet_world();
    s.pod({.name = "wrapper-7", .uid = "a", .version = 11});
    s.quiet_until(150s);
    s.pod({.name = "wrapper-7", .uid = "a", .version = 12, .deleting = true});
    s.quiet_until(400s);
    EXPECT_EQ(s.news(),
              "100s suspected orphaned_pod wrapper-7 a: grace\n"
              "150s resolved orphaned_pod wrapper-7 a: retracted\n");
}

TEST(OrphanedPod, RecreatedUnderTheSameNameItGetsNewGrace_S2) {
    JournalScript s = quiet_world();
    s.pod({.name = "wrapper-7", .uid = "a", .version = 11});
    s.quiet_until(120s);
    s.together([&] {
        s.pod_gone("wrapper-7", "a", 12);
        s.pod({.name = "wrapper-7", .uid = "b", .version = 13});
    });
    s.quiet_until(175s);
    EXPECT_EQ(s.news(),
              "100s suspected orphaned_pod wrapper-7 a: grace\n"
              "120s resolved orphaned_pod wrapper-7 a: retracted\n"
              "120s suspected orphaned_pod wrapper-7 b: grace\n");
    s.quiet_until(180s);
    EXPECT_EQ(s.news(),
              "180s commanded orphaned_pod wrapper-7 b\n"
              "180s delete_pod wrapper-7 b\n");
}

TEST(OrphanedPod, TwoPodsThatClaimOneNameDecideNothing) {
    JournalScript s = quiet_world();
    s.pod({.name = "wrapper-7", .uid = "a", .version = 11});
    s.quiet_until(120s);
    s.pod({.name = "wrapper-7", .uid = "b", .version = 13});
    s.quiet_until(400s);
    EXPECT_EQ(s.news(),
              "100s suspected orphaned_pod wrapper-7 a: grace\n"
              "120s waiting orphaned_pod wrapper-7 a: duplicate_claim\n");
}

TEST(OrphanedPod, APodOutOfScopeIsNoneOfOurs) {
    JournalScript s = quiet_world();
    s.pod({.name = "wrapper-7", .uid = "a", .version = 11});
    s.quiet_until(120s);
    s.pod({.name = "wrapper-7", .uid = "a", .version = 12, .in_scope = false});
    s.quiet_until(400s);
    EXPECT_EQ(s.news(),
              "100s suspected orphaned_pod wrapper-7 a: grace\n"
              "120s resolved orphaned_pod wrapper-7 a: retracted\n");
}

TEST(OrphanedPod, AHoldOnThePodHoldsItUntilItIsLifted) {
    JournalScript s = quiet_world();
    s.pod({.name = "wrapper-7", .uid = "a", .version = 11});
    s.quiet_until(120s);
    s.pod({.name = "wrapper-7", .uid = "a", .version = 12, .hold = true});
    s.quiet_until(200s);
    EXPECT_EQ(s.news(),
              "100s suspected orphaned_pod wrapper-7 a: grace\n"
              "120s waiting orphaned_pod wrapper-7 a: veto\n");
    s.pod({.name = "wrapper-7", .uid = "a", .version = 13});
    EXPECT_EQ(s.news(),
              "200s commanded orphaned_pod wrapper-7 a\n"
              "200s delete_pod wrapper-7 a\n");
}

TEST(OrphanedPod, AnUncorrelatedLiveRowHoldsAllAndItsEndFreesThem_G25) {
    JournalScript s = quiet_world();
    s.row({.pk = "9", .name = "wrapper-9", .version = 50, .tracked = false});
    s.pod({.name = "wrapper-7", .uid = "a", .version = 11});
    s.quiet_until(105s);
    s.pod({.name = "wrapper-8", .uid = "b", .version = 11});
    s.quiet_until(200s);
    EXPECT_EQ(s.meta().tallies[0], 1U);
    EXPECT_EQ(s.news(),
              "100s suspected orphaned_pod wrapper-7 a: grace\n"
              "105s suspected orphaned_pod wrapper-8 b: grace\n"
              "160s waiting orphaned_pod wrapper-7 a: uncorrelated_rows\n"
              "165s waiting orphaned_pod wrapper-8 b: uncorrelated_rows\n");
    s.row({.pk = "9", .name = "wrapper-9", .version = 51, .status = "stopping", .tracked = false});
    EXPECT_EQ(s.meta().tallies[0], 0U);
    EXPECT_EQ(s.news(),
              "200s commanded orphaned_pod wrapper-7 a\n"
              "200s commanded orphaned_pod wrapper-8 b\n"
              "200s delete_pod wrapper-7 a\n"
              "200s delete_pod wrapper-8 b\n");
}

TEST(OrphanedPod, ALiveRowWhosePodAnswersToItsSlugIsCorrelated_G25) {
    JournalScript s = quiet_world();
    s.row({.pk = "9", .name = "wrapper-9", .version = 50, .tracked = false});
    EXPECT_EQ(s.meta().tallies[0], 1U);
    s.pod({.name = "wrapper-9", .uid = "c", .version = 11});
    EXPECT_EQ(s.meta().tallies[0], 0U);
    s.pod_gone("wrapper-9", "c", 12);
    EXPECT_EQ(s.meta().tallies[0], 1U);
    s.row_gone("wrapper-9", "9", 51);
    EXPECT_EQ(s.meta().tallies[0], 0U);
}

TEST(OrphanedPod, ARowWithoutNameAndSlugIsAReferenceThatHoldsAll_G25) {
    JournalScript s = quiet_world();
    const std::string object = ObjectBuilder().add_null("pod_name").add("status", "running").take();
    ChangeView row;
    row.kind = ChangeKind::kUpsert;
    row.object_id = "public.instances/3";
    row.subject_key = "!rows/public.instances/3";
    row.version = {50, 0};
    row.object = object;
    s.change("rows", row);
    s.pod({.name = "wrapper-7", .uid = "a", .version = 11});
    s.quiet_until(160s);
    EXPECT_EQ(s.meta().tallies[0], 1U);
    EXPECT_EQ(s.news(),
              "100s suspected orphaned_pod wrapper-7 a: grace\n"
              "160s waiting orphaned_pod wrapper-7 a: uncorrelated_rows\n");
}

TEST(OrphanedPod, ARowThatOnlyItsSlugTiesIsNoAbsence_S7) {
    JournalScript s = quiet_world();
    s.row({.pk = "7", .name = "wrapper-7", .version = 50, .tracked = false});
    s.pod({.name = "wrapper-7", .uid = "a", .version = 11});
    s.quiet_until(400s);
    EXPECT_EQ(s.news(), "");
}

TEST(OrphanedPod, ARowInAnyStatusOwnsItsPod_G1) {
    for (const char* status : {"starting", "running", "stopping", "failed", "hibernated"}) {
        JournalScript s = quiet_world();
        s.pod({.name = "wrapper-7", .uid = "a", .version = 11});
        s.row({.pk = "7", .name = "wrapper-7", .version = 50, .status = status});
        s.quiet_until(200s);
        EXPECT_EQ(s.news(),
                  "100s suspected orphaned_pod wrapper-7 a: grace\n"
                  "100s resolved orphaned_pod wrapper-7 a: retracted\n")
            << status;
    }
}

TEST(OrphanedPod, ARowThatGoesAwayLeavesAnOrphan_G1) {
    JournalScript s = quiet_world();
    s.row({.pk = "7", .name = "wrapper-7", .version = 50});
    s.pod({.name = "wrapper-7", .uid = "a", .version = 11});
    s.quiet_until(300s);
    EXPECT_EQ(s.news().find("orphaned"), std::string::npos);
    s.row_gone("wrapper-7", "7", 51);
    s.quiet_until(360s);
    EXPECT_EQ(s.news(),
              "300s suspected orphaned_pod wrapper-7 a: grace\n"
              "360s commanded orphaned_pod wrapper-7 a\n"
              "360s delete_pod wrapper-7 a\n");
}

TEST(OrphanedPod, OurOwnDeleteIsNotJudgedBeforeItIsInView) {
    JournalScript s = quiet_world();
    s.pod({.name = "wrapper-7", .uid = "a", .version = 11});
    s.quiet_until(160s);
    s.at(163s).outcome(s.commands().front(), OutcomeKind::kDone);
    s.progress("pods", 163s);
    s.news();
    s.at(164s).progress("pods", 163s);
    EXPECT_EQ(s.news(), "") << "the proof has not passed the outcome";
    s.at(165s).progress("pods", 163s + 1ms);
    EXPECT_EQ(s.news(), "165s suspected orphaned_pod wrapper-7 a: grace\n")
        << "still there: a new finding with new grace";
    EXPECT_NE(s.findings().back().id, s.findings().front().id);
}

}  // namespace
}  // namespace trueup::testing
