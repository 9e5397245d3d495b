// What goes wrong: processes, the log, disks, the network, clocks, and both servers.
#include "simulation/instances.h"
#include "simulation/staging.h"

#include <algorithm>
#include <iterator>

namespace trueup::simulation {

namespace {

using sandbox::Failure;
using sandbox::Op;

constexpr Millis kHonestLists{60'000};
constexpr Millis kUntilAList{200'000};  // one is read each 80 s, and may fail

void crash(Stage& stage, Random& random) {
    const std::uint64_t calls = 1 + random.below(random.chance(500) ? 4 : 60);
    stage.fleet.pick(random).crash_at(calls, random.delay(Millis{30'000}));
}

void sleep(Stage& stage, Random& random) {
    stage.fleet.pick(random).sleep(random.delay(Millis{150'000}));
}

void cut_off(Stage& stage, Random& random) {
    stage.fleet.pick(random).cut_off(random.delay(Millis{40'000}));
}

void lag(Stage& stage, Random& random) {
    stage.fleet.pick(random).lag(random.delay(Millis{3'000}));
}

void broker_down(Stage& stage, Random& random) {
    stage.broker.troubles().down = true;
    later(stage, random.delay(Millis{20'000}), [&stage] { stage.broker.troubles().down = false; });
}

void broker_slow(Stage& stage, Random& random) {
    stage.broker.troubles().longest_append = random.delay(Millis{2'000});
    later(stage, random.delay(Millis{30'000}),
          [&stage] { stage.broker.troubles().longest_append = Millis{20}; });
}

void broker_fails(Stage& stage, Random& random) {
    BrokerTroubles& troubles = stage.broker.troubles();
    troubles.lost = troubles.unknown = troubles.late = 100;
    troubles.doubled = 100;
    troubles.failed_reads = 50;
    later(stage, random.delay(Millis{30'000}), [&stage] {
        stage.broker.troubles().lost = stage.broker.troubles().unknown =
            stage.broker.troubles().late = 0;
        stage.broker.troubles().doubled = stage.broker.troubles().failed_reads = 0;
    });
}

void network_slow(Stage& stage, Random& random) {
    stage.network.longest = random.delay(Millis{3'000});
    later(stage, random.delay(Millis{30'000}), [&stage] { stage.network.longest = Millis{10}; });
}

void lose_disk(Stage& stage, Random& random) { stage.fleet.lose_disk(random); }
void fill_disk(Stage& stage, Random& random) {
    stage.fleet.fill_disk(random, random.delay(Millis{30'000}));
}
void second_connector(Stage& stage, Random& random) {
    stage.fleet.second_connector(random, random.delay(Millis{60'000}));
}

void broker_clock(Stage& stage, Random& random) {
    stage.broker.jump_clock(random.between(Millis{1'000}, Millis{86'400'000}));
}

void database_clock(Stage& stage, Random& random) {
    set_database_clock(stage, random.between(Millis{-600'000}, Millis{600'000}));
}

void cluster_fails(Stage& stage, Random& random) {
    const Failure failures[] = {Failure::http(500),
                                Failure::http(403),
                                Failure::http(429, 700),
                                Failure::of(Failure::Kind::kHang),
                                Failure::of(Failure::Kind::kCutBody),
                                Failure::of(Failure::Kind::kNotJson),
                                Failure::of(Failure::Kind::kRefused)};
    const Failure& failure = failures[random.below(std::size(failures))];
    for (const Op op : {Op::kList, Op::kWatch, Op::kGet, Op::kDelete}) {
        stage.world.fail_next(op, failure, static_cast<int>(random.below(4)));
    }
    if (random.chance(500)) stage.world.cut_watch();
}

/// 200, and nothing in it.
void empty_list(Stage& stage, Random& random) {
    if (stage.world.prepared(Op::kList) > 0) return;
    stage.world.fail_next(Op::kList, Failure::of(Failure::Kind::kEmptyList),
                          1 + static_cast<int>(random.below(2)));
    if (random.chance(500)) stage.world.compact();
    stage.world.cut_watch();
}

/// Two lists in a row that lack the same are true for all that a connector can know (ADR 21). So
/// there are honest ones between two that are cut, however late the first was asked for. Likewise
/// where a list lacks a pod and, asked for it by name, the server shows it without its labels.
bool may_cut(const Stage& stage) {
    if (stage.world.prepared(Op::kList) > 0) return false;
    if (stage.world.prepared(Op::kGet, Failure::Kind::kBare) > 0) return false;
    const std::optional<SteadyTime> last = stage.world.short_page_at();
    return !last || stage.scheduler.steady_now() >= *last + kHonestLists;
}

/// 200, and a page that lacks some, mostly for a connector that has just been started.
void short_page(Stage& stage, Random& random) {
    if (!may_cut(stage)) return;
    stage.world.fail_next(Op::kList, Failure::of(Failure::Kind::kShortPage));
    if (random.chance(700)) stage.fleet.restart("pods");
    stage.world.cut_watch();
}

/// Two lists in a row that are not true, and do not lack the same.
void false_lists(Stage& stage, Random& /*random*/) {
    if (!may_cut(stage)) return;
    stage.world.fail_next(Op::kList, Failure::of(Failure::Kind::kEmptyList));
    stage.world.fail_next(Op::kList, Failure::of(Failure::Kind::kShortPage));
    stage.fleet.restart("pods");
    stage.world.cut_watch();
}

/// 200, and pods without a label, also without those that they were selected by.
void bare_answers(Stage& stage, Random& random) {
    if (!may_cut(stage)) return;
    const Failure bare = Failure::of(Failure::Kind::kBare);
    stage.world.fail_next(Op::kList, bare, 1 + static_cast<int>(random.below(4)));
    stage.world.fail_next(Op::kGet, bare, static_cast<int>(random.below(4)));
    stage.world.fail_next(Op::kWatch, bare, static_cast<int>(random.below(3)));
    if (random.chance(300)) stage.fleet.restart("pods");
    if (random.chance(700)) stage.world.cut_watch();
}

/// Pods and rows go while a connector is told, bit by bit, that they are there.
void slow_lists(Stage& stage, Random& random) {
    constexpr Millis kPage{600};
    constexpr Millis kList = 10 * kPage;
    stage.network.page = kPage;
    stage.fleet.list_again();
    const std::uint64_t leave = 1 + random.below(3);
    for (std::uint64_t i = 0; i < leave; ++i) {
        later(stage, random.between(Millis{1'000}, kList), [&stage, draw = random.next()] {
            Random drawn(draw);
            (drawn.chance(500) ? lose_pod : lose_row)(stage, drawn);
        });
    }
    later(stage, 2 * kList, [&stage] { stage.network.page = Millis{0}; });
}

void gone(Stage& stage, Random& random) {
    stage.world.compact();
    if (random.chance(500)) stage.world.fail_next(Op::kList, Failure::http(410), 2);
    if (random.chance(500)) stage.world.fail_next(Op::kWatch, Failure::error_event(410), 2);
    stage.world.cut_watch();
}

void deaf_watch(Stage& stage, Random& random) {
    stage.world.stall_watch(true);
    later(stage, random.delay(Millis{30'000}), [&stage] { stage.world.stall_watch(false); });
}

/// One of two API servers sees no more writes for a while, and answers connectors all the same.
void second_server_behind(Stage& stage, Random& random) {
    stage.world.leave_second_behind(true);
    later(stage, random.delay(Millis{90'000}),
          [&stage] { stage.world.leave_second_behind(false); });
}

void lost_replies(Stage& stage, Random& /*random*/) {
    for (const Op op : {Op::kDelete, Op::kUpdate}) {
        stage.world.fail_next(op, Failure::of(Failure::Kind::kLostReply), 2);
    }
}

void cluster_restarts(Stage& stage, Random& /*random*/) { stage.world.restart_cluster(); }

void database_fails(Stage& stage, Random& random) {
    const Failure failures[] = {Failure::sql("57P03"), Failure::of(Failure::Kind::kCutBody),
                                Failure::of(Failure::Kind::kRefused),
                                Failure::of(Failure::Kind::kHang)};
    const Failure& failure = failures[random.below(std::size(failures))];
    for (const Op op : {Op::kInspect, Op::kEnsureSlot, Op::kCopy, Op::kStartWal, Op::kInsertLsn,
                        Op::kRead, Op::kUpdate}) {
        stage.world.fail_next(op, failure, static_cast<int>(random.below(3)));
    }
    if (random.chance(500)) stage.world.kill_walsender();
}

void database_breaks(Stage& stage, Random& random) {
    switch (random.below(5)) {
        case 0:
            return stage.world.lose_slot();
        case 1:
            return stage.world.drop_slot();
        case 2:
            return stage.world.restart_database(random.chance(500));
        case 3:
            stage.oracles.went_back("rows");  // another timeline, of which nobody knows the past
            return stage.world.fail_over();
        default:
            return stage.world.kill_walsender();
    }
}

/// Somebody takes the table out of its publication and puts it back; the stream may break
/// meanwhile.
void unpublish(Stage& stage, Random& random) {
    stage.world.publish_table(false);
    if (random.chance(500)) {
        later(stage, random.delay(Millis{20'000}), [&stage] { stage.world.kill_walsender(); });
    }
    later(stage, random.delay(Millis{random.chance(500) ? 20'000 : 90'000}),
          [&stage] { stage.world.publish_table(true); });
}

/// Processes that were not restarted since the key changed: engines, which take nothing of what
/// they are told; a connector, which lists everything and files it where nobody looks for it; or an
/// executor, which looks for it there. One of these at a time: what two agree on is another world,
/// of which no oracle knows.
void former_configuration(Stage& stage, Random& random) {
    constexpr Millis kEverywhere{60'000};
    if (std::exchange(stage.former, true)) return;
    const std::uint64_t drawn = random.below(std::size(kMayBeFormer) + 1);
    const Millis apart = random.delay(Millis{20'000});
    const auto formerly = [&stage, drawn, apart](bool is) {
        if (drawn < std::size(kMayBeFormer)) {
            return stage.fleet.configure_formerly(kMayBeFormer[drawn], is);
        }
        stage.formerly = is;
        stage.reconfigured = true;
        stage.fleet.configure(settings_now(stage), apart);
    };
    formerly(true);
    const Millis lasts = apart + random.delay(Millis{130'000});
    later(stage, lasts, [formerly] { formerly(false); });
    later(stage, lasts + apart + kEverywhere, [&stage] { stage.former = false; });
}

/// Both servers know less than they once said: a backup, a standby that lagged.
void restore_cluster(Stage& stage, Random& random) {
    const bool bumped = random.chance(700);
    // Versions that go back by a little are there again before anybody could have asked for them.
    const std::uint64_t least = bumped ? 1 : 60;
    // Then a version may mean another write than it did, which only the next list shows.
    if (!bumped) {
        stage.oracles.proofs_may_lie = true;
        stage.oracles.evidence_age = std::max(stage.oracles.evidence_age, kUntilAList);
    }
    for (const char* source : {"pods", kWest}) stage.oracles.went_back(source);
    stage.world.restore_cluster(least + random.below(random.chance(500) ? 5 : 60), bumped);
}

void lossy_fail_over(Stage& stage, Random& random) {
    stage.oracles.went_back("rows");
    stage.world.fail_over(1 + random.below(random.chance(500) ? 3 : 30));
}

PartitionNumber any_shard(Stage& stage, Random& random) {
    const auto shards = static_cast<std::uint64_t>(stage.fleet.shards());
    return PartitionNumber(shards == 1 ? 0 : static_cast<std::int32_t>(random.below(shards)));
}

/// The log loses what it had acknowledged. Of a journal that lost its beginning too nobody could
/// tell what it is of, and no engine starts.
void lose_tail(Stage& stage, Random& random) {
    constexpr std::uint64_t kStays = 20;
    const ports::Partition journal{Topic::kJournal, any_shard(stage, random)};
    const std::uint64_t there = stage.broker.records(journal).size();
    const std::uint64_t wanted = 1 + random.below(random.chance(500) ? 5 : 60);
    if (there <= kStays) return;
    stage.broker.cut_tail(journal, std::min(wanted, there - kStays));
    stage.oracles.tail_lost = true;
}

}  // namespace

std::vector<ActKind> faults() {
    return {
        {"crash", Actor::kMisfortune, 6, crash},
        {"sleep", Actor::kMisfortune, 4, sleep},
        {"cut-off", Actor::kMisfortune, 3, cut_off},
        {"lag", Actor::kMisfortune, 4, lag},
        {"broker-down", Actor::kMisfortune, 1, broker_down},
        {"broker-slow", Actor::kMisfortune, 2, broker_slow},
        {"broker-fails", Actor::kMisfortune, 4, broker_fails},
        {"network-slow", Actor::kMisfortune, 2, network_slow},
        {"lose-disk", Actor::kMisfortune, 1, lose_disk},
        {"fill-disk", Actor::kMisfortune, 1, fill_disk},
        {"second-connector", Actor::kMisfortune, 4, second_connector},
        {"broker-clock", Actor::kMisfortune, 1, broker_clock},
        {"database-clock", Actor::kMisfortune, 1, database_clock},
        {"cluster-fails", Actor::kMisfortune, 4, cluster_fails},
        {"empty-list", Actor::kMisfortune, 4, empty_list},
        {"short-page", Actor::kMisfortune, 2, short_page},
        {"false-lists", Actor::kMisfortune, 1, false_lists},
        {"bare-answers", Actor::kMisfortune, 0, bare_answers},
        {"slow-lists", Actor::kMisfortune, 2, slow_lists},
        {"gone", Actor::kMisfortune, 2, gone},
        {"deaf-watch", Actor::kMisfortune, 3, deaf_watch},
        {"lost-replies", Actor::kMisfortune, 3, lost_replies},
        {"cluster-restarts", Actor::kMisfortune, 1, cluster_restarts},
        {"database-fails", Actor::kMisfortune, 4, database_fails},
        {"database-breaks", Actor::kMisfortune, 3, database_breaks},
        {"second-server-behind", Actor::kMisfortune, 0, second_server_behind},
        {"restore-cluster", Actor::kMisfortune, 0, restore_cluster},
        {"lossy-fail-over", Actor::kMisfortune, 0, lossy_fail_over},
        {"unpublish", Actor::kMisfortune, 0, unpublish},
        {"former-configuration", Actor::kMisfortune, 0, former_configuration},
        {"lose-tail", Actor::kMisfortune, 0, lose_tail},
    };
}

}  // namespace trueup::simulation
