// Proves that a suspicious drop is not news (S4; design §4.6).
#include "tests/support/graph_script.h"

#include <gtest/gtest.h>

namespace trueup::testing {
namespace {

Pod pod_number(int i) {
    return {.name = "wrapper-" + std::to_string(i), .uid = "u" + std::to_string(i)};
}

/// An epoch of the first `count` pods, in one record.
void list(JournalScript& s, int count, std::uint64_t as_of) {
    std::vector<Pod> pods;
    for (int i = 0; i < count; ++i) pods.push_back(pod_number(i));
    s.together([&] { s.pods_listed(as_of, std::move(pods)); });
}

JournalScript world_of(int count) {
    JournalScript s(graph_settings(Mode::kObserve));
    s.together([&] {
        s.known("rows");
        s.own("pods");
        list(s, count, 10);
    });
    return s;
}

TEST(SuspiciousDrop, AnEmptyListWith1000KnownProvesNothing_S4) {
    JournalScript s(graph_settings());
    s.together([&] {
        s.own("rows");
        s.own("pods");
        list(s, 1'000, 10);
        std::vector<Row> rows;
        for (int i = 0; i < 1'000; ++i) {
            rows.push_back({.pk = std::to_string(i), .name = pod_number(i).name});
        }
        s.rows_listed(10, rows);
    });
    s.quiet_until(100s);
    ASSERT_EQ(s.source("pods").population, 1'000U);
    s.news();
    s.pods_listed(20, {});
    EXPECT_FALSE(s.source("pods").known);
    EXPECT_EQ(s.source("pods").quarantined_at, 1'000U);
    EXPECT_EQ(s.source("pods").population, 1'000U);
    EXPECT_EQ(s.counted().quarantines, 1U);
    EXPECT_EQ(s.counted().swept, 0U);
    EXPECT_EQ(s.last().wants_epoch, std::vector<SourceId>{0});
    s.quiet_until(400s);
    EXPECT_EQ(s.news(), "") << "not one row is called failed";

    list(s, 1'000, 30);
    EXPECT_TRUE(s.source("pods").known);
    EXPECT_EQ(s.source("pods").quarantined_at, 0U);
    s.quiet_until(500s);
    EXPECT_EQ(s.news(), "");
}

TEST(SuspiciousDrop, ASecondEmptyListDoesNotFreeIt_S4) {
    JournalScript s = world_of(100);
    s.pods_listed(20, {});
    s.pods_listed(21, {});
    EXPECT_FALSE(s.source("pods").known);
    EXPECT_EQ(s.counted().quarantines, 4U) << "two lists, and before them a world all wrong";
    EXPECT_EQ(s.source("pods").quarantined_at, 100U);
}

TEST(SuspiciousDrop, TheEdgesAre50PercentAnd10) {
    struct Edge {
        int before;
        int after;
        bool believed;
    };
    for (const Edge& edge : std::vector<Edge>{{20, 10, true},
                                              {11, 1, true},
                                              {22, 11, true},
                                              {22, 10, false},
                                              {21, 10, false},
                                              {100, 50, true},
                                              {100, 49, false},
                                              {1, 0, false},
                                              {0, 0, true},
                                              {5, 9, true}}) {
        JournalScript s = world_of(edge.before);
        list(s, edge.after, 20);
        EXPECT_EQ(s.source("pods").known, edge.believed) << edge.before << " to " << edge.after;
    }
}

TEST(SuspiciousDrop, TheShareIsASetting) {
    Settings settings = graph_settings(Mode::kObserve);
    settings.max_drop_percent = 100;
    JournalScript s(settings);
    s.own("pods");
    list(s, 100, 10);
    list(s, 1, 20);
    EXPECT_TRUE(s.source("pods").known);
    list(s, 0, 30);
    EXPECT_FALSE(s.source("pods").known) << "zero is never believed";
}

TEST(SuspiciousDrop, PodsThatWereDeletedOneByOneAreNoDrop) {
    JournalScript s = world_of(30);
    for (int i = 0; i < 30; ++i) {
        s.pod_gone(pod_number(i).name, pod_number(i).uid, 15);
    }
    ASSERT_EQ(s.source("pods").population, 0U);
    s.pods_listed(20, {});
    EXPECT_TRUE(s.source("pods").known);
}

TEST(SuspiciousDrop, AFindingThatWaitsSaysQuarantine) {
    JournalScript s;
    s.together([&] {
        s.known("rows");
        s.own("pods");
        list(s, 20, 10);
    });
    s.quiet_until(30s);
    s.news();
    s.pods_listed(20, {});
    s.quiet_until(60s);
    const std::string told = s.news();
    EXPECT_NE(told.find("60s suspected orphaned_pod wrapper-0 u0: quarantine\n"), std::string::npos)
        << told;
    EXPECT_TRUE(s.commands().empty());
}

TEST(SuspiciousDrop, ANewOwnerDoesNotLiftIt) {
    JournalScript s = world_of(100);
    s.pods_listed(20, {});
    s.own("pods");
    s.pods_listed(21, {});
    EXPECT_FALSE(s.source("pods").known);
    list(s, 60, 22);
    EXPECT_TRUE(s.source("pods").known);
}

}  // namespace
}  // namespace trueup::testing
