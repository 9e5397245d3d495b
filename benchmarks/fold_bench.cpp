// Replays a journal in memory on one processor: decode, fold and write-behind, nothing emitted.
//
//   changes_no_store   random changes over an empty state (backtest, forensics)
//   changes            the same over RocksDB, until the rows are durable (restart, follower)
//   unchanged          live items at versions that are known already
//   relist             complete epochs at versions that are known already, with their sweeps
//
// Every run must end in the same digest: replays agree, or the figures are worth nothing.
#include "benchmarks/follower.h"
#include "benchmarks/load.h"
#include "benchmarks/recorded.h"
#include "benchmarks/report.h"

#include <algorithm>
#include <map>
#include <optional>

namespace trueup::bench {
namespace {

struct Journal {
    std::vector<Recorded> opening, changes, unchanged, relist;
    std::uint64_t relisted = 0;
};

struct Shape {
    std::uint32_t subjects;
    std::uint64_t items;
    std::size_t record_bytes;
    std::uint32_t per_second;
    std::size_t memory;
};

Journal record(const Shape& shape, const std::string& only) {
    Load load(shape.subjects);
    Recorder recorder(load, shape.record_bytes, shape.per_second);
    Journal journal;
    recorder.open(load_settings(Mode::kObserve));
    journal.opening = recorder.take();
    for (std::uint64_t i = 0; i < shape.items; ++i) recorder.add(load.change());
    journal.changes = recorder.take();
    if (only.starts_with("changes")) return journal;
    for (std::uint64_t i = 0; i < shape.items; ++i) recorder.add(load.repeat());
    journal.unchanged = recorder.take();
    if (only == "unchanged") return journal;
    for (std::size_t epoch = 0; journal.relisted < shape.items; ++epoch) {
        const Side side = epoch % 2 == 0 ? Side::kPods : Side::kRows;
        recorder.add(load.begin(side));
        for (std::uint32_t subject = 0; subject < shape.subjects; ++subject) {
            if (!load.present(side, subject)) continue;
            recorder.add(load.listed(side, subject));
            ++journal.relisted;
        }
        recorder.add(load.end(side));
        // The sweep goes on in the records of a quiet time, as it does when a relist ends.
        for (std::uint32_t swept = 0; swept < shape.subjects; swept += 2'000) {
            recorder.tick(Millis{20});
        }
    }
    journal.relist = recorder.take();
    return journal;
}

std::size_t bytes_of(const std::vector<Recorded>& records) {
    std::size_t bytes = 0;
    for (const Recorded& record : records) bytes += record.bytes.size();
    return bytes;
}

using Series = std::map<std::string, std::vector<double>>;

/// Folds and notes the rate by the clock and by the processor's time, background threads included.
void measure(Follower& follower, const std::vector<Recorded>& records, std::uint64_t items,
             const std::string& name, Series& series) {
    const double cpu = cpu_seconds();
    const double seconds = follower.fold(records);
    const auto count = static_cast<double>(items);
    series[name + "_per_s"].push_back(count / seconds);
    series[name + "_per_core_s"].push_back(count / (cpu_seconds() - cpu));
}

void measure(const Shape& shape, const Journal& journal, const std::string& only,
             const std::string& folder, Series& series) {
    if (only.empty() || only == "changes_no_store") {
        Follower follower(shape.memory, {});
        follower.fold(journal.opening);
        measure(follower, journal.changes, shape.items, "changes_no_store", series);
    }
    if (only == "changes_no_store") return;
    Follower follower(shape.memory, folder);
    follower.fold(journal.opening);
    measure(follower, journal.changes, shape.items, "changes", series);
    const auto items = static_cast<double>(shape.items);
    series["findings_per_change"].push_back(static_cast<double>(follower.findings()) / items);
    const auto rows = static_cast<double>(follower.rows_written());
    series["rows_written_per_change"].push_back(rows / items);
    if (only == "changes") return;
    const std::uint64_t before = follower.state().meta.counters.unchanged;
    measure(follower, journal.unchanged, shape.items, "unchanged", series);
    if (follower.state().meta.counters.unchanged - before != shape.items)
        fail("not all were unchanged");
    if (only == "unchanged") return;
    measure(follower, journal.relist, journal.relisted, "relist", series);
    static std::optional<Hash128> digest;
    if (digest && *digest != follower.state().meta.digest)
        fail("two replays differ in their digest");
    digest = follower.state().meta.digest;
}

int run(int argc, char** argv) {
    const Options options(
        argc, argv,
        {"subjects", "items", "runs", "memory-mib", "record-kb", "rate", "only", "dir", "pin"});
    Report report(options);
    Shape shape{};
    shape.subjects = static_cast<std::uint32_t>(options.number("subjects", 100'000));
    shape.items = static_cast<std::uint64_t>(options.number("items", 1e6));
    shape.record_bytes = static_cast<std::size_t>(options.number(
                             "record-kb", static_cast<double>(usual_record_bytes() >> 10U)))
                         << 10U;
    shape.per_second = static_cast<std::uint32_t>(options.number("rate", 10'000));
    shape.memory = static_cast<std::size_t>(options.number("memory-mib", 512)) << 20U;
    const std::string only = options.text("only", {});
    const auto runs = static_cast<int>(options.number("runs", 3));
    if (options.number("pin", 1) != 0) report.fact("processor", pin_to_one_processor());
    const Journal journal = record(shape, only);
    report.fact("subjects", shape.subjects);
    report.fact("items", shape.items);
    report.fact("memory_mib", shape.memory >> 20U);
    report.fact("journal_bytes_per_change", bytes_of(journal.changes) / shape.items);
    Series series;
    for (int i = 0; i < runs; ++i) {
        const TempFolder folder(options.text("dir", {}));
        measure(shape, journal, only, folder.path(), series);
    }
    for (const auto& [name, values] : series) report.series(name, values);
    report.print();
    return 0;
}

}  // namespace
}  // namespace trueup::bench

int main(int argc, char** argv) { return trueup::bench::run(argc, argv); }
