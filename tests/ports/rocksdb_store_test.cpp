// Proves projections/rocksdb_store.h and memory_store.h: the store contract, and what becomes of
// damaged or locked databases.
#include "projections/rocksdb_store.h"

#include "projections/memory_store.h"
#include "tests/ports/store_contract.h"
#include "tests/support/temp_dir.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <set>

// Debian's RocksDB is not instrumented, so ThreadSanitizer sees its memory and not its atomics.
extern "C" const char* __tsan_default_suppressions() { return "race:librocksdb\n"; }

namespace trueup::projections {
namespace {

std::unique_ptr<RocksdbStore> must_open(const std::string& path) {
    auto opened = RocksdbStore::open({.path = path, .memory_bytes = std::size_t{1} << 20U});
    if (!opened.ok()) throw std::runtime_error(opened.error().what);
    return std::move(opened).value();
}

class RocksdbUnderTest final : public ports::StoreUnderTest {
  public:
    RocksdbUnderTest() { reopen(); }
    ports::Store& store() override { return *store_; }
    void reopen() override {
        store_.reset();
        store_ = must_open(dir_ / "store");
    }

  private:
    testing::TempDir dir_;
    std::unique_ptr<RocksdbStore> store_;
};

class MemoryUnderTest final : public ports::StoreUnderTest {
  public:
    ports::Store& store() override { return store_; }
    void reopen() override {}

  private:
    MemoryStore store_;
};

template <typename Subject>
std::unique_ptr<ports::StoreUnderTest> make() {
    return std::make_unique<Subject>();
}

}  // namespace
}  // namespace trueup::projections

namespace trueup::ports {
INSTANTIATE_TEST_SUITE_P(Rocksdb, StoreContract,
                         ::testing::Values(projections::make<projections::RocksdbUnderTest>));
INSTANTIATE_TEST_SUITE_P(Memory, StoreContract,
                         ::testing::Values(projections::make<projections::MemoryUnderTest>));
}  // namespace trueup::ports

namespace trueup::projections {
namespace {

TEST(RocksdbStore, AnOrderlyEndFlushes) {
    testing::TempDir dir;
    auto store = must_open(dir / "store");
    ports::StoreBatch batch;
    batch.put("a", "1");
    ASSERT_TRUE(store->apply(batch).ok());
    store.reset();
    EXPECT_EQ(must_open(dir / "store")->get("a").value(), "1");
}

TEST(RocksdbStore, ASecondOpenSaysWhoIsInTheWay) {
    testing::TempDir dir;
    auto store = must_open(dir / "store");
    const auto second = RocksdbStore::open({.path = dir / "store"});
    ASSERT_FALSE(second.ok());
    EXPECT_EQ(second.error().next, Next::kStop);
    EXPECT_EQ(second.error().code, Code::kConflict);
    EXPECT_NE(second.error().what.find("in use by another process"), std::string::npos);
}

/// Writes a store of one row and hands each of its files of one kind to `spoil`.
void spoil_files(const std::string& path, const std::string& kind,
                 const std::function<void(const std::filesystem::path&)>& spoil) {
    auto store = must_open(path);
    ports::StoreBatch batch;
    batch.put("a", std::string(5000, '1'));
    ASSERT_TRUE(store->apply(batch).ok());
    store.reset();
    int spoiled = 0;
    for (const auto& file : std::filesystem::directory_iterator(path)) {
        if (file.path().string().find(kind) == std::string::npos) continue;
        spoil(file.path());
        ++spoiled;
    }
    ASSERT_GT(spoiled, 0);
}

void expect_damaged(const Error& error) {
    EXPECT_EQ(error.next, Next::kSkip);
    EXPECT_EQ(error.code, Code::kCorrupt);
    EXPECT_NE(error.what.find("rebuilt from the journal"), std::string::npos) << error.what;
}

TEST(RocksdbStore, ADamagedManifestIsReportedSetAsideAndRebuilt) {
    testing::TempDir dir;
    const std::string path = dir / "store";
    for (int n = 1; n <= 2; ++n) {
        spoil_files(path, "MANIFEST", [](const std::filesystem::path& file) {
            std::ofstream(file) << "nonsense that is longer than a record's header\n";
        });
        const auto opened = RocksdbStore::open({.path = path});
        ASSERT_FALSE(opened.ok());
        expect_damaged(opened.error());
        ASSERT_TRUE(RocksdbStore::set_aside(path).ok());
        EXPECT_TRUE(std::filesystem::exists(path + ".corrupt-" + std::to_string(n)));
        EXPECT_EQ(must_open(path)->get("a").value(), std::nullopt);
    }
}

TEST(RocksdbStore, AMissingTableIsDamage) {
    testing::TempDir dir;
    spoil_files(dir / "store", ".sst",
                [](const std::filesystem::path& file) { std::filesystem::remove(file); });
    const auto opened = RocksdbStore::open({.path = dir / "store"});
    ASSERT_FALSE(opened.ok());
    expect_damaged(opened.error());
}

TEST(RocksdbStore, ADamagedRowIsDamageWhenItIsRead) {
    testing::TempDir dir;
    spoil_files(dir / "store", ".sst", [](const std::filesystem::path& file) {
        std::fstream stream(file, std::ios::in | std::ios::out | std::ios::binary);
        stream.seekp(100);  // inside the only block
        stream << "XXXX";
    });
    const auto value = must_open(dir / "store")->get("a");
    ASSERT_FALSE(value.ok());
    expect_damaged(value.error());
}

/// A store with one row, and a name for its checkpoints.
class RocksdbCheckpoint : public ::testing::Test {
  protected:
    void put(const std::string& key, const std::string& value) {
        ports::StoreBatch batch;
        batch.put(key, value);
        ASSERT_TRUE(store_->apply(batch).ok());
    }
    Result<std::string> make() {
        return store_->checkpoint(dir_ / "images", [](ports::Store& image) -> Result<std::string> {
            return "of-" + image.get("a").value().value();
        });
    }
    std::set<std::string> names() {
        std::set<std::string> names;
        for (const auto& entry : std::filesystem::directory_iterator(dir_ / "images")) {
            names.insert(entry.path().filename().string());
        }
        return names;
    }

