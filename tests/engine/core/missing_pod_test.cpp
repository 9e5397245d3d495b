// Proves the missing-pod rule (G2, G22; S3, S5, S10, S11, S16, S17; design §4.1, §4.5).
#include "tests/support/journal_script.h"

#include <gtest/gtest.h>

namespace trueup::testing {
namespace {

TEST(MissingPod, ARowWithoutItsPodIsFailedOncePodsPassedTheWindow_G2) {
    JournalScript s = quiet_world();
    s.row({.pk = "7", .name = "wrapper-7", .version = 50});
    s.quiet_until(130s);
    EXPECT_EQ(s.news(), "100s suspected missing_pod wrapper-7 public.instances/7: unseen\n");
    s.quiet_until(135s);
    EXPECT_EQ(s.news(),
              "135s commanded missing_pod wrapper-7 public.instances/7\n"
              "135s update_row wrapper-7 public.instances/7\n");
}

TEST(MissingPod, TheCommandSaysWhatTheRowIsToldAndWhatWasRead_G2) {
    JournalScript s = quiet_world();
    s.row({.pk = "7", .name = "wrapper-7", .version = 50, .status = "starting"});
    s.quiet_until(135s);
    ASSERT_EQ(s.commands().size(), 1U);
    const CommandDraft& draft = s.commands().front().draft;
    EXPECT_EQ(draft.target, (Target{"rows", "public.instances/7", "wrapper-7", ""}));
    EXPECT_EQ(draft.action.kind, Action::Kind::kUpdateRow);
    const std::vector<Assignment> sets{
        {"status", "failed"},
        {"error_code", "UNEXPECTED_TERMINATION"},
        {"error_message", "Pod wrapper-7 disappeared from Kubernetes"}};
    EXPECT_EQ(draft.action.sets, sets);
    const std::vector<Predicate> read{
        {Predicate::Kind::kNone, "pods", {}, "name", "wrapper-7"},
        {Predicate::Kind::kField, "rows", "public.instances/7", "status", "starting"},
        {Predicate::Kind::kField, "rows", "public.instances/7", "pod_name", "wrapper-7"},
        {Predicate::Kind::kNoVeto, "rows", "public.instances/7", {}, {}}};
    EXPECT_EQ(draft.read_set, read);
}

TEST(MissingPod, PodsThatWereNeverListedAreNotMissing_G22_S3) {
    JournalScript s;
    s.known("rows");
    s.own("pods");
    s.row({.pk = "7", .name = "wrapper-7", .version = 50});
    s.quiet_until(600s);
    EXPECT_EQ(s.news(), "");
}

TEST(MissingPod, AListingThatWasCutProvesNothing_S5) {
    JournalScript s;
    s.known("rows");
    s.own("pods");
    s.begin("pods", 10);
    s.pod({.name = "wrapper-1", .uid = "one", .version = 5, .listed = true});
    s.row({.pk = "7", .name = "wrapper-7", .version = 50});
    s.quiet_until(100s);
    s.begin("pods", 20);  // 410: from the start
    s.pod({.name = "wrapper-1", .uid = "one", .version = 5, .listed = true});
    s.quiet_until(200s);
    EXPECT_EQ(s.news().find("missing_pod"), std::string::npos);
    s.pod({.name = "wrapper-7", .uid = "seven", .version = 6, .listed = true});
    s.end("pods");
    s.quiet_until(300s);
    EXPECT_EQ(s.news().find("missing_pod"), std::string::npos);
}

TEST(MissingPod, FailedTerminatingAndUnscopedPodsAreThere) {
    const std::vector<Pod> pods{
        {.name = "wrapper-7", .uid = "a", .phase = "Succeeded"},
        {.name = "wrapper-7", .uid = "a", .deleting = true},
        {.name = "wrapper-7", .uid = "a", .in_scope = false},
    };
    for (const Pod& pod : pods) {
        JournalScript s = quiet_world();
        s.pod(pod);
        s.row({.pk = "7", .name = "wrapper-7", .version = 50});
        s.quiet_until(300s);
        EXPECT_EQ(s.news().find("missing_pod"), std::string::npos);
    }
}

TEST(MissingPod, ADeletedPodIsMissingAtOnceAndThePodSideProvesItself_G2) {
    JournalScript s = quiet_world();
    s.pod({.name = "wrapper-7", .uid = "a", .version = 11});
    s.row({.pk = "7", .name = "wrapper-7", .version = 50});
    s.quiet_until(200s);
    EXPECT_EQ(s.news(),
              "100s suspected orphaned_pod wrapper-7 a: grace\n"
              "100s resolved orphaned_pod wrapper-7 a: retracted\n");
    s.at(202s).pod_gone("wrapper-7", "a", 12);
    EXPECT_EQ(s.news(),
              "202s commanded missing_pod wrapper-7 public.instances/7\n"
              "202s update_row wrapper-7 public.instances/7\n")
        << "pods are proven until 200 s, far beyond the row's last word at 100 s";
}

TEST(MissingPod, ARowThatWasPointedAtAnotherPodStartsTheWindowAnew_S6) {
    JournalScript s = quiet_world();
    s.row({.pk = "7", .name = "wrapper-7", .version = 50, .status = "starting"});
    s.quiet_until(120s);
    s.row({.pk = "7", .name = "wrapper-7", .version = 51, .status = "running"});
    s.quiet_until(150s);
    EXPECT_TRUE(s.commands().empty());
    s.quiet_until(155s);
    EXPECT_EQ(s.commands().size(), 1U);
}

TEST(MissingPod, APodThatComesWithinTheWindowRetractsIt_S6) {
    JournalScript s = quiet_world();
    s.row({.pk = "7", .name = "wrapper-7", .version = 50});
    s.quiet_until(125s);
    s.pod({.name = "wrapper-7", .uid = "a", .version = 11});
    s.quiet_until(300s);
    EXPECT_EQ(s.news(),
              "100s suspected missing_pod wrapper-7 public.instances/7: unseen\n"
              "125s resolved missing_pod wrapper-7 public.instances/7: retracted\n");
}

TEST(MissingPod, OnlyStartingAndRunningRowsWantAPod_G2_S8) {
    for (const char* status : {"stopping", "failed", "hibernated"}) {
        JournalScript s = quiet_world();
        s.row({.pk = "7", .name = "wrapper-7", .version = 50, .status = status});
        s.quiet_until(300s);
        EXPECT_EQ(s.news(), "") << status;
    }
}

TEST(MissingPod, ARowThatNeverNamedAPodIsNotThisRulesBusiness_G6) {
    JournalScript s = quiet_world();
    s.row({.pk = "7", .name = "wrapper-7", .version = 50, .tracked = false});
    s.quiet_until(300s);
    EXPECT_EQ(s.news(), "");
}

TEST(MissingPod, AValueThatWasNotSentIsNoValue_S16) {
    JournalScript s = quiet_world();
    s.row({.pk = "7", .name = "wrapper-7", .version = 50, .toast = true});
    s.row({.pk = "8", .name = "wrapper-8", .version = 50, .status = {}});
    s.quiet_until(300s);
    EXPECT_EQ(s.news(), "");
}

TEST(MissingPod, AnUnchangedColumnKeepsTheValueThatWasKnown_S16) {
    JournalScript s = quiet_world();
    s.row({.pk = "7", .name = "wrapper-7", .version = 50, .status = "starting"});
    s.row({.pk = "7", .name = "wrapper-7", .version = 51, .status = "running", .toast = true});
    EXPECT_TRUE(s.facet("wrapper-7", "public.instances/7")->fields().is("pod_name", "wrapper-7"));
    s.quiet_until(135s);
    EXPECT_EQ(s.commands().size(), 1U);
}

TEST(MissingPod, TwoLiveRowsThatClaimOnePodDecideNothing) {
    JournalScript s = quiet_world();
    s.row({.pk = "7", .name = "wrapper-7", .version = 50});
    s.row({.pk = "8", .name = "wrapper-7", .version = 50});
    s.quiet_until(300s);
    EXPECT_EQ(s.news(),
              "100s suspected missing_pod wrapper-7 public.instances/7: unseen\n"
              "100s waiting missing_pod wrapper-7 public.instances/7: duplicate_claim\n");
    s.row({.pk = "8", .name = "wrapper-7", .version = 51, .status = "failed"});
    EXPECT_EQ(s.commands().size(), 1U) << "the other one no longer claims it";
}

TEST(MissingPod, AHoldOnTheRowHoldsIt) {
    JournalScript s = quiet_world();
    s.row({.pk = "7", .name = "wrapper-7", .version = 50, .hold = true});
    s.quiet_until(300s);
    EXPECT_EQ(s.news(), "");
}

TEST(MissingPod, AGraceOnTopCountsFromDetection) {
    Settings settings = graph_settings();
    settings.rules[1].grace = 60s;
    JournalScript s(settings);
    s.all_known();
    s.quiet_until(100s).row({.pk = "7", .name = "wrapper-7", .version = 50});
    s.quiet_until(160s);
    EXPECT_EQ(s.news(),
              "100s suspected missing_pod wrapper-7 public.instances/7: grace\n"
              "160s commanded missing_pod wrapper-7 public.instances/7\n"
              "160s update_row wrapper-7 public.instances/7\n");
}

TEST(MissingPod, SilentRowsHoldIt) {
    JournalScript s = quiet_world();
    s.row({.pk = "7", .name = "wrapper-7", .version = 50});
    while (s.now() < 150s) s.at(s.now() + 5s).progress("rows", 100s);
    s.at(151s).progress("pods");
    EXPECT_EQ(s.news(),
              "100s suspected missing_pod wrapper-7 public.instances/7: unseen\n"
              "151s waiting missing_pod wrapper-7 public.instances/7: stale\n");
    s.progress("rows");
    EXPECT_EQ(s.commands().size(), 1U);
}

TEST(MissingPod, OnceTheRowSaysFailedThereIsNothingLeft_G2) {
    JournalScript s = quiet_world();
    s.row({.pk = "7", .name = "wrapper-7", .version = 50});
    s.quiet_until(135s);
    s.news();
    s.at(136s).outcome(s.commands().front(), OutcomeKind::kDone);
    s.at(137s).row({.pk = "7", .name = "wrapper-7", .version = 51, .status = "failed"});
    s.quiet_until(400s);
    EXPECT_EQ(s.news(), "136s resolved missing_pod wrapper-7 public.instances/7: done\n");
}

TEST(MissingPod, OurOwnUpdateIsNotJudgedBeforeItIsInView) {
    JournalScript s = quiet_world();
    s.row({.pk = "7", .name = "wrapper-7", .version = 50});
    s.quiet_until(135s);
    s.news();
    s.at(136s).outcome(s.commands().front(), OutcomeKind::kDone);
    s.progress("pods");
    s.tick();
    EXPECT_EQ(s.news(), "136s resolved missing_pod wrapper-7 public.instances/7: done\n");
    s.at(137s).progress("rows");  // the row still says running: somebody wrote it back
    EXPECT_EQ(s.commands().size(), 2U);
}

TEST(MissingPod, APodCreatedAndDeletedBetweenTwoListingsEndsAsRefused_S10) {
    JournalScript s = quiet_world();
    s.row({.pk = "7", .name = "wrapper-7", .version = 50});
    s.quiet_until(135s);
    s.news();
    s.at(136s).outcome(s.commands().front(), OutcomeKind::kRefused);
    s.at(137s).pods_listed(20, {});
    EXPECT_EQ(s.news(), "136s resolved missing_pod wrapper-7 public.instances/7: refused\n");
}

TEST(MissingPod, AKeyReusedByANewRowIsANewFinding_S17) {
    JournalScript s = quiet_world();
    s.row({.pk = "7", .name = "wrapper-7", .version = 50});
    s.quiet_until(110s);
    s.together([&] {
        s.row_gone("wrapper-7", "7", 51);
        s.row({.pk = "7", .name = "wrapper-9", .version = 51, .order = 1});
    });
    s.quiet_until(150s);
    EXPECT_EQ(s.news(),
              "100s suspected missing_pod wrapper-7 public.instances/7: unseen\n"
              "110s resolved missing_pod wrapper-7 public.instances/7: retracted\n"
              "110s suspected missing_pod wrapper-9 public.instances/7: unseen\n"
              "145s commanded missing_pod wrapper-9 public.instances/7\n"
              "145s update_row wrapper-9 public.instances/7\n");
}

}  // namespace
}  // namespace trueup::testing
