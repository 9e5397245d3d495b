#include "connectors/embedded/disk.h"

#include "connectors/embedded/disk_keys.h"
#include "connectors/embedded/write_ahead.h"
#include "engine/base/shared_mutex.h"
#include "engine/base/thread_safety.h"

#include <rocksdb/cache.h>
#include <rocksdb/db.h>
#include <rocksdb/env.h>
#include <rocksdb/options.h>
#include <rocksdb/table.h>
#include <rocksdb/write_batch.h>

#include <algorithm>
#include <atomic>
#include <cstdarg>
#include <filesystem>
#include <optional>
#include <string_view>
#include <system_error>

namespace trueup::connectors {

namespace {

constexpr std::string_view kFormatKey = "v";
constexpr std::string_view kFormatValue = "1";

std::string partition_name(ports::Partition partition) {
    return std::string(name_of(partition.topic)) + "/" + std::to_string(partition.index.value());
}

Error error_of(const rocksdb::Status& status, const std::string& path) {
    const std::string what = "embedded log " + path + ": " + status.ToString();
    if (status.IsCorruption()) return {Next::kStop, Code::kCorrupt, what};
    return {Next::kRetry, status.IsNoSpace() ? Code::kExhausted : Code::kUnavailable, what};
}

Error damaged(const std::string& path, const std::string& what) {
    return {Next::kStop, Code::kCorrupt,
            "embedded log " + path + " is damaged (" + what +
                "); it is the only copy of what was seen and decided: restore it "
                "from a backup, or move it away to start over"};
}

Error open_error(const rocksdb::Status& status, const std::string& path) {
    const std::string text = status.ToString();
    const auto says = [&text](std::string_view part) { return text.find(part) != text.npos; };
    if (status.IsIOError() && (says("lock hold by") || says("While lock file"))) {
        return {
            Next::kStop, Code::kConflict,
            "embedded log " + path +
                " is in use by another process; stop that one, or give this one its own state_dir"};
    }
    if (!status.IsCorruption()) return error_of(status, path);
    const Status place = check_write_ahead(path, Sums::kAll);
    return damaged(path, place ? text : text + ", " + place.error().what);
}

rocksdb::Options options_for(std::size_t memory_bytes) {
    rocksdb::Options options;
    options.create_if_missing = true;
    // Three eighths of the memory: the tail cache and the queue have the rest.
    options.write_buffer_size = std::max<std::size_t>(memory_bytes / 8, std::size_t{256} << 10U);
    options.max_write_buffer_number = 3;
    options.max_total_wal_size = 4 * options.write_buffer_size;
    options.enable_blob_files = true;
    options.min_blob_size = 4096;
    options.blob_file_size = std::uint64_t{256} << 20U;
    // Facts repeat themselves, and are written at leisure: the hot path is the write-ahead log.
    options.compression = rocksdb::kZSTD;
    options.blob_compression_type = rocksdb::kZSTD;
    // A record that a crash cut off at the end was never acknowledged. Anything else that is wrong
    // is a loss, and is refused: the default would drop whatever comes behind it, and say nothing.
    options.wal_recovery_mode = rocksdb::WALRecoveryMode::kTolerateCorruptedTailRecords;
    options.track_and_verify_wals_in_manifest = true;
    options.bytes_per_sync = std::uint64_t{1} << 20U;  // or one flush holds up the next fsync
    options.allow_concurrent_memtable_write = false;   // one writer
    options.max_background_jobs = 2;
    options.max_open_files = 256;
    options.info_log_level = rocksdb::WARN_LEVEL;
    options.max_log_file_size = std::size_t{1} << 20U;
    options.keep_log_file_num = 2;
    options.stats_dump_period_sec = 0;
    rocksdb::BlockBasedTableOptions table;
    table.block_size = std::size_t{32} << 10U;  // read in order; small ones compress half as well
    table.block_cache = rocksdb::NewLRUCache(
        std::clamp<std::size_t>(memory_bytes / 16, std::size_t{1} << 20U, std::size_t{16} << 20U));
    table.cache_index_and_filter_blocks = true;
    options.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
    return options;
}

/// RocksDB's own log would be one more file in a folder that is another process's.
class Silent final : public rocksdb::Logger {
  public:
    using rocksdb::Logger::Logv;
    void Logv(const char* /*format*/, va_list /*arguments*/) override {}
};

/// Of a database that has a format: is it ours?
Status check_format(const std::string& format, const std::string& path) {
    if (format == kFormatValue) return Done{};
    return Error{Next::kStop, Code::kUnsupported,
                 "embedded log " + path + " has format " + format + ", this build reads " +
                     std::string(kFormatValue) + ": use the build that wrote it"};
}

rocksdb::ReadOptions read_options() {
    rocksdb::ReadOptions options;
    options.verify_checksums = false;  // the blocks carry their own
    return options;
}

}  // namespace

struct Disk::Rocks {
    std::string path;
    std::size_t memory_bytes;
    bool fsync;
    SharedMutex mutex;  ///< exclusive: the database is being closed and opened
    std::unique_ptr<rocksdb::DB> db TRUEUP_GUARDED_BY(mutex);
    std::atomic<bool> hurried{false};  ///< ends a compaction that is asked for

