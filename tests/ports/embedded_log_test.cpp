// Proves connectors/embedded/embedded_log.h: the log contract, and what the embedded log promises
// beyond it.
#include "connectors/embedded/embedded_log.h"

#include "tests/ports/log_contract.h"
#include "tests/support/manual_clock.h"
#include "tests/support/temp_dir.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>

#include <filesystem>
#include <fstream>
#include <random>
#include <system_error>

// Debian's RocksDB is not instrumented, so ThreadSanitizer sees its memory and not its atomics.
extern "C" const char* __tsan_default_suppressions() { return "race:librocksdb\n"; }

namespace trueup::connectors {
namespace {

using ports::Appended;
using ports::Fetched;
using ports::kJournal0;
using ports::kJournal1;
using ports::kPlenty;
using ports::kPods0;
using ports::Log;
using ports::read_all;
using ports::Seen;
using ports::unit_of;
using ports::values_of;

constexpr std::size_t kMegabyte = std::size_t{1} << 20U;

std::unique_ptr<EmbeddedLog> must_open(EmbeddedLog::Settings settings) {
    Result<std::unique_ptr<EmbeddedLog>> opened = EmbeddedLog::open(std::move(settings));
    if (!opened.ok()) throw std::runtime_error(opened.error().what);
    return std::move(opened).value();
}

class EmbeddedUnderTest final : public ports::LogUnderTest {
  public:
    explicit EmbeddedUnderTest(std::size_t memory_bytes) : memory_bytes_(memory_bytes) { reopen(); }
    Log& log() override { return *log_; }
    Result<Headers> headers(ports::Partition partition, Offset offset) override {
        return log_->headers(partition, offset);
    }
    void reopen() override {
        log_.reset();
        log_ = must_open({.path = dir_ / "log", .fsync = false, .memory_bytes = memory_bytes_});
    }

  private:
    testing::TempDir dir_;
    std::size_t memory_bytes_;
    std::unique_ptr<EmbeddedLog> log_;
};

/// The memory decides where reads are served from: 0 keeps nothing in the tail cache.
ports::LogMaker maker(std::size_t memory_bytes) {
    return [=] { return std::make_unique<EmbeddedUnderTest>(memory_bytes); };
}

}  // namespace
}  // namespace trueup::connectors

namespace trueup::ports {
INSTANTIATE_TEST_SUITE_P(Cached, LogContract,
                         ::testing::Values(connectors::maker(connectors::kMegabyte * 64)));
INSTANTIATE_TEST_SUITE_P(FromDisk, LogContract, ::testing::Values(connectors::maker(0)));
}  // namespace trueup::ports

