// Proves the paced budgets of rules (design §4.10): bounded in every window, in order, and cleared
// by themselves.
#include "engine/core/budget.h"

#include "tests/support/journal_script.h"

#include <gtest/gtest.h>

#include <random>

namespace trueup::testing {
namespace {

TEST(Budget, AWindowIsCountedInJournalTime) {
    const Budget budget{10, 20, 300s};
    EXPECT_EQ(core::window_of(budget, JournalTime(0s)), 0);
    EXPECT_EQ(core::window_of(budget, JournalTime(299'999ms)), 0);
    EXPECT_EQ(core::window_of(budget, JournalTime(300s)), 1);
}

TEST(Budget, TheShareOfTheSubjectsCountsWhereItIsMore) {
    core::Meta meta;
    meta.subjects = 49;
    EXPECT_EQ(core::allowance({10, 20, 300s}, 0, meta), 10U);
    meta.subjects = 55;
    EXPECT_EQ(core::allowance({10, 20, 300s}, 0, meta), 11U);
}

TEST(Budget, TheFixedPartIsDividedAmongTheShardsAndNeverExceeded) {
    const Budget budget{10, 0, 300s};
    for (const std::int32_t shards : {1, 2, 3, 4, 7, 10, 16}) {
        for (std::int64_t window = 0; window < 40; ++window) {
            std::uint64_t all = 0;
            for (std::int32_t shard = 0; shard < shards; ++shard) {
                core::Meta meta;
                meta.partitions = shards;
                meta.shard = shard;
                all += core::allowance(budget, window, meta);
            }
            EXPECT_EQ(all, 10U) << shards << " shards, window " << window;
        }
    }
}

TEST(Budget, WhatIsSpentIsForgottenWithItsWindow) {
    const Budget budget{2, 0, 300s};
    core::Meta meta;
    core::Spending spending;
    meta.now = JournalTime(10s);
    EXPECT_EQ(core::left_of(budget, spending, meta), 2U);
    core::spend(budget, meta.now, spending);
    core::spend(budget, meta.now, spending);
    EXPECT_EQ(core::left_of(budget, spending, meta), 0U);
    meta.now = JournalTime(300s);
    EXPECT_EQ(core::left_of(budget, spending, meta), 2U);
}

/// Orphans come at random. No window has more commands than it allows, of two that wait the older
/// finding is served first, and in the end each got its turn.
TEST(Budget, NoWindowIsExceededAndTheOldestIsServedFirst) {
    const std::uint64_t seed = 20261121;
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937_64 random(seed);
    Settings settings = graph_settings();
    settings.rules[0].budget = {3, 0, 60s};
    settings.rules[0].grace = 20s;
    settings.command_ttl = 600s;
    JournalScript s(settings);
    s.all_known();
    s.quiet_until(100s);
    std::map<std::int64_t, int> issued;  // by window
    std::size_t seen = 0;
    for (int step = 0; step < 500; ++step) {
        if (random() % 3 == 0 && step < 250) {
            const std::string number = std::to_string(step);
            s.pod({.name = "wrapper-" + std::to_string(random() % 90) + "-" + number,
                   .uid = number,
                   .version = 11});
        }
        s.quiet_until(s.now() + Millis(1'000 + static_cast<std::int64_t>(random() % 9'000)));
        for (; seen < s.commands().size(); ++seen) {
            const Command& command = s.commands()[seen];
            if (command.emission > 1) continue;
            ++issued[core::window_of(settings.rules[0].budget, s.meta().now)];
            s.outcome(command, OutcomeKind::kDone);
            s.pod_gone(command.draft.target.name, command.draft.target.object_id, 12);
        }
    }
    std::size_t all = 0;
    for (const auto& [window, commands] : issued) {
        EXPECT_LE(commands, 3) << "window " << window;
        all += static_cast<std::size_t>(commands);
    }
    EXPECT_EQ(all, s.meta().rules[0].detected);
    EXPECT_EQ(s.meta().open_findings, 0U);
    JournalTime last{};
    for (const FindingEdge& edge : s.findings()) {
        if (edge.state != FindingState::kCommanded) continue;
        EXPECT_GE(edge.since, last) << edge.subject << " overtook an older one";
        last = edge.since;
    }
}

}  // namespace
}  // namespace trueup::testing
