// Proves that a wrong question is not an absence (docs/adr/0023-first-snapshots.md; S4, S13, G22):
// first epochs that are empty, or by which most of the world is wrong, and sources that went back.
#include "policies/shipped.h"
#include "tests/support/graph_script.h"

#include <gtest/gtest.h>

#include <string>

namespace trueup::testing {
namespace {

using core::Quarantine;

std::string name_of(int i) { return "wrapper-" + std::to_string(100 + i); }

Settings expecting(std::uint32_t at_least) {
    Settings settings = graph_settings();
    for (SourceSettings& source : settings.sources) source.at_least = at_least;
    return settings;
}

void list_pods(JournalScript& s, int count, std::uint64_t as_of) {
    std::vector<Pod> pods;
    for (int i = 0; i < count; ++i) {
        pods.push_back({.name = name_of(i), .uid = "u" + std::to_string(i), .version = as_of});
    }
    s.pods_listed(as_of, pods);
}
void list_rows(JournalScript& s, int count, std::uint64_t as_of) {
    std::vector<Row> rows;
    for (int i = 0; i < count; ++i) {
        rows.push_back({.pk = std::to_string(i), .name = name_of(i), .version = as_of});
    }
    s.rows_listed(as_of, rows);
}

/// So many pods and rows are there when both sources are first listed.
JournalScript first_lists(Settings settings, int pods, int rows) {
    JournalScript s(std::move(settings));
    s.own("pods");
    s.own("rows");
    list_pods(s, pods, 10);
    list_rows(s, rows, 10);
    s.quiet_until(90s);
    return s;
}

Request vouch(const std::string& source) {
    Request made;
    made.kind = RequestKind::kRelease;
    made.scope.source = source;
    return made;
}

// Symptom: conninfo named a database whose table is empty, and 63 s later the pods were deleted.
TEST(FirstEpoch, OfAnEmptyTableProvesNothing_G22) {
    JournalScript s = first_lists(expecting(1), 4, 0);
    s.quiet_until(600s);
    EXPECT_TRUE(s.commands().empty());
    EXPECT_EQ(s.source("rows").quarantine, Quarantine::kEmpty);
    EXPECT_FALSE(s.source("rows").known);
    EXPECT_EQ(s.last().wants_epoch, std::vector<SourceId>{1}) << "it is asked again";
}

TEST(FirstEpoch, CountsOnceTheSourceHasShownWhatIsExpectedOfIt) {
    JournalScript s = first_lists(expecting(3), 3, 0);
    list_rows(s, 2, 20);
    EXPECT_FALSE(s.source("rows").known);
    EXPECT_EQ(s.source("rows").quarantined_at, 2U);
    list_rows(s, 3, 30);
    EXPECT_TRUE(s.source("rows").known);
    EXPECT_EQ(s.source("rows").quarantine, Quarantine::kNone);
}

TEST(FirstEpoch, MayBeEmptyWhereThatIsExpected) {
    const JournalScript s = first_lists(expecting(0), 4, 0);
    EXPECT_EQ(s.meta().rules[0].commands, 4U);
}

TEST(FirstEpoch, OneWordIsEnoughAlsoWhereMostIsWrongByIt) {
    JournalScript s = first_lists(expecting(1), 12, 0);
    s.request(vouch("rows"));
    list_rows(s, 0, 20);
    s.quiet_until(200s);
    EXPECT_EQ(s.source("pods").quarantine, Quarantine::kNone);
    EXPECT_EQ(s.meta().rules[0].commands, 10U) << "as many as the budget allows";
}

// Symptom: a selector that matches other pods made every row one whose pod is gone.
TEST(FirstEpoch, ByWhichMostOfTheWorldIsWrongTakesNothingAway_G22) {
    JournalScript s = first_lists(expecting(1), 30, 12);
    s.quiet_until(600s);
    EXPECT_TRUE(s.commands().empty());
    EXPECT_EQ(s.source("rows").quarantine, Quarantine::kWrong);
    EXPECT_EQ(s.source("rows").quarantined_at, 18U);
    EXPECT_TRUE(s.source("rows").known) << "rules go on to find what they find";
    EXPECT_EQ(s.findings().back().reason, Reason::kQuarantine);
    s.request(vouch("rows"));
    EXPECT_TRUE(s.answered().granted);
    EXPECT_EQ(s.source("pods").quarantine, Quarantine::kNone) << "one word for what is one thing";
    s.quiet_until(605s);
    EXPECT_EQ(s.commands().size(), 10U) << "as many as the budget allows";
}

TEST(FirstEpoch, TheEdgesAreHalfAnd10) {
    struct Edge {
        int pods;
        int rows;
        bool believed;
    };
    for (const Edge& edge : {Edge{10, 0, true}, Edge{11, 0, false}, Edge{22, 11, true},
                             Edge{23, 11, false}, Edge{100, 50, true}, Edge{101, 50, false}}) {
        const JournalScript s = first_lists(expecting(0), edge.pods, edge.rows);
        EXPECT_EQ(s.source("rows").quarantine == Quarantine::kNone, edge.believed)
            << edge.pods << " pods, " << edge.rows << " rows";
    }
}

TEST(FirstEpoch, IsOnTrialUntilEverySubjectWasJudgedByIt) {
    Settings settings = expecting(1);
    settings.sweep_step = 3;
    policies::rule_settings(settings, "missing_pod").create_window = 0s;
    JournalScript s(settings);
    s.own("pods");
    s.own("rows");
    list_pods(s, 1, 10);
    list_rows(s, 30, 10);
    EXPECT_TRUE(s.source("rows").on_trial);
    s.quiet_until(5s);
    s.quiet_until(120s);
    EXPECT_FALSE(s.source("rows").on_trial);
    EXPECT_EQ(s.source("rows").quarantine, Quarantine::kWrong);
    EXPECT_TRUE(s.commands().empty()) << "not one before the last was judged";
}

TEST(FirstEpoch, LaterOnesAreHeldAgainstTheOneBeforeOnly) {
    JournalScript s = first_lists(expecting(1), 30, 30);
    for (int i = 0; i < 20; ++i) s.row_gone(name_of(i), std::to_string(i), 50);
    s.quiet_until(200s);
    EXPECT_EQ(s.source("rows").quarantine, Quarantine::kNone);
    EXPECT_FALSE(s.commands().empty()) << "what was deleted one by one is news";
}

// Symptom: everything was stopped while a database was restored from a backup. Nobody had seen it
// go back when all was started again, and the pods whose rows were younger were deleted.
TEST(FirstEpoch, OfASourceThatWentBackWhileNobodyLookedNothingIsTakenAway_S13) {
    JournalScript s = first_lists(expecting(1), 4, 4);
    s.row({.pk = "3", .name = name_of(3), .version = 50});
    const auto restored = [&](std::uint64_t as_of) {
        s.own("rows");
        s.together([&] {
            s.begin("rows", as_of);
            for (int i = 0; i < 3; ++i) {
                s.row({.pk = std::to_string(i), .name = name_of(i), .version = 5, .listed = true});
            }
            s.end("rows");
        });
    };
    restored(49);
    EXPECT_EQ(s.source("rows").quarantine, Quarantine::kRewound);
    restored(49);
    s.quiet_until(400s);
    EXPECT_TRUE(s.commands().empty());
    s.request(vouch("rows"));
    s.quiet_until(405s);
    EXPECT_EQ(s.commands().size(), 1U);
    restored(49);
    EXPECT_EQ(s.source("rows").quarantine, Quarantine::kNone) << "an operator vouched for it";
    restored(48);
    EXPECT_EQ(s.source("rows").quarantine, Quarantine::kRewound) << "once more";
}

TEST(FirstEpoch, AListAsYoungAsItsNewestObjectIsNoRewind) {
    JournalScript s = first_lists(expecting(1), 4, 4);
    s.row({.pk = "3", .name = name_of(3), .version = 50});
    s.own("rows");
    list_rows(s, 4, 50);
    EXPECT_EQ(s.source("rows").quarantine, Quarantine::kNone);
}

// A stream goes on beside a list, and what it says may be younger.
TEST(FirstEpoch, AListThatItsOwnStreamIsAheadOfIsNoRewind) {
    JournalScript s = first_lists(expecting(1), 4, 4);
    s.row({.pk = "3", .name = name_of(3), .version = 50});
    list_rows(s, 4, 49);
    EXPECT_EQ(s.source("rows").quarantine, Quarantine::kNone);
    s.own("rows");
    list_rows(s, 4, 49);
    EXPECT_EQ(s.source("rows").quarantine, Quarantine::kRewound) << "the former owner knew more";
}

TEST(FirstEpoch, AQuarantineBeneathADropComesBack) {
    JournalScript s = first_lists(expecting(1), 40, 18);
    ASSERT_EQ(s.source("pods").quarantine, Quarantine::kWrong);
    list_pods(s, 0, 20);
    EXPECT_EQ(s.source("pods").quarantine, Quarantine::kDrop);
    list_pods(s, 40, 30);
    EXPECT_EQ(s.source("pods").quarantine, Quarantine::kWrong);
    EXPECT_TRUE(s.source("pods").known);
}

// Symptom: `services` was taken out of the configuration, and no pass ever ended again.
TEST(FirstEpoch, ASourceThatLeftStopsNoPassAndBeginsAnewWhenItComesBack_G14) {
    Settings with = expecting(1);
    with.sources.push_back({"services", Topic::kChangesResources, 2, {}, 0});
    JournalScript s(with);
    s.all_known();
    s.known("services");
    list_pods(s, 4, 10);
    list_rows(s, 4, 10);
    s.quiet_until(400s);
    const std::uint64_t before = s.meta().pass.completed;
    ASSERT_GT(before, 0U);
    s.put_in_force(expecting(1));
    EXPECT_FALSE(s.source("services").known);
    EXPECT_EQ(s.source("services").epochs, 0U);
    for (Millis at = 405s; at < 1'000s; at += 5s) {
        s.at(at).progress("pods");
        s.at(at).progress("rows");
    }
    EXPECT_GT(s.meta().pass.completed, before);
}

// Symptom: after 100 instances that came and went in good order, 30 pods could go in one window.
TEST(FirstEpoch, TheDeadAreNotCounted_S29) {
    JournalScript s = first_lists(expecting(0), 20, 20);
    EXPECT_EQ(s.meta().present, 20U);
    for (int i = 0; i < 15; ++i) {
        s.pod_gone(name_of(i), "u" + std::to_string(i), 50);
        s.row_gone(name_of(i), std::to_string(i), 50);
    }
    EXPECT_EQ(s.meta().subjects, 20U) << "their tombstones are kept for a while";
    EXPECT_EQ(s.meta().present, 5U);
}

// A first list of instances that were all being stopped was not believed: a rule reports them.
TEST(FirstEpoch, WhatIsOnlyReportedSpeaksAgainstNoList_S8) {
    Settings settings = expecting(1);
    policies::rule_settings(settings, "stopping_with_pod").mode = Mode::kObserve;
    JournalScript s(settings);
    s.own("pods");
    s.own("rows");
    list_pods(s, 12, 10);
    std::vector<Row> rows;
    for (int i = 0; i < 12; ++i) {
        rows.push_back(
            {.pk = std::to_string(i), .name = name_of(i), .version = 10, .status = "stopping"});
    }
    s.rows_listed(10, rows);
    s.quiet_until(90s);
    EXPECT_EQ(s.meta().open_findings, 12U);
    EXPECT_EQ(s.source("pods").quarantine, Quarantine::kNone);
    EXPECT_EQ(s.source("rows").quarantine, Quarantine::kNone);
    EXPECT_EQ(s.meta().wrong, 0U);
}

}  // namespace
}  // namespace trueup::testing