namespace trueup::connectors {
namespace {

using trueup::testing::ManualClock;

Appended must_append(Log& log, ports::Partition partition, std::vector<ports::Entry> entries) {
    const Result<Appended> appended = append_now(log, partition, std::move(entries));
    if (!appended.ok()) throw std::runtime_error(appended.error().what);
    return *appended;
}

/// What RocksDB takes away while this looks takes up nothing.
std::uintmax_t bytes_under(const std::string& path) {
    std::uintmax_t sum = 0;
    for (const auto& file : std::filesystem::recursive_directory_iterator(path)) {
        std::error_code gone;
        const bool regular = file.is_regular_file(gone);
        const std::uintmax_t size = regular ? file.file_size(gone) : 0;
        if (!gone) sum += size;
    }
    return sum;
}

TEST(EmbeddedLog, OffsetsAreDenseFromZero) {
    testing::TempDir dir;
    auto log = must_open({.path = dir / "log", .fsync = false});
    Offset end;
    for (int i = 1; i <= 5; ++i) {
        const Appended appended = must_append(*log, kJournal0, unit_of("a", i));
        EXPECT_EQ(appended.first_offset, end);
        EXPECT_EQ(appended.last_offset, further(end, i - 1));
        end = further(end, i);
    }
    EXPECT_EQ(log->describe(kJournal0).value().next_offset, end);
}

TEST(EmbeddedLog, OneUnitSharesOneTimeAndTheNextIsLater) {
    testing::TempDir dir;
    ManualClock clock{1'000'000};  // stands still
    auto log = must_open({.path = dir / "log", .fsync = false, .clock = &clock});
    must_append(*log, kJournal0, unit_of("a", 2));
    must_append(*log, kJournal0, unit_of("b", 2));
    clock.advance(Millis(50));
    must_append(*log, kJournal0, unit_of("c", 1));
    std::vector<std::int64_t> times;
    for (const Seen& seen : read_all(*log, kJournal0)) times.push_back(to_millis(seen.time));
    EXPECT_EQ(times,
              (std::vector<std::int64_t>{1'000'000, 1'000'000, 1'000'001, 1'000'001, 1'000'050}));
}

TEST(EmbeddedLog, TimesGoOnAfterTheWallClockWasSetBackAcrossARestart) {
    testing::TempDir dir;
    ManualClock clock{1'000'000};
    auto log = must_open({.path = dir / "log", .fsync = false, .clock = &clock});
    must_append(*log, kPods0, unit_of("a", 1));
    log.reset();
    clock.leap(-Millis(500'000));
    log = must_open({.path = dir / "log", .fsync = false, .clock = &clock});
    EXPECT_EQ(to_millis(must_append(*log, kJournal0, unit_of("b", 1)).append_time), 1'000'000);
    clock.advance(Millis(70));
    EXPECT_EQ(to_millis(must_append(*log, kJournal0, unit_of("c", 1)).append_time), 1'000'070);
}

TEST(EmbeddedLog, UnitsOfManyAppendersAreAdjacent) {
    testing::TempDir dir;
    auto log = must_open({.path = dir / "log", .fsync = false});
    constexpr int kThreads = 4;
    constexpr int kUnits = 60;
    std::vector<std::thread> threads;
    for (int t = 0; t < kThreads; ++t) {
        threads.emplace_back([&, t] {
            std::vector<std::unique_ptr<ports::PendingAppend>> pending;
            for (int u = 0; u < kUnits; ++u) {
                const std::string name = std::to_string(t) + "-" + std::to_string(u);
                pending.push_back(log->append(kJournal0, unit_of(name, 1 + u % 5)));
            }
            for (const auto& one : pending) EXPECT_TRUE(one->take().ok());
        });
    }
    for (std::thread& thread : threads) thread.join();

    const std::vector<Seen> seen = read_all(*log, kJournal0);
    std::vector<int> next(kThreads, 0);  // units come in each appender's own order
    for (std::size_t i = 0; i < seen.size();) {
        const int t = seen[i].key[0] - '0';
        const int u = next[static_cast<std::size_t>(t)]++;
        for (const ports::Entry& entry :
             unit_of(std::to_string(t) + "-" + std::to_string(u), 1 + u % 5)) {
            ASSERT_LT(i, seen.size());
            EXPECT_EQ(seen[i++].value, entry.value);
        }
    }
    EXPECT_EQ(next, std::vector<int>(kThreads, kUnits));
}

TEST(EmbeddedLog, AReaderNeverSeesPartOfAUnit) {
    testing::TempDir dir;
    auto log = must_open({.path = dir / "log", .fsync = false});
    constexpr int kUnits = 100;
    constexpr int kRecords = 7;
    std::atomic<bool> done = false;
    std::thread reader([&] {
        while (!done) EXPECT_EQ(read_all(*log, kJournal0).size() % kRecords, 0U);
    });
    for (int u = 0; u < kUnits; ++u)
        must_append(*log, kJournal0, unit_of(std::to_string(u), kRecords));
    done = true;
    reader.join();
    EXPECT_EQ(read_all(*log, kJournal0).size(), std::size_t{kUnits * kRecords});
}

TEST(EmbeddedLog, ASecondOpenSaysWhoIsInTheWay) {
    testing::TempDir dir;
    auto log = must_open({.path = dir / "log"});
    const auto second = EmbeddedLog::open({.path = dir / "log"});
    ASSERT_FALSE(second.ok());
    EXPECT_EQ(second.error().next, Next::kStop);
    EXPECT_EQ(second.error().code, Code::kConflict);
    EXPECT_NE(second.error().what.find("in use by another process"), std::string::npos);
}

TEST(EmbeddedLog, ADamagedLogIsNotOpened) {
    testing::TempDir dir;
    must_open({.path = dir / "log"});
    std::ofstream(dir / "log/CURRENT") << "nonsense\n";
    const auto opened = EmbeddedLog::open({.path = dir / "log"});
    ASSERT_FALSE(opened.ok());
    EXPECT_EQ(opened.error().next, Next::kStop);
    EXPECT_EQ(opened.error().code, Code::kCorrupt);
    EXPECT_NE(opened.error().what.find("damaged"), std::string::npos);
}

/// The newest file in which RocksDB writes before anything else.
std::filesystem::path write_ahead(const std::filesystem::path& folder) {
    std::filesystem::path newest;
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
        const bool is_log = entry.path().extension() == ".log" && entry.file_size() > 0;
        if (is_log && entry.path() > newest) newest = entry.path();
    }
    return newest;
}

// Symptom: one bit of the log was flipped. The engine started without a word, with a journal that
// ended before it: half of what it had acknowledged was gone.
TEST(EmbeddedLog, AFlippedBitIsRefusedAndNotPassedOver) {
    testing::TempDir dir;
    {
        auto log = must_open({.path = dir / "log"});
        for (int i = 0; i < 100; ++i) must_append(*log, kJournal0, unit_of(std::to_string(i), 3));
    }
    const std::filesystem::path file = write_ahead(dir / "log");
    ASSERT_FALSE(file.empty());
    std::fstream bytes(file, std::ios::in | std::ios::out | std::ios::binary);
    const auto middle = static_cast<std::streamoff>(std::filesystem::file_size(file) / 2);
    bytes.seekg(middle);
    const char was = static_cast<char>(bytes.get());
    bytes.seekp(middle);
    bytes.put(static_cast<char>(was ^ 0x10));
    bytes.close();
    const auto opened = EmbeddedLog::open({.path = dir / "log"});
    ASSERT_FALSE(opened.ok());
    EXPECT_EQ(opened.error().next, Next::kStop);
    EXPECT_NE(opened.error().what.find("damaged"), std::string::npos) << opened.error().what;
}

TEST(EmbeddedLog, WhatACrashCutOffAtTheEndWasNeverAcknowledged) {
    testing::TempDir dir;
    {
        auto log = must_open({.path = dir / "log"});
        for (int i = 0; i < 100; ++i) must_append(*log, kJournal0, unit_of(std::to_string(i), 3));
    }
    const std::filesystem::path file = write_ahead(dir / "log");
    std::filesystem::resize_file(file, std::filesystem::file_size(file) - 7);
    auto log = must_open({.path = dir / "log"});
    EXPECT_EQ(read_all(*log, kJournal0).size(), 99U * 3U);
}

TEST(EmbeddedLog, OversizedRecordsAreRefusedAndLeaveNoHole) {
    testing::TempDir dir;
    auto log = must_open({.path = dir / "log", .fsync = false});
    const std::string big(EmbeddedLog::kMaxRecordBytes + 1, 'x');
    const Result<Appended> refused = append_now(*log, kJournal0, {{"", big}});
    ASSERT_FALSE(refused.ok());
    EXPECT_EQ(refused.error().next, Next::kSkip);
    EXPECT_EQ(refused.error().code, Code::kTooLarge);
    const std::string fits(EmbeddedLog::kMaxRecordBytes, 'x');
    EXPECT_EQ(must_append(*log, kJournal0, {{"", fits}}).first_offset, kFirstOffset);
    const std::vector<ports::Entry> many(9, {"", fits});
    EXPECT_EQ(append_now(*log, kJournal0, many).error().next, Next::kSkip);
}

TEST(EmbeddedLog, WhatWasQueuedIsWrittenBeforeTheEnd) {
    testing::TempDir dir;
    auto log = must_open({.path = dir / "log"});
    std::vector<std::unique_ptr<ports::PendingAppend>> pending;
    for (int i = 0; i < 20; ++i) pending.push_back(log->append(kJournal0, unit_of("a", 1)));
    log.reset();
    for (const auto& one : pending) EXPECT_TRUE(one->take().ok());
    log = must_open({.path = dir / "log"});
    EXPECT_EQ(read_all(*log, kJournal0).size(), 20U);
}

TEST(EmbeddedLog, AnAppendWhoseAnswerWasLostIsThereWhenReadBack_L5) {
    testing::TempDir dir;
    auto log = must_open({.path = dir / "log", .faults = {.answer_lost = 2}});
    must_append(*log, kJournal0, unit_of("a", 1));
    const Result<Appended> lost = append_now(*log, kJournal0, unit_of("b", 2));
    ASSERT_FALSE(lost.ok());
    EXPECT_EQ(lost.error().next, Next::kRetry);
    EXPECT_EQ(values_of(read_all(*log, kJournal0)),
              (std::vector<std::string>{"a.0", "b.0", "b.1"}));
    EXPECT_EQ(must_append(*log, kJournal0, unit_of("c", 1)).first_offset, Offset(3));
    EXPECT_EQ(must_append(*log, kJournal1, unit_of("d", 1)).first_offset, kFirstOffset);
    EXPECT_EQ(read_all(*log, kJournal0).size(), 4U);
}

TEST(EmbeddedLog, AnAppendThatWasNotStoredNeverAppears_L5) {
    testing::TempDir dir;
    auto log = must_open({.path = dir / "log", .faults = {.write_lost = 2}});
    must_append(*log, kJournal0, unit_of("a", 1));
    EXPECT_EQ(append_now(*log, kJournal0, unit_of("b", 2)).error().next, Next::kRetry);
    EXPECT_EQ(values_of(read_all(*log, kJournal0)), std::vector<std::string>{"a.0"});
    EXPECT_EQ(must_append(*log, kJournal0, unit_of("c", 1)).first_offset, Offset(1));
    log.reset();
    log = must_open({.path = dir / "log"});
    EXPECT_EQ(values_of(read_all(*log, kJournal0)), (std::vector<std::string>{"a.0", "c.0"}));
}

/// While it lives no file of this process grows above `bytes`: a disk that is full.
class FullDisk {
  public:
    explicit FullDisk(rlim_t bytes) {
        before_ = ::signal(SIGXFSZ, SIG_IGN);
        ::getrlimit(RLIMIT_FSIZE, &limit_);
        const rlimit low{bytes, limit_.rlim_max};
        ::setrlimit(RLIMIT_FSIZE, &low);
    }
    ~FullDisk() {
        ::setrlimit(RLIMIT_FSIZE, &limit_);
        ::signal(SIGXFSZ, before_);
    }
    FullDisk(const FullDisk&) = delete;
    FullDisk& operator=(const FullDisk&) = delete;

  private:
    rlimit limit_{};
    void (*before_)(int) = nullptr;
};

TEST(EmbeddedLog, AFullDiskFailsAppendsAndNothingElse_S37_L5) {
    testing::TempDir dir;
    auto log = must_open({.path = dir / "log"});
    const std::string value(100'000, 'x');
    std::vector<Offset> stored;
    {
        const FullDisk full(kMegabyte);
        int failed = 0;
        for (int i = 0; i < 30; ++i) {
            const auto appended = append_now(*log, kJournal0, {{std::to_string(i), value}});
            if (appended.ok()) {
                stored.push_back(appended->first_offset);
            } else {
                EXPECT_EQ(appended.error().next, Next::kRetry);
                ++failed;
            }
        }
        EXPECT_GT(failed, 0);
    }
    const Appended after = must_append(*log, kJournal0, {{"after", value}});
    log.reset();
    log = must_open({.path = dir / "log"});
    const std::vector<Seen> seen = read_all(*log, kJournal0);
    for (std::size_t i = 0; i < seen.size(); ++i) {
        EXPECT_EQ(seen[i].offset, Offset(static_cast<std::int64_t>(i)));  // no hole, no double
        EXPECT_EQ(seen[i].value, value);
    }
    EXPECT_EQ(seen.back().offset, after.first_offset);
    EXPECT_GE(seen.size(), stored.size() + 1);
}

TEST(EmbeddedLog, TruncationGivesTheDiskBack) {
    testing::TempDir dir;
    constexpr std::size_t kSmall = 8 * kMegabyte;
    auto log = must_open({.path = dir / "log", .fsync = false, .memory_bytes = kSmall});
    std::mt19937_64 random(5);      // NOLINT(cert-msc51-cpp): what cannot be compressed
    for (int i = 0; i < 80; ++i) {  // every eighth unit stays, among those that go
        std::string value(500'000, '\0');
        for (char& c : value) c = static_cast<char>(random());
        must_append(*log, i % 8 == 0 ? kPods0 : kJournal0, {{"k", value}});
    }
    EXPECT_GT(bytes_under(dir / "log"), 30 * kMegabyte);
    EXPECT_GT(log->stored_bytes().value_or(0), 30 * kMegabyte);
    ASSERT_TRUE(log->truncate(kJournal0, Offset(68)).ok());
    log.reset();
    EXPECT_LT(bytes_under(dir / "log"), 12 * kMegabyte);
    log = must_open({.path = dir / "log", .fsync = false, .memory_bytes = kSmall});
    EXPECT_EQ(read_all(*log, kJournal0, Offset(68)).size(), 2U);
    EXPECT_EQ(read_all(*log, kPods0).size(), 10U);
}

TEST(EmbeddedLog, WhatRepeatsItselfTakesLittle) {
    testing::TempDir dir;
    auto log = must_open({.path = dir / "log", .fsync = false, .memory_bytes = 8 * kMegabyte});
    const std::string value(500'000, 'x');
    for (int i = 0; i < 80; ++i) must_append(*log, kJournal0, {{"k", value}});
    EXPECT_LT(bytes_under(dir / "log"), 12 * kMegabyte) << "the write-ahead log, and little else";
    EXPECT_EQ(read_all(*log, kJournal0).size(), 80U);
}

TEST(EmbeddedLog, TruncatingBeyondTheEndIsRefused) {
    testing::TempDir dir;
    auto log = must_open({.path = dir / "log", .fsync = false});
    must_append(*log, kJournal0, unit_of("a", 3));
    EXPECT_EQ(log->truncate(kJournal0, Offset(4)).error().next, Next::kSkip);
    EXPECT_EQ(log->describe(kJournal0).value().first_offset, kFirstOffset);
}

}  // namespace
}  // namespace trueup::connectors
