// Proves apps/shard_opening.h: whatever became of the rows, a shard starts from the best that is
// left or says why it cannot, and never empty in silence (C2, C8, C11).
#include "apps/shard_opening.h"

#include "engine/codec/policy_codec.h"
#include "engine/core/row.h"
#include "engine/runtime/projection.h"
#include "projections/rocksdb_store.h"
#include "tests/engine/runtime/shard_fixture.h"
#include "tests/support/graph_script.h"
#include "tests/support/temp_dir.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace trueup::apps {
namespace {

namespace fs = std::filesystem;
using projections::RocksdbStore;
using runtime::Checkpoint;
using runtime::Checkpoints;
using runtime::testing::MemoryLog;
using runtime::testing::ShardFixture;
using runtime::testing::StoredRecord;

constexpr ports::Partition kJournal{Topic::kJournal, PartitionNumber(0)};

class ShardOpening : public ::testing::Test {
  protected:
    /// A journal, its rows and two checkpoints, the rows and the journal ahead of both.
    ShardOpening() {
        fixture_.settings.write_behind_every = Millis{0};
        auto opened = open();
        if (!opened.ok()) throw std::runtime_error(opened.error().what);
        runtime::Shard& shard = *opened->shard;
        fixture_.settle(shard);
        fixture_.all_known({runtime::testing::pod("a", "u", 5)},
                           {runtime::testing::row("b", "1", 5)});
        std::mt19937_64 random(7);
        for (int i = 0; i < 30; ++i) {
            fixture_.random_act(random);
            fixture_.settle(shard);
            if (i != 10 && i != 20) continue;
            const auto made = place_.checkpoints.make(*opened->store, [] { return false; });
            if (!made.ok() || !*made) throw std::runtime_error("no checkpoint");
            (i == 10 ? older_ : newer_) = **made;
        }
        whole_ = runtime::testing::settled_meta(shard);
        journal_ = fixture_.log.records(kJournal);
    }

    Result<OpenedShard> open(MemoryLog* other = nullptr) {
        said_.clear();
        return open_shard(place_, fixture_.settings, other != nullptr ? *other : fixture_.log,
                          fixture_.clock,
                          [this](const std::string& what) { said_.push_back(what); });
    }
    /// Opens as a follower and folds the rest of the journal. Where it began to fold.
    Offset opened_at(MemoryLog* other = nullptr) {
        fixture_.settings.lead = false;
        auto opened = open(other);
        EXPECT_TRUE(opened.ok()) << opened.error().what;
        if (!opened.ok()) return Offset(-2);
        const Offset at = opened->shard->state().meta.applied;
        while (!opened->shard->status().caught_up && !HasFailure()) {
            EXPECT_TRUE(opened->shard->step().ok());
        }
        EXPECT_EQ(runtime::testing::settled_meta(*opened->shard), whole_);
        return at;
    }
    void expect_said(std::size_t i, const std::string& part) {
        ASSERT_LT(i, said_.size());
        EXPECT_NE(said_[i].find(part), std::string::npos) << said_[i];
    }
    static void spoil_tables(const std::string& folder) {
        for (const auto& file : fs::directory_iterator(folder)) {
            if (file.path().extension() == ".sst") fs::resize_file(file.path(), 10);
        }
    }
    /// A journal that has only the first `count` of the records, and then others.
    std::unique_ptr<MemoryLog> another_tail(std::size_t count) {
        auto log = std::make_unique<MemoryLog>();
        for (std::size_t i = 0; i < journal_.size(); ++i) {
            const StoredRecord& record = journal_[i < count ? i : count - 1];
            log->set_now(record.append_time + Millis(i < count ? 0 : 1 + static_cast<int>(i)));
            EXPECT_TRUE(ports::append_now(*log, kJournal, {{{}, record.value}}).ok());
        }
        return log;
    }