    testing::TempDir dir_;
    std::unique_ptr<RocksdbStore> store_ = must_open(dir_ / "store");
};

TEST_F(RocksdbCheckpoint, IsWhatWasAppliedAndStaysThat_T4) {
    for (const std::size_t size : {std::size_t{3}, std::size_t{5} << 20U}) {  // large: ingested
        put("a", std::to_string(size));
        put("b", std::string(size, 'b'));
        const auto name = make();
        ASSERT_TRUE(name.ok()) << name.error().what;
        put("a", "later");
        store_.reset();
        const std::string place = dir_ / ("placed-" + std::to_string(size));
        ASSERT_TRUE(RocksdbStore::put_in_place(dir_ / ("images/" + *name), place).ok());
        for (int opened = 0; opened < 2; ++opened) {
            auto placed = must_open(place);
            if (opened == 0) {
                EXPECT_EQ(placed->get("a").value(), std::to_string(size));
                EXPECT_EQ(placed->get("b").value(), std::string(size, 'b'));
            }
            ports::StoreBatch batch;
            batch.put("a", "another life");
            ASSERT_TRUE(placed->apply(batch).ok());
        }
        // What its copy went through left the checkpoint as it was.
        EXPECT_EQ(must_open(dir_ / ("images/" + *name))->get("a").value(), std::to_string(size));
        store_ = must_open(dir_ / "store");
        EXPECT_EQ(store_->get("a").value(), "later");
    }
    EXPECT_EQ(names(), (std::set<std::string>{"of-3", "of-5242880"}));
}

TEST_F(RocksdbCheckpoint, WithoutANameThereIsNone_T4) {
    put("a", "1");
    const auto refused =
        store_->checkpoint(dir_ / "images", [](ports::Store&) -> Result<std::string> {
            return Error{Next::kSkip, Code::kInvalid, "not this one"};
        });
    ASSERT_FALSE(refused.ok());
    EXPECT_EQ(refused.error().what, "not this one");
    EXPECT_EQ(names(), std::set<std::string>{});
}

TEST_F(RocksdbCheckpoint, OneOfThatNameStaysAsItIs) {
    put("a", "1");
    put("b", "first");
    ASSERT_TRUE(make().ok());
    put("b", "second");
    ASSERT_TRUE(make().ok());
    EXPECT_EQ(names(), std::set<std::string>{"of-1"});
    EXPECT_EQ(must_open(dir_ / "images/of-1")->get("b").value(), "first");
}

TEST_F(RocksdbCheckpoint, WhatADeadProcessLeftIsInNobodysWay) {
    put("a", "1");
    for (const char* left : {"images/making", "images/making.tmp", "placed.placing"}) {
        std::filesystem::create_directories(dir_ / left);
        std::ofstream(dir_ / left + "/CURRENT") << "rubbish";
    }
    ASSERT_TRUE(make().ok());
    EXPECT_EQ(names(), std::set<std::string>{"of-1"});
    ASSERT_TRUE(RocksdbStore::put_in_place(dir_ / "images/of-1", dir_ / "placed").ok());
    EXPECT_EQ(must_open(dir_ / "placed")->get("a").value(), "1");
}

TEST_F(RocksdbCheckpoint, WhereNoneCanBeMadeThatIsSaid) {
    put("a", "1");
    std::ofstream(dir_ / "images") << "a file";
    const auto made = make();
    ASSERT_FALSE(made.ok());
    EXPECT_EQ(made.error().next, Next::kRetry) << made.error().what;
    EXPECT_FALSE(RocksdbStore::put_in_place(dir_ / "images/none", dir_ / "placed").ok());
    EXPECT_FALSE(std::filesystem::exists(dir_ / "placed"));
}

TEST(MemoryStore, HasNoCheckpoints) {
    MemoryStore store;
    const auto made = store.checkpoint(
        "x", [](ports::Store&) -> Result<std::string> { return std::string("name"); });
    ASSERT_FALSE(made.ok());
    EXPECT_EQ(made.error().next, Next::kStop);
}

}  // namespace
}  // namespace trueup::projections
