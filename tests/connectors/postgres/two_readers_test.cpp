// Proves S12 and S14 for two live connectors of one table: the one that comes second owns the
// source, takes nothing away from the first, and says for whom it waits.
#include "connectors/postgres/connector.h"
#include "sandbox/world.h"
#include "tests/connectors/postgres/connector_fixture.h"
#include "tests/engine/runtime/shard_fixture.h"

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>

namespace trueup::connectors::postgres {
namespace {

using runtime::SourceTask;
using runtime::testing::ShardFixture;
using sandbox::World;

World::Settings world_settings() {
    World::Settings settings;
    settings.block_in_poll = false;
    settings.evaluate_key = [](const std::string&, const sandbox::ColumnOf& column_of) {
        const std::optional<std::string>& name = *column_of("pod_name");
        return name ? name : std::optional("wrapper-" + **column_of("url_slug"));
    };
    return settings;
}

std::string add_row(World& world, const std::string& slug) {
    return world.insert_row({{"url_slug", slug}, {"status", "running"}});
}

/// One process: a connector on the world's database and the task that publishes for it.
class Reader {
  public:
    Reader(World& world, ShardFixture& fixture, std::uint64_t nonce)
        : fixture_(fixture),
          database_(world.database()),
          connector_(PostgresConnector::open(instances(), *database_).value()) {
        runtime::SourceTaskSettings task;
        task.source = "rows";
        task.topic = Topic::kChangesRows;
        task.nonce_seed = nonce;
        task_ = std::make_unique<SourceTask>(task, fixture.log, *connector_);
        connector_->pace_progress(Millis(1'000));
    }

    void step() {
        const Status stepped = task_->step(fixture_.clock.steady_now(), Millis(0));
        ASSERT_TRUE(stepped.ok()) << stepped.error().what;
    }
    Incarnation incarnation() const { return task_->incarnation(); }
    bool stands_by() const { return task_->stands_by(); }
    std::string trouble() const { return connector_->health().trouble; }

  private:
    ShardFixture& fixture_;
    std::unique_ptr<ports::Database> database_;
    std::unique_ptr<PostgresConnector> connector_;
    std::unique_ptr<SourceTask> task_;
};

class PostgresTwoReaders : public ::testing::Test {
  protected:
    PostgresTwoReaders() {
        add_row(world_, "a");
        add_row(world_, "b");
    }

    void live(int seconds) {
        for (int i = 0; i < 10 * seconds; ++i) {
            if (first_) first_->step();
            if (second_) second_->step();
            if (i % 10 == 9) fixture_.settle(*shard_);
            fixture_.pass(Millis(100));
        }
    }
    const core::SourceState& rows() const { return shard_->state().meta.sources[1]; }

    ShardFixture fixture_;
    std::unique_ptr<runtime::Shard> shard_ = fixture_.open();
    World world_{3, fixture_.clock, world_settings()};
    std::unique_ptr<Reader> first_ = std::make_unique<Reader>(world_, fixture_, 1);
    std::unique_ptr<Reader> second_;
};

TEST_F(PostgresTwoReaders, TheSecondOwnsTheSourceAndTheFirstLeavesItTheSlot_S12_S14) {
    live(5);
    ASSERT_TRUE(rows().known) << first_->trouble();
    EXPECT_EQ(rows().population, 2U);
    const BrokerTime proven = rows().complete_as_of;

    second_ = std::make_unique<Reader>(world_, fixture_, 2);
    live(2);
    world_.delete_row(add_row(world_, "c"));
    add_row(world_, "d");
    live(40);
    EXPECT_TRUE(first_->stands_by());
    EXPECT_EQ(rows().incarnation, second_->incarnation());
    EXPECT_GT(shard_->state().meta.counters.foreign_tokens, 0U) << "said before it knew";
    EXPECT_EQ(second_->trouble(), "");
    EXPECT_TRUE(rows().known);
    EXPECT_EQ(rows().population, 3U);
    EXPECT_GT(rows().complete_as_of, proven);
}

TEST_F(PostgresTwoReaders, TheFirstTakesOverFromASecondThatDied_S12_S14) {
    live(5);
    second_ = std::make_unique<Reader>(world_, fixture_, 2);
    live(40);
    ASSERT_TRUE(first_->stands_by());
    const Incarnation seconds = second_->incarnation();
    second_.reset();
    add_row(world_, "c");
    live(40);
    EXPECT_TRUE(first_->stands_by()) << "three heartbeats are not over";
    live(20);
    EXPECT_FALSE(first_->stands_by());
    EXPECT_GT(rows().incarnation, seconds);
    EXPECT_TRUE(rows().known) << first_->trouble();
    EXPECT_EQ(rows().population, 3U);
}

TEST_F(PostgresTwoReaders, TheSecondTakesOneTokenHoweverLongItWaits_S14) {
    live(5);
    second_ = std::make_unique<Reader>(world_, fixture_, 2);
    live(2);
    const Incarnation token = second_->incarnation();
    for (int i = 0; i < 10; ++i) {
        add_row(world_, "more-" + std::to_string(i));  // the first moves the slot
        live(20);
    }
    EXPECT_EQ(second_->incarnation(), token);
}

}  // namespace
}  // namespace trueup::connectors::postgres
