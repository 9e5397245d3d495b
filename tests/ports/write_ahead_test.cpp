// Proves connectors/embedded/write_ahead.h: no bit of the embedded log's newest part can change
// without being noticed, and what a crash leaves is not taken for damage.
#include "connectors/embedded/write_ahead.h"

#include "connectors/embedded/embedded_log.h"
#include "tests/support/temp_dir.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

namespace trueup::connectors {
namespace {

constexpr ports::Partition kJournal{Topic::kJournal, PartitionNumber(0)};

/// A closed embedded log whose newest part is one file.
class WriteAhead : public ::testing::Test {
  protected:
    void write(int units, std::size_t value_bytes) {
        auto log = EmbeddedLog::open({.path = dir_ / "log"});
        ASSERT_TRUE(log.ok());
        for (int i = 0; i < units; ++i) {
            const std::vector<ports::Entry> unit{{{}, std::string(value_bytes, 'v'), {}}};
            ASSERT_TRUE(ports::append_now(**log, kJournal, unit).ok());
        }
        log->reset();
        for (const auto& entry : std::filesystem::directory_iterator(dir_ / "log")) {
            if (entry.path().extension() == ".log" && entry.file_size() > 0) file_ = entry.path();
        }
        bytes_ = read();
        ASSERT_GT(bytes_.size(), static_cast<std::size_t>(units) * value_bytes);
    }

    std::string read() const {
        std::ifstream file(file_, std::ios::binary);
        return {std::istreambuf_iterator<char>(file), {}};
    }
    void put(const std::string& bytes) const { std::ofstream(file_, std::ios::binary) << bytes; }

    void put_with_bit_flipped(std::size_t bit) const {
        std::string damaged = bytes_;
        damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ (1 << (bit % 8)));
        put(damaged);
    }
    /// What is said of it; empty: nothing.
    std::string said(Sums sums) const {
        const Status checked = check_write_ahead(dir_ / "log", sums);
        return checked ? "" : checked.error().what;
    }
    /// Where the records begin.
    std::vector<std::size_t> records() const {
        std::vector<std::size_t> found;
        for (std::size_t at = 0; at + 7 <= bytes_.size();) {
            found.push_back(at);
            const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(bytes_[i]); };
            at += 7U + byte(at + 4) + (std::size_t{byte(at + 5)} << 8U);
        }
        return found;
    }

    testing::TempDir dir_;
    std::filesystem::path file_;
    std::string bytes_;
};

// Symptom: one bit was flipped that gives the length of a record, or its type. RocksDB took it for
// the log's end, and eight of twelve acknowledged appends were gone without a word.
TEST_F(WriteAhead, NoBitOfARecordsHeaderIsTheEndOfTheLog) {
    write(12, 40);
    const std::vector<std::size_t> all = records();
    ASSERT_GE(all.size(), 12U);
    for (const std::size_t record : {all[5], all.back()}) {
        for (std::size_t bit = 8 * record; bit < 8 * (record + 7); ++bit) {
            put_with_bit_flipped(bit);
            const auto opened = EmbeddedLog::open({.path = dir_ / "log"});
            ASSERT_FALSE(opened.ok()) << "bit " << bit;
            EXPECT_EQ(opened.error().next, Next::kStop);
            EXPECT_NE(opened.error().what.find("damaged"), std::string::npos)
                << opened.error().what;
        }
    }
    put(bytes_);
    EXPECT_TRUE(EmbeddedLog::open({.path = dir_ / "log"}).ok());
}

TEST_F(WriteAhead, TheFileAndTheByteAreNamed) {
    write(12, 40);
    const std::size_t record = records()[5];
    const std::string place = file_.string() + " at byte " + std::to_string(record);
    for (const std::size_t bit : {8 * (record + 5) + 7, 8 * (record + 20)}) {
        put_with_bit_flipped(bit);
        const auto opened = EmbeddedLog::open({.path = dir_ / "log"});
        ASSERT_FALSE(opened.ok());
        EXPECT_NE(opened.error().what.find(place), std::string::npos) << opened.error().what;
    }
}

TEST_F(WriteAhead, EachBitCounts) {
    write(6, 30);
    EXPECT_EQ(said(Sums::kAll), "");
    const std::size_t last_type = 8 * (records().back() + 6);
    for (std::size_t bit = 0; bit < 8 * bytes_.size(); ++bit) {
        put_with_bit_flipped(bit);
        // The type of the last one, if it says "nobody has written here", is RocksDB's to refuse.
        EXPECT_EQ(said(Sums::kAll).empty(), bit == last_type) << "bit " << bit;
    }
}

TEST_F(WriteAhead, WhatACrashCutOffAnywhereIsNoDamage) {
    write(3, 30);
    for (std::size_t size = 0; size < bytes_.size(); ++size) {
        put(bytes_.substr(0, size));
        EXPECT_EQ(said(Sums::kAll), "") << size;
    }
    for (const std::size_t size : records()) {
        put(bytes_.substr(0, size) + std::string(50, '\0'));
        EXPECT_EQ(said(Sums::kAll), "") << size;
    }
}

TEST_F(WriteAhead, RecordsOverManyBlocksAreFollowed) {
    write(40, 3'900);
    EXPECT_EQ(said(Sums::kAll), "");
    const std::size_t size = bytes_.size();
    for (const std::size_t at : {size / 4, size / 2, size - 100}) {
        put_with_bit_flipped(8 * at);
        EXPECT_EQ(said(Sums::kAtTheEnd), "") << "RocksDB holds it against its checksum";
        EXPECT_NE(said(Sums::kAll), "") << at;
    }
    put(bytes_.substr(0, size - 3'000));
    EXPECT_EQ(said(Sums::kAll), "");
}

}  // namespace
}  // namespace trueup::connectors
