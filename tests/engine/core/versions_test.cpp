// Proves that an older word never overwrites a newer one (C6, S12, S17; design §4.7).
#include "tests/support/graph_script.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace trueup::testing {
namespace {

TEST(Versions, AnOlderVersionChangesNothing_C6) {
    JournalScript s = observed_world();
    s.pod({.name = "wrapper-7", .uid = "a", .version = 12, .phase = "Failed"});
    s.pod({.name = "wrapper-7", .uid = "a", .version = 11, .phase = "Running"});
    EXPECT_TRUE(s.facet("wrapper-7", "a")->fields().is("phase", "Failed"));
    EXPECT_EQ(s.facet("wrapper-7", "a")->version, (Version{12, 0}));
    EXPECT_EQ(s.counted().stale_versions, 1U);
}

TEST(Versions, TheOrdinalOrdersOneCommit_C6) {
    JournalScript s = observed_world();
    s.row({.pk = "7", .name = "wrapper-7", .version = 50, .status = "running", .order = 2});
    s.row({.pk = "7", .name = "wrapper-7", .version = 50, .status = "starting", .order = 1});
    EXPECT_TRUE(s.facet("wrapper-7", "public.instances/7")->fields().is("status", "running"));
}

TEST(Versions, TheSameVersionTwiceIsNoNews) {
    JournalScript s = observed_world();
    s.pod({.name = "wrapper-7", .uid = "a", .version = 12});
    const Facet before = *s.facet("wrapper-7", "a");
    s.at(5s).pod({.name = "wrapper-7", .uid = "a", .version = 12, .phase = "Failed"});
    EXPECT_EQ(*s.facet("wrapper-7", "a"), before) << "one version has one content";
    EXPECT_EQ(s.counted().unchanged, 1U);
}

// Symptom (had it been taken): what stood at a path became a list that nobody can compare, and
// rules went on by the word that had been there.
TEST(Versions, WhatNobodyCanSayOfAnObjectIsNotWhatItWas) {
    JournalScript s = observed_world();
    s.pod({.name = "wrapper-7", .uid = "a", .version = 12, .hold = true});
    s.pod({.name = "wrapper-7", .uid = "a", .version = 13, .unlabelled = true});
    const std::optional<Field> hold = s.facet("wrapper-7", "a")->fields().find("hold");
    ASSERT_TRUE(hold.has_value());
    EXPECT_TRUE(hold->unchanged);
    s.row({.pk = "7", .name = "wrapper-7", .version = 50});
    s.row({.pk = "7", .name = "wrapper-7", .version = 51, .toast = true});
    EXPECT_TRUE(s.facet("wrapper-7", "public.instances/7")->fields().is("pod_name", "wrapper-7"))
        << "a column that was not sent did not change";
}

TEST(Versions, ANewVersionWithTheSameContentMovesNoEvidence) {
    JournalScript s = observed_world();
    s.pod({.name = "wrapper-7", .uid = "a", .version = 12});
    const Facet before = *s.facet("wrapper-7", "a");
    s.at(5s).pod({.name = "wrapper-7", .uid = "a", .version = 13});
    EXPECT_EQ(s.facet("wrapper-7", "a")->evidence, before.evidence);
    EXPECT_EQ(s.facet("wrapper-7", "a")->version, (Version{13, 0}));
}

TEST(Versions, AnOlderUpsertDoesNotRaiseTheDead_C6) {
    JournalScript s = observed_world();
    s.pod({.name = "wrapper-7", .uid = "a", .version = 12});
    s.pod_gone("wrapper-7", "a", 15);
    s.pod({.name = "wrapper-7", .uid = "a", .version = 14});
    s.pod({.name = "wrapper-7", .uid = "a", .version = 15});
    EXPECT_EQ(s.facet("wrapper-7", "a")->absence, Absence::kRemoved);
    EXPECT_EQ(s.source("pods").population, 0U);
    s.pod({.name = "wrapper-7", .uid = "a", .version = 16});
    EXPECT_TRUE(s.facet("wrapper-7", "a")->present());
    EXPECT_EQ(s.source("pods").population, 1U);
}

TEST(Versions, ARemoveThatCameBeforeItsUpsertWins_C6) {
    JournalScript s = observed_world();
    s.pod_gone("wrapper-7", "a", 15);
    s.pod({.name = "wrapper-7", .uid = "a", .version = 12});
    EXPECT_FALSE(s.facet("wrapper-7", "a")->present());
    EXPECT_EQ(s.news(), "");
}

TEST(Versions, AnOlderRemoveChangesNothing_C6) {
    JournalScript s = observed_world();
    s.pod({.name = "wrapper-7", .uid = "a", .version = 12});
    s.pod_gone("wrapper-7", "a", 11);
    EXPECT_TRUE(s.facet("wrapper-7", "a")->present());
    EXPECT_EQ(s.counted().stale_versions, 1U);
    s.pod_gone("wrapper-7", "a", 12);
    EXPECT_FALSE(s.facet("wrapper-7", "a")->present()) << "a GET that found nothing says so";
}

TEST(Versions, ASweptObjectReappearsAtItsOldVersion) {
    JournalScript s = observed_world();
    s.pods_listed(20, {{.name = "wrapper-6", .uid = "other"},
                       {.name = "wrapper-7", .uid = "a", .version = 12}});
    s.pods_listed(30, {{.name = "wrapper-6", .uid = "other"}});
    ASSERT_EQ(s.facet("wrapper-7", "a")->absence, Absence::kSwept);
    s.pod({.name = "wrapper-7", .uid = "a", .version = 11});
    EXPECT_FALSE(s.facet("wrapper-7", "a")->present());
    s.pod({.name = "wrapper-7", .uid = "a", .version = 12});
    EXPECT_TRUE(s.facet("wrapper-7", "a")->present());
    EXPECT_EQ(s.source("pods").population, 2U);
}

// Symptom: after a restore from a backup a row was believed gone, because the tombstone of the
// former incarnation outranked the restored row's lower version.
TEST(Versions, ARewoundSourceIsBelievedUnderItsNewIncarnation_S13_S14) {
    JournalScript s = observed_world();
    s.row({.pk = "7", .name = "wrapper-7", .version = 90});
    s.row({.pk = "8", .name = "wrapper-8", .version = 91});
    s.row_gone("wrapper-7", "7", 95);
    s.own("rows");
    s.rows_listed(40, {{.pk = "7", .name = "wrapper-7", .version = 40}});
    EXPECT_TRUE(s.facet("wrapper-7", "public.instances/7")->present());
    s.tick();
    EXPECT_EQ(s.facet("wrapper-8", "public.instances/8")->absence, Absence::kSwept)
        << "a version of the former incarnation spares nothing";
}

TEST(Versions, ReorderingAcrossSourcesEndsInTheSameFindings_C6) {
    // Three words of each source, every interleaving of the two.
    std::vector<int> order{0, 0, 0, 1, 1, 1};
    std::string ending;
    do {
        JournalScript s(graph_settings());
        s.all_known();
        s.quiet_until(10s);
        int pods = 0;
        int rows = 0;
        for (const int source : order) {
            if (source == 0) {
                const std::vector<Pod> words{
                    {.name = "wrapper-7", .uid = "a", .version = 11},
                    {.name = "wrapper-8", .uid = "b", .version = 12},
                    {.name = "wrapper-9", .uid = "c", .version = 13, .phase = "Failed"}};
                s.pod(words[static_cast<std::size_t>(pods++)]);
            } else {
                const std::vector<Row> words{{.pk = "7", .name = "wrapper-7", .version = 51},
                                             {.pk = "9", .name = "wrapper-9", .version = 52},
                                             {.pk = "5", .name = "wrapper-5", .version = 53}};
                s.row(words[static_cast<std::size_t>(rows++)]);
            }
        }
        s.quiet_until(70s);
        std::string told;
        for (const Command& command : s.commands()) {
            if (command.emission == 1) told += command.rule + ' ' + command.subject + '\n';
        }
        if (ending.empty()) ending = told;
        EXPECT_EQ(told, ending);
        EXPECT_EQ(s.meta().open_findings, 3U);
    } while (std::next_permutation(order.begin(), order.end()));
    EXPECT_EQ(ending,
              "status_drift graph-instances/wrapper-9\n"
              "missing_pod graph-instances/wrapper-5\n"
              "orphaned_pod graph-instances/wrapper-8\n");
}

// The record of a heartbeat was named with the time of an older change.
TEST(Versions, AChangeIsNamedWithTheTimeOfItsOwnRecord) {
    JournalScript s;
    s.all_known();
    s.at(100s).row({.pk = "7", .name = "wrapper-7", .version = 50, .active = 100s});
    const Offset first = s.facet("wrapper-7", "public.instances/7")->offset;
    s.at(105s).row({.pk = "7", .name = "wrapper-7", .version = 51, .active = 105s});
    const Facet& row = *s.facet("wrapper-7", "public.instances/7");
    EXPECT_GT(row.offset, first);
    EXPECT_EQ(row.changed, broker(105s));
    EXPECT_EQ(row.evidence, broker(100s));
}

}  // namespace
}  // namespace trueup::testing
