// Proves docs/adr/0017: of several engines on a shard the one whose record came last goes on, and
// another one steps in when something has waited.
#include "engine/runtime/active_hint.h"

#include "tests/engine/runtime/shard_fixture.h"

#include <gtest/gtest.h>

namespace trueup::runtime {
namespace {

using testing::pod;
using testing::ShardFixture;

constexpr SteadyTime at(int ms) { return SteadyTime{} + Millis{ms}; }

TEST(ActiveHint, ItIsOursUntilAnotherEnginesRecordComes) {
    ActiveHint hint(Millis{200});
    EXPECT_TRUE(hint.ours());
    hint.appended(Offset(5));
    hint.accepted(Offset(5), at(1));
    hint.look(false);
    EXPECT_TRUE(hint.ours());
    hint.accepted(Offset(6), at(2));
    hint.look(false);
    EXPECT_FALSE(hint.ours());
    hint.accepted(Offset(7), at(3));
    hint.appended(Offset(7));
    hint.look(false);
    EXPECT_TRUE(hint.ours()) << "ours came last";
}

TEST(ActiveHint, ARecordMayBeReadBeforeItsAppendIsAnswered) {
    ActiveHint hint(Millis{200});
    hint.accepted(Offset(5), at(1));
    hint.look(true);
    EXPECT_TRUE(hint.ours()) << "nobody knows yet";
    hint.appended(Offset(5));
    hint.look(true);
    EXPECT_TRUE(hint.ours());
    hint.accepted(Offset(6), at(2));
    hint.appended(Offset(7));
    hint.look(true);
    EXPECT_FALSE(hint.ours()) << "an answer for a later record came first";
}

TEST(ActiveHint, AnotherOneStepsInOnceSomethingHasWaited) {
    ActiveHint hint(Millis{200});
    hint.accepted(Offset(5), at(1'000));
    hint.look(false);
    EXPECT_FALSE(hint.step_in(true, at(1'199)));
    EXPECT_FALSE(hint.step_in(false, at(1'250))) << "nothing waits any more";
    EXPECT_FALSE(hint.step_in(true, at(1'449)));
    hint.accepted(Offset(6), at(1'449));
    hint.look(false);
    EXPECT_FALSE(hint.step_in(true, at(1'648))) << "the other one goes on";
    EXPECT_TRUE(hint.step_in(true, at(1'649)));
    EXPECT_TRUE(hint.ours());
    hint.look(false);
    EXPECT_TRUE(hint.ours()) << "until a record says otherwise";
}

/// Two engines on one shard.
class TwoEngines : public ::testing::Test {
  protected:
    void SetUp() override {
        one_ = fixture_.open();
        fixture_.settle(*one_);
        two_ = fixture_.open(&store_);
        fixture_.settle(*two_);  // the newest one goes on
        fixture_.settle(*one_);
    }
    void both(int times = 3) {
        for (int i = 0; i < times; ++i) {
            fixture_.settle(*two_);
            fixture_.settle(*one_);
        }
    }
    std::uint64_t duplicates() const { return two_->state().meta.counters.duplicates; }

    ShardFixture fixture_;
    projections::MemoryStore store_;
    std::unique_ptr<Shard> one_;
    std::unique_ptr<Shard> two_;
};

TEST_F(TwoEngines, OneSequencesAndPublishes) {
    const std::uint64_t before = duplicates();
    fixture_.all_known({pod("a", "u1", 5), pod("b", "u2", 5)}, {});
    both();
    for (int second = 0; second < 5; ++second) {
        fixture_.pass(Millis{1'000});
        fixture_.all_progress();
        both();
    }
    EXPECT_TRUE(two_->status().active);
    EXPECT_FALSE(one_->status().active);
    EXPECT_EQ(duplicates(), before);
    EXPECT_EQ(one_->status().published, 0U);
    EXPECT_EQ(one_->state().meta.digest, two_->state().meta.digest);
    const std::vector<FindingEdge> findings = testing::findings_in(fixture_.log);
    ASSERT_FALSE(findings.empty());
    for (std::size_t i = 1; i < findings.size(); ++i) {
        EXPECT_LT(std::pair(findings[i - 1].offset, findings[i - 1].index),
                  std::pair(findings[i].offset, findings[i].index));
    }
}

TEST_F(TwoEngines, TheOtherOneStepsInWhenItStops_C4) {
    fixture_.all_known({pod("a", "u1", 5)}, {});
    both();
    two_.reset();
    const Offset last = one_->state().meta.applied;
    fixture_.all_known({pod("a", "u1", 5), pod("b", "u2", 6)}, {});
    fixture_.settle(*one_);
    EXPECT_EQ(one_->state().meta.applied, last) << "it may still come";
    fixture_.pass(Millis{200});
    fixture_.settle(*one_);
    EXPECT_GT(one_->state().meta.applied, last);
    EXPECT_TRUE(one_->status().active);
    EXPECT_EQ(one_->state().meta.subjects, 2U);
    fixture_.pass(Millis{3'000});
    fixture_.live(*one_, Millis{3'000});
    EXPECT_FALSE(testing::findings_in(fixture_.log).empty());
}

}  // namespace
}  // namespace trueup::runtime
