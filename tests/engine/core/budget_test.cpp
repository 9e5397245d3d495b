// Proves the paced budgets of rules (design §4.10, ADR 9): bounded in every window, over all shards
// together, in order, and cleared by themselves.
#include "engine/core/budget.h"

#include "tests/support/graph_script.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <random>
#include <string>
#include <vector>

namespace trueup::testing {
namespace {

using Populations = std::vector<std::uint64_t>;

core::Meta shard_of(std::size_t shard, std::size_t shards, std::uint64_t subjects = 0) {
    core::Meta meta;
    meta.partitions = static_cast<std::int32_t>(shards);
    meta.shard = PartitionNumber(static_cast<std::int32_t>(shard));
    meta.present = subjects;
    return meta;
}

/// What the window allows all shards together.
std::uint64_t allowed(const Budget& budget, std::int64_t window, const Populations& subjects) {
    std::uint64_t all = 0;
    for (std::size_t shard = 0; shard < subjects.size(); ++shard) {
        all += core::allowance(budget, window, shard_of(shard, subjects.size(), subjects[shard]));
    }
    return all;
}

/// L of the design: what one shard with all subjects would be allowed.
std::uint64_t cap(const Budget& budget, const Populations& subjects) {
    const auto all = std::accumulate(subjects.begin(), subjects.end(), std::uint64_t{0});
    return std::max<std::uint64_t>(budget.max, all * budget.percent / 100);
}

Budget random_budget(std::mt19937_64& random) {
    const auto most = static_cast<std::uint32_t>(1 + random() % (random() % 2 == 0 ? 20 : 1'000));
    return {most, static_cast<std::uint32_t>(random() % 51), 60s};
}

/// Even and skewed, empty and large.
Populations random_populations(std::mt19937_64& random) {
    Populations subjects(1 + random() % 16);
    const std::uint64_t even = random() % 2 == 0 ? random() % 5'000 : 0;
    for (std::uint64_t& count : subjects) count = even + random() % (1U << random() % 14U);
    return subjects;
}

TEST(Budget, AWindowIsCountedInJournalTime) {
    const Budget budget{10, 20, 300s};
    core::Meta meta;
    meta.broker_now = broker(1'000s);
    EXPECT_EQ(core::window_of(budget, meta), 0);
    meta.now = JournalTime(299'999ms);
    EXPECT_EQ(core::window_of(budget, meta), 0);
    meta.now = JournalTime(300s);
    EXPECT_EQ(core::window_of(budget, meta), 1);
}

TEST(Budget, SeveralShardsCountTheirWindowsByTheOneClockThatTheyShare) {
    const Budget budget{10, 20, 300s};
    core::Meta meta = shard_of(1, 4);
    meta.now = JournalTime(7s);
    meta.broker_now = BrokerTime(299'999ms);
    EXPECT_EQ(core::window_of(budget, meta), 0);
    meta.broker_now = BrokerTime(300s);
    EXPECT_EQ(core::window_of(budget, meta), 1);
}

TEST(Budget, TheShareOfTheSubjectsCountsWhereItIsMore) {
    core::Meta meta;
    meta.present = 49;
    EXPECT_EQ(core::allowance({10, 20, 300s}, 0, meta), 10U);
    meta.present = 55;
    EXPECT_EQ(core::allowance({10, 20, 300s}, 0, meta), 11U);
}

TEST(Budget, TheFixedPartIsDividedAmongTheShardsAndNeverExceeded) {
    const Budget budget{10, 0, 300s};
    for (const std::size_t shards : {1U, 2U, 3U, 4U, 7U, 10U, 16U}) {
        for (std::int64_t window = 0; window < 40; ++window) {
            EXPECT_EQ(allowed(budget, window, Populations(shards)), 10U)
                << shards << " shards, window " << window;
        }
    }
}

TEST(Budget, AllShardsTogetherAreNeverAllowedMoreThanOneWouldBe) {
    const std::uint64_t seed = 20270114;
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937_64 random(seed);
    for (int run = 0; run < 20'000; ++run) {
        const Budget budget = random_budget(random);
        const Populations subjects = random_populations(random);
        const auto window = static_cast<std::int64_t>(random() % 1'000'000);
        const std::uint64_t most = cap(budget, subjects);
        const std::uint64_t all = allowed(budget, window, subjects);
        ASSERT_LE(all, most) << "run " << run;
        // What is lost to the shards' silence (ADR 9); nothing with one shard.
        ASSERT_LE(most - all, (subjects.size() - 1) * (budget.max + 1U)) << "run " << run;
        ASSERT_GE(all, budget.max) << "run " << run;
    }
}

TEST(Budget, NothingIsLostWhereOneShardHoldsEverything) {
    std::mt19937_64 random(7);
    for (int run = 0; run < 1'000; ++run) {
        const Budget budget = random_budget(random);
        Populations subjects(1 + random() % 16);
        subjects[random() % subjects.size()] = random() % 100'000;
        ASSERT_EQ(allowed(budget, run, subjects), cap(budget, subjects)) << "run " << run;
    }
}

TEST(Budget, EveryShardHasATurnInAsManyWindowsAsThereAreShards) {
    const Budget budget{1, 0, 300s};
    for (std::size_t shards = 1; shards <= 16; ++shards) {
        for (std::size_t shard = 0; shard < shards; ++shard) {
            std::uint64_t turns = 0;
            for (std::int64_t window = 1'000; window < 1'000 + std::int64_t(shards); ++window) {
                turns += core::allowance(budget, window, shard_of(shard, shards));
            }
            EXPECT_EQ(turns, 1U) << "shard " << shard << " of " << shards;
        }
    }
}

/// Subjects come and go while commands are issued, as many as each shard may.
TEST(Budget, NoWindowIsExceededWhilePopulationsMove) {
    const std::uint64_t seed = 20270115;
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937_64 random(seed);
    for (int run = 0; run < 500; ++run) {
        const Budget budget = random_budget(random);
        const Populations start = random_populations(random);
        std::vector<core::Meta> shards;
        for (std::size_t i = 0; i < start.size(); ++i) {
            shards.push_back(shard_of(i, start.size(), start[i]));
        }
        std::vector<core::Spending> spent(shards.size());
        const BrokerTime now(Millis(random() % 1'000'000'000));
        Populations highest = start;
        for (int step = 0; step < 100; ++step) {
            const std::size_t i = random() % shards.size();
            shards[i].now = JournalTime(now.time_since_epoch());
            shards[i].broker_now = now;
            shards[i].present = shards[i].present * (random() % 200) / 100 + random() % 3;
            highest[i] = std::max(highest[i], shards[i].present);
            for (std::uint64_t n = core::left_of(budget, spent[i], shards[i]); n > 0; --n) {
                core::spend(budget, shards[i], spent[i]);
            }
        }
        std::uint64_t all = 0;
        for (const core::Spending& shard : spent) all += shard.commands;
        ASSERT_LE(all, cap(budget, highest)) << "run " << run;
    }
}

TEST(Budget, WhatIsSpentIsForgottenWithItsWindow) {
    const Budget budget{2, 0, 300s};
    core::Meta meta;
    core::Spending spending;
    meta.now = JournalTime(10s);
    EXPECT_EQ(core::left_of(budget, spending, meta), 2U);
    core::spend(budget, meta, spending);
    core::spend(budget, meta, spending);
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
            ++issued[core::window_of(settings.rules[0].budget, s.meta())];
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

/// A shard of `shards` that was not watched for `absent`, with ten orphans; its commands until 900
/// s.
std::vector<Command> commands_of(std::size_t shard, std::size_t shards, Millis absent) {
    Settings settings = graph_settings();
    settings.rules[0].budget = {3, 0, 60s};
    settings.rules[0].grace = 20s;
    settings.command_ttl = 600s;
    JournalScript s(settings, shard + 1);
    s.state().meta.partitions = static_cast<std::int32_t>(shards);
    s.state().meta.shard = PartitionNumber(static_cast<std::int32_t>(shard));
    s.all_known();
    s.quiet_until(100s);
    s.at(100s + absent).tick();
    for (int i = 0; i < 10; ++i) {
        const std::string number = std::to_string(i);
        s.pod({.name = "wrapper-" + number, .uid = number, .version = 11});
    }
    s.quiet_until(900s);
    return s.commands();
}

/// Symptom: of 16 shards, each of which had been away for another while, each took the one slot of
/// a window for its own, at the same moment.
TEST(Budget, ShardsThatWereAwayForDifferentTimesShareTheSameWindows) {
    std::map<std::int64_t, int> issued;  // by the minute, as a reader of `commands` sees it
    std::size_t all = 0;
    for (std::size_t shard = 0; shard < 4; ++shard) {
        for (const Command& command : commands_of(shard, 4, 37s * std::int64_t(shard))) {
            if (command.emission > 1) continue;
            ++all;
            ++issued[to_millis(command.issued) / 60'000];
        }
    }
    EXPECT_GT(all, 30U);
    for (const auto& [minute, commands] : issued) EXPECT_LE(commands, 3) << "minute " << minute;
}

std::string numbered(const char* prefix, int number) { return prefix + std::to_string(number); }

/// So many instances, each with its row and its pod.
void appear(JournalScript& s, const char* prefix, int count, std::uint64_t version) {
    s.together([&] {
        for (int i = 0; i < count; ++i) {
            const std::string id = numbered(prefix, i);
            s.pod({.name = "wrapper-" + id, .uid = id, .version = version});
            s.row({.pk = id, .name = "wrapper-" + id, .version = version});
        }
    });
}

/// Symptom: of fifty running instances all were deleted in one window, because a thousand that had
/// come and gone in good order were still counted for the share.
TEST(Budget, TheShareIsOfWhatIsThereAndNotOfWhatEverWas_S29) {
    JournalScript s(graph_settings());
    s.all_known();
    s.quiet_until(100s);
    appear(s, "old-", 1'000, 11);
    s.together([&] {
        for (int i = 0; i < 1'000; ++i) {
            const std::string id = numbered("old-", i);
            s.pod_gone("wrapper-" + id, id, 12);
            s.row_gone("wrapper-" + id, id, 12);
        }
    });
    s.quiet_until(110s);
    appear(s, "", 60, 21);
    s.quiet_until(600s);
    s.together([&] {
        for (int i = 0; i < 60; ++i) s.row_gone("wrapper-" + numbered("", i), numbered("", i), 31);
    });
    s.quiet_until(690s);
    const auto deletions =
        std::count_if(s.commands().begin(), s.commands().end(), [](const Command& command) {
            return command.emission == 1 && command.rule == "orphaned_pod";
        });
    EXPECT_EQ(deletions, 12) << "20 % of 60, which is more than 10";
}

}  // namespace
}  // namespace trueup::testing