    testing::TempDir dir_;
    RowsPlace place_{dir_ / "projection", std::size_t{4} << 20U,
                     Checkpoints(dir_ / "checkpoints", PartitionNumber(0), 3)};
    ShardFixture fixture_;
    Checkpoint older_;
    Checkpoint newer_;
    core::Meta whole_;
    std::vector<StoredRecord> journal_;
    std::vector<std::string> said_;
};

TEST_F(ShardOpening, RowsThatAreThereAreUsed) {
    ASSERT_LT(older_.offset, newer_.offset);
    ASSERT_LT(newer_.offset, whole_.applied);
    EXPECT_EQ(opened_at(), whole_.applied);
    EXPECT_EQ(said_, std::vector<std::string>{});
}

TEST_F(ShardOpening, WithoutRowsTheNewestCheckpointAndItsTailAre_C8) {
    fs::remove_all(place_.path);
    auto tail = runtime::testing::copy_of(fixture_.log);  // nothing else could be folded
    ASSERT_TRUE(tail->truncate(kJournal, next(newer_.offset)).ok());
    EXPECT_EQ(opened_at(tail.get()), newer_.offset);
    ASSERT_EQ(said_.size(), 1U);
    expect_said(0, "rebuilt from checkpoint " + newer_.name());
    EXPECT_EQ(opened_at(), whole_.applied) << "from now on these are the rows";
}

// An engine that lost its rows and started while the brokers were electing leaders passed over its
// checkpoints and folded the journal from the start.
TEST_F(ShardOpening, AJournalThatDoesNotAnswerIsNoReasonToPassOverACheckpoint_C8) {
    for (std::size_t n = 1; n < 20; ++n) {
        fs::remove_all(place_.path);
        fixture_.settings.lead = false;
        fixture_.log.fail_read(n);
        auto opened = open();
        for (int again = 0; !opened.ok() && again < 3; ++again) {
            EXPECT_EQ(opened.error().next, Next::kRetry) << opened.error().what;
            opened = open();
        }
        ASSERT_TRUE(opened.ok()) << opened.error().what;
        EXPECT_EQ(opened->shard->state().meta.applied, newer_.offset) << "failing read " << n;
    }
}

TEST_F(ShardOpening, DamagedRowsAreSetAsideAndMadeAnewFromTheCheckpoint_C2) {
    // The tables of rows and checkpoints are the same ones on the disk, so another kind of damage.
    for (const auto& file : fs::directory_iterator(place_.path)) {
        if (file.path().filename().string().starts_with("MANIFEST")) {
            std::ofstream(file.path()) << "nonsense that is longer than a record's header\n";
        }
    }
    EXPECT_EQ(opened_at(), newer_.offset);
    ASSERT_EQ(said_.size(), 2U);
    expect_said(0, "it is set aside and rebuilt");
    EXPECT_TRUE(fs::exists(place_.path + ".corrupt-1"));
}

TEST_F(ShardOpening, RowsThatDoNotAddUpAreSetAsideToo_C2) {
    {
        auto store = RocksdbStore::open({place_.path});
        ports::StoreBatch loss;
        loss.erase(std::string("\0\0m", 3));
        ASSERT_TRUE((*store)->apply(loss).ok());
    }
    EXPECT_EQ(opened_at(), newer_.offset);
    expect_said(0, "has rows and no meta row; it is set aside");
}

TEST_F(ShardOpening, ADamagedCheckpointIsPassedOver_C8) {
    fs::remove_all(place_.path);
    fs::create_directories(place_.checkpoints.path_of({newer_.journal_id, Offset(1'000'000), {}}));
    fs::rename(place_.checkpoints.path_of(newer_),
               place_.checkpoints.path_of({newer_.journal_id, newer_.offset, {1, 1}}));
    EXPECT_EQ(opened_at(), older_.offset);
    ASSERT_EQ(said_.size(), 3U);
    expect_said(0, "-1000000-");
    expect_said(0, "is skipped");
    expect_said(1, "its content does not match its name");
    expect_said(2, "rebuilt from checkpoint " + older_.name());
}

TEST_F(ShardOpening, WhenNoneCanBeUsedTheJournalIsFoldedFromItsStart_C8) {
    fs::remove_all(place_.path);
    spoil_tables(place_.checkpoints.path_of(older_));  // both: they share tables
    spoil_tables(place_.checkpoints.path_of(newer_));
    EXPECT_EQ(opened_at(), kNoOffset);
    ASSERT_EQ(said_.size(), 2U);
    expect_said(0, newer_.name() + " is skipped: ");
    expect_said(1, older_.name() + " is skipped: ");
}

TEST_F(ShardOpening, AheadOfTheJournalOrOfATailThatWasLostItIsPassedOver_C11) {
    fs::remove_all(place_.path);
    auto other = another_tail(static_cast<std::size_t>(older_.offset.value()) + 3);
    fixture_.settings.lead = false;
    auto opened = open(other.get());
    ASSERT_TRUE(opened.ok()) << opened.error().what;
    EXPECT_EQ(opened->shard->state().meta.applied, older_.offset);
    expect_said(0, "lost its tail and has grown since");
    opened = Error{};
    fs::remove_all(place_.path);
    MemoryLog shorter;
    for (std::size_t i = 0; i < 3; ++i) {
        shorter.set_now(journal_[i].append_time);
        ASSERT_TRUE(ports::append_now(shorter, kJournal, {{{}, journal_[i].value}}).ok());
    }
    opened = open(&shorter);
    ASSERT_TRUE(opened.ok()) << opened.error().what;
    EXPECT_EQ(opened->shard->state().meta.applied, kNoOffset);
    expect_said(0, "the journal lost its tail");
    expect_said(1, "the journal lost its tail");
}

TEST_F(ShardOpening, OneOfAnotherJournalIsPassedOver_C11) {
    fs::remove_all(place_.path);
    MemoryLog other;
    codec::JournalRecordBuilder genesis;
    genesis.set_genesis({JournalId({8, 8}), 1, PartitionNumber(0)});
    std::string first = genesis.take();
    for (std::size_t i = 0; i < journal_.size(); ++i) {  // the same times at the same offsets
        other.set_now(journal_[i].append_time);
        const std::string& value = i == 0 ? first : journal_[i].value;
        ASSERT_TRUE(ports::append_now(other, kJournal, {{{}, value}}).ok());
    }
    fixture_.settings.lead = false;
    auto opened = open(&other);
    ASSERT_TRUE(opened.ok()) << opened.error().what;
    EXPECT_EQ(opened->shard->state().meta.applied, kNoOffset);
    ASSERT_EQ(said_.size(), 2U);
    expect_said(0, "they belong to another journal");
}

TEST_F(ShardOpening, WhereRetentionTookWhatIsMissingItIsRefusedEachTime_C11) {
    fs::remove_all(place_.path);
    ASSERT_TRUE(fixture_.log.truncate(kJournal, further(newer_.offset, 2)).ok());
    for (int start = 0; start < 2; ++start) {
        const auto opened = open();
        ASSERT_FALSE(opened.ok()) << "it started empty";
        EXPECT_EQ(opened.error().next, Next::kStop);
        EXPECT_EQ(opened.error().code, Code::kLost);
        EXPECT_NE(opened.error().what.find("retention deleted what lies between"),
                  std::string::npos);
        EXPECT_NE(opened.error().what.find("Put a checkpoint at offset " +
                                           std::to_string(next(newer_.offset).value()) +
                                           " or later into"),
                  std::string::npos)
            << opened.error().what;
        EXPECT_EQ(said_.size(), 2U) << "of each checkpoint why it does not help";
    }
    EXPECT_EQ(fixture_.log.records(kJournal).back().offset, journal_.back().offset);
}

TEST_F(ShardOpening, TheWayOutThatIsNamedIsOne_C11) {
    const std::string saved = dir_ / "saved";
    fs::rename(place_.checkpoints.path_of(newer_), saved);
    fs::remove_all(place_.path);
    ASSERT_TRUE(fixture_.log.truncate(kJournal, next(newer_.offset)).ok());
    ASSERT_FALSE(open().ok());
    fs::rename(saved, place_.checkpoints.path_of(newer_));
    EXPECT_EQ(opened_at(), newer_.offset) << "an empty database of the first try is in no way";
}

TEST_F(ShardOpening, ACheckpointOfAPolicyThatThisBuildLacksIsNotPassedOver_C10) {
    const Settings other = testing::of_another_build(whole_.settings, "runner-sets");
    {
        auto store = RocksdbStore::open({place_.path});
        ports::StoreBatch batch;
        batch.put(std::string("\0\0t", 3), codec::encode_policy(*other.text));
        ASSERT_TRUE((*store)->apply(batch).ok());
        ASSERT_TRUE(place_.checkpoints.make(**store, [] { return false; }).ok());
    }
    fs::remove_all(place_.path);
    const auto opened = open();
    ASSERT_FALSE(opened.ok());
    EXPECT_EQ(opened.error().next, Next::kStop);
    EXPECT_NE(opened.error().what.find("'runner-sets'"), std::string::npos);
}

}  // namespace
}  // namespace trueup::apps
