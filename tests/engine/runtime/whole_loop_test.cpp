// Proves design §4 over the whole loop, from the wire to the repair, in virtual time on the
// sandbox: what is wrong is put right, nothing else is touched, whatever fails on the way (S1–S14,
// C12).
#include "tests/support/keys.h"
#include "tests/support/virtual_host.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <map>
#include <set>

namespace trueup::testing {
namespace {

using sandbox::Failure;
using sandbox::Op;

constexpr int kHealthy = 12;
/// Long: hanging calls run into one time limit after the other, and what finally failed (403) is
/// tried again after 5 minutes only.
constexpr Millis kAtLast{3'600'000};

/// An empty answer to a connector that knows of nothing cannot be told from an empty cluster. The
/// executors' own reads keep that from doing harm; the next audit corrects the view.
VirtualHostSettings with_audits() {
    VirtualHostSettings settings;
    settings.relist_every = Millis{60'000};
    return settings;
}

/// A population that is right, and three things that are wrong.
class Stage {
  public:
    explicit Stage(std::uint64_t seed, VirtualHostSettings settings = {}) : host(seed, settings) {
        for (int i = 0; i < kHealthy; ++i) {
            const std::string name = "wrapper-ok" + std::to_string(i);
            host.world().create_pod(name, VirtualHost::labels(), "Running");
            legit_rows[host.insert_row(name)] = name;
        }
        for (const sandbox::Pod& pod : host.world().truth().pods) legit_pods.insert(pod.uid);
    }

    void break_things(const std::string& suffix) {
        const std::string orphan = "wrapper-orphan" + suffix;
        const std::string drifted = "wrapper-drifted" + suffix;
        orphans.insert(host.world().create_pod(orphan, VirtualHost::labels(), "Running"));
        missing.insert(host.insert_row("wrapper-missing" + suffix));
        host.world().create_pod(drifted, VirtualHost::labels(), "Running");
        drift.insert(host.insert_row(drifted));
        host.world().set_phase(drifted, "Failed");
    }

    /// Exactly what was wrong was put right, each thing once.
    void expect_right() {
        EXPECT_EQ(host.fatal(), "");
        std::multiset<std::string> deleted;
        std::multiset<std::string> failed;
        for (const sandbox::Effect& effect : host.accepted_effects()) {
            const bool is_delete = effect.kind == sandbox::Effect::Kind::kDelete;
            (is_delete ? deleted : failed).insert(is_delete ? effect.uid : effect.pk);
        }
        EXPECT_EQ(deleted, (std::multiset<std::string>(orphans.begin(), orphans.end())));
        std::multiset<std::string> expected(missing.begin(), missing.end());
        expected.insert(drift.begin(), drift.end());
        EXPECT_EQ(failed, expected);
        const sandbox::Truth truth = host.world().truth();
        std::set<std::string> alive;
        for (const sandbox::Pod& pod : truth.pods) {
            if (!pod.deletion_ms) alive.insert(pod.uid);
        }
        for (const std::string& uid : legit_pods) EXPECT_EQ(alive.count(uid), 1U) << uid;
        for (const std::string& uid : orphans) EXPECT_EQ(alive.count(uid), 0U) << uid;
        for (const sandbox::RowTruth& row : truth.rows) {
            const bool wrong = expected.count(row.pk) != 0;
            EXPECT_EQ(row.columns.at("status"), wrong ? "failed" : "running") << row.pk;
            EXPECT_EQ(row.columns.at("error_code").has_value(), wrong) << row.pk;
        }
    }

    VirtualHost host;
    std::map<std::string, std::string> legit_rows;
    std::set<std::string> legit_pods;
    std::set<std::string> orphans;
    std::set<std::string> missing;
    std::set<std::string> drift;
};

TEST(WholeLoop, PutsRightWhatIsWrongAndTouchesNothingElse_G1_G2_G3) {
    for (std::uint64_t seed = 1; seed <= 5; ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        Stage stage(seed);
        stage.break_things("");
        stage.host.run(Millis{2'500});
        EXPECT_EQ(stage.host.commands().size(), 1U) << "the drift alone may be acted on at once";
        ASSERT_TRUE(stage.host.settle(Millis{60'000}));
        stage.expect_right();
        if (HasFailure()) return;
    }
}

// Nothing more happens once all is right (C12).
TEST(WholeLoop, StaysQuietOnceAllIsRight_C12) {
    Stage stage(1);
    stage.break_things("");
    ASSERT_TRUE(stage.host.settle(Millis{60'000}));
    const std::size_t commands = stage.host.commands().size();
    const std::size_t findings = stage.host.findings().size();
    stage.host.run(Millis{120'000});
    EXPECT_EQ(stage.host.commands().size(), commands);
    EXPECT_EQ(stage.host.findings().size(), findings);
    EXPECT_EQ(stage.host.status().meta.counters.clamped_steps, 0U);
    stage.expect_right();
}

/// One thing that goes wrong on the way, once before and once after the drama.
struct Trouble {
    const char* name;
    void (*strike)(sandbox::World& world);
};

void fail_pods(sandbox::World& world, const Failure& failure) {
    for (const Op op : {Op::kList, Op::kWatch, Op::kGet, Op::kDelete}) {
        world.fail_next(op, failure, 3);
    }
    world.cut_watch();
}

void fail_rows(sandbox::World& world, const Failure& failure, int times = 2) {
    for (const Op op : {Op::kInspect, Op::kEnsureSlot, Op::kCopy, Op::kStartWal, Op::kInsertLsn,
                        Op::kRead, Op::kUpdate}) {
        world.fail_next(op, failure, times);
    }
    world.kill_walsender();
}

const Trouble kTroubles[] = {
    {"None", [](sandbox::World&) {}},
    {"Http500_S3", [](sandbox::World& w) { fail_pods(w, Failure::http(500)); }},
    {"Http403_S3", [](sandbox::World& w) { fail_pods(w, Failure::http(403)); }},
    {"Http429_S38", [](sandbox::World& w) { fail_pods(w, Failure::http(429, 700)); }},
    {"Hang_S3", [](sandbox::World& w) { fail_pods(w, Failure::of(Failure::Kind::kHang)); }},
    {"CutBody_S5", [](sandbox::World& w) { fail_pods(w, Failure::of(Failure::Kind::kCutBody)); }},
    {"NotJson_S3", [](sandbox::World& w) { fail_pods(w, Failure::of(Failure::Kind::kNotJson)); }},
    {"Refused_S3", [](sandbox::World& w) { fail_pods(w, Failure::of(Failure::Kind::kRefused)); }},
    {"EmptyList_S4",
     [](sandbox::World& w) {
         w.fail_next(Op::kList, Failure::of(Failure::Kind::kEmptyList));
         w.compact();
         w.cut_watch();
     }},
    {"LostReply_S38",
     [](sandbox::World& w) {
         for (const Op op : {Op::kDelete, Op::kUpdate}) {
             w.fail_next(op, Failure::of(Failure::Kind::kLostReply), 2);
         }
     }},
    {"Gone410_S11",
     [](sandbox::World& w) {
         w.compact();
         w.cut_watch();
         w.fail_next(Op::kList, Failure::http(410), 2);
     }},
    {"ErrorEvent410_S11",
     [](sandbox::World& w) {
         w.fail_next(Op::kWatch, Failure::error_event(410), 2);
         w.cut_watch();
     }},
    {"ErrorEvent504_S11",
     [](sandbox::World& w) {
         w.fail_next(Op::kWatch, Failure::error_event(504), 2);
         w.cut_watch();
     }},
    {"ErrorEvent429_S11",
     [](sandbox::World& w) {
         w.fail_next(Op::kWatch, Failure::error_event(429), 4);
         w.cut_watch();
     }},
    {"DeafWatch_S11",
     [](sandbox::World& w) {
         w.stall_watch(true);
         w.stall_watch(false);
         w.write_elsewhere();
     }},
    {"ApiRestart_S11", [](sandbox::World& w) { w.restart_cluster(); }},
    {"SqlHang_S3",  // each is given up after minutes
     [](sandbox::World& w) { fail_rows(w, Failure::of(Failure::Kind::kHang), 1); }},
    {"SqlState_S3", [](sandbox::World& w) { fail_rows(w, Failure::sql("57P03")); }},
    {"SqlCut_S5", [](sandbox::World& w) { fail_rows(w, Failure::of(Failure::Kind::kCutBody)); }},
    {"SqlRefused_S3",
     [](sandbox::World& w) { fail_rows(w, Failure::of(Failure::Kind::kRefused)); }},
    {"SlotLost_S14", [](sandbox::World& w) { w.lose_slot(); }},
    {"SlotDropped_S14", [](sandbox::World& w) { w.drop_slot(); }},
    {"WalsenderKilled_S14", [](sandbox::World& w) { w.kill_walsender(); }},
    {"DatabaseRestart_S14", [](sandbox::World& w) { w.restart_database(); }},
    {"DatabaseCrash_S14", [](sandbox::World& w) { w.restart_database(true); }},
    {"FailOver_S14", [](sandbox::World& w) { w.fail_over(); }},
};

/// An operator has looked, and says that what a source lists is so: nothing is taken away on the
/// word of one that went back in time before.
void vouch(Stage& stage) {
    std::uint64_t requests = 0;
    for (const char* name : {"pods", "rows"}) {
        if (stage.host.source(name).quarantine == core::Quarantine::kNone) continue;
        Request request;
        request.id = {17, ++requests + stage.host.log().changes_seen()};
        request.kind = RequestKind::kRelease;
        request.scope.source = name;
        request.issued_ms = stage.host.clock().wall_millis();
        ASSERT_TRUE(ports::append_now(stage.host.log(), {Topic::kRequests, 0},
                                      {{"", signed_bytes(request), {}}})
                        .ok());
    }
}

class WholeLoopTrouble : public ::testing::TestWithParam<Trouble> {};

TEST_P(WholeLoopTrouble, IsNoAbsenceAndHeals) {
    for (std::uint64_t seed = 1; seed <= 3; ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        Stage stage(seed, with_audits());
        sandbox::World& world = stage.host.world();
        if (seed == 2) GetParam().strike(world);  // from the very start
        stage.break_things("-a");
        stage.host.run(Millis{3'000});
        GetParam().strike(world);
        stage.break_things("-b");
        stage.host.run(Millis{2'500});
        GetParam().strike(world);
        stage.host.run(Millis{20'000});
        vouch(stage);
        ASSERT_TRUE(stage.host.settle(kAtLast))
            << stage.host.health("pods").trouble << " | " << stage.host.health("rows").trouble;
        stage.expect_right();
        if (HasFailure()) return;
    }
}

INSTANTIATE_TEST_SUITE_P(WholeLoop, WholeLoopTrouble, ::testing::ValuesIn(kTroubles),
                         [](const auto& tested) { return std::string(tested.param.name); });

// The connector of a new process knows nothing that it could ask for one by one, so two empty
// answers in a row reach the engine as an epoch: held there, and healed by the epoch that the
// engine asks for.
TEST(WholeLoop, EmptyAnswersToANewConnectorAreQuarantinedThenHealed_S4) {
    for (std::uint64_t seed = 1; seed <= 5; ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        Stage stage(seed);
        ASSERT_TRUE(stage.host.settle(Millis{60'000}));
        stage.host.world().fail_next(Op::kList, Failure::of(Failure::Kind::kEmptyList), 2);
        stage.host.crash();
        stage.break_things("");
        ASSERT_TRUE(stage.host.run_until(
            [&] { return stage.host.source("pods").quarantined_at != 0; }, Millis{10'000}));
        EXPECT_FALSE(stage.host.source("pods").known);
        EXPECT_GE(stage.host.source("pods").quarantined_at, std::uint64_t{kHealthy});
        EXPECT_TRUE(stage.host.commands().empty());
        ASSERT_TRUE(stage.host.run_until(
            [&] { return stage.host.source("pods").quarantined_at == 0; }, Millis{60'000}))
            << "the engine's wish for an epoch was not fulfilled";
        ASSERT_TRUE(stage.host.settle(Millis{120'000}));
        EXPECT_GT(stage.host.status().meta.counters.quarantines, 0U);
        stage.expect_right();
        if (HasFailure()) return;
    }
}

// Nothing but the proofs tells of that clock, and they bring it as it is.
TEST(WholeLoop, ADatabaseWhoseClockIsTenMinutesOffChangesNothing_S35) {
    for (const Millis ahead : {Millis{-600'000}, Millis{600'000}}) {
        SCOPED_TRACE(ahead.count());
        Stage stage(1);
        stage.host.world().set_database_clock(ahead);
        stage.break_things("");
        ASSERT_TRUE(stage.host.settle(Millis{60'000}));
        stage.expect_right();
        const std::int64_t shown = to_millis(stage.host.source("rows").source_clock);
        const std::int64_t lag = stage.host.clock().wall_millis() + ahead.count() - shown;
        EXPECT_GE(lag, 0);
        EXPECT_LE(lag, 5'000) << "of the last proof";
    }
}

TEST(WholeLoop, ASeedRepeatsARunToTheByte) {
    const auto journal = [](std::uint64_t seed) {
        Stage stage(seed);
        stage.break_things("");
        stage.host.world().fail_next(Op::kList, Failure::http(500), 2);
        stage.host.run(Millis{8'000});
        stage.host.crash();
        stage.host.run(Millis{12'000});
        std::vector<std::string> records;
        for (const StoredRecord& record : stage.host.log().records({Topic::kJournal, 0})) {
            records.push_back(std::to_string(to_millis(record.append_time)) + record.value);
        }
        return records;
    };
    EXPECT_EQ(journal(4), journal(4));
    EXPECT_NE(journal(4), journal(5));
}

/// Random acts upon a world that is right at first, whose owners keep `legit` and nothing else.
class Walk {
  public:
    explicit Walk(std::uint64_t seed) : random_(seed ^ 0x5eedU), stage_(seed, with_audits()) {}

    void run(int acts) {
        for (int i = 0; i < acts; ++i) {
            act(i);
            stage_.host.run(Millis(static_cast<std::int64_t>(random_() % 3'000)));
        }
        ASSERT_TRUE(stage_.host.settle(kAtLast))
            << stage_.host.health("pods").trouble << " | " << stage_.host.health("rows").trouble
            << " | " << stage_.host.fatal();
        stage_.expect_right();
        const std::size_t commands = stage_.host.commands().size();
        stage_.host.run(Millis{30'000});
        EXPECT_EQ(stage_.host.commands().size(), commands) << "C12";
    }

  private:
    void act(int number) {
        VirtualHost& host = stage_.host;
        switch (random_() % 8) {
            case 0:
            case 1:
                return stage_.break_things("-" + std::to_string(number));
            case 2:
                return host.crash();
            case 3:
                host.log().fail_next_append(random_() % 2 == 0);
                return;
            case 4:
                host.log().fail_reads(random_() % 5);
                return;
            default:
                kTroubles[random_() % std::size(kTroubles)].strike(host.world());
                return;
        }
    }
    std::mt19937_64 random_;
    Stage stage_;
};

TEST(WholeLoop, RandomTroubleAndCrashesHarmNothingAndAllIsPutRight_C1_C3_C12) {
    const char* given = std::getenv("TRUEUP_SEED");
    const std::uint64_t first = given != nullptr ? std::strtoull(given, nullptr, 10) : 1;
    const std::uint64_t last = given != nullptr ? first : 12;
    for (std::uint64_t seed = first; seed <= last; ++seed) {
        SCOPED_TRACE("TRUEUP_SEED=" + std::to_string(seed) + " replays");
        Walk walk(seed);
        walk.run(14);
        if (HasFailure()) return;
    }
}

}  // namespace
}  // namespace trueup::testing
