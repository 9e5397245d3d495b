// From a disagreement to the command about it, at a steady rate: over the embedded log with fsync,
// or, with --bootstrap HOST:PORT, over a real Kafka, where sources and executor have clients of
// their own.
//
// Each change makes one: a pod whose row says running has failed (status_drift, enforced). The rule
// waits until the rows have proven themselves past the pod's change; both sources do so at a fixed
// interval, as connectors do while findings wait.
//
//   freed_to_command    from the append of the later of {change, the progress that frees it} to the
//                       command readable: what the engine adds
//   change_to_command   beside it: this has the progress interval in it
//
// A stand-in for the executor marks the row failed and acknowledges, so that the outbox stays
// small.
#include "benchmarks/engine.h"
#include "benchmarks/kafka.h"
#include "benchmarks/report.h"
#include "engine/base/mutex.h"
#include "engine/codec/command_codec.h"
#include "engine/codec/outcome_codec.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <map>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

namespace trueup::bench {
namespace {

struct Shape {
    std::uint32_t rate;
    std::uint32_t seconds;
    Millis progress;
    std::string dir;
    std::string bootstrap;  ///< empty: the embedded log
    std::uint32_t subjects() const { return rate * seconds; }
};

/// When something was handed to the log, by our clock, and what time the log gave it.
struct Sent {
    double at = 0;
    BrokerTime append_time{};
};

struct Run {
    std::vector<Sent> changes;  ///< by subject
    std::vector<double> readable;
    std::vector<Sent> progress;  ///< of the rows; `append_time` is what it proves
};

/// The sources. Appends under one lock, since the seq of a source is dense.
class Sources {
  public:
    Sources(ports::Log& log, std::uint32_t subjects) : log_(log), load_(subjects) {}

    void fill() TRUEUP_EXCLUDES(mutex_) {
        const MutexLock lock(mutex_);
        Feeder feeder(log_);
        for (Input& input : load_.opening()) feeder.add(std::move(input));
        for (std::uint32_t subject = 0; subject < load_.subjects(); ++subject) {
            feeder.add(load_.put(Side::kPods, subject, "Running"));
            feeder.add(load_.put(Side::kRows, subject, "running"));
        }
        feeder.finish();
    }
    /// All of them in one append.
    std::unique_ptr<ports::PendingAppend> put(Side side, const std::vector<std::uint32_t>& subjects,
                                              const char* status) {
        const MutexLock lock(mutex_);
        std::vector<Input> inputs;
        inputs.reserve(subjects.size());
        for (const std::uint32_t subject : subjects) {
            inputs.push_back(load_.put(side, subject, status));
        }
        return send(std::move(inputs));
    }
    std::unique_ptr<ports::PendingAppend> prove(Side side, BrokerTime complete_as_of) {
        const MutexLock lock(mutex_);
        return send({load_.progress(side, complete_as_of)});
    }

