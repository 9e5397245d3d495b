#include "projections/rocksdb_store.h"

#include "engine/base/failpoint.h"

#include <rocksdb/cache.h>
#include <rocksdb/db.h>
#include <rocksdb/env.h>
#include <rocksdb/filter_policy.h>
#include <rocksdb/options.h>
#include <rocksdb/sst_file_writer.h>
#include <rocksdb/table.h>
#include <rocksdb/utilities/checkpoint.h>
#include <rocksdb/write_batch.h>
#include <rocksdb/write_buffer_manager.h>

#include <algorithm>
#include <filesystem>
#include <numeric>
#include <system_error>
#include <utility>

namespace trueup::projections {

namespace {

/// Batches from here on are ingested as a file. Below, the memtable is the better place: it merges
/// small batches, where each file of its own would cost a compaction.
constexpr std::size_t kIngestBytes = std::size_t{4} << 20U;
constexpr std::size_t kLongScan = 512;                       ///< rows
constexpr std::size_t kScanAhead = std::size_t{256} << 10U;  ///< bytes, of each file
constexpr std::size_t kImageMemory = std::size_t{4} << 20U;  ///< for a look at a new checkpoint

rocksdb::Slice slice(std::string_view bytes) { return {bytes.data(), bytes.size()}; }

rocksdb::Options options_for(std::size_t memory_bytes) {
    // One cache holds everything; the memtables, half of it at most, are charged to it.
    const auto cache =
        rocksdb::NewLRUCache(std::max<std::size_t>(memory_bytes, std::size_t{1} << 20U));
    rocksdb::Options options;
    options.create_if_missing = true;
    options.write_buffer_size = std::max<std::size_t>(memory_bytes / 6, std::size_t{64} << 10U);
    options.max_write_buffer_number = 3;
    options.write_buffer_manager =
        std::make_shared<rocksdb::WriteBufferManager>(memory_bytes / 2, cache);
    options.allow_concurrent_memtable_write = false;  // one thread applies
    options.level_compaction_dynamic_level_bytes = true;
    options.compression = rocksdb::kNoCompression;
    options.bytes_per_sync = std::uint64_t{1} << 20U;
    options.max_background_jobs = 2;
    options.level0_file_num_compaction_trigger = 8;  // the filters keep reads cheap meanwhile
    options.max_open_files = 512;
    options.avoid_unnecessary_blocking_io = true;  // files are removed by threads of its own
    options.info_log_level = rocksdb::WARN_LEVEL;
    options.max_log_file_size = std::size_t{1} << 20U;
    options.keep_log_file_num = 2;
    options.stats_dump_period_sec = 0;
    rocksdb::BlockBasedTableOptions table;
    table.block_cache = cache;
    table.cache_index_and_filter_blocks = true;
    table.filter_policy.reset(rocksdb::NewBloomFilterPolicy(10));
    table.format_version = 5;
    options.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
    return options;
}

/// The first key above all that start with `prefix`; empty when there is none.
std::string end_of(std::string_view prefix) {
    std::string end(prefix);
    while (!end.empty() && static_cast<unsigned char>(end.back()) == 0xffU) end.pop_back();
    if (!end.empty()) end.back() = static_cast<char>(static_cast<unsigned char>(end.back()) + 1);
    return end;
}

}  // namespace

struct RocksdbStore::Rocks {
    std::string path;
    rocksdb::Options options;
    std::unique_ptr<rocksdb::DB> db;
    bool in_memtable = false;  ///< something was written since the last flush

    rocksdb::Status write(const ports::StoreBatch& batch);
    rocksdb::Status ingest(const ports::StoreBatch& batch);
    std::string incoming() const { return path + "/incoming"; }

