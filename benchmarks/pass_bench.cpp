// A pass over a world in which everything is as it should be: how long until every source has
// proven itself past its start and every subject was judged, and what that costs.
//
// The whole process runs over the sandbox: connectors, log with fsync, shard, executors. The cost
// of what it does anyway, hearing its sources, is measured before passes begin, and taken off.
#include "apps/sandbox_host.h"
#include "benchmarks/report.h"
#include "engine/ports/clock.h"
#include "sandbox/wiring/demo_policy.h"
#include "sandbox/wiring/sandbox_wiring.h"

#include <spdlog/spdlog.h>

#include <chrono>
#include <string>
#include <thread>

namespace trueup::bench {
namespace {

struct Shape {
    std::uint32_t subjects;
    std::uint32_t passes;
    std::string dir;
};

void fill(sandbox::World& world, std::uint32_t subjects) {
    sandbox::Transaction rows = world.begin();
    for (std::uint32_t i = 0; i < subjects; ++i) {
        const std::string slug = std::to_string(1'000'000 + i);
        const std::string name = "wrapper-" + slug;
        world.create_pod(name, {{"app", "ryugraph-wrapper"}}, "Running");
        rows.insert_row({{"url_slug", slug}, {"pod_name", name}, {"status", "running"}});
    }
    if (rows.commit() != subjects) fail("not every row was made");
}

/// Looks at the engine until `enough` says so; the last look.
template <typename Enough>
api::Snapshot wait_for(const apps::Host& host, const char* what, Enough&& enough) {
    constexpr double kTimeout = 300;
    const double start = wall_seconds();
    for (;;) {
        api::Snapshot seen = host.snapshot();
        if (enough(seen)) return seen;
        if (const std::string fatal = host.fatal(); !fatal.empty()) fail(fatal);
        if (wall_seconds() - start > kTimeout) fail(std::string(what) + " took too long");
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
}

int run(int argc, char** argv) {
    const Options options(argc, argv, {"subjects", "passes", "every", "dir"});
    Report report(options);
    spdlog::set_level(spdlog::level::warn);  // what is printed is one JSON object
    const Shape shape{static_cast<std::uint32_t>(options.number("subjects", 1e5)),
                      static_cast<std::uint32_t>(options.number("passes", 5)),
                      options.text("dir", {})};
    const Millis every(static_cast<std::int64_t>(options.number("every", 10) * 1000));
    report.fact("subjects", shape.subjects);
    report.fact("every_seconds", static_cast<double>(every.count()) / 1000);
    const TempFolder folder(shape.dir);
    sandbox::WorldSettings settings;
    settings.evaluate_key = sandbox::evaluate_key;
    sandbox::World world(1, ports::system_clock(), settings);
    fill(world, shape.subjects);
    apps::HostSettings engine;
    engine.state_dir = folder.path();
    engine.policy = sandbox::demo_policy();
    engine.policy.reconcile_every = every;
    auto host = apps::Host::open(std::move(engine));
    if (!host) fail(host.error().what);
    const Status begun = apps::begin_in_sandbox(**host, world);
    if (!begun) fail(begun.error().what);

    // The first one shares its time with the first epochs.
    api::Snapshot seen = wait_for(**host, "the first pass", [&](const api::Snapshot& now) {
        return now.passes > 0 && now.subjects == shape.subjects;
    });
    std::vector<double> seconds;
    std::vector<double> cpu;
    for (std::uint32_t i = 0; i < shape.passes; ++i) {
        const double quiet_at = wall_seconds();
        const double quiet_from = cpu_seconds();
        wait_for(**host, "the time between passes",
                 [&](const api::Snapshot& now) { return now.pass_started_seconds > 0; });
        const double at = wall_seconds();
        const double from = cpu_seconds();
        const double idle = (from - quiet_from) / (at - quiet_at);
        const api::Snapshot after = wait_for(
            **host, "a pass", [&](const api::Snapshot& now) { return now.passes > seen.passes; });
        seconds.push_back(after.pass_seconds - seen.pass_seconds);
        cpu.push_back(cpu_seconds() - from - idle * (wall_seconds() - at));
        seen = after;
    }
    if (seen.open_findings != 0) fail("something was found in a world that is as it should be");
    report.series("pass_seconds", seconds);
    report.series("pass_cpu_seconds", cpu);
    report.print();
    const Status stopped = (*host)->stop();
    if (!stopped) fail(stopped.error().what);
    return 0;
}

}  // namespace
}  // namespace trueup::bench

int main(int argc, char** argv) { return trueup::bench::run(argc, argv); }
