// Proves connectors/embedded/embedded_reader.h: the log of a process that runs is read as it is at
// that moment, nothing in its folder changes, and it goes on.
#include "connectors/embedded/embedded_reader.h"

#include "connectors/embedded/embedded_log.h"
#include "tests/support/temp_dir.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <string>

namespace trueup::connectors {
namespace {

constexpr ports::Partition kJournal{Topic::kJournal, PartitionNumber(0)};
constexpr ports::Partition kPods{Topic::kChangesPods, PartitionNumber(1)};
constexpr std::size_t kMemory = std::size_t{1} << 20U;

std::unique_ptr<EmbeddedLog> running_in(const std::string& path) {
    auto log = EmbeddedLog::open({.path = path, .fsync = false, .memory_bytes = kMemory});
    EXPECT_TRUE(log) << log.error().what;
    return std::move(*log);
}

void append(ports::Log& log, ports::Partition partition, const std::string& value) {
    EXPECT_TRUE(ports::append_now(log, partition, {{{}, value}}));
}

std::string read(ports::Log& log, ports::Partition partition, Offset from) {
    std::string values;
    for (Offset next = from;;) {
        const auto fetched = log.read(partition, next, 100);
        EXPECT_TRUE(fetched) << fetched.error().what;
        if (!fetched || fetched->records.empty()) return values;
        for (const ports::Record& record : fetched->records) values += record.value;
        next = fetched->next_offset;
    }
}

std::map<std::string, std::string> files_of(const std::string& folder) {
    std::map<std::string, std::string> files;
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
        std::ifstream file(entry.path(), std::ios::binary);
        files[entry.path().filename()] = {std::istreambuf_iterator<char>(file), {}};
    }
    return files;
}

TEST(EmbeddedReader, ReadsBesideTheOneWhoWrites) {
    const testing::TempDir dir;
    const std::string path = dir / "log";
    const auto running = running_in(path);
    append(*running, kJournal, "a");
    append(*running, kJournal, std::string(10'000, 'b'));  // lies in a blob file once flushed
    append(*running, kPods, "p");
    const auto before = files_of(path);
    const auto reader = EmbeddedReader::open(path, kMemory);
    ASSERT_TRUE(reader) << reader.error().what;
    EXPECT_EQ(read(**reader, kJournal, kFirstOffset), "a" + std::string(10'000, 'b'));
    EXPECT_EQ(read(**reader, kPods, kFirstOffset), "p");
    EXPECT_EQ(files_of(path), before) << "nothing in the folder changes";
    append(*running, kJournal, "c");
    EXPECT_EQ((*reader)->describe(kJournal)->next_offset, Offset(2)) << "as it was at that moment";
    const auto again = EmbeddedReader::open(path, kMemory);
    ASSERT_TRUE(again);
    EXPECT_EQ(read(**again, kJournal, Offset(2)), "c");
}

TEST(EmbeddedReader, ReadsWhatWasFlushedAndTruncated) {
    const testing::TempDir dir;
    const std::string path = dir / "log";
    for (int round = 0; round < 3; ++round) append(*running_in(path), kJournal, "x");  // reopened
    const auto running = running_in(path);
    ASSERT_TRUE(running->truncate(kJournal, Offset(1)));
    const auto reader = EmbeddedReader::open(path, kMemory);
    ASSERT_TRUE(reader) << reader.error().what;
    EXPECT_EQ((*reader)->describe(kJournal)->first_offset, Offset(1));
    EXPECT_EQ((*reader)->read(kJournal, kFirstOffset, 100).error().next, Next::kStop);
    EXPECT_EQ(read(**reader, kJournal, Offset(1)), "xx");
}

TEST(EmbeddedReader, WritesNothing) {
    const testing::TempDir dir;
    append(*running_in(dir / "log"), kJournal, "a");
    const auto reader = EmbeddedReader::open(dir / "log", kMemory);
    ASSERT_TRUE(reader) << reader.error().what;
    EXPECT_EQ(ports::append_now(**reader, kJournal, {{{}, "b"}}).error().next, Next::kStop);
    EXPECT_EQ((*reader)->truncate(kJournal, Offset(1)).error().next, Next::kStop);
    EXPECT_EQ(read(**reader, kJournal, kFirstOffset), "a");
}

TEST(EmbeddedReader, SaysWhereThereIsNone) {
    const testing::TempDir dir;
    const auto reader = EmbeddedReader::open(dir / "log", kMemory);
    ASSERT_FALSE(reader);
    EXPECT_EQ(reader.error().code, Code::kNotFound);
    EXPECT_FALSE(std::filesystem::exists(dir / "log")) << "and makes none";
}

}  // namespace
}  // namespace trueup::connectors
