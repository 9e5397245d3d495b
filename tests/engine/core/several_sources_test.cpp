// Proves docs/adr/0054: what several sources of a role tell counts together (rule).
#include "policies/shipped.h"
#include "tests/support/graph_script.h"

#include <gtest/gtest.h>

namespace trueup::testing {
namespace {

/// The pod of a row that runs is gone from the first cluster at 201 s.
JournalScript moved_away() {
    JournalScript s(two_clusters());
    s.all_known();
    s.row({.pk = "7", .name = "wrapper-7", .version = 50});
    s.pod({.name = "wrapper-7", .uid = "a", .version = 11});
    s.quiet_until(200s);
    s.at(201s).pod_gone("wrapper-7", "a", 12);
    return s;
}

void west_is_silent_until(JournalScript& s, Millis until) {
    while (s.now() < until) {
        s.at(s.now() + 5s).progress("pods");
        s.progress("rows");
    }
}

// A pod had moved to another cluster, which had not told yet: its row was marked failed.
TEST(SeveralSources, WhatIsGoneFromOneClusterMayBeInTheOther) {
    JournalScript s = moved_away();
    west_is_silent_until(s, 230s);
    EXPECT_TRUE(s.commands().empty()) << "west is proven until 200 s only";
    s.quiet_until(240s);
    EXPECT_FALSE(s.commands().empty());
}

// A list that began anew made the engine forget that the pod had been in the first cluster.
TEST(SeveralSources, WhatIsGoneIsRememberedUntilTheOtherWasHeard) {
    JournalScript s = moved_away();
    for (std::uint64_t version = 13; version < 16; ++version) s.pods_listed(version, {});
    west_is_silent_until(s, 230s);
    EXPECT_TRUE(s.commands().empty()) << "west is proven until 200 s only";
    s.quiet_until(240s);
    EXPECT_FALSE(s.commands().empty());
}

// An instance was ended in one cluster while it came up in another, which had not told yet: its row
// was written all the same.
TEST(SeveralSources, WhatIsToEndMayBeInTheOtherCluster) {
    for (const OutcomeKind came : {OutcomeKind::kDone, OutcomeKind::kFailed}) {
        Settings settings = two_clusters();
        policies::rule_settings(settings, "ttl_expired").mode = Mode::kEnforce;
        JournalScript s(settings);
        s.all_known();
        s.quiet_until(90s);
        s.together([&] {
            s.pod({.name = "wrapper-7", .uid = "a", .version = 11});
            s.row({.pk = "7", .name = "wrapper-7", .version = 50, .created = -24h, .ttl = "60"});
        });
        s.quiet_until(160s);
        ASSERT_FALSE(s.commands().empty());
        const std::size_t deletions = s.commands().size();
        s.at(161s).outcome(s.commands().front(), came);
        s.pod_gone("wrapper-7", "a", 12);
        west_is_silent_until(s, 200s);
        EXPECT_EQ(s.commands().size(), deletions) << "west is proven until 160 s only";
        s.quiet_until(210s);
        EXPECT_GT(s.commands().size(), deletions);
    }
}

// The row of an ended instance was to be written although somebody had put a hold on what is dead
// of its name in the other cluster: each command was refused, until the ending counted as stuck.
TEST(SeveralSources, AnEndingWaitsForAHoldOnWhatGoesInTheOtherCluster) {
    Settings settings = two_clusters();
    policies::rule_settings(settings, "ttl_expired").mode = Mode::kEnforce;
    JournalScript s(settings);
    s.all_known();
    s.quiet_until(90s);
    s.together([&] {
        s.pod({.name = "wrapper-7", .uid = "a", .version = 11});
        s.row({.pk = "7", .name = "wrapper-7", .version = 50, .created = -24h, .ttl = "60"});
    });
    s.quiet_until(160s);
    ASSERT_FALSE(s.commands().empty());
    const std::size_t deletions = s.commands().size();
    Pod dead{.name = "wrapper-7", .uid = "b", .version = 13, .deleting = true, .hold = true};
    dead.source = "west";
    s.at(161s).pod(dead);
    s.outcome(s.commands().front(), OutcomeKind::kDone);
    s.pod_gone("wrapper-7", "a", 12);
    s.quiet_until(240s);
    EXPECT_EQ(s.commands().size(), deletions) << "somebody holds it";
    dead.hold = false;
    dead.version = 14;
    s.pod(dead);
    s.quiet_until(300s);
    EXPECT_GT(s.commands().size(), deletions);
}

}  // namespace
}  // namespace trueup::testing