  private:
    std::unique_ptr<ports::PendingAppend> send(std::vector<Input> inputs) TRUEUP_REQUIRES(mutex_) {
        std::vector<ports::Entry> entries;
        entries.reserve(inputs.size());
        for (Input& input : inputs) {
            entries.push_back({Load::key_of(input.subject), std::move(input.bytes)});
        }
        return log_.append({inputs.front().topic, PartitionNumber(0)}, entries);
    }
    ports::Log& log_;
    Mutex mutex_;
    Load load_ TRUEUP_GUARDED_BY(mutex_);
};

BrokerTime must(Result<ports::Appended> appended) {
    if (!appended) fail(appended.error().what);
    return appended->append_time;
}

void sleep_until(double at) {
    const double rest = at - wall_seconds();
    if (rest > 0) std::this_thread::sleep_for(std::chrono::duration<double>(rest));
}

/// Once a millisecond, what is due by then goes out in one append, as a connector's changes do; the
/// time of each is the one at which it was due. All are answered before the run ends.
void feed(Sources& sources, const Shape& shape, Run& run) {
    std::vector<std::pair<std::unique_ptr<ports::PendingAppend>, std::uint32_t>> pending;
    const double start = wall_seconds();
    for (std::uint32_t i = 0; i < shape.subjects();) {
        sleep_until(start + static_cast<double>(i) / shape.rate);
        std::vector<std::uint32_t> due;
        const double now = wall_seconds();
        for (; i < shape.subjects(); ++i) {
            const double at = start + static_cast<double>(i) / shape.rate;
            if (at > now) break;
            run.changes[i].at = at;
            due.push_back(i);
        }
        pending.emplace_back(sources.put(Side::kPods, due, "Failed"), i);
        sleep_until(now + 0.001);
    }
    std::uint32_t i = 0;
    for (auto& [append, end] : pending) {
        const BrokerTime append_time = must(append->take());
        for (; i < end; ++i) run.changes[i].append_time = append_time;
    }
}

/// Proves progress as a connector does: what the log's clock said before the source was asked is
/// what the source is complete up to. The pods' append before serves as the marker.
void prove(Sources& sources, const Shape& shape, const std::atomic<bool>& stop, Run& run) {
    double next = wall_seconds();
    while (!stop) {
        const BrokerTime marker = must(sources.prove(Side::kPods, BrokerTime{})->take());
        const double at = wall_seconds();
        auto rows = sources.prove(Side::kRows, marker);
        auto pods = sources.prove(Side::kPods, marker);
        run.progress.push_back({at, marker});
        must(rows->take());
        must(pods->take());
        next = std::max(next + static_cast<double>(shape.progress.count()) / 1000, wall_seconds());
        sleep_until(next);
    }
}

/// Reads commands as an executor does, and ends them.
void execute(ports::Log& log, Sources& sources, const std::atomic<bool>& stop,
             std::atomic<std::uint32_t>& commands, Run& run) {
    const ports::Partition topic{Topic::kCommands, PartitionNumber(0)};
    Offset next;
    std::vector<std::unique_ptr<ports::PendingAppend>> pending;
    while (!stop) {
        const std::uint64_t seen = log.changes_seen();
        const auto fetched = log.read(topic, next, std::size_t{1} << 20U);
        if (!fetched) fail(fetched.error().what);
        const double now = wall_seconds();
        next = fetched->next_offset;
        std::vector<ports::Entry> outcomes;
        std::vector<std::uint32_t> failed;
        for (const ports::Record& record : fetched->records) {
            const auto command = codec::decode_command(record.value);
            if (!command) fail(command.error().what);
            const auto subject = static_cast<std::uint32_t>(
                std::stoul(command->subject.substr(command->subject.rfind('-') + 1)));
            if (run.readable[subject] == 0) {
                run.readable[subject] = now;
                ++commands;
            }
            failed.push_back(subject);
            Outcome outcome;
            outcome.command_id = command->id;
            outcome.subject = command->subject;
            outcome.kind = OutcomeKind::kDone;
            outcome.executor = "bench";
            outcomes.push_back({command->subject, codec::encode_outcome(outcome)});
        }
        if (outcomes.empty()) {
            log.wait(seen, Millis{50});
        } else {
            pending.push_back(sources.put(Side::kRows, failed, "failed"));
            pending.push_back(log.append({Topic::kOutcomes, PartitionNumber(0)}, outcomes));
        }
    }
    for (auto& append : pending) must(append->take());
}

/// The engine's log and that of everybody else; none over the embedded one, which they share.
std::pair<std::unique_ptr<ports::Log>, std::unique_ptr<ports::Log>> open_logs(const Shape& shape) {
    if (shape.bootstrap.empty()) return {};
    static int count = 0;
    connectors::kafka::Settings settings;
    settings.bootstrap = shape.bootstrap;
    settings.prefix = "latency-" + std::to_string(::getpid()) + "-" + std::to_string(++count);
    make_topics(settings);
    return {open_kafka(settings), open_kafka(settings)};
}

Run run_once(const Shape& shape) {
    const TempFolder folder(shape.dir);
    EngineSettings settings;
    settings.folder = folder.path();
    settings.mode = Mode::kEnforce;
    auto [inside, outside] = open_logs(shape);
    const auto engine_made = inside ? std::make_unique<Engine>(settings, std::move(inside))
                                    : std::make_unique<Engine>(settings);
    Engine& engine = *engine_made;
    ports::Log& log = outside ? *outside : engine.log();
    Sources sources(log, shape.subjects());
    sources.fill();
    engine.open();
    while (engine.shard().state().meta.counters.items < 2ULL * shape.subjects() + 6) engine.step();

    Run run;
    run.changes.resize(shape.subjects());
    run.readable.assign(shape.subjects(), 0);
    std::atomic<bool> stop = false;
    std::atomic<bool> shard_stop = false;
    std::atomic<std::uint32_t> commands = 0;
    std::thread shard([&] {
        while (!shard_stop) engine.step();
    });
    std::thread prover([&] { prove(sources, shape, stop, run); });
    std::thread executor([&] { execute(log, sources, stop, commands, run); });
    feed(sources, shape, run);
    const double end = wall_seconds() + 30;
    while (commands < shape.subjects() && wall_seconds() < end) sleep_until(wall_seconds() + 0.01);
    stop = true;
    prover.join();
    executor.join();
    shard_stop = true;
    shard.join();
    engine.stop();
    if (commands < shape.subjects()) fail("not every change led to a command");
    return run;
}

using Series = std::map<std::string, std::vector<double>>;

void note(const Shape& shape, const Run& run, Series& series) {
    std::vector<double> freed;
    std::vector<double> whole;
    for (std::uint32_t i = shape.rate; i < shape.subjects(); ++i) {  // the first second warms up
        const Sent& change = run.changes[i];
        const auto free =
            std::find_if(run.progress.begin(), run.progress.end(),
                         [&](const Sent& p) { return p.append_time > change.append_time; });
        if (free == run.progress.end()) fail("a command came before its progress");
        freed.push_back((run.readable[i] - std::max(change.at, free->at)) * 1000);
        whole.push_back((run.readable[i] - change.at) * 1000);
    }
    for (const auto& [name, share] : {std::pair("p50", 0.5), {"p99", 0.99}, {"p999", 0.999}}) {
        series[std::string("freed_to_command_ms_") + name].push_back(quantile(freed, share));
        series[std::string("change_to_command_ms_") + name].push_back(quantile(whole, share));
    }
}

int run(int argc, char** argv) {
    const Options options(argc, argv,
                          {"rate", "seconds", "progress-ms", "runs", "dir", "bootstrap"});
    Report report(options);
    Shape shape{};
    shape.rate = static_cast<std::uint32_t>(options.number("rate", 1'000));
    shape.seconds = static_cast<std::uint32_t>(options.number("seconds", 10));
    shape.progress = Millis(std::lround(options.number("progress-ms", 100)));
    shape.dir = options.text("dir", {});
    shape.bootstrap = options.text("bootstrap", {});
    const auto runs = static_cast<int>(options.number("runs", 3));
    Series series;
    for (int i = 0; i < runs; ++i) note(shape, run_once(shape), series);
    report.fact("changes_per_s", shape.rate);
    report.fact("seconds", shape.seconds);
    report.fact("progress_interval_ms", shape.progress.count());
    for (const auto& [name, values] : series) report.series(name, values);
    report.print();
    return 0;
}

}  // namespace
}  // namespace trueup::bench

int main(int argc, char** argv) { return trueup::bench::run(argc, argv); }