    Error error_of(const rocksdb::Status& status) const;
    Status status_of(const rocksdb::Status& status) const {
        if (!status.ok()) return error_of(status);
        return Done{};
    }
};

Error RocksdbStore::Rocks::error_of(const rocksdb::Status& status) const {
    const std::string text = status.ToString();
    if (status.IsCorruption()) {
        return {Next::kSkip, Code::kCorrupt,
                "projection " + path + " is damaged (" + text +
                    "); it can be set aside and rebuilt from the journal"};
    }
    const Code code = status.IsNoSpace() ? Code::kExhausted : Code::kUnavailable;
    return {Next::kRetry, code, "projection " + path + ": " + text};
}

rocksdb::Status RocksdbStore::Rocks::write(const ports::StoreBatch& batch) {
    rocksdb::WriteBatch writes;
    rocksdb::Status status;
    for (std::size_t i = 0; i < batch.size() && status.ok(); ++i) {
        const auto [key, value] = batch[i];
        status = value ? writes.Put(slice(key), slice(*value)) : writes.Delete(slice(key));
    }
    rocksdb::WriteOptions how;
    how.disableWAL = true;
    in_memtable = true;
    TRUEUP_FAILPOINT("write_behind");
    return status.ok() ? db->Write(how, &writes) : status;
}

/// The whole batch as one file that RocksDB takes over in one edit of its manifest: as atomic as a
/// WriteBatch, durable at once, and without the way through the memtable, its flush and the first
/// compaction. Memtables that hold older values of these keys are flushed before it.
rocksdb::Status RocksdbStore::Rocks::ingest(const ports::StoreBatch& batch) {
    std::vector<std::size_t> order(batch.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    const auto by_key = [&](std::size_t a, std::size_t b) { return batch[a].key < batch[b].key; };
    // Rows come sorted, and a few others behind them.
    const auto others = std::is_sorted_until(order.begin(), order.end(), by_key);
    std::stable_sort(others, order.end(), by_key);
    std::inplace_merge(order.begin(), others, order.end(), by_key);
    const std::string file = incoming() + "/batch.sst";
    rocksdb::SstFileWriter writer(rocksdb::EnvOptions(), options);
    rocksdb::Status status = writer.Open(file);
    for (std::size_t i = 0; i < order.size() && status.ok(); ++i) {
        const auto [key, value] = batch[order[i]];
        // Of several words on one key the last one holds.
        if (i + 1 < order.size() && key == batch[order[i + 1]].key) continue;
        status = value ? writer.Put(slice(key), slice(*value)) : writer.Delete(slice(key));
    }
    if (status.ok()) status = writer.Finish();
    if (status.ok() && in_memtable) {  // T2: what was applied before is durable before
        status = db->Flush({});
        in_memtable = !status.ok();
    }
    rocksdb::IngestExternalFileOptions how;
    how.move_files = true;
    how.write_global_seqno = false;
    TRUEUP_FAILPOINT("write_behind");
    if (status.ok()) status = db->IngestExternalFile({file}, how);
    std::error_code gone;
    std::filesystem::remove(file, gone);  // a second name of what was taken over
    return status;
}

RocksdbStore::RocksdbStore(std::unique_ptr<Rocks> rocks) : rocks_(std::move(rocks)) {}
RocksdbStore::~RocksdbStore() = default;

Result<std::unique_ptr<RocksdbStore>> RocksdbStore::open(Settings settings) {
    auto rocks = std::make_unique<Rocks>();
    rocks->path = std::move(settings.path);
    std::error_code error;
    std::filesystem::create_directories(rocks->incoming(), error);
    if (error) {
        return Error{Next::kStop, Code::kUnavailable,
                     "projection " + rocks->path + ": cannot make it: " + error.message()};
    }
    rocksdb::DB* opened = nullptr;
    rocks->options = options_for(settings.memory_bytes);
    const rocksdb::Status status = rocksdb::DB::Open(rocks->options, rocks->path, &opened);
    if (!status.ok()) {
        if (status.ToString().find("lock") != std::string::npos) {
            return Error{Next::kStop, Code::kConflict,
                         "projection " + rocks->path +
                             " is in use by another process; stop that one, or give this one its "
                             "own state_dir"};
        }
        // A file that the manifest names and the folder lacks comes as "not found".
        const bool hole = status.IsPathNotFound() || status.IsNotFound();
        return rocks->error_of(hole ? rocksdb::Status::Corruption(status.ToString()) : status);
    }
    rocks->db.reset(opened);
    return std::unique_ptr<RocksdbStore>(new RocksdbStore(std::move(rocks)));
}

Status RocksdbStore::set_aside(const std::string& path) {
    const auto target = [&](int n) { return path + ".corrupt-" + std::to_string(n); };
    std::error_code error;
    int n = 1;
    while (std::filesystem::exists(target(n), error)) ++n;
    if (!error) std::filesystem::rename(path, target(n), error);
    if (!error) return Done{};
    return Error{Next::kStop, Code::kUnavailable,
                 "cannot set the damaged projection " + path + " aside as " + target(n) + ": " +
                     error.message()};
}

Status RocksdbStore::put_in_place(const std::string& checkpoint, const std::string& path) {
    namespace fs = std::filesystem;
    const std::string placing = path + ".placing";
    std::error_code error;
    fs::remove_all(placing, error);  // of a process that died in the middle
    fs::create_directories(placing, error);
    for (fs::directory_iterator file(checkpoint, error); !error && file != fs::directory_iterator();
         file.increment(error)) {
        const fs::path target = placing / file->path().filename();
        // Only tables never change.
        const bool table = target.extension() == ".sst";
        if (table) fs::create_hard_link(file->path(), target, error);
        if (!table || error) fs::copy_file(file->path(), target, error);
        if (error) break;
    }
    if (!error) fs::rename(placing, path, error);
    if (!error) return Done{};
    return Error{Next::kRetry, Code::kUnavailable,
                 "cannot put " + checkpoint + " in place as " + path + ": " + error.message()};
}

Result<std::optional<std::string>> RocksdbStore::get(std::string_view key) {
    std::string value;
    const rocksdb::Status status = rocks_->db->Get({}, slice(key), &value);
    if (status.IsNotFound()) return std::optional<std::string>();
    if (!status.ok()) return rocks_->error_of(status);
    return std::optional(std::move(value));
}

Result<std::vector<std::optional<std::string>>> RocksdbStore::get_many(
    const std::vector<std::string_view>& keys) {
    std::vector<rocksdb::Slice> slices;
    slices.reserve(keys.size());
    for (const std::string_view key : keys) slices.push_back(slice(key));
    std::vector<rocksdb::PinnableSlice> found(keys.size());
    std::vector<rocksdb::Status> statuses(keys.size());
    const bool sorted = std::is_sorted(keys.begin(), keys.end());
    rocks_->db->MultiGet({}, rocks_->db->DefaultColumnFamily(), slices.size(), slices.data(),
                         found.data(), statuses.data(), sorted);
    std::vector<std::optional<std::string>> values(keys.size());
    for (std::size_t i = 0; i < keys.size(); ++i) {
        if (statuses[i].IsNotFound()) continue;
        if (!statuses[i].ok()) return rocks_->error_of(statuses[i]);
        values[i].emplace(found[i].data(), found[i].size());
    }
    return values;
}

Status RocksdbStore::each(std::string_view prefix, std::string_view after, std::size_t limit,
                          const Visit& visit) {
    const std::string end = end_of(prefix);
    const rocksdb::Slice bound(end);
    rocksdb::ReadOptions options;
    if (!end.empty()) options.iterate_upper_bound = &bound;
    if (limit >= kLongScan) {  // it comes again once around, and must not push out others
        options.fill_cache = false;
        options.readahead_size = kScanAhead;
    }
    const std::unique_ptr<rocksdb::Iterator> it(rocks_->db->NewIterator(options));
    it->Seek(slice(std::max(prefix, after)));
    if (!after.empty() && it->Valid() && it->key().ToStringView() == after) it->Next();
    for (; it->Valid() && limit > 0; it->Next(), --limit) {
        if (!visit(it->key().ToStringView(), it->value().ToStringView())) break;
    }
    return rocks_->status_of(it->status());
}

Status RocksdbStore::apply(const ports::StoreBatch& batch) {
    if (batch.empty()) return Done{};
    const bool large = batch.bytes() >= kIngestBytes;
    return rocks_->status_of(large ? rocks_->ingest(batch) : rocks_->write(batch));
}

Status RocksdbStore::flush() { return rocks_->status_of(rocks_->db->Flush({})); }

Result<std::string> RocksdbStore::name_of(const std::string& image, const NameImage& name) {
    auto rocks = std::make_unique<Rocks>();
    rocks->path = image;
    rocks->options = options_for(kImageMemory);
    rocksdb::DB* opened = nullptr;
    const rocksdb::Status status = rocksdb::DB::OpenForReadOnly(rocks->options, image, &opened);
    if (!status.ok()) return rocks->error_of(status);
    rocks->db.reset(opened);
    RocksdbStore store(std::move(rocks));
    return name(store);
}

/// RocksDB flushes first, so that the memtables' batches are in, and makes the image durable; the
/// name comes last.
Result<std::string> RocksdbStore::checkpoint(const std::string& folder, const NameImage& name) {
    namespace fs = std::filesystem;
    const std::string making = (fs::absolute(folder) / "making").string();
    std::error_code error;
    fs::create_directories(folder, error);
    fs::remove_all(making, error);  // of a process that died in the middle
    rocksdb::Checkpoint* maker = nullptr;
    rocksdb::Status status = rocksdb::Checkpoint::Create(rocks_->db.get(), &maker);
    const std::unique_ptr<rocksdb::Checkpoint> owned(maker);
    if (status.ok()) status = maker->CreateCheckpoint(making);
    if (!status.ok()) return rocks_->error_of(status);
    Result<std::string> named = name_of(making, name);
    if (!named || fs::exists(folder + "/" + *named, error)) {
        fs::remove_all(making, error);
        return named;
    }
    fs::rename(making, folder + "/" + *named, error);
    if (error && fs::exists(folder + "/" + *named)) {  // it came meanwhile, as a copy might
        fs::remove_all(making, error);
        return named;
    }
    std::unique_ptr<rocksdb::Directory> names;
    status = error ? rocksdb::Status::IOError(error.message())
                   : rocksdb::Env::Default()->NewDirectory(folder, &names);
    if (status.ok()) status = names->Fsync();
    if (!status.ok()) return rocks_->error_of(status);
    return named;
}

}  // namespace trueup::projections
