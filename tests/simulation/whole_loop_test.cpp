// Proves design §4 over the whole loop, from the wire to the repair: what is wrong is put right,
// nothing else is touched, whatever fails on the way (S3, S4, S5, S11, S14, S38). The runs are the
// simulator's and all of its oracles judge them; their schedules are not drawn but made here.
#include "engine/codec/change_codec.h"
#include "simulation/run.h"
#include "simulation/staging.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <string>

namespace trueup::simulation {
namespace {

using sandbox::Failure;
using sandbox::Op;

constexpr Millis kBroken{20'000};  // when something is
constexpr Millis kRight{120'000};  // and when it must not be any more
constexpr std::uint64_t kRepairs = 3;

/// What these schedules consist of.
struct Act : ActKind {
    Act(std::string_view named, void (*what)(Stage& stage, Random& random), Millis heals = kRight)
        : ActKind{named, Actor::kMisfortune, 0, what}, healed(heals) {}
    Millis healed;  ///< of a trouble: when all is right again
};

/// An orphaned pod, a row whose pod is missing, and one that does not know that its pod failed.
const Act kBreak("break", [](Stage& stage, Random&) {
    const std::string drifted = fresh_name(stage);
    stage.world.create_pod(fresh_name(stage), labels(), "Running");
    stage.world.insert_row(row_for(fresh_name(stage), "running"));
    stage.world.create_pod(drifted, labels(), "Failed");
    stage.world.insert_row(row_for(drifted, "running"));
});

/// So much was put right by then, each thing once.
template <std::uint64_t kEffects>
const Act kSee("see", [](Stage& stage, Random&) {
    EXPECT_EQ(stage.oracles.effects(), kEffects) << stage.fleet.trouble();
});

Plan until(Millis end) {
    return {.name = "whole loop",
            .about = "made by hand",
            .subjects = 12,
            .unrest = end,
            .budget = {100, 50, Millis{60'000}}};
}

void expect_good(std::uint64_t seed, const Plan& plan, const Schedule& schedule) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    for (const Violation& violation : run(seed, plan, schedule).violations) {
        ADD_FAILURE() << violation.oracle << ": " << violation.what;
    }
}

TEST(WholeLoop, PutsRightWhatIsWrongAndTouchesNothingElse_G1_G2_G3) {
    for (std::uint64_t seed = 1; seed <= 5; ++seed) {
        // The drift alone may be acted on at once.
        expect_good(seed, until(kRight + Millis{1}),
                    {{kBroken, &kBreak}, {Millis{30'000}, &kSee<1>}, {kRight, &kSee<kRepairs>}});
    }
}

/// Nothing was found or ordered for two minutes, and time went on in the journal without a leap.
const Act kSeeQuiet("see-quiet", [](Stage& stage, Random&) {
    const SteadyTime then = stage.scheduler.steady_now() - Millis{120'000};
    for (const Topic topic : {Topic::kFindings, Topic::kCommands}) {
        for (const auto& record : stage.broker.records({topic, PartitionNumber(0)})) {
            EXPECT_TRUE(record->value.empty() || record->stored_at < then) << name_of(topic);
        }
    }
    const Broker::Records& journal = stage.broker.records({Topic::kJournal, PartitionNumber(0)});
    const auto leap = [&](const auto& a, const auto& b) {
        return b->append_time - a->append_time > stage.fleet.settings().max_clock_step;
    };
    EXPECT_EQ(std::adjacent_find(journal.begin(), journal.end(), leap), journal.end());
});

TEST(WholeLoop, StaysQuietOnceAllIsRight_C12) {
    const Millis later = kRight + Millis{125'000};
    expect_good(1, until(later + Millis{1}),
                {{kBroken, &kBreak}, {kRight, &kSee<kRepairs>}, {later, &kSeeQuiet}});
}

void fail_pods(Stage& stage, const Failure& failure) {
    for (const Op op : {Op::kList, Op::kWatch, Op::kGet, Op::kDelete}) {
        stage.world.fail_next(op, failure, 3);
    }
    stage.world.cut_watch();
}

void fail_rows(Stage& stage, const Failure& failure, int times = 2) {
    for (const Op op : {Op::kInspect, Op::kEnsureSlot, Op::kCopy, Op::kStartWal, Op::kInsertLsn,
                        Op::kRead, Op::kUpdate}) {
        stage.world.fail_next(op, failure, times);
    }
    stage.world.kill_walsender();
}

void fail_watch(Stage& stage, const Failure& failure, int times = 2) {
    stage.world.fail_next(Op::kWatch, failure, times);
    stage.world.cut_watch();
}

constexpr Millis kSoon{400'000};    // what fails is tried again ever later
constexpr Millis kHung{1'200'000};  // calls run into one time limit after the other
constexpr Millis kSqlHung{2'400'000};

/// Each goes wrong before something else does, in between and after it.
const Act kTroubles[] = {
    {"None", [](Stage&, Random&) {}},
    {"Http500_S3", [](Stage& s, Random&) { fail_pods(s, Failure::http(500)); }, kSoon},
    {"Http403_S3", [](Stage& s, Random&) { fail_pods(s, Failure::http(403)); }, kSoon},
    {"Http429_S38", [](Stage& s, Random&) { fail_pods(s, Failure::http(429, 700)); }, kSoon},
    {"Hang_S3", [](Stage& s, Random&) { fail_pods(s, Failure::of(Failure::Kind::kHang)); }, kHung},
    {"CutBody_S5", [](Stage& s, Random&) { fail_pods(s, Failure::of(Failure::Kind::kCutBody)); },
     kSoon},
    {"NotJson_S3", [](Stage& s, Random&) { fail_pods(s, Failure::of(Failure::Kind::kNotJson)); },
     kSoon},
    {"Refused_S3", [](Stage& s, Random&) { fail_pods(s, Failure::of(Failure::Kind::kRefused)); },
     kSoon},
    {"EmptyList_S4",
     [](Stage& s, Random&) {
         s.world.fail_next(Op::kList, Failure::of(Failure::Kind::kEmptyList));
         s.world.compact();
         s.world.cut_watch();
     }},
    {"LostReply_S38",
     [](Stage& s, Random&) {
         for (const Op op : {Op::kDelete, Op::kUpdate}) {
             s.world.fail_next(op, Failure::of(Failure::Kind::kLostReply), 2);
         }
     }},
    {"Gone410_S11",
     [](Stage& s, Random&) {
         s.world.compact();
         s.world.cut_watch();
         s.world.fail_next(Op::kList, Failure::http(410), 2);
     }},
    {"ErrorEvent410_S11", [](Stage& s, Random&) { fail_watch(s, Failure::error_event(410)); }},
    {"ErrorEvent504_S11", [](Stage& s, Random&) { fail_watch(s, Failure::error_event(504)); }},
    {"ErrorEvent429_S11", [](Stage& s, Random&) { fail_watch(s, Failure::error_event(429), 4); },
     kSoon},
    {"DeafWatch_S11",
     [](Stage& s, Random&) {
         s.world.stall_watch(true);
         s.world.stall_watch(false);
         s.world.write_elsewhere();
     }},
    {"ApiRestart_S11", [](Stage& s, Random&) { s.world.restart_cluster(); }},
    {"SqlHang_S3", [](Stage& s, Random&) { fail_rows(s, Failure::of(Failure::Kind::kHang), 1); },
     kSqlHung},
    {"SqlState_S3", [](Stage& s, Random&) { fail_rows(s, Failure::sql("57P03")); }, kSoon},
    {"SqlCut_S5", [](Stage& s, Random&) { fail_rows(s, Failure::of(Failure::Kind::kCutBody)); },
     kSoon},
    {"SqlRefused_S3", [](Stage& s, Random&) { fail_rows(s, Failure::of(Failure::Kind::kRefused)); },
     kSoon},
    {"SlotLost_S14", [](Stage& s, Random&) { s.world.lose_slot(); }},
    {"SlotDropped_S14", [](Stage& s, Random&) { s.world.drop_slot(); }},
    {"WalsenderKilled_S14", [](Stage& s, Random&) { s.world.kill_walsender(); }},
    {"DatabaseRestart_S14", [](Stage& s, Random&) { s.world.restart_database(); }},
    {"DatabaseCrash_S14", [](Stage& s, Random&) { s.world.restart_database(true); }},
    {"FailOver_S14",
     [](Stage& s, Random&) {
         s.oracles.went_back("rows");
         s.world.fail_over();
     }},
};

/// An operator has looked, and says that what a source lists is so: nothing is taken away on the
/// word of one that went back in time before.
const Act kVouch("vouch", [](Stage& stage, Random&) { vouch(stage, true); });

class WholeLoopTrouble : public ::testing::TestWithParam<Act> {};

TEST_P(WholeLoopTrouble, IsNoAbsenceAndHeals) {
    const Act& trouble = GetParam();
    for (std::uint64_t seed = 1; seed <= 3; ++seed) {
        const Millis at_first = seed == 2 ? Millis{0} : kBroken;
        expect_good(seed, until(trouble.healed + Millis{1}),
                    {{at_first, &trouble},
                     {kBroken, &kBreak},
                     {kBroken + Millis{3'000}, &trouble},
                     {kBroken + Millis{3'000}, &kBreak},
                     {kBroken + Millis{5'500}, &trouble},
                     {kBroken + Millis{25'500}, &kVouch},
                     {trouble.healed, &kSee<2 * kRepairs>}});
        if (HasFailure()) return;
    }
}

INSTANTIATE_TEST_SUITE_P(WholeLoop, WholeLoopTrouble, ::testing::ValuesIn(kTroubles),
                         [](const auto& tested) { return std::string(tested.param.name); });

const Act kEmptyAnswers("empty-answers", [](Stage& stage, Random&) {
    stage.world.fail_next(Op::kList, Failure::of(Failure::Kind::kEmptyList), 2);
    stage.fleet.restart("pods");
});

int doubted = 0;  // for how many seconds nobody believed what the source of pods lists
const Act kLook("look", [](Stage& stage, Random&) {
    doubted += stage.fleet.quarantined(true).empty() ? 0 : 1;
});

// The connector of a new process knows nothing that it could ask for one by one, so two empty
// answers in a row reach the engine as an epoch: held there, and healed by the epoch that the
// engine asks for, long before the next one that would come anyway.
TEST(WholeLoop, EmptyAnswersToANewConnectorAreQuarantinedThenHealed_S4) {
    constexpr int kHealed = 30;
    for (std::uint64_t seed = 1; seed <= 5; ++seed) {
        doubted = 0;
        Schedule schedule{{kBroken, &kEmptyAnswers}, {kBroken, &kBreak}};
        for (Millis at = kBroken; at < kSoon; at += Millis{1'000}) schedule.push_back({at, &kLook});
        schedule.push_back({kSoon, &kSee<kRepairs>});
        expect_good(seed, until(kSoon + Millis{1}), schedule);
        EXPECT_GT(doubted, 0) << seed;
        EXPECT_LT(doubted, kHealed) << seed;
    }
}

template <int kMinutes>
const Act kSetClock("set-clock", [](Stage& stage, Random&) {
    stage.world.set_database_clock(std::chrono::minutes(kMinutes));
});

/// What the proofs bring of that clock is as it is.
template <int kMinutes>
const Act kSeeClock("see-clock", [](Stage& stage, Random&) {
    std::int64_t shown = 0;
    for (const auto& record : stage.broker.records({Topic::kChangesRows, PartitionNumber(0)})) {
        const auto change = codec::decode_change(record->value);
        if (change->kind == ChangeKind::kProgress) shown = to_millis(change->source_clock);
    }
    const Millis now = Millis(stage.scheduler.wall_millis()) + std::chrono::minutes(kMinutes);
    EXPECT_LE(Millis{0}, now - Millis(shown));
    EXPECT_LE(now - Millis(shown), Millis{25'000}) << "of the last proof";
});

TEST(WholeLoop, ADatabaseWhoseClockIsTenMinutesOffChangesNothing_S35) {
    const auto expect = [](const Act& set, const Act& see) {
        expect_good(
            1, until(kRight + Millis{1}),
            {{Millis{0}, &set}, {kBroken, &kBreak}, {kRight, &kSee<kRepairs>}, {kRight, &see}});
    };
    expect(kSetClock<-10>, kSeeClock<-10>);
    expect(kSetClock<10>, kSeeClock<10>);
}

}  // namespace
}  // namespace trueup::simulation
