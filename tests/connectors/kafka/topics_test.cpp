// Proves connectors/kafka/topics.h: topics are held against what is planned and what has begun, so
// that a subject is in the shard in which it is looked for.
#include "connectors/kafka/topics.h"

#include <gtest/gtest.h>

namespace trueup::connectors::kafka {
namespace {

std::vector<TopicPlan> plan(std::int32_t partitions) {
    Settings settings;
    settings.prefix = "trueup";
    return plan_topics(settings, {partitions, 1, 1});
}

/// Topics that were made by a plan of so many partitions.
TopicsState made(std::int32_t partitions, std::int32_t shards) {
    TopicsState state;
    state.shards = shards;
    for (const TopicPlan& one : plan(partitions)) {
        state.topics.push_back({true, partitions, 1, one.settings});
    }
    return state;
}

void expect_refused(const TopicFlaws& flaws, const std::string& words) {
    ASSERT_FALSE(flaws.wrong.empty());
    for (const std::string& sentence : flaws.wrong) {
        EXPECT_NE(sentence.find(words), std::string::npos) << sentence;
    }
}

TEST(Topics, AsTheyWereMadeTheyAreRight) {
    for (const bool begun : {true, false}) {
        const TopicFlaws flaws = flaws_of(plan(3), made(3, begun ? 3 : 0), begun);
        EXPECT_TRUE(flaws.missing.empty());
        EXPECT_TRUE(flaws.wrong.empty());
        EXPECT_TRUE(flaws.warnings.empty());
    }
}

TEST(Topics, PartitionsThatSomebodyAddedAreWarnedOf) {
    // One `kafka-topics --alter --partitions` kept everything from starting, for ever.
    TopicsState state = made(1, 1);
    state.topics[0].partitions = 4;
    const TopicFlaws flaws = flaws_of(plan(1), state, true);
    EXPECT_TRUE(flaws.wrong.empty());
    ASSERT_EQ(flaws.warnings.size(), 1U);
    EXPECT_EQ(
        flaws.warnings[0],
        "topic trueup.changes.pods has 4 partitions and not 1: the additional ones are never used");
}

TEST(Topics, FewerPartitionsThanShardsAreRefused) {
    expect_refused(flaws_of(plan(1), made(4, 4), true), "write bus.kafka.partitions: 4");
    expect_refused(flaws_of(plan(1), made(4, 4), false), "write bus.kafka.partitions: 4");
    // Somebody added partitions beside that: the number of shards is what counts.
    expect_refused(flaws_of(plan(1), made(6, 4), true), "write bus.kafka.partitions: 4");
    TopicsState state = made(4, 4);
    state.topics[0].partitions = 2;
    expect_refused(flaws_of(plan(4), state, true), "has 2 partitions and not 4");
}

TEST(Topics, ANumberThatFollowsAddedPartitionsIsRefused) {
    // Who wrote the new number down had connectors tell of subjects in shards that do not exist.
    expect_refused(flaws_of(plan(4), made(4, 1), true), "write bus.kafka.partitions: 1");
    EXPECT_TRUE(flaws_of(plan(4), made(4, 1), false).wrong.empty()) << "`create` asks the journal";
}

TEST(Topics, OfWhichNoJournalHasBegunMayBeAnything) {
    expect_refused(flaws_of(plan(1), made(4, 0), true), "has 4 partitions and not 1");
    expect_refused(flaws_of(plan(1), made(4, 0), false), "has 4 partitions and not 1");
    TopicsState state = made(4, 0);
    for (std::size_t i = 0; i < state.topics.size(); ++i) {
        state.topics[i].exists = plan(1)[i].topic != Topic::kJournal;
    }
    expect_refused(flaws_of(plan(1), state, false), "has 4 partitions and not 1");
}

}  // namespace
}  // namespace trueup::connectors::kafka
