#include "apps/simulate.h"

#include "engine/base/mutex.h"
#include "simulation/run.h"

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <optional>
#include <random>
#include <string>
#include <thread>
#include <vector>

namespace trueup::apps {

namespace {

using simulation::Plan;
using simulation::Report;
using simulation::Schedule;
using Clock = std::chrono::steady_clock;

constexpr int kShrinkRuns = 300;
constexpr Millis kLook{20};  // at the threads, while it waits for signals
constexpr auto kProgressEvery = std::chrono::seconds(2);

struct Sums {
    std::uint64_t runs = 0;
    std::uint64_t failed = 0;
    std::uint64_t commands = 0;
    std::uint64_t effects = 0;
    std::uint64_t races = 0;
    std::uint64_t records = 0;
    double hours = 0;
    Hash128 trace;                              ///< of all runs, whatever their order
    std::optional<std::uint64_t> first_failed;  ///< of the runs, from 0
    simulation::Violation violation;            ///< its first one
};

/// A seed of each plan in turn, then the next seed.
struct Which {
    const Plan& plan;
    std::uint64_t seed;
};
Which which(const SimulateOptions& options, const std::vector<Plan>& plans, std::uint64_t run) {
    return {plans[run % plans.size()], options.seed + run / plans.size()};
}

void add(Sums& sums, std::uint64_t run, const Report& report) {
    ++sums.runs;
    sums.commands += report.commands;
    sums.effects += report.effects;
    sums.races += report.races;
    sums.records += report.records;
    sums.hours += static_cast<double>(report.simulated.count()) / 3'600'000.0;
    sums.trace += report.trace;
    if (report.good()) return;
    ++sums.failed;
    if (sums.first_failed.value_or(run) < run) return;
    sums.first_failed = run;
    sums.violation = report.violations.front();
}

/// Shares the seeds among threads; each run is alone in its world.
class Runs {
  public:
    Runs(const SimulateOptions& options, const std::vector<Plan>& plans, StopSignal& stop)
        : options_(options), plans_(plans), stop_(stop) {}

    Sums carry_out() TRUEUP_EXCLUDES(mutex_) {
        std::vector<std::thread> threads;
        for (std::uint64_t job = 0; job < std::max<std::uint64_t>(options_.jobs, 1); ++job) {
            ++busy_;
            threads.emplace_back([this] {
                work();
                --busy_;
            });
        }
        while (busy_ > 0) {
            const bool over =
                options_.seconds != 0 && seconds() >= static_cast<double>(options_.seconds);
            if (stop_.wait(kLook) || over) ended_ = true;
        }
        for (std::thread& thread : threads) thread.join();
        const MutexLock lock(mutex_);
        return sums_;
    }

    double seconds() const { return std::chrono::duration<double>(Clock::now() - begin_).count(); }

  private:
    void work() TRUEUP_EXCLUDES(mutex_) {
        while (!ended_) {
            const std::uint64_t n = next_++;
            if (options_.seconds == 0 && n >= options_.runs) return;
            const auto [plan, seed] = which(options_, plans_, n);
            const Report report = simulation::run(seed, plan);
            const MutexLock lock(mutex_);
            add(sums_, n, report);
            if (!report.good() && !options_.keep_going) ended_ = true;
            tell(plan, seed, report);
        }
    }

    void tell(const Plan& plan, std::uint64_t seed, const Report& report) TRUEUP_REQUIRES(mutex_) {
        if (!report.good() && options_.format == OutputFormat::kText) {
            fmt::print("{}seed {}: {}: {}\n", plans_.size() == 1 ? "" : plan.name + ", ", seed,
                       report.violations.front().oracle, report.violations.front().what);
        }
        const auto now = Clock::now();
        if (now < next_word_) return;
        next_word_ = now + kProgressEvery;
        const std::string goal =
            options_.seconds != 0 ? "" : " of " + std::to_string(options_.runs);
        fmt::print(stderr, "{}{} runs, {:.0f} a second, {:.1f} simulated hours\n", sums_.runs, goal,
                   static_cast<double>(sums_.runs) / seconds(), sums_.hours);
    }

