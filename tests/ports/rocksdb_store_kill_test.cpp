// Proves engine/ports/store.h T1, T2 and T4 for the RocksDB store: `kill -9` in the middle of
// applying, and of making checkpoints.
#include "projections/rocksdb_store.h"
#include "tests/ports/victim.h"
#include "tests/support/temp_dir.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <set>

namespace trueup::projections {
namespace {

constexpr std::uint64_t kRows = 40;
constexpr std::uint64_t kFlushEvery = 500;
constexpr std::uint64_t kFlushed = std::uint64_t{1} << 63U;  ///< said after a flush

std::unique_ptr<RocksdbStore> must_open(const std::string& path) {
    // Little memory, so that RocksDB flushes by itself all the time.
    auto opened = RocksdbStore::open({.path = path, .memory_bytes = std::size_t{1} << 20U});
    if (!opened.ok()) throw std::runtime_error(opened.error().what);
    return std::move(opened).value();
}

std::string row_key(std::uint64_t row) { return "row/" + std::to_string(row); }

/// Every row and the meta row say the batch's number; one row per batch is put and later erased.
ports::StoreBatch numbered_batch(std::uint64_t number) {
    ports::StoreBatch batch;
    const std::string text = std::to_string(number);
    for (std::uint64_t row = 0; row < kRows; ++row) {
        batch.put(row_key(row), text + std::string(number % 200, ' '));
    }
    batch.put("only/" + text, text);
    if (number > 0) batch.erase("only/" + std::to_string(number - 1));
    batch.put("meta", text);
    return batch;
}

/// The number of the last batch in the image, checked to be there whole; nullopt: none is.
std::optional<std::uint64_t> last_batch(RocksdbStore& store) {
    const std::optional<std::string> meta = store.get("meta").value();
    const auto rows = store.scan("row/", "", SIZE_MAX).value();
    const auto only = store.scan("only/", "", SIZE_MAX).value();
    if (!meta) {
        EXPECT_TRUE(rows.empty() && only.empty());
        return std::nullopt;
    }
    EXPECT_EQ(rows.size(), kRows);
    for (const auto& [key, value] : rows) EXPECT_EQ(value.substr(0, value.find(' ')), *meta) << key;
    EXPECT_EQ(only.size(), 1U);
    for (const auto& [key, value] : only) EXPECT_EQ(value, *meta) << key;
    return std::stoull(*meta);
}

/// Applies numbered batches for ever; says each number once applied, and with kFlushed once
/// flushed.
TEST(RocksdbStoreVictim, DISABLED_AppliesUntilKilled) {
    const auto job = testing::VictimJob::of_this_process();
    if (job.path.empty()) GTEST_SKIP() << "only as a child of RocksdbStoreKilled";
    auto store = must_open(job.path);
    const std::optional<std::uint64_t> last = last_batch(*store);
    for (std::uint64_t number = last ? *last + 1 : 0;; ++number) {
        if (!store->apply(numbered_batch(number)).ok()) ::_exit(1);
        job.say(number);
        if (number % kFlushEvery != 0) continue;
        if (!store->flush().ok()) ::_exit(1);
        job.say(number | kFlushed);
    }
}

TEST(RocksdbStoreKilled, TheImageIsAPrefixOfWholeBatches_T1_T2) {
    testing::TempDir dir;
    for (const std::uint64_t enough : {3U, 700U, 1900U}) {
        std::uint64_t number = 0;
        std::uint64_t heard = 0;
        std::uint64_t applied = 0;
        std::optional<std::uint64_t> flushed;
        const auto note = [&] {
            ++heard;
            applied = std::max(applied, number & ~kFlushed);
            if ((number & kFlushed) != 0) flushed = number & ~kFlushed;
        };
        {
            testing::Victim victim("RocksdbStoreVictim.DISABLED_AppliesUntilKilled", dir / "store");
            while (heard < enough && victim.hear(number)) note();
            victim.kill();
            while (victim.hear(number)) note();
        }
        ASSERT_GE(heard, enough);
        auto store = must_open(dir / "store");
        const std::optional<std::uint64_t> last = last_batch(*store);
        if (flushed) {
            ASSERT_TRUE(last.has_value());
            EXPECT_GE(*last, *flushed);
        }
        // One batch may have been applied and flushed before the child could say so.
        if (last) {
            EXPECT_LE(*last, applied + 1);
        }
    }
}

#ifdef TRUEUP_MUTANTS
/// Large enough that it goes in as a file.
ports::StoreBatch large_batch(const std::string& text) {
    ports::StoreBatch batch;
    for (std::uint64_t row = 0; row < 5000; ++row) {
        batch.put(row_key(10'000 + row), text + std::string(1000, ' '));
    }
    return batch;
}

TEST(RocksdbStoreVictim, DISABLED_AppliesTwoLargeOnes) {
    const auto job = testing::VictimJob::of_this_process();
    if (job.path.empty()) GTEST_SKIP() << "only as a child of RocksdbStoreKilled";
    auto store = must_open(job.path);
    for (const char* text : {"first", "second"}) {
        if (!store->apply(large_batch(text)).ok()) ::_exit(1);
        job.say(1);
    }
}

TEST(RocksdbStoreKilled, AFileThatWasNotTakenOverYetIsNotThere_T1_C2) {
    testing::TempDir dir;
    ::setenv("TRUEUP_FAILPOINT", "write_behind:2", 1);
    ::setenv("TRUEUP_FAILPOINT_MARKERS", (dir / "markers").c_str(), 1);
    {
        testing::Victim victim("RocksdbStoreVictim.DISABLED_AppliesTwoLargeOnes", dir / "store");
        std::uint64_t number = 0;
        EXPECT_TRUE(victim.hear(number));
        EXPECT_FALSE(victim.hear(number)) << "it lived on";
    }
    ::unsetenv("TRUEUP_FAILPOINT");
    ::unsetenv("TRUEUP_FAILPOINT_MARKERS");
    EXPECT_EQ(std::filesystem::file_size(dir / "markers"), std::string("write_behind 2\n").size());
    auto store = must_open(dir / "store");
    const auto rows = store->scan("row/", "", SIZE_MAX).value();
    EXPECT_EQ(rows.size(), 5000U);
    for (const auto& [key, value] : rows) EXPECT_TRUE(value.starts_with("first")) << key;
    EXPECT_TRUE(store->apply(large_batch("third")).ok())
        << "what is left of the file is in the way";
    EXPECT_TRUE(store->get(row_key(10'000)).value()->starts_with("third"));
}
#endif

std::string images_of(const std::string& store) { return store + "-images"; }

/// An image is called by its last batch.
Result<std::string> batch_of(ports::Store& image) { return *image.get("meta").value(); }

/// Applies numbered batches and makes a checkpoint every few of them, for ever; says each that has
/// its name.
TEST(RocksdbCheckpointVictim, DISABLED_MakesThemUntilKilled) {
    const auto job = testing::VictimJob::of_this_process();
    if (job.path.empty()) GTEST_SKIP() << "only as a child of RocksdbCheckpointKilled";
    auto store = must_open(job.path);
    const std::optional<std::uint64_t> last = last_batch(*store);
    for (std::uint64_t number = last ? *last + 1 : 0;; ++number) {
        if (!store->apply(numbered_batch(number)).ok()) ::_exit(1);
        if (number % 20 != 0) continue;
        const auto made = store->checkpoint(images_of(job.path), batch_of);
        if (!made.ok() || *made != std::to_string(number)) ::_exit(1);
        job.say(number);
    }
}

TEST(RocksdbCheckpointKilled, WhatHasANameIsWhole_T4) {
    testing::TempDir dir;
    std::set<std::string> named;
    for (const std::uint64_t enough : {1U, 4U, 9U, 3U}) {
        std::uint64_t number = 0;
        std::uint64_t heard = 0;
        testing::Victim victim("RocksdbCheckpointVictim.DISABLED_MakesThemUntilKilled",
                               dir / "store");
        while (heard < enough && victim.hear(number)) {
            named.insert(std::to_string(number));
            ++heard;
        }
        victim.kill();
        ASSERT_EQ(heard, enough);
        for (const auto& entry : std::filesystem::directory_iterator(images_of(dir / "store"))) {
            const std::string name = entry.path().filename().string();
            if (name.starts_with("making")) continue;
            named.erase(name);
            auto image = must_open(entry.path().string());
            EXPECT_EQ(last_batch(*image), std::stoull(name));
        }
        EXPECT_EQ(named, std::set<std::string>{}) << "said to be there, and is not";
    }
}

}  // namespace
}  // namespace trueup::projections
