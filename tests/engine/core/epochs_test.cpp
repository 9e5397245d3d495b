// Proves what a complete epoch is and does (design §4.1, §4.3, §5; S11, S15).
#include "tests/support/graph_script.h"

#include <gtest/gtest.h>

namespace trueup::testing {
namespace {

/// A row of the world below, as an epoch lists it without its content.
Seen listed_row(const std::string& pk, std::uint64_t version) {
    return {.source = "rows",
            .name = "wrapper-" + pk,
            .id = "public.instances/" + pk,
            .version = {version, 0},
            .object = {}};
}

/// Two rows that were told, and an epoch of rows that has begun.
JournalScript two_rows_and_an_epoch() {
    JournalScript s = observed_world();
    s.row({.pk = "1", .name = "wrapper-1", .version = 50});
    s.row({.pk = "2", .name = "wrapper-2", .version = 51});
    s.begin("rows", 60);
    return s;
}

TEST(Epochs, WhatIsTheSameIsListed) {
    JournalScript s = two_rows_and_an_epoch();
    const std::string told = s.facet("wrapper-1", "public.instances/1")->object;
    s.same(listed_row("1", 60), 50);
    s.end("rows");
    EXPECT_TRUE(s.source("rows").known);
    EXPECT_EQ(s.facet("wrapper-1", "public.instances/1")->object, told);
    EXPECT_EQ(s.facet("wrapper-1", "public.instances/1")->version.hi, 60U);
    s.tick();
    EXPECT_FALSE(s.facet("wrapper-2", "public.instances/2")->present()) << "not listed";
}

TEST(Epochs, WhatTheStreamPassedIsTheSame) {
    JournalScript s = two_rows_and_an_epoch();
    s.row({.pk = "1", .name = "wrapper-1", .version = 61, .status = "failed"});
    s.same(listed_row("1", 60), 50);
    s.same(listed_row("2", 60), 51);
    s.end("rows");
    EXPECT_TRUE(s.source("rows").known);
    EXPECT_EQ(s.facet("wrapper-1", "public.instances/1")->version.hi, 61U);
    s.row_gone("wrapper-2", "2", 70);
    s.begin("rows", 70);
    s.same(listed_row("1", 61), 50);
    s.same(listed_row("2", 70), 60);
    s.end("rows");
    EXPECT_TRUE(s.source("rows").known) << "one version is one word";
    EXPECT_FALSE(s.facet("wrapper-2", "public.instances/2")->present());
}

TEST(Epochs, OfAnotherOwnerNothingIsTheSame) {
    JournalScript s = two_rows_and_an_epoch();
    s.own("rows");
    s.begin("rows", 60);
    s.same(listed_row("1", 60), 50);
    s.end("rows", 1);
    EXPECT_FALSE(s.source("rows").known);
    EXPECT_TRUE(s.source("rows").hole) << "it is asked to list again, and to tell all";
}

std::string name_of_pod(int i) { return "wrapper-" + std::to_string(100 + i); }

/// Pods wrapper-100 to wrapper-(99 + count), listed by the first epoch as of 10; rows known.
JournalScript with_pods(int count, std::uint32_t sweep_step = 2'000) {
    Settings settings = graph_settings(Mode::kObserve);
    settings.sweep_step = sweep_step;
    JournalScript s(settings);
    s.together([&] {
        s.known("rows");
        s.own("pods");
        s.begin("pods", 10);
        for (int i = 0; i < count; ++i) {
            s.pod({.name = name_of_pod(i), .uid = "u" + std::to_string(i), .listed = true});
        }
        s.end("pods");
    });
    while (s.last().more_work) s.tick();
    return s;
}

/// Lists the first `count` pods of `with_pods` again.
void list_again(JournalScript& s, int count, std::uint64_t as_of) {
    s.together([&] {
        s.begin("pods", as_of);
        for (int i = 0; i < count; ++i) {
            s.pod({.name = name_of_pod(i), .uid = "u" + std::to_string(i), .listed = true});
        }
        s.end("pods");
    });
}

TEST(Epochs, ASweepVisits10SubjectsARecordAndAsksForMore) {
    JournalScript s = with_pods(35, 10);
    ASSERT_EQ(s.source("pods").population, 35U);
    list_again(s, 20, 20);
    // The 20 that were listed are touched by the record itself, the 15 others by the sweep.
    EXPECT_TRUE(s.last().more_work);
    EXPECT_EQ(s.counted().swept, 0U);
    EXPECT_EQ(s.meta().sweeps.front().cursor, "graph-instances/wrapper-109");
    s.tick();
    EXPECT_EQ(s.counted().swept, 0U);
    s.tick();
    EXPECT_EQ(s.counted().swept, 10U);
    EXPECT_TRUE(s.last().more_work);
    s.tick();
    EXPECT_EQ(s.counted().swept, 15U);
    while (s.last().more_work) s.tick();
    EXPECT_TRUE(s.meta().sweeps.empty());
    EXPECT_EQ(s.source("pods").population, 20U);
}

TEST(Epochs, WhatItLacksIsAbsentBeforeTheSweepComesBy) {
    JournalScript s = with_pods(30, 1);
    list_again(s, 20, 20);
    ASSERT_TRUE(s.last().more_work);
    ASSERT_TRUE(s.facet("wrapper-129", "u29")->present());
    s.row({.pk = "129", .name = "wrapper-129", .version = 50});
    EXPECT_EQ(s.facet("wrapper-129", "u29")->absence, Absence::kSwept);
    EXPECT_NE(s.news().find("suspected missing_pod wrapper-129"), std::string::npos);
}

TEST(Epochs, TheSweepSparesWhatIsNewerThanAsOf) {
    JournalScript s = with_pods(3);
    s.pod({.name = "wrapper-900", .uid = "new", .version = 21});
    s.pod({.name = "wrapper-901", .uid = "old", .version = 20});
    list_again(s, 3, 20);
    EXPECT_TRUE(s.facet("wrapper-900", "new")->present());
    EXPECT_EQ(s.facet("wrapper-901", "old")->absence, Absence::kSwept);
}

TEST(Epochs, AWrongCountProvesNothing) {
    JournalScript s = with_pods(3);
    s.begin("pods", 20);
    s.pod({.name = name_of_pod(0), .uid = "u0", .listed = true});
    s.end("pods", 2);
    EXPECT_EQ(s.counted().swept, 0U);
    EXPECT_EQ(s.source("pods").epochs, 1U);
    EXPECT_FALSE(s.source("pods").open.has_value());
    EXPECT_TRUE(s.facet("wrapper-101", "u1")->present());
}

TEST(Epochs, AFirstEpochWithAWrongCountLeavesTheSourceUnknown_G22) {
    JournalScript s;
    s.own("pods");
    s.begin("pods", 20);
    s.end("pods", 1);
    EXPECT_FALSE(s.source("pods").known);
}

TEST(Epochs, AnEndWithoutItsBeginProvesNothing) {
    JournalScript s;
    s.own("pods");
    s.end("pods");
    EXPECT_FALSE(s.source("pods").known);
}

TEST(Epochs, DeletesThatTheWatchMissedAreFoundByTheNextList_S11) {
    JournalScript s = with_pods(20);
    s.row({.pk = "7", .name = "wrapper-119", .version = 50});
    s.quiet_until(100s);
    EXPECT_EQ(s.news().find("missing_pod"), std::string::npos);
    s.begin("pods", 30);  // 410 Gone; the first listing fails too, nothing ends
    s.begin("pods", 31);
    for (int i = 0; i < 19; ++i) {
        s.pod({.name = name_of_pod(i), .uid = "u" + std::to_string(i), .listed = true});
    }
    EXPECT_TRUE(s.facet("wrapper-119", "u19")->present());
    s.end("pods");
    EXPECT_FALSE(s.facet("wrapper-119", "u19")->present());
    EXPECT_NE(s.news().find("missing_pod wrapper-119"), std::string::npos);
}

TEST(Epochs, RowsDeletedWhileTheConnectorWasAwayAreAbsentAfterItsEpoch_S15) {
    JournalScript s;
    s.known("pods");
    s.own("rows");
    s.rows_listed(20, {{.pk = "7", .name = "wrapper-7", .version = 10},
                       {.pk = "8", .name = "wrapper-8", .version = 11}});
    s.pod({.name = "wrapper-7", .uid = "a", .version = 5});
    s.pod({.name = "wrapper-8", .uid = "b", .version = 6});
    s.quiet_until(100s);
    s.news();
    s.own("rows");
    s.begin("rows", 60);
    s.row({.pk = "8", .name = "wrapper-8", .version = 60, .listed = true});
    s.quiet_until(200s);
    EXPECT_EQ(s.news(), "") << "the new owner has not listed everything yet";
    s.end("rows");
    s.quiet_until(260s);
    EXPECT_EQ(s.news(),
              "200s suspected orphaned_pod wrapper-7 a: grace\n"
              "260s commanded orphaned_pod wrapper-7 a\n"
              "260s delete_pod wrapper-7 a\n");
}

TEST(Epochs, ItemsOfAnAbandonedEpochDoNotCountForItsSuccessor) {
    JournalScript s = with_pods(2);
    s.begin("pods", 20);
    s.pod({.name = name_of_pod(0), .uid = "u0", .version = 2, .listed = true});
    const std::uint64_t abandoned = s.owner("pods").epoch;
    s.begin("pods", 21);
    s.pod({.name = name_of_pod(0), .uid = "u0", .version = 2, .listed = true});
    ChangeView late;
    late.kind = ChangeKind::kUpsert;
    late.epoch = abandoned;
    late.object_id = "u1";
    late.subject_key = "graph-instances/wrapper-101";
    late.version = {1, 0};
    s.change("pods", late);
    ChangeView late_end;
    late_end.kind = ChangeKind::kSnapshotEnd;
    late_end.epoch = abandoned;
    late_end.count = 2;
    s.change("pods", late_end);
    EXPECT_EQ(s.source("pods").epochs, 1U) << "the abandoned one never ends";
    s.end("pods", 1);
    EXPECT_EQ(s.source("pods").epochs, 2U);
    EXPECT_TRUE(s.facet("wrapper-100", "u0")->present());
    EXPECT_FALSE(s.facet("wrapper-101", "u1")->present());
}

TEST(Epochs, LiveItemsBetweenBeginAndEndAreNotCountedAndNotLost) {
    JournalScript s = with_pods(1);
    s.begin("pods", 20);
    s.pod({.name = "wrapper-900", .uid = "live", .version = 25});
    s.pod({.name = name_of_pod(0), .uid = "u0", .listed = true});
    s.pod_gone(name_of_pod(0), "u0", 26);
    s.end("pods", 1);
    EXPECT_EQ(s.source("pods").epochs, 2U);
    EXPECT_TRUE(s.facet("wrapper-900", "live")->present());
    EXPECT_EQ(s.facet("wrapper-100", "u0")->absence, Absence::kRemoved);
}

TEST(Epochs, ALaterListingBringsBackWhatAPendingSweepTakes) {
    JournalScript s = with_pods(30, 1);
    list_again(s, 20, 20);
    ASSERT_FALSE(s.meta().sweeps.empty());
    s.begin("pods", 30);
    s.pod({.name = name_of_pod(29), .uid = "u29", .listed = true});
    EXPECT_TRUE(s.facet("wrapper-129", "u29")->present());
    for (int i = 0; i < 40; ++i) s.tick();
    EXPECT_TRUE(s.meta().sweeps.empty());
    EXPECT_TRUE(s.facet("wrapper-129", "u29")->present());
    EXPECT_EQ(s.source("pods").population, 21U);
}

// Symptom: a live word that came after the end of an epoch was taken back by that epoch's sweep if
// the sweep had not come by yet, and kept if it had.
TEST(Epochs, AWordAfterTheEndCountsHoweverFarTheSweepIs) {
    for (const bool one_record : {true, false}) {
        JournalScript s = with_pods(3);
        const auto tell = [&] {
            s.begin("pods", 20);
            for (int i = 0; i < 2; ++i) {
                s.pod({.name = name_of_pod(i), .uid = "u" + std::to_string(i), .listed = true});
            }
            s.end("pods");
            s.pod({.name = name_of_pod(2), .uid = "u2"});
        };
        one_record ? s.together(tell) : tell();
        s.tick();
        EXPECT_TRUE(s.facet("wrapper-102", "u2")->present()) << one_record;
        EXPECT_EQ(s.source("pods").population, 3U);
    }
}

TEST(Epochs, TwoEpochsMayBeOnTheirWayAtOnce) {
    JournalScript s = with_pods(30, 3);
    list_again(s, 28, 20);
    list_again(s, 26, 30);
    ASSERT_EQ(s.meta().sweeps.size(), 2U);
    for (int i = 0; i < 40; ++i) s.tick();
    EXPECT_TRUE(s.meta().sweeps.empty());
    EXPECT_EQ(s.source("pods").population, 26U);
    EXPECT_EQ(s.counted().swept, 4U);
    for (int i = 0; i < 26; ++i) {
        EXPECT_TRUE(s.facet(name_of_pod(i), "u" + std::to_string(i))->present()) << i;
    }
}

TEST(Epochs, ATombstoneGoesAfterTwoMoreCompleteEpochs) {
    JournalScript s = with_pods(2);
    s.pod_gone(name_of_pod(1), "u1", 15);
    list_again(s, 1, 20);
    ASSERT_NE(s.subject("wrapper-101"), nullptr);
    EXPECT_EQ(s.meta().subjects, 2U);
    list_again(s, 1, 21);
    EXPECT_EQ(s.subject("wrapper-101"), nullptr);
    EXPECT_EQ(s.meta().subjects, 1U);
}

// Symptom: a subject whose facets went while its command was under way was never forgotten.
TEST(Epochs, ASubjectGoesOnceItsLastFindingHasEnded) {
    Settings settings = graph_settings();
    settings.command_ttl = 600s;
    JournalScript s(settings);
    s.all_known();
    s.quiet_until(100s);
    s.pod({.name = "wrapper-6", .uid = "other", .version = 11, .deleting = true});
    s.pod({.name = "wrapper-7", .uid = "a", .version = 11});
    s.quiet_until(160s);
    ASSERT_EQ(s.commands().size(), 1U);
    s.pod_gone("wrapper-7", "a", 12);
    for (std::uint64_t as_of = 20; as_of < 24; ++as_of) {
        s.pods_listed(as_of, {{.name = "wrapper-6", .uid = "other", .version = 11}});
    }
    ASSERT_NE(s.subject("wrapper-7"), nullptr) << "its command has no outcome yet";
    EXPECT_TRUE(s.subject("wrapper-7")->facets.empty());
    s.outcome(s.commands().front(), OutcomeKind::kRefused);  // what is done is remembered
    EXPECT_EQ(s.subject("wrapper-7"), nullptr);
    EXPECT_EQ(s.meta().subjects, 1U);
}

}  // namespace
}  // namespace trueup::testing
