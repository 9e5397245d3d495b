// End to end over the embedded log: changes that lie in the input topics are sequenced, journaled
// (payload included, every batch fsynced), folded, their findings published, the rows made durable.
//
// The peer, in the same run: a read-modify-write loop over RocksDB on the same rows. It is given
// its input in memory and parsed, as much cache as the engine's store and subjects have together,
// no write-ahead log, and writes nothing else: no journal, no history, no findings.
#include "benchmarks/engine.h"
#include "benchmarks/load.h"
#include "benchmarks/report.h"

#include <rocksdb/cache.h>
#include <rocksdb/db.h>
#include <rocksdb/filter_policy.h>
#include <rocksdb/table.h>
#include <rocksdb/write_batch.h>
#include <rocksdb/write_buffer_manager.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <memory>

namespace trueup::bench {
namespace {

struct Shape {
    std::uint32_t subjects;
    std::uint64_t items;
    std::size_t memory;
    std::string dir;
};

struct Change {
    std::uint32_t subject;
    std::uint32_t side;
    std::string key;
    std::string object;  ///< what becomes of that side of the row
};

struct Figures {
    double seconds = 0;
    double cpu = 0;
};

Figures run_engine(const Shape& shape) {
    const TempFolder folder(shape.dir);
    EngineSettings settings;
    settings.folder = folder.path();
    settings.memory = shape.memory;
    Engine engine(settings);
    {
        Load load(shape.subjects);
        Feeder feeder(engine.log());
        for (Input& input : load.opening()) feeder.add(std::move(input));
        for (std::uint64_t i = 0; i < shape.items; ++i) feeder.add(load.change());
        feeder.finish();
    }
    const std::uint64_t all = shape.items + 6;  // owner, begin and end of two sources
    const double cpu = cpu_seconds();
    const double start = wall_seconds();
    engine.open();
    while (engine.shard().state().meta.counters.items < all) engine.step();
    engine.stop();
    const Figures figures{wall_seconds() - start, cpu_seconds() - cpu};
    const core::Counters& counted = engine.shard().state().meta.counters;
    if (counted.parked + counted.holes + counted.gaps != 0) fail("the journal is not clean");
    return figures;
}

/// Both sides of a row, each led by its length.
std::string with_side(std::string_view row, std::uint32_t side, std::string_view object) {
    std::array<std::string_view, 2> sides{};
    for (std::string_view& one : sides) {
        std::uint32_t size = 0;
        if (row.size() < sizeof size) break;
        std::memcpy(&size, row.data(), sizeof size);
        one = row.substr(sizeof size, size);
        row.remove_prefix(sizeof size + size);
    }
    sides[side] = object;
    std::string out;
    out.reserve(sides[0].size() + sides[1].size() + 8);
    for (const std::string_view one : sides) {
        const auto size = static_cast<std::uint32_t>(one.size());
        out.append(reinterpret_cast<const char*>(&size), sizeof size);
        out.append(one);
    }
    return out;
}

class Peer {
  public:
    explicit Peer(const std::string& folder, std::size_t memory) {
        rocksdb::Options options;
        options.create_if_missing = true;
        options.compression = rocksdb::kNoCompression;
        options.allow_concurrent_memtable_write = false;
        options.level_compaction_dynamic_level_bytes = true;
        options.max_background_jobs = 2;
        options.write_buffer_size = memory / 6;
        options.max_write_buffer_number = 3;
        const auto cache = rocksdb::NewLRUCache(memory);
        options.write_buffer_manager =
            std::make_shared<rocksdb::WriteBufferManager>(memory / 2, cache);
        rocksdb::BlockBasedTableOptions table;
        table.block_cache = cache;
        table.filter_policy.reset(rocksdb::NewBloomFilterPolicy(10));
        options.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
        rocksdb::DB* opened = nullptr;
        must(rocksdb::DB::Open(options, folder, &opened));
        db_.reset(opened);
    }

