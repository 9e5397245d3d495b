// How much memory a shard takes when it holds more subjects than fit: every subject gets a pod and
// a row (one in ten only a row, so that findings wait), then any of them change, which reads cold
// rows back; then it is opened again. Prints the process's largest resident set and the limit that
// was configured; with
// --most-percent it is a test and fails above so many per cent of the limit.
#include "benchmarks/engine.h"
#include "benchmarks/report.h"

#include <cstdio>
#include <string>

namespace trueup::bench {
namespace {

constexpr std::uint32_t kBetweenSteps = 10'000;

/// Feeds through the log, and lets the shard catch up now and then.
class Run {
  public:
    Run(Engine& engine, std::uint64_t expected) : engine_(engine), feeder_(engine.log()) {
        expected_ = expected;
    }
    void add(Input input) {
        feeder_.add(std::move(input));
        if (++added_ % kBetweenSteps == 0) catch_up();
    }
    void catch_up() {
        feeder_.finish();
        while (engine_.shard().state().meta.counters.items < expected_ + added_) engine_.step();
    }

  private:
    Engine& engine_;
    Feeder feeder_;
    std::uint64_t expected_ = 0;
    std::uint64_t added_ = 0;
};

int run(int argc, char** argv) {
    const Options options(argc, argv, {"subjects", "changes", "memory-mib", "most-percent", "dir"});
    Report report(options);
    const auto subjects = static_cast<std::uint32_t>(options.number("subjects", 1e6));
    const auto changes = static_cast<std::uint64_t>(options.number("changes", 200'000));
    EngineSettings settings;
    settings.memory = static_cast<std::size_t>(options.number("memory-mib", 256)) << 20U;
    settings.fsync = false;
    const TempFolder folder(options.text("dir", {}));
    settings.folder = folder.path();
    const double start = wall_seconds();
    Load load(subjects);
    Engine engine(settings);
    engine.open();
    Run fill(engine, 0);
    for (Input& input : load.opening()) fill.add(std::move(input));
    for (std::uint32_t subject = 0; subject < subjects; ++subject) {
        if (subject % 10 != 0) fill.add(load.put(Side::kPods, subject, "Running"));
        fill.add(load.put(Side::kRows, subject, "running"));
    }
    fill.catch_up();
    report.fact("filled_seconds", wall_seconds() - start);
    report.fact("rss_filled_mib", status_bytes("VmRSS") >> 20U);
    for (std::uint64_t i = 0; i < changes; ++i) fill.add(load.change());
    fill.catch_up();
    engine.stop();
    const Hash128 digest = engine.shard().state().meta.digest;
    const double before = wall_seconds();
    engine.reopen();
    report.fact("reopened_seconds", wall_seconds() - before);
    if (engine.shard().state().meta.digest != digest) fail("another digest after the restart");
    const std::size_t most = status_bytes("VmHWM");
    const double percent = 100 * static_cast<double>(most) / static_cast<double>(settings.memory);
    report.fact("seconds", wall_seconds() - start);
    report.fact("subjects", engine.shard().state().meta.subjects);
    report.fact("open_findings", engine.shard().state().meta.open_findings);
    report.fact("cached_subjects", engine.shard().status().cached_subjects);
    report.fact("cached_mib", engine.shard().status().cached_bytes >> 20U);
    report.fact("waits_mib", engine.shard().state().waits.bytes() >> 20U);
    report.fact("memory_mib", settings.memory >> 20U);
    report.fact("most_resident_mib", most >> 20U);
    report.fact("percent_of_limit", percent);
    report.print();
    const double allowed = options.number("most-percent", 0);
    if (allowed == 0 || (most != 0 && percent <= allowed)) return 0;
    std::fprintf(stderr, "the largest resident set is %.0f %% of the limit, above %.0f %%\n",
                 percent, allowed);
    return 1;
}

}  // namespace
}  // namespace trueup::bench

int main(int argc, char** argv) { return trueup::bench::run(argc, argv); }
