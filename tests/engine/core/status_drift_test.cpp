// Proves the status-drift rule (G3, S8, S9).
#include "tests/support/journal_script.h"

#include <gtest/gtest.h>

namespace trueup::testing {
namespace {

/// A row in this status whose pod is in this phase, both told at 100 s.
JournalScript pair_of(const char* status, const char* phase) {
    JournalScript s = quiet_world();
    s.together([&] {
        s.row({.pk = "7", .name = "wrapper-7", .version = 50, .status = status});
        s.pod({.name = "wrapper-7", .uid = "a", .version = 11, .phase = phase});
    });
    return s;
}

TEST(StatusDrift, ARunningRowWhosePodFailedIsFailedOnceBothSawEachOther_G3) {
    JournalScript s = pair_of("running", "Failed");
    EXPECT_EQ(s.news(), "100s suspected status_drift wrapper-7 public.instances/7: unseen\n");
    s.quiet_until(105s);
    EXPECT_EQ(s.news(),
              "105s commanded status_drift wrapper-7 public.instances/7\n"
              "105s update_row wrapper-7 public.instances/7\n");
    const CommandDraft& draft = s.commands().front().draft;
    EXPECT_EQ(draft.target, (Target{"rows", "public.instances/7", "wrapper-7", ""}));
    const std::vector<Assignment> sets{{"status", "failed"},
                                       {"error_code", "UNEXPECTED_TERMINATION"},
                                       {"error_message", "Pod entered Failed phase"}};
    EXPECT_EQ(draft.action.sets, sets);
    const std::vector<Predicate> read{
        {Predicate::Kind::kExists, "pods", "a", "name", "wrapper-7"},
        {Predicate::Kind::kField, "pods", "a", "phase", "Failed"},
        {Predicate::Kind::kNoVeto, "pods", "a", {}, {}},
        {Predicate::Kind::kField, "rows", "public.instances/7", "status", "running"},
        {Predicate::Kind::kField, "rows", "public.instances/7", "pod_name", "wrapper-7"},
        {Predicate::Kind::kNoVeto, "rows", "public.instances/7", {}, {}}};
    EXPECT_EQ(draft.read_set, read);
    EXPECT_EQ(s.commands().front().evidence.size(), 1U) << "both in one journal record";
}

TEST(StatusDrift, BothSidesMustHaveSeenTheOthersLastWord_G3) {
    JournalScript s = pair_of("running", "Failed");
    s.at(101s).progress("rows");
    EXPECT_TRUE(s.commands().empty());
    s.at(102s).progress("pods", 100s);
    EXPECT_TRUE(s.commands().empty());
    s.at(103s).progress("pods", 100s + 1ms);
    EXPECT_EQ(s.commands().size(), 1U);
}

TEST(StatusDrift, StoppingFailedAndSucceededAreNotThisRules_S8) {
    for (const auto& [status, phase] :
         std::vector<std::pair<const char*, const char*>>{{"stopping", "Failed"},
                                                          {"failed", "Failed"},
                                                          {"running", "Succeeded"},
                                                          {"running", "Unknown"},
                                                          {"running", "Running"}}) {
        JournalScript s = pair_of(status, phase);
        s.quiet_until(300s);
        EXPECT_EQ(s.news(), "") << status << " " << phase;
    }
}

TEST(StatusDrift, ADeletedEventWhoseObjectSaidRunningIsARemoval_S9) {
    JournalScript s = pair_of("running", "Running");
    s.at(101s).pod_gone("wrapper-7", "a", 12);
    EXPECT_FALSE(s.facet("wrapper-7", "a")->present());
    s.quiet_until(140s);
    EXPECT_EQ(s.news(),
              "101s suspected missing_pod wrapper-7 public.instances/7: unseen\n"
              "131s commanded missing_pod wrapper-7 public.instances/7\n"
              "131s update_row wrapper-7 public.instances/7\n");
}

TEST(StatusDrift, APodOutOfScopeDecidesNothing) {
    JournalScript s = quiet_world();
    s.together([&] {
        s.row({.pk = "7", .name = "wrapper-7", .version = 50});
        s.pod({.name = "wrapper-7", .uid = "a", .phase = "Failed", .in_scope = false});
    });
    s.quiet_until(300s);
    EXPECT_EQ(s.news(), "");
}

TEST(StatusDrift, AHoldOnEitherSideHoldsIt) {
    for (const bool on_pod : {true, false}) {
        JournalScript s = quiet_world();
        s.together([&] {
            s.row({.pk = "7", .name = "wrapper-7", .version = 50, .hold = !on_pod});
            s.pod({.name = "wrapper-7", .uid = "a", .phase = "Failed", .hold = on_pod});
        });
        s.quiet_until(300s);
        EXPECT_EQ(s.news(), "");
    }
}

TEST(StatusDrift, TwoPodsOrTwoRunningRowsDecideNothing) {
    for (const bool two_pods : {true, false}) {
        JournalScript s = quiet_world();
        s.together([&] {
            s.row({.pk = "7", .name = "wrapper-7", .version = 50});
            s.pod({.name = "wrapper-7", .uid = "a", .version = 11, .phase = "Failed"});
            if (two_pods) {
                s.pod({.name = "wrapper-7", .uid = "b", .version = 12, .phase = "Failed"});
            } else {
                s.row({.pk = "8", .name = "wrapper-7", .version = 51});
            }
        });
        s.quiet_until(300s);
        EXPECT_EQ(s.news(), "");
    }
}

TEST(StatusDrift, AGraceOnTopCountsFromDetectionAndRecoveryRetracts) {
    Settings settings = graph_settings();
    settings.rules[2].grace = 30s;
    JournalScript s(settings);
    s.all_known();
    s.quiet_until(100s).together([&] {
        s.row({.pk = "7", .name = "wrapper-7", .version = 50});
        s.pod({.name = "wrapper-7", .uid = "a", .version = 11, .phase = "Failed"});
    });
    s.quiet_until(120s);
    s.pod({.name = "wrapper-7", .uid = "a", .version = 12, .phase = "Running"});
    s.quiet_until(300s);
    EXPECT_EQ(s.news(),
              "100s suspected status_drift wrapper-7 public.instances/7: grace\n"
              "120s resolved status_drift wrapper-7 public.instances/7: retracted\n");
}

TEST(StatusDrift, OurOwnUpdateIsNotJudgedBeforeItIsInView) {
    JournalScript s = pair_of("running", "Failed");
    s.quiet_until(105s);
    s.at(106s).outcome(s.commands().front(), OutcomeKind::kAlreadyDone);
    s.news();
    s.at(107s).progress("pods");
    EXPECT_EQ(s.news(), "");
    s.at(108s).row({.pk = "7", .name = "wrapper-7", .version = 51, .status = "failed"});
    s.quiet_until(300s);
    EXPECT_EQ(s.news(), "");
}

}  // namespace
}  // namespace trueup::testing