    /// Takes a batch of changes, whose places are `order`, in the order of their keys.
    void take(const std::vector<Change>& changes, const std::vector<std::uint32_t>& order) {
        std::vector<rocksdb::Slice> keys;
        for (const std::uint32_t i : order) {
            if (keys.empty() || keys.back() != changes[i].key) keys.emplace_back(changes[i].key);
        }
        std::vector<rocksdb::PinnableSlice> rows(keys.size());
        std::vector<rocksdb::Status> statuses(keys.size());
        db_->MultiGet({}, db_->DefaultColumnFamily(), keys.size(), keys.data(), rows.data(),
                      statuses.data(), true);
        rocksdb::WriteBatch batch;
        std::size_t at = 0;
        for (std::size_t k = 0; k < keys.size(); ++k) {
            std::string row(rows[k].data(), rows[k].size());
            for (; at < order.size() && changes[order[at]].key == keys[k]; ++at) {
                const Change& change = changes[order[at]];
                row = with_side(row, change.side, change.object);
            }
            must(batch.Put(keys[k], row));
        }
        rocksdb::WriteOptions how;
        how.disableWAL = true;
        must(db_->Write(how, &batch));
    }
    void finish() { must(db_->Flush({})); }

  private:
    static void must(const rocksdb::Status& status) {
        if (!status.ok()) fail(status.ToString());
    }
    std::unique_ptr<rocksdb::DB> db_;
};

std::vector<Change> changes_of(const Shape& shape) {
    Load load(shape.subjects);
    (void)load.opening();
    std::vector<Change> changes;
    changes.reserve(shape.items);
    for (std::uint64_t i = 0; i < shape.items; ++i) {
        Input input = load.change();
        const auto side = input.topic == Load::topic_of(Side::kPods) ? Side::kPods : Side::kRows;
        const bool there = load.present(side, input.subject);
        changes.push_back({input.subject, static_cast<std::uint32_t>(side),
                           Load::key_of(input.subject),
                           there ? std::move(input.bytes) : std::string()});
    }
    return changes;
}

Figures run_peer(const Shape& shape) {
    constexpr std::size_t kBatch = 1'000;
    const std::vector<Change> changes = changes_of(shape);
    const TempFolder folder(shape.dir);
    const double cpu = cpu_seconds();
    const double start = wall_seconds();
    Peer peer(folder.path(), shape.memory / 2);
    std::vector<std::uint32_t> order;
    for (std::size_t from = 0; from < changes.size(); from += kBatch) {
        const std::size_t to = std::min(from + kBatch, changes.size());
        order.clear();
        for (std::size_t i = from; i < to; ++i) order.push_back(static_cast<std::uint32_t>(i));
        std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
            return changes[a].key < changes[b].key;
        });
        peer.take(changes, order);
    }
    peer.finish();
    return {wall_seconds() - start, cpu_seconds() - cpu};
}

int run(int argc, char** argv) {
    const Options options(argc, argv, {"subjects", "items", "runs", "memory-mib", "dir"});
    Report report(options);
    Shape shape{};
    shape.subjects = static_cast<std::uint32_t>(options.number("subjects", 100'000));
    shape.items = static_cast<std::uint64_t>(options.number("items", 1e6));
    shape.memory = static_cast<std::size_t>(options.number("memory-mib", 512)) << 20U;
    shape.dir = options.text("dir", {});
    const auto runs = static_cast<int>(options.number("runs", 3));
    std::map<std::string, std::vector<double>> series;
    for (int i = 0; i < runs; ++i) {
        const auto items = static_cast<double>(shape.items);
        const Figures engine = run_engine(shape);
        const Figures peer = run_peer(shape);
        series["engine_per_s"].push_back(items / engine.seconds);
        series["engine_cpu_us_per_item"].push_back(engine.cpu / items * 1e6);
        series["peer_per_s"].push_back(items / peer.seconds);
        series["peer_cpu_us_per_item"].push_back(peer.cpu / items * 1e6);
        series["ratio"].push_back(peer.seconds / engine.seconds);
    }
    report.fact("subjects", shape.subjects);
    report.fact("items", shape.items);
    report.fact("memory_mib", shape.memory >> 20U);
    for (const auto& [name, values] : series) report.series(name, values);
    report.print();
    return 0;
}

}  // namespace
}  // namespace trueup::bench

int main(int argc, char** argv) { return trueup::bench::run(argc, argv); }
