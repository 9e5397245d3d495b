// A restart with many subjects: how long until the rows are loaded and held against their digest,
// and how fast the journal's tail is folded after that.
#include "benchmarks/follower.h"
#include "benchmarks/load.h"
#include "benchmarks/recorded.h"
#include "benchmarks/report.h"

#include <string>
#include <vector>

namespace trueup::bench {
namespace {

struct Shape {
    std::uint32_t subjects;
    std::uint64_t tail;
    std::size_t memory;
};

struct Runs {
    std::vector<double> load_seconds, load_cpu_seconds, tail_per_s;
};

/// Fills a store in `folder` and gives the tail, which is not folded yet.
std::vector<Recorded> fill(const Shape& shape, const std::string& folder) {
    Load load(shape.subjects);
    Recorder recorder(load, usual_record_bytes(), 10'000);
    Follower follower(shape.memory, folder);
    recorder.open(load_settings(Mode::kObserve));
    for (std::uint32_t subject = 0; subject < shape.subjects; ++subject) {
        recorder.add(load.put(Side::kPods, subject, "Running"));
        recorder.add(load.put(Side::kRows, subject, "running"));
        if (subject % 10'000 != 0) continue;
        for (const Recorded& record : recorder.take()) follower.fold(record);
    }
    follower.fold(recorder.take());
    for (std::uint64_t i = 0; i < shape.tail; ++i) recorder.add(load.change());
    return recorder.take();
}

void measure(const Shape& shape, const std::string& folder, Runs& runs) {
    const std::vector<Recorded> tail = fill(shape, folder);
    const double start = wall_seconds();
    const double cpu = thread_cpu_seconds();
    Follower follower(shape.memory, folder);
    runs.load_seconds.push_back(wall_seconds() - start);
    runs.load_cpu_seconds.push_back(thread_cpu_seconds() - cpu);
    if (follower.state().meta.subjects != shape.subjects) fail("not every subject is there");
    runs.tail_per_s.push_back(static_cast<double>(shape.tail) / follower.fold(tail));
}

int run(int argc, char** argv) {
    const Options options(argc, argv, {"subjects", "tail", "runs", "memory-mib", "dir", "pin"});
    Report report(options);
    Shape shape{};
    shape.subjects = static_cast<std::uint32_t>(options.number("subjects", 1e6));
    shape.tail = static_cast<std::uint64_t>(options.number("tail", 1e6));
    shape.memory = static_cast<std::size_t>(options.number("memory-mib", 512)) << 20U;
    if (options.number("pin", 0) != 0) report.fact("processor", pin_to_one_processor());
    report.fact("subjects", shape.subjects);
    report.fact("tail", shape.tail);
    report.fact("memory_mib", shape.memory >> 20U);
    Runs all;
    for (auto left = static_cast<int>(options.number("runs", 3)); left > 0; --left) {
        const TempFolder folder(options.text("dir", {}));
        measure(shape, folder.path(), all);
    }
    report.series("load_seconds", all.load_seconds);
    report.series("load_cpu_seconds", all.load_cpu_seconds);
    report.series("tail_per_s", all.tail_per_s);
    report.print();
    return 0;
}

}  // namespace
}  // namespace trueup::bench

int main(int argc, char** argv) { return trueup::bench::run(argc, argv); }
