// Proves design §4.3 and S12: two connectors of one source at once do no harm, for the lower token
// is dropped.
#include "tests/engine/runtime/shard_fixture.h"

#include <gtest/gtest.h>

namespace trueup::runtime::testing {
namespace {

std::unique_ptr<SourceTask> pods_task(MemoryLog& log, ScriptedConnector& connector,
                                      std::uint64_t nonce) {
    SourceTaskSettings settings;
    settings.source = "pods";
    settings.topic = Topic::kChangesPods;
    settings.nonce_seed = nonce;
    return std::make_unique<SourceTask>(settings, log, connector);
}

TEST(TwoOwners, OfTwoConnectorsTheLowerTokenIsDropped_S12) {
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        std::mt19937_64 random(seed);
        ShardFixture fixture;
        auto shard = fixture.open();
        fixture.rows.say(epoch_begins(1)).say(epoch_ends());
        fixture.publish();  // the fixture's own pods connector takes the first token, and is silent
        ScriptedConnector old_one;
        ScriptedConnector new_one;
        auto old_task = pods_task(fixture.log, old_one, 1);
        auto new_task = pods_task(fixture.log, new_one, 2);
        const auto step = [&](SourceTask& task) {
            ASSERT_TRUE(task.step(fixture.clock.steady_now(), Millis{0}).ok());
        };
        step(*old_task);
        old_one.say(epoch_begins(5)).say(listed(pod("a", "old", 5))).say(epoch_ends());
        step(*old_task);
        fixture.settle(*shard);
        EXPECT_EQ(shard->state().meta.sources[0].incarnation, old_task->incarnation());
        EXPECT_TRUE(shard->state().meta.sources[0].known);

        // The new one takes over. The old one does not know, and goes on with a view of its own:
        // newer versions, removals, a complete epoch that lacks everything, progress. It finds out
        // by where these records land.
        step(*new_task);
        new_one.say(epoch_begins(6)).say(listed(pod("a", "old", 6)));
        new_one.say(listed(pod("b", "new", 6))).say(epoch_ends()).say(progress(fixture.log.now()));
        std::vector<Fact> stale{pod("a", "old", 99, "Failed"),
                                gone(pod("a", "old", 100), 100),
                                gone(pod("b", "new", 101), 101),
                                epoch_begins(102),
                                epoch_ends(),
                                progress(fixture.log.now())};
        for (Fact& each : stale) old_one.say(std::move(each));
        if (random() % 2 == 0) step(*new_task);
        step(*old_task);
        if (random() % 2 == 0) fixture.settle(*shard);
        step(*new_task);
        step(*old_task);
        EXPECT_TRUE(old_task->stands_by());
        fixture.settle(*shard);
        const core::SourceState& source = shard->state().meta.sources[0];
        EXPECT_EQ(source.incarnation, new_task->incarnation());
        EXPECT_TRUE(source.known);
        EXPECT_FALSE(source.hole);
        EXPECT_EQ(source.population, 2U) << "the old one removed nothing";
        EXPECT_GE(shard->state().meta.counters.foreign_tokens, 6U);
        EXPECT_EQ(shard->state().meta.counters.holes, 0U);
    }
}

TEST(TwoOwners, AChangeOfOwnerClearsWhatWasProven_Design4_3) {
    ShardFixture fixture;
    auto shard = fixture.open();
    fixture.settle(*shard);
    fixture.all_known({pod("a", "u", 5)}, {});
    fixture.settle(*shard);
    EXPECT_NE(shard->state().meta.sources[0].complete_as_of, BrokerTime{});
    ScriptedConnector next;
    auto task = pods_task(fixture.log, next, 2);
    ASSERT_TRUE(task->step(fixture.clock.steady_now(), Millis{0}).ok());
    fixture.settle(*shard);
    const core::SourceState& source = shard->state().meta.sources[0];
    EXPECT_FALSE(source.known);
    EXPECT_EQ(source.complete_as_of, BrokerTime{});
    next.say(progress(fixture.log.now()));
    ASSERT_TRUE(task->step(fixture.clock.steady_now(), Millis{0}).ok());
    fixture.settle(*shard);
    EXPECT_EQ(source.complete_as_of, BrokerTime{}) << "progress counts after an epoch only";
}

}  // namespace
}  // namespace trueup::runtime::testing
