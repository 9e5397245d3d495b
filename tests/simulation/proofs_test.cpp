// Proves that a proof is held against the world: what a shard shows when a source has proven
// everything must have been so at that moment, or since.
#include "simulation/proofs.h"

#include "sandbox/world.h"
#include "simulation/scheduler.h"
#include "tests/support/graph_script.h"

#include <gtest/gtest.h>

#include <string>

namespace trueup::simulation {
namespace {

sandbox::WorldSettings world_settings() {
    sandbox::WorldSettings settings;
    settings.block_in_poll = false;
    return settings;
}

class ProofsTest : public ::testing::Test {
  protected:
    ProofsTest() {
        world_.observe([this](const std::vector<sandbox::Record>& act) {
            history_.take(act, scheduler_.steady_now());
        });
        journal_.all_known();
    }
    void pass(Millis time) { scheduler_.run_until(scheduler_.since() + time); }
    /// Taken now, and of `ago` before.
    std::string against(const char* source, Millis ago, std::int32_t shards = 1) {
        const auto& sources = journal_.meta().sources;
        SourceId id = 0;
        while (sources[id].name != source) ++id;
        const SteadyTime now = scheduler_.steady_now();
        return against_proof(journal_.state(), {id, PartitionNumber(0), shards, now - ago, now},
                             history_);
    }

    Scheduler scheduler_{1};
    History history_{world_settings()};
    sandbox::World world_{1, scheduler_, world_settings()};
    testing::JournalScript journal_;
};

TEST_F(ProofsTest, AViewIsOfTheMomentThatWasProvenOrOfOneSince) {
    const std::string uid = world_.create_pod("w", {{"app", "w"}}, "Running");
    journal_.pod({.name = "w", .uid = uid});
    pass(Millis{1'000});
    EXPECT_EQ(against("pods", Millis{0}), "");
    world_.set_phase("w", "Failed");
    pass(Millis{1'000});
    EXPECT_EQ(against("pods", Millis{1'000}), "") << "it failed at the very moment";
    EXPECT_NE(against("pods", Millis{500}), "") << "it had failed by then";
    journal_.pod({.name = "w", .uid = uid, .version = 2, .phase = "Failed"});
    EXPECT_EQ(against("pods", Millis{1'500}), "") << "what came since may be seen already";
}

TEST_F(ProofsTest, WhatWasProvenLacksNothing) {
    pass(Millis{1'000});
    world_.create_pod("w", {{"app", "w"}}, "Running");
    world_.insert_row({{"pod_name", "w"}, {"status", "running"}});
    pass(Millis{1'000});
    EXPECT_EQ(against("pods", Millis{1'500}), "");
    EXPECT_NE(against("pods", Millis{0}), "");
    EXPECT_NE(against("rows", Millis{0}), "");
}

TEST_F(ProofsTest, WhatWasProvenHasNothingThatIsGone) {
    const std::string uid = world_.create_pod("w", {{"app", "w"}}, "Running");
    const std::string pk = world_.insert_row({{"pod_name", "w"}, {"status", "running"}});
    journal_.pod({.name = "w", .uid = uid});
    journal_.row({.pk = pk, .name = "w"});
    pass(Millis{1'000});
    EXPECT_EQ(against("pods", Millis{0}), "");
    EXPECT_EQ(against("rows", Millis{0}), "");
    world_.delete_pod("w", 0);
    world_.update_row(pk, {{"pod_name", "v"}});
    pass(Millis{1'000});
    EXPECT_NE(against("pods", Millis{0}), "");
    EXPECT_NE(against("rows", Millis{0}), "");
}

TEST_F(ProofsTest, APodThatLeftTheSelectorIsNoneOfOurs) {
    const std::string uid = world_.create_pod("w", {{"app", "w"}}, "Running");
    world_.set_labels("w", {{"of", "somebody"}});
    journal_.pod({.name = "w", .uid = uid, .in_scope = false});
    pass(Millis{1'000});
    EXPECT_EQ(against("pods", Millis{0}), "");
}

TEST_F(ProofsTest, AShardNeedNotKnowWhatIsOfAnother) {
    int missed = 0;
    for (int i = 0; i < 20; ++i) {
        const std::string name = "w" + std::to_string(i);
        world_.create_pod(name, {{"app", "w"}}, "Running");
        pass(Millis{1'000});
        missed += against("pods", Millis{0}, 2).empty() ? 0 : 1;
        world_.delete_pod(name, 0);
        pass(Millis{1'000});
    }
    EXPECT_GT(missed, 0);
    EXPECT_LT(missed, 20);
}

}  // namespace
}  // namespace trueup::simulation
