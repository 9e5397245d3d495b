// End to end over a real Kafka: changes that lie in the input topics are sequenced, journaled,
// folded, their findings published and acknowledged, the rows made durable. One shard, one run; the
// clock runs from before any client exists. `benchmarks/compare` fills the topics and runs the peer
// over the same ones.
//
//     kafka_bench --bootstrap HOST:PORT --prefix P --items RECORDS
//
// With --tail N the rows are put aside as they were about N items before the end, and an engine
// that has only those starts once more: `restart_…` is what that takes, over a journal on the
// broker. With --read-first 1 the same records are read beforehand and thrown away: what the client
// can do.
//
// The topics P.changes.pods and P.changes.rows are there; the others are made.
#include "benchmarks/engine.h"
#include "benchmarks/kafka.h"
#include "benchmarks/report.h"
#include "engine/core/row.h"
#include "projections/rocksdb_store.h"

#include <array>
#include <cinttypes>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>

namespace trueup::bench {
namespace {

std::uint64_t mixed(std::string_view key, unsigned state) {
    std::uint64_t hash = 0xcbf29ce484222325U;
    const auto take = [&](unsigned char byte) { hash = (hash ^ byte) * 0x100000001b3U; };
    for (const char c : key) take(static_cast<unsigned char>(c));
    take(static_cast<unsigned char>(state));
    hash = (hash ^ (hash >> 33U)) * 0xff51afd7ed558ccdU;
    hash = (hash ^ (hash >> 33U)) * 0xc4ceb9fe1a85ec53U;
    return hash ^ (hash >> 33U);
}

std::string hex(std::uint64_t number) {
    std::array<char, 17> text{};
    std::snprintf(text.data(), text.size(), "%016" PRIx64, number);
    return text.data();
}

/// What every reader of the topics must come to (benchmarks/peers/kafka_streams/README.md).
nlohmann::ordered_json answer_of(ports::Store& store, const core::Meta& meta) {
    std::array<std::uint64_t, 4> sides{};
    std::uint64_t sum = 0;
    std::uint64_t versions = 0;
    const auto rows = store.scan({}, {}, 100'000'000);
    if (!rows) fail(rows.error().what);
    for (const auto& [key, bytes] : *rows) {
        if (key.size() < 3 || key[2] != 's') continue;
        const auto subject = core::decode_subject(key.substr(3), bytes);
        if (!subject) fail("a row cannot be read: " + key.substr(3));
        unsigned state = 0;
        for (const Facet& facet : subject->facets) {
            if (!facet.present()) continue;
            state |= meta.sources[facet.source].name == "pods" ? 1U : 2U;
            versions += facet.version.hi;
        }
        ++sides[state];
        sum += mixed(subject->key, state);
    }
    return {{"none", sides[0]}, {"pods_only", sides[1]}, {"rows_only", sides[2]},
            {"both", sides[3]}, {"versions", versions},  {"sum", hex(sum)}};
}

/// Puts the rows that are on disk by now aside, as a checkpoint.
void put_aside(Engine& engine, const std::string& folder) {
    const auto name = engine.store().checkpoint(
        folder, [](ports::Store&) -> Result<std::string> { return std::string("rows"); });
    if (!name) fail(name.error().what);
}

/// Starts from the rows that were put aside, until everything in the journal is folded again.
void restart(Report& report, EngineSettings how, const connectors::kafka::Settings& kafka,
             const core::Meta& end) {
    const std::string aside = how.folder;
    how.folder += "/restart";
    std::filesystem::create_directories(how.folder);
    const Status placed =
        projections::RocksdbStore::put_in_place(aside + "/rows", how.folder + "/projection");
    if (!placed) fail(placed.error().what);
    const double cpu = cpu_seconds();
    const double start = wall_seconds();
    Engine engine(how, open_kafka(kafka));
    engine.open();
    const double opened = wall_seconds();
    const std::uint64_t before = engine.shard().state().meta.counters.items;
    while (engine.shard().state().meta.applied < end.applied) engine.step();
    const double caught_up = wall_seconds();
    const double spent = cpu_seconds() - cpu;
    if (engine.shard().state().meta.chain != end.chain) fail("another journal after the restart");
    report.fact("restart_tail_items", end.counters.items - before);
    report.fact("restart_open_seconds", opened - start);
    report.fact("restart_seconds", caught_up - start);
    report.fact("restart_cpu_seconds", spent);
}

/// Reads the input topics from their beginnings, one after the other.
void read_all(Report& report, const connectors::kafka::Settings& kafka) {
    const auto log = open_kafka(kafka);
    std::uint64_t items = 0;
    const double cpu = cpu_seconds();
    const double start = wall_seconds();
    for (const Topic topic : {Topic::kChangesPods, Topic::kChangesRows}) {
        for (Offset next;;) {
            const auto fetched =
                log->read({topic, PartitionNumber(0)}, next, std::size_t{4} << 20U);
            if (!fetched) fail(fetched.error().what);
            if (fetched->records.empty()) break;
            items += fetched->records.size();
            next = fetched->next_offset;
        }
    }
    const auto count = static_cast<double>(items);
    report.fact("read_items_per_s", count / (wall_seconds() - start));
    report.fact("read_cpu_us_per_item", (cpu_seconds() - cpu) / count * 1e6);
}

int run(int argc, char** argv) {
    const Options options(
        argc, argv, {"bootstrap", "prefix", "items", "memory-mib", "dir", "tail", "read-first"});
    Report report(options);
    connectors::kafka::Settings settings;
    settings.bootstrap = options.text("bootstrap", "127.0.0.1:9092");
    settings.prefix = options.text("prefix", "bench");
    const auto items = static_cast<std::uint64_t>(options.number("items", 1e6));
    const TempFolder folder(options.text("dir", {}));
    EngineSettings how;
    how.folder = folder.path();
    how.memory = static_cast<std::size_t>(options.number("memory-mib", 512)) << 20U;
    settings.memory_bytes = how.memory / 4;
    const auto tail = static_cast<std::uint64_t>(options.number("tail", 0));
    bool aside = tail == 0;
    make_topics(settings);
    if (options.number("read-first", 0) != 0) read_all(report, settings);

    const double cpu = cpu_seconds();
    const double start = wall_seconds();
    Engine engine(how, open_kafka(settings));
    engine.open();
    double half = 0;
    const core::Counters& counted = engine.shard().state().meta.counters;
    while (counted.items < items) {
        engine.step();
        if (!aside && counted.items + tail >= items) {
            put_aside(engine, folder.path());
            aside = true;
        }
        if (half == 0 && counted.items >= items / 2) half = wall_seconds();
    }
    const double folded = wall_seconds();
    engine.stop();
    const double end = wall_seconds();
    const double spent = cpu_seconds() - cpu;
    const auto count = static_cast<double>(items);
    if (counted.parked + counted.holes != 0) fail("the journal is not clean");
    report.fact("items", items);
    report.fact("seconds", end - start);
    report.fact("items_per_s", count / (end - start));
    report.fact("second_half_per_s", count / 2 / (end - half));
    report.fact("folded_after_seconds", folded - start);
    report.fact("cpu_us_per_item", spent / count * 1e6);
    report.fact("published", engine.shard().status().published);
    report.fact("rewinds", engine.shard().status().rewinds);
    report.fact("rss_most_mib", status_bytes("VmHWM") >> 20U);
    if (tail > 0) restart(report, how, settings, engine.shard().state().meta);
    report.fact("answer", answer_of(engine.store(), engine.shard().state().meta));
    report.print();
    return 0;
}

}  // namespace
}  // namespace trueup::bench

int main(int argc, char** argv) { return trueup::bench::run(argc, argv); }
