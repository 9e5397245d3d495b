// Proves the tables of waits (design §5: due timers; §4.5: progress).
#include "engine/core/waits.h"

#include <gtest/gtest.h>

#include <random>
#include <set>

namespace trueup::core {
namespace {

using std::chrono::seconds;

Wait due(std::int64_t at) {
    Wait wait;
    wait.due = JournalTime(seconds(at));
    return wait;
}
Wait seen(SourceId source, std::int64_t beyond) {
    Wait wait;
    wait.source = source;
    wait.beyond = BrokerTime(seconds(beyond));
    return wait;
}
Wait none_of(TallyId tally) {
    Wait wait;
    wait.none_of = tally;
    return wait;
}

TEST(Waits, TimersComeInOrderAndNotBeforeTheirTime) {
    Waits waits;
    waits.add("b", due(20));
    waits.add("a", due(30));
    waits.add("c", due(10));
    EXPECT_EQ(waits.next_due(), JournalTime(seconds(10)));
    EXPECT_EQ(waits.take_due(JournalTime(seconds(9))), std::nullopt);
    EXPECT_EQ(waits.take_due(JournalTime(seconds(20))), "c");
    EXPECT_EQ(waits.take_due(JournalTime(seconds(20))), "b");
    EXPECT_EQ(waits.take_due(JournalTime(seconds(20))), std::nullopt);
    EXPECT_EQ(waits.take_due(JournalTime(seconds(30))), "a");
    EXPECT_EQ(waits.next_due(), std::nullopt);
}

// Symptom: two were taken for their turn at once, and neither got it; who came back first was
// forgotten when the second one did, until a restart made the table anew from the rows.
TEST(Waits, WhoWasTakenWithOthersAndComesBackFirstIsNotForgotten_C1) {
    Wait turn;
    constexpr RuleNumber kRule(0);
    turn.turn = Turn{kRule, JournalTime(seconds(10))};
    Waits waits;
    waits.add("a", turn);
    waits.add("b", turn);
    ASSERT_EQ(waits.take_turn(kRule), "a");
    ASSERT_EQ(waits.take_turn(kRule), "b");
    for (const char* key : {"a", "b"}) {
        waits.remove(key, turn);
        waits.add(key, turn);
    }
    EXPECT_EQ(waits.take_turn(kRule), "a");
    EXPECT_EQ(waits.take_turn(kRule), "b");
    EXPECT_EQ(waits.take_turn(kRule), std::nullopt);
}

TEST(Waits, ProgressMustPassNotReach) {
    Waits waits;
    waits.add("a", seen(1, 100));
    EXPECT_EQ(waits.take_seen(1, BrokerTime(seconds(100))), std::nullopt);
    EXPECT_EQ(waits.take_seen(0, BrokerTime(seconds(999))), std::nullopt);
    EXPECT_EQ(waits.take_seen(2, BrokerTime(seconds(999))), std::nullopt);
    EXPECT_EQ(waits.take_seen(1, BrokerTime(seconds(101))), "a");
}

TEST(Waits, WhoWaitsForTheEndOfATallyComesByKey) {
    Waits waits;
    waits.add("b", none_of(1));
    waits.add("a", none_of(1));
    waits.add("c", none_of(0));
    EXPECT_EQ(waits.take_none_of(1), "a");
    EXPECT_EQ(waits.take_none_of(1), "b");
    EXPECT_EQ(waits.take_none_of(1), std::nullopt);
    EXPECT_EQ(waits.take_none_of(0), "c");
}

TEST(Waits, AWaitMayHaveSeveralParts) {
    Waits waits;
    Wait all = seen(0, 5);
    all.due = JournalTime(seconds(1));
    all.none_of = 0;
    waits.add("a", all);
    EXPECT_FALSE(waits.empty());
    waits.remove("a", all);
    EXPECT_TRUE(waits.empty());
}

TEST(Waits, WhoIsTakenByOnePartMayStillHaveTheOthersRemoved) {
    Waits waits;
    Wait both = seen(0, 5);
    both.due = JournalTime(seconds(1));
    waits.add("a", both);
    waits.add("b", due(1));
    EXPECT_EQ(waits.take_due(JournalTime(seconds(1))), "a");
    waits.remove("a", both);
    EXPECT_EQ(waits.take_seen(0, BrokerTime(seconds(6))), std::nullopt);
    EXPECT_EQ(waits.take_due(JournalTime(seconds(1))), "b");
    EXPECT_TRUE(waits.empty());
    EXPECT_EQ(waits.bytes(), 0U);
}

TEST(Waits, TwoWaitsThatShareAPartAreTwo) {
    Waits waits;
    Wait both = seen(0, 5);
    both.due = JournalTime(seconds(1));
    waits.add("a", both);
    waits.add("a", due(1));
    waits.remove("a", due(1));
    EXPECT_EQ(waits.take_due(JournalTime(seconds(1))), "a");
    EXPECT_EQ(waits.take_due(JournalTime(seconds(1))), std::nullopt);
    waits.remove("a", both);
    EXPECT_TRUE(waits.empty());
}

// A wait that was taken, removed as the fold does, and registered anew is a wait.
TEST(Waits, WhoIsTakenRemovedAndAddedAgainWaitsAgain) {
    Waits waits;
    for (const char* key : {"a", "b", "c"}) waits.add(key, due(1));
    EXPECT_EQ(waits.take_due(JournalTime(seconds(1))), "a");
    waits.remove("a", due(1));
    waits.add("a", due(1));
    EXPECT_EQ(waits.take_due(JournalTime(seconds(1))), "a");
    EXPECT_EQ(waits.take_due(JournalTime(seconds(1))), "b");
    EXPECT_EQ(waits.take_due(JournalTime(seconds(1))), "c");
    EXPECT_EQ(waits.take_due(JournalTime(seconds(1))), std::nullopt);
    EXPECT_TRUE(waits.empty());
}

/// Few times and keys, so that lists are filled, emptied and compacted again and again.
TEST(Waits, AnyOrderOfAddRemoveAndTakeEqualsAnOrderedSet) {
    const std::uint64_t seed = 20261121;
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937_64 random(seed);
    const auto any = [&](std::uint64_t below) {
        return static_cast<std::int64_t>(random() % below);
    };
    Waits waits;
    std::set<std::pair<std::int64_t, std::string>> model;
    for (int step = 0; step < 200'000; ++step) {
        const std::int64_t at = any(5);
        const std::string key = "key-" + std::to_string(any(40));
        if (any(20) == 0) {
            const auto first = model.begin();
            const bool ripe = first != model.end() && first->first <= at;
            const auto expected = ripe ? std::optional(first->second) : std::nullopt;
            ASSERT_EQ(waits.take_due(JournalTime(seconds(at))), expected) << "step " << step;
            if (!ripe) continue;
            // As the fold does: the wait that was taken is removed as well.
            if (any(2) == 0) waits.remove(first->second, due(first->first));
            model.erase(first);
        } else if (model.insert({at, key}).second) {
            waits.add(key, due(at));
        } else {
            waits.remove(key, due(at));
            model.erase({at, key});
        }
    }
    while (!model.empty()) {
        ASSERT_EQ(waits.take_due(JournalTime(seconds(9))), model.begin()->second);
        model.erase(model.begin());
    }
    EXPECT_EQ(waits.take_due(JournalTime(seconds(9))), std::nullopt);
    EXPECT_TRUE(waits.empty());
    EXPECT_EQ(waits.bytes(), 0U);
}

}  // namespace
}  // namespace trueup::core
