// Proves that a torn write-behind is none (C1, C2), on a real RocksDB: a process that folds and
// writes rows behind is killed at 25 moments, in the midst of its batches too, and goes on from
// what it finds. What the disk holds is, each time, what the journal makes up to the record that
// the rows name.
#include "engine/runtime/projection.h"
#include "projections/memory_store.h"
#include "projections/rocksdb_store.h"
#include "tests/ports/victim.h"
#include "tests/support/graph_script.h"
#include "tests/support/temp_dir.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>
#include <stdexcept>

namespace trueup::runtime {
namespace {

using testing::JournalScript;
using testing::Recorded;

constexpr int kKills = 25;
constexpr int kInstances = 60;
constexpr int kRounds = 60;
constexpr int kWriteEvery = 3;  // records
constexpr std::uint64_t kWritten = std::uint64_t{1}
                                   << 63U;  ///< said of a record whose rows are there

/// Pods that fail and come back under rows that stay, for a while: the same in every process.
const std::vector<Recorded>& journal() {
    static const std::vector<Recorded> kRecords = [] {
        JournalScript script;
        script.all_known();
        std::uint64_t version = 10;
        for (int round = 0; round < kRounds; ++round) {
            script.together([&] {
                for (int i = round % 5; i < kInstances; i += 5) {
                    const std::string name = "wrapper-" + std::to_string(i);
                    script.pod({.name = name,
                                .uid = name,
                                .version = ++version,
                                .phase = round % 3 == 0 ? "Failed" : "Running"});
                    if (i % 2 == 0) script.row({.pk = name, .name = name, .version = ++version});
                }
            });
            script.quiet_until(script.now() + Millis{20'000});
        }
        return script.records();
    }();
    return kRecords;
}

std::unique_ptr<projections::RocksdbStore> must_open(const std::string& path) {
    // Little memory, so that it flushes by itself all the time.
    auto opened = projections::RocksdbStore::open({.path = path, .memory_bytes = 1U << 18U});
    if (!opened) throw std::runtime_error(opened.error().what);
    return std::move(*opened);
}

/// Every batch is on the disk before the next one comes: what is torn shows.
class Flushing final : public ports::Store {
  public:
    explicit Flushing(ports::Store& below) : below_(below) {}
    Result<std::optional<std::string>> get(std::string_view key) override {
        return below_.get(key);
    }
    Result<std::vector<std::optional<std::string>>> get_many(
        const std::vector<std::string_view>& keys) override {
        return below_.get_many(keys);
    }
    Status each(std::string_view prefix, std::string_view after, std::size_t limit,
                const Visit& visit) override {
        return below_.each(prefix, after, limit, visit);
    }
    Status apply(const ports::StoreBatch& batch) override {
        if (Status applied = below_.apply(batch); !applied) return applied;
        return below_.flush();
    }
    Status flush() override { return below_.flush(); }
    Result<std::string> checkpoint(const std::string& folder, const NameImage& name) override {
        return below_.checkpoint(folder, name);
    }

  private:
    ports::Store& below_;
};

/// Folds everything behind what the state has.
class Folding {
  public:
    explicit Folding(ports::Store& store)
        : projection_(store, PartitionNumber(0), std::launch::deferred), state_(projection_) {}

    Status load() { return projection_.load(state_, std::size_t{1} << 20U); }
    Offset applied() const { return state_.meta.applied; }
    void fold(const Recorded& record) {
        JournalView view;
        ASSERT_TRUE(codec::decode_journal(record.bytes, record.offset, record.append_time, view));
        report_.clear();
        core::fold(state_, view, report_);
    }
    Status write() {
        if (Status begun = projection_.write_behind(state_, parked_); !begun) return begun;
        return projection_.settle();
    }

  private:
    Projection projection_;
    core::State state_;
    core::FoldReport report_;
    std::vector<core::Parked> parked_;
};

/// Folds and writes behind until it is killed, or through; says how far it is.
TEST(WriteBehindVictim, DISABLED_FoldsUntilKilled) {
    const auto job = testing::VictimJob::of_this_process();
    if (job.path.empty()) GTEST_SKIP() << "only as a child of WriteBehindKilled";
    auto below = must_open(job.path);
    Flushing store(*below);
    Folding folding(store);
    if (!folding.load()) ::_exit(1);
    for (const Recorded& record : journal()) {
        if (record.offset <= folding.applied()) continue;
        folding.fold(record);
        job.say(static_cast<std::uint64_t>(record.offset.value()));
        if (record.offset.value() % kWriteEvery != 0) continue;
        if (!folding.write()) ::_exit(1);
        job.say(static_cast<std::uint64_t>(record.offset.value()) | kWritten);
    }
}

std::map<std::string, std::string> rows_of(ports::Store& store) {
    std::map<std::string, std::string> rows;
    EXPECT_TRUE(store.each({}, {}, SIZE_MAX, [&](std::string_view key, std::string_view value) {
        rows.emplace(key, value);
        return true;
    }));
    return rows;
}

/// What the journal makes up to this record.
std::map<std::string, std::string> made_up_to(Offset last) {
    projections::MemoryStore store;
    Folding folding(store);
    for (const Recorded& record : journal()) {
        if (record.offset <= last) folding.fold(record);
    }
    EXPECT_TRUE(folding.write());
    return rows_of(store);
}

TEST(WriteBehindKilled, TheDiskHoldsWhatTheJournalMakesUpToTheRecordThatItNames_C1_C2) {
    const std::uint64_t seed = std::random_device()();
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937_64 random(seed);
    testing::TempDir dir;
    std::set<Offset> places;
    Offset folded = kNoOffset;  // by any process, over this store
    for (int kill = 0; kill < kKills; ++kill) {
        // Each time on from where it was, and now and then from the start.
        const std::string path = dir / ("store" + std::to_string(kill / 5));
        std::uint64_t enough = 1 + random() % 60;
#ifdef TRUEUP_MUTANTS  // a build with kill points: right before the disk is written
        if (kill % 2 != 0) {
            enough = SIZE_MAX;
            const std::string point = "write_behind:" + std::to_string(1 + random() % 12);
            ::setenv("TRUEUP_FAILPOINT", point.c_str(), 1);
        }
#endif
        std::uint64_t heard = 0;
        std::uint64_t number = 0;
        if (kill % 5 == 0) folded = kNoOffset;
        const auto note = [&] {
            ++heard;
            folded = std::max(folded, Offset(static_cast<std::int64_t>(number & ~kWritten)));
        };
        {
            testing::Victim victim("WriteBehindVictim.DISABLED_FoldsUntilKilled", path);
            while (heard < enough && victim.hear(number)) note();
            victim.kill();
            while (victim.hear(number)) note();
        }
        ::unsetenv("TRUEUP_FAILPOINT");
        auto store = must_open(path);
        Folding found(*store);
        ASSERT_TRUE(found.load());
        places.insert(found.applied());
        if (found.applied() < kFirstOffset) {
            EXPECT_TRUE(rows_of(*store).empty());
            continue;
        }
        EXPECT_LE(found.applied(), next(folded)) << "one record may not have been said yet";
        EXPECT_EQ(rows_of(*store), made_up_to(found.applied())) << "kill " << kill;
    }
    EXPECT_GT(places.size(), 5U) << "they were killed in different places";
}

}  // namespace
}  // namespace trueup::runtime