    Status open() TRUEUP_REQUIRES(mutex);
    Status open_to_read() TRUEUP_REQUIRES(mutex);
    Error closed() const {
        return {Next::kRetry, Code::kUnavailable, "embedded log " + path + " is not open"};
    }
    rocksdb::WriteOptions write_options() const;
    Result<BlockRef> parse_at(const rocksdb::Iterator& it) const;
    Status truncated_extents(Extents& extents) TRUEUP_REQUIRES_SHARED(mutex);
    rocksdb::Status free_range(const std::string& begin, const std::string& end)
        TRUEUP_REQUIRES_SHARED(mutex);
};

rocksdb::WriteOptions Disk::Rocks::write_options() const {
    rocksdb::WriteOptions options;
    options.sync = fsync;
    return options;
}

Status Disk::Rocks::open() {
    db.reset();
    std::error_code error;
    std::filesystem::create_directories(path, error);
    if (error) {
        return Error{Next::kStop, Code::kUnavailable,
                     "embedded log " + path + ": cannot make it: " + error.message()};
    }
    if (Status whole = check_write_ahead(path, Sums::kAtTheEnd); !whole) {
        return damaged(path, whole.error().what);
    }
    rocksdb::DB* opened = nullptr;
    rocksdb::Status status = rocksdb::DB::Open(options_for(memory_bytes), path, &opened);
    if (!status.ok()) return open_error(status, path);
    std::unique_ptr<rocksdb::DB> fresh(opened);
    std::string format;
    status = fresh->Get(rocksdb::ReadOptions(), std::string(kFormatKey), &format);
    if (status.IsNotFound()) {
        format = kFormatValue;
        status = fresh->Put(write_options(), std::string(kFormatKey), format);
    }
    if (!status.ok()) return error_of(status, path);
    if (Status ours = check_format(format, path); !ours) return ours;
    db = std::move(fresh);
    return Done{};
}

Status Disk::Rocks::open_to_read() {
    std::error_code error;
    if (!std::filesystem::exists(path + "/CURRENT", error)) {
        return Error{Next::kStop, Code::kNotFound, "there is no embedded log in " + path};
    }
    rocksdb::Options options = options_for(memory_bytes);
    options.create_if_missing = false;
    // Each table is held from now on, even if the process that writes compacts it away.
    options.max_open_files = -1;
    options.info_log = std::make_shared<Silent>();
    rocksdb::DB* opened = nullptr;
    rocksdb::Status status = rocksdb::DB::OpenForReadOnly(options, path, &opened);
    if (!status.ok()) return open_error(status, path);
    std::unique_ptr<rocksdb::DB> fresh(opened);
    std::string format;
    status = fresh->Get(rocksdb::ReadOptions(), std::string(kFormatKey), &format);
    if (status.IsNotFound()) {
        return Error{Next::kStop, Code::kNotFound,
                     path + " is a database, but no embedded log: name the folder `log` beside it"};
    }
    if (!status.ok()) return error_of(status, path);
    if (Status ours = check_format(format, path); !ours) return ours;
    db = std::move(fresh);
    return Done{};
}

Result<BlockRef> Disk::Rocks::parse_at(const rocksdb::Iterator& it) const {
    const std::string_view key = it.key().ToStringView();
    Result<BlockRef> block = parse(it.value().ToString(), offset_of_key(key));
    if (block.ok()) return block;
    return Error{Next::kStop, Code::kCorrupt,
                 "embedded log " + path + ", " + partition_name(partition_of_key(key)) +
                     " at offset " + std::to_string(offset_of_key(key).value()) + ": " +
                     block.error().what};
}

Status Disk::Rocks::truncated_extents(Extents& extents) {
    const std::unique_ptr<rocksdb::Iterator> it(db->NewIterator(read_options()));
    const std::string prefix{kFirstTag};
    for (it->Seek(prefix); it->Valid(); it->Next()) {
        const std::string_view key = it->key().ToStringView();
        if (!is_key_of(key, prefix, kPrefixSize)) break;
        const std::optional<TimedExtent> extent = parse_first(it->value().ToStringView());
        if (!extent) return error_of(rocksdb::Status::Corruption("first offset"), path);
        extents[partition_of_key(key)] = *extent;
    }
    if (!it->status().ok()) return error_of(it->status(), path);
    return Done{};
}

/// Compacts the references to a truncated range away: a blob file that holds nothing else goes with
/// them. Blob files of mixed content are rewritten once more than half of all their bytes are
/// garbage, and never otherwise: as a matter of course in each compaction it doubled the CPU of an
/// append (measured).
rocksdb::Status Disk::Rocks::free_range(const std::string& begin, const std::string& end) {
    const rocksdb::Slice from(begin);
    const rocksdb::Slice to(end);
    rocksdb::CompactRangeOptions compact;
    compact.exclusive_manual_compaction = false;
    compact.canceled = &hurried;
    compact.bottommost_level_compaction = rocksdb::BottommostLevelCompaction::kForce;
    rocksdb::Status compacted = db->CompactRange(compact, &from, &to);
    if (!compacted.ok()) return compacted;
    std::uint64_t all = 0;
    std::uint64_t garbage = 0;
    db->GetIntProperty(rocksdb::DB::Properties::kLiveBlobFileSize, &all);
    db->GetIntProperty(rocksdb::DB::Properties::kLiveBlobFileGarbageSize, &garbage);
    if (garbage <= all / 2) return compacted;
    compact.blob_garbage_collection_policy = rocksdb::BlobGarbageCollectionPolicy::kForce;
    compact.blob_garbage_collection_age_cutoff = 1.0;
    return db->CompactRange(compact, nullptr, nullptr);
}

Disk::Disk(std::unique_ptr<Rocks> rocks) : rocks_(std::move(rocks)) {}
Disk::~Disk() = default;

Result<std::unique_ptr<Disk>> Disk::open(std::string path, std::size_t memory_bytes, bool fsync) {
    auto rocks = std::make_unique<Rocks>();
    rocks->path = std::move(path);
    rocks->memory_bytes = memory_bytes;
    rocks->fsync = fsync;
    {
        const WriterLock lock(rocks->mutex);
        if (Status opened = rocks->open(); !opened.ok()) return opened.error();
    }
    return std::unique_ptr<Disk>(new Disk(std::move(rocks)));
}

Result<std::unique_ptr<Disk>> Disk::open_to_read(std::string path, std::size_t memory_bytes) {
    auto rocks = std::make_unique<Rocks>();
    rocks->path = std::move(path);
    rocks->memory_bytes = memory_bytes;
    rocks->fsync = false;
    {
        const WriterLock lock(rocks->mutex);
        if (Status opened = rocks->open_to_read(); !opened.ok()) return opened.error();
    }
    return std::unique_ptr<Disk>(new Disk(std::move(rocks)));
}

Status Disk::reopen() {
    hurry();
    const WriterLock lock(rocks_->mutex);
    rocks_->hurried = false;
    return rocks_->open();
}

Result<Extents> Disk::extents() {
    const ReaderLock lock(rocks_->mutex);
    if (!rocks_->db) return rocks_->closed();
    Extents extents;
    if (Status read = rocks_->truncated_extents(extents); !read.ok()) return read.error();
    const std::unique_ptr<rocksdb::Iterator> it(rocks_->db->NewIterator(read_options()));
    const std::string prefix{kBlockTag};
    for (it->Seek(prefix);
         it->Valid() && is_key_of(it->key().ToStringView(), prefix, kBlockKeySize); it->Next()) {
        // On some block of a partition: on to its last one, whose end is the partition's.
        const ports::Partition partition = partition_of_key(it->key().ToStringView());
        it->SeekForPrev(block_key(partition, kBeyondOffsets));
        if (!it->Valid()) break;
        const Result<BlockRef> last = rocks_->parse_at(*it);
        if (!last.ok()) return last.error();
        TimedExtent& extent = extents[partition];
        extent.next_offset = (*last)->next_offset();
        extent.last_append = (*last)->append_time;
    }
    if (!it->status().ok()) return error_of(it->status(), rocks_->path);
    return extents;
}

Status Disk::write(const std::vector<std::pair<ports::Partition, BlockRef>>& blocks) {
    const ReaderLock lock(rocks_->mutex);
    if (!rocks_->db) return rocks_->closed();
    std::size_t size = 64;
    for (const auto& [partition, block] : blocks) size += block->bytes.size() + 32;
    rocksdb::WriteBatch batch(size);
    for (const auto& [partition, block] : blocks) {
        const rocksdb::Status put =
            batch.Put(block_key(partition, block->first_offset), block->bytes);
        if (!put.ok()) return error_of(put, rocks_->path);
    }
    const rocksdb::Status written = rocks_->db->Write(rocks_->write_options(), &batch);
    if (!written.ok()) return error_of(written, rocks_->path);
    return Done{};
}

Result<std::vector<BlockRef>> Disk::read(ports::Partition partition, Offset offset, Offset end,
                                         std::size_t max_bytes) {
    const ReaderLock lock(rocks_->mutex);
    if (!rocks_->db) return rocks_->closed();
    const std::unique_ptr<rocksdb::Iterator> it(rocks_->db->NewIterator(read_options()));
    const std::string prefix = partition_key(kBlockTag, partition);
    std::vector<BlockRef> blocks;
    std::size_t bytes = 0;
    Offset expected = offset;
    for (it->SeekForPrev(block_key(partition, offset)); it->Valid(); it->Next()) {
        const std::string_view key = it->key().ToStringView();
        if (!is_key_of(key, prefix, kBlockKeySize) || offset_of_key(key) >= end) break;
        Result<BlockRef> block = rocks_->parse_at(*it);
        if (!block.ok()) return block.error();
        const bool holds =
            blocks.empty() ? (*block)->next_offset() > offset : (*block)->first_offset == expected;
        if (!holds) break;
        expected = (*block)->next_offset();
        if (!blocks.empty()) bytes += (*block)->bytes.size();  // the first one may be left early
        blocks.push_back(std::move(block).value());
        if (bytes >= max_bytes) break;
    }
    if (!it->status().ok()) return error_of(it->status(), rocks_->path);
    if (blocks.empty()) {
        return Error{Next::kStop, Code::kCorrupt,
                     "embedded log " + rocks_->path + ", " + partition_name(partition) +
                         ": no block holds offset " + std::to_string(offset.value())};
    }
    return blocks;
}

Status Disk::truncate(ports::Partition partition, const TimedExtent& extent) {
    const ReaderLock lock(rocks_->mutex);
    if (!rocks_->db) return rocks_->closed();
    rocksdb::DB& db = *rocks_->db;
    std::string end = block_key(partition, extent.first_offset);
    if (extent.first_offset < extent.next_offset) {
        const std::unique_ptr<rocksdb::Iterator> it(db.NewIterator(read_options()));
        it->SeekForPrev(end);
        if (!it->status().ok()) return error_of(it->status(), rocks_->path);
        if (it->Valid()) end = it->key().ToString();
    }
    const std::string begin = block_key(partition, kFirstOffset);
    rocksdb::WriteBatch batch;
    rocksdb::Status status = batch.Put(partition_key(kFirstTag, partition), first_value(extent));
    if (status.ok()) {
        status = batch.DeleteRange(db.DefaultColumnFamily(), begin, end);
    }
    if (status.ok()) status = db.Write(rocks_->write_options(), &batch);
    if (!status.ok()) return error_of(status, rocks_->path);
    return Done{};
}

Status Disk::free(ports::Partition partition) {
    const ReaderLock lock(rocks_->mutex);
    if (!rocks_->db) return rocks_->closed();
    const rocksdb::Status status = rocks_->free_range(block_key(partition, kFirstOffset),
                                                      block_key(partition, kBeyondOffsets));
    if (!status.ok() && !rocks_->hurried) return error_of(status, rocks_->path);
    return Done{};
}

void Disk::hurry() { rocks_->hurried = true; }

}  // namespace trueup::connectors
