// Proves docs/adr/0017: of several engines on a shard the one whose record came last goes on, and
// another one steps in when something has waited.
#include "engine/runtime/turns.h"

#include "tests/engine/runtime/bench.h"

#include <gtest/gtest.h>

namespace trueup::runtime {
namespace {

using testing::Bench;
using testing::pod;

constexpr SteadyTime at(int ms) { return SteadyTime{} + Millis{ms}; }

TEST(Turns, ItIsOursUntilAnotherEnginesRecordComes) {
    Turns turns(Millis{200});
    EXPECT_TRUE(turns.ours());
    turns.appended(5);
    turns.accepted(5, at(1));
    turns.look(false);
    EXPECT_TRUE(turns.ours());
    turns.accepted(6, at(2));
    turns.look(false);
    EXPECT_FALSE(turns.ours());
    turns.accepted(7, at(3));
    turns.appended(7);
    turns.look(false);
    EXPECT_TRUE(turns.ours()) << "ours came last";
}

TEST(Turns, ARecordMayBeReadBeforeItsAppendIsAnswered) {
    Turns turns(Millis{200});
    turns.accepted(5, at(1));
    turns.look(true);
    EXPECT_TRUE(turns.ours()) << "nobody knows yet";
    turns.appended(5);
    turns.look(true);
    EXPECT_TRUE(turns.ours());
    turns.accepted(6, at(2));
    turns.appended(7);
    turns.look(true);
    EXPECT_FALSE(turns.ours()) << "an answer for a later record came first";
}

TEST(Turns, AnotherOneStepsInOnceSomethingHasWaited) {
    Turns turns(Millis{200});
    turns.accepted(5, at(1'000));
    turns.look(false);
    EXPECT_FALSE(turns.step_in(true, at(1'199)));
    EXPECT_FALSE(turns.step_in(false, at(1'250))) << "nothing waits any more";
    EXPECT_FALSE(turns.step_in(true, at(1'449)));
    turns.accepted(6, at(1'449));
    turns.look(false);
    EXPECT_FALSE(turns.step_in(true, at(1'648))) << "the other one goes on";
    EXPECT_TRUE(turns.step_in(true, at(1'649)));
    EXPECT_TRUE(turns.ours());
    turns.look(false);
    EXPECT_TRUE(turns.ours()) << "until a record says otherwise";
}

/// Two engines on one shard.
class TwoEngines : public ::testing::Test {
  protected:
    void SetUp() override {
        one_ = bench_.open();
        bench_.settle(*one_);
        two_ = bench_.open(&store_);
        bench_.settle(*two_);  // the newest one goes on
        bench_.settle(*one_);
    }
    void both(int times = 3) {
        for (int i = 0; i < times; ++i) {
            bench_.settle(*two_);
            bench_.settle(*one_);
        }
    }
    std::uint64_t duplicates() const { return two_->state().meta.counters.duplicates; }

    Bench bench_;
    projections::MemoryStore store_;
    std::unique_ptr<Shard> one_;
    std::unique_ptr<Shard> two_;
};

TEST_F(TwoEngines, OneSequencesAndPublishes) {
    const std::uint64_t before = duplicates();
    bench_.all_known({pod("a", "u1", 5), pod("b", "u2", 5)}, {});
    both();
    for (int second = 0; second < 5; ++second) {
        bench_.pass(Millis{1'000});
        bench_.all_progress();
        both();
    }
    EXPECT_TRUE(two_->status().in_turn);
    EXPECT_FALSE(one_->status().in_turn);
    EXPECT_EQ(duplicates(), before);
    EXPECT_EQ(one_->status().published, 0U);
    EXPECT_EQ(one_->state().meta.digest, two_->state().meta.digest);
    const std::vector<FindingEdge> findings = testing::findings_in(bench_.log);
    ASSERT_FALSE(findings.empty());
    for (std::size_t i = 1; i < findings.size(); ++i) {
        EXPECT_LT(std::pair(findings[i - 1].offset, findings[i - 1].index),
                  std::pair(findings[i].offset, findings[i].index));
    }
}

TEST_F(TwoEngines, TheOtherOneStepsInWhenItStops_C4) {
    bench_.all_known({pod("a", "u1", 5)}, {});
    both();
    two_.reset();
    const std::int64_t last = one_->state().meta.applied;
    bench_.all_known({pod("a", "u1", 5), pod("b", "u2", 6)}, {});
    bench_.settle(*one_);
    EXPECT_EQ(one_->state().meta.applied, last) << "it may still come";
    bench_.pass(Millis{200});
    bench_.settle(*one_);
    EXPECT_GT(one_->state().meta.applied, last);
    EXPECT_TRUE(one_->status().in_turn);
    EXPECT_EQ(one_->state().meta.subjects, 2U);
    bench_.pass(Millis{3'000});
    bench_.live(*one_, Millis{3'000});
    EXPECT_FALSE(testing::findings_in(bench_.log).empty());
}

}  // namespace
}  // namespace trueup::runtime