    const SimulateOptions& options_;
    const std::vector<Plan>& plans_;
    StopSignal& stop_;
    const Clock::time_point begin_ = Clock::now();
    std::atomic<std::uint64_t> next_{0};
    std::atomic<int> busy_{0};
    std::atomic<bool> ended_{false};
    Mutex mutex_;
    Clock::time_point next_word_ TRUEUP_GUARDED_BY(mutex_) = begin_ + kProgressEvery;
    Sums sums_ TRUEUP_GUARDED_BY(mutex_);
};

void tell(const SimulateOptions& options, const Plan& plan, std::uint64_t seed,
          const Schedule& schedule) {
    if (options.tell.empty()) return;
    simulation::Trace trace(options.tell);
    (void)simulation::run(seed, plan, schedule, &trace);
    fmt::print("around {}:\n", options.tell);
    for (const std::string& line : trace.lines()) fmt::print("  {}\n", line);
}

/// What failed, how to see it again, and the least that is needed for it.
void explain(const SimulateOptions& options, const Plan& plan, std::uint64_t seed) {
    const Schedule whole = simulation::make_schedule(seed, plan);
    const Report report = simulation::run(seed, plan, whole);
    fmt::print("\nseed {} fails:\n", seed);
    for (const simulation::Violation& violation : report.violations) {
        fmt::print("  {}: {}\n", violation.oracle, violation.what);
    }
    fmt::print("repeat it: trueup simulate --plan {} --seed {} --runs 1\n", plan.name, seed);
    if (!options.shrink) return tell(options, plan, seed, whole);
    const Schedule least = simulation::shrink(seed, plan, whole, kShrinkRuns);
    fmt::print("the smallest schedule that fails has {} of {} acts:\n", least.size(), whole.size());
    for (const simulation::ScheduledAct& act : least) {
        fmt::print("  {}\n", simulation::to_text(act));
    }
    const Report shrunk = simulation::run(seed, plan, least);
    for (const simulation::Violation& violation : shrunk.violations) {
        fmt::print("  {}: {}\n", violation.oracle, violation.what);
    }
    tell(options, plan, seed, least);
}

void tell_sums(const SimulateOptions& options, const Sums& sums, double seconds) {
    const std::string failed =
        sums.failed == 0 ? "none failed" : fmt::format("{} failed", sums.failed);
    fmt::print(
        "{} run{} of plan {} from seed {}: {}.\nIn {:.1f} simulated hours there were {} commands "
        "and {} writes, {} of them while the other side changed between check and write.\n{:.0f} "
        "runs a second.\n",
        sums.runs, sums.runs == 1 ? "" : "s", options.plan, options.seed, failed, sums.hours,
        sums.commands, sums.effects, sums.races, static_cast<double>(sums.runs) / seconds);
}

/// `failed`: the first one, if any did.
void print_sums(const SimulateOptions& options, const Sums& sums, const Which& failed,
                double seconds) {
    nlohmann::ordered_json told{{"plan", options.plan},
                                {"first_seed", options.seed},
                                {"runs", sums.runs},
                                {"failed", sums.failed},
                                {"runs_per_second", static_cast<double>(sums.runs) / seconds},
                                {"simulated_hours", sums.hours},
                                {"journal_records", sums.records},
                                {"commands", sums.commands},
                                {"effects", sums.effects},
                                {"races", sums.races},
                                {"trace", to_hex(sums.trace)}};
    if (sums.first_failed) {
        told["first_failed"] = failed.seed;
        told["failed_plan"] = failed.plan.name;
        told["oracle"] = sums.violation.oracle;
        told["what"] = sums.violation.what;
    }
    fmt::print("{}\n", told.dump());
}

/// Empty: there is none of that name.
std::vector<Plan> plans_of(const std::string& name) {
    if (name == "all") return simulation::plans();
    if (name == "pairs") return simulation::pairs_of_plans();
    const std::optional<Plan> plan = simulation::find_plan(name);
    return plan ? std::vector<Plan>{*plan} : std::vector<Plan>{};
}

}  // namespace

int run_simulate(SimulateOptions options, StopSignal& stop) {
    if (options.seed == 0) options.seed = std::random_device()();
    const std::vector<Plan> plans = plans_of(options.plan);
    if (plans.empty()) {
        fmt::print(stderr,
                   "there is no plan {}; write all, pairs, several with + between them, or write "
                   "one of:",
                   options.plan);
        for (const Plan& known : simulation::plans()) fmt::print(stderr, " {}", known.name);
        fmt::print(stderr, "\n");
        return 2;
    }
    Runs runs(options, plans, stop);
    const Sums sums = runs.carry_out();
    const auto [shown, seed] = which(options, plans, sums.first_failed.value_or(0));
    if (options.format == OutputFormat::kText) {
        if (sums.first_failed) {
            explain(options, shown, seed);
        } else {
            tell(options, shown, seed, simulation::make_schedule(seed, shown));
        }
    }
    if (options.format == OutputFormat::kText) {
        tell_sums(options, sums, runs.seconds());
    } else {
        print_sums(options, sums, {shown, seed}, runs.seconds());
    }
    return sums.failed == 0 ? 0 : 1;
}

}  // namespace trueup::apps
