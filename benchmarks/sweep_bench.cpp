// How long a record of the fold takes while an epoch of many objects is read and swept, over
// RocksDB with the memory that `trueup` takes by default: readiness, the relay and every other
// finding wait meanwhile.
//
//   first    of rows, into an empty shard: subjects that no store has yet
//   second   of the pods to these rows: subjects that are mostly cold
//   relist   of the pods again, one in a thousand of which is gone
//
// Records are told apart by what is in them: `items` of the epoch, the `end` of the epoch, `sweep`
// without items, and `both` with 1,000 changes beside the sweep. Writing rows behind is not counted
// to a record; the whole sweep's time has it.
#include "benchmarks/follower.h"
#include "benchmarks/load.h"
#include "benchmarks/recorded.h"
#include "benchmarks/report.h"

#include <algorithm>
#include <map>
#include <string>

namespace trueup::bench {
namespace {

constexpr Millis kTick{20};
constexpr std::uint32_t kGoneIn = 1'000;  ///< one in so many
constexpr int kChanges = 1'000;

using Series = std::map<std::string, std::vector<double>>;

/// What the records of one epoch took, in milliseconds.
class Epoch {
  public:
    Epoch(Follower& follower, Recorder& recorder, Load& load)
        : follower_(follower), recorder_(recorder), load_(load) {}

    template <typename AddObjects>
    void run(Side side, AddObjects&& add_objects) {
        recorder_.add(load_.begin(side));
        add_objects([&](const Input& input) {
            recorder_.add(input);
            fold("items");
        });
        recorder_.flush();
        fold("items");
        recorder_.add(load_.end(side));
        recorder_.flush();
        fold("end");
        const double start = wall_seconds();
        for (std::size_t i = 0; !follower_.state().meta.sweeps.empty(); ++i) {
            if (i % 2 == 0) {
                recorder_.tick(kTick);
                fold("sweep");
                continue;
            }
            for (int k = 0; k < kChanges; ++k) recorder_.add(load_.change());
            recorder_.flush();
            fold("both");
        }
        follower_.save();
        sweep_seconds_ = wall_seconds() - start;
    }

    void note(const std::string& name, Series& series) const {
        for (const auto& [kind, took] : folds_) {
            const std::string prefix = name + "_" + kind;
            series[prefix + "_fold_longest_ms"].push_back(quantile(took, 1));
            series[prefix + "_fold_longest_cpu_ms"].push_back(quantile(cpu_.at(kind), 1));
            series[prefix + "_fold_p99_ms"].push_back(quantile(took, 0.99));
            series[prefix + "_record_longest_ms"].push_back(quantile(records_.at(kind), 1));
        }
        series[name + "_sweep_seconds"].push_back(sweep_seconds_);
    }

  private:
    void fold(const std::string& kind) {
        for (const Recorded& record : recorder_.take_whole()) {
            const Follower::Took took = follower_.fold(record);
            folds_[kind].push_back(took.fold * 1'000);
            cpu_[kind].push_back(took.cpu * 1'000);
            records_[kind].push_back(took.record * 1'000);
        }
    }

    Follower& follower_;
    Recorder& recorder_;
    Load& load_;
    Series folds_;
    Series cpu_;
    Series records_;
    double sweep_seconds_ = 0;
};

void measure(std::uint32_t subjects, std::size_t memory, std::size_t record_bytes,
             const std::string& folder, Series& series) {
    Load load(subjects);
    Recorder recorder(load, record_bytes, 10'000);
    Follower follower(memory, folder);
    recorder.open(load_settings(Mode::kObserve), load.owners());
    follower.fold(recorder.take());
    const auto first_word_of = [&](Side side, const char* status) {
        return [&load, subjects, side, status](auto&& add) {
            for (std::uint32_t i = 0; i < subjects; ++i) {
                load.make(side, i, status);
                add(load.listed(side, i));
            }
        };
    };
    Epoch first(follower, recorder, load);
    first.run(Side::kRows, first_word_of(Side::kRows, "running"));
    first.note("first", series);
    Epoch second(follower, recorder, load);
    second.run(Side::kPods, first_word_of(Side::kPods, "Running"));
    second.note("second", series);
    const std::uint64_t before = follower.state().meta.counters.swept;
    Epoch relist(follower, recorder, load);
    relist.run(Side::kPods, [&](auto&& add) {
        for (std::uint32_t i = 0; i < subjects; ++i) {
            const bool gone = i % kGoneIn == 0;
            if (!gone && load.present(Side::kPods, i)) add(load.listed(Side::kPods, i));
        }
    });
    relist.note("relist", series);
    if (follower.state().meta.counters.swept == before) fail("the epoch swept nothing");
}

int run(int argc, char** argv) {
    const Options options(argc, argv,
                          {"subjects", "runs", "memory-mib", "record-kb", "dir", "pin"});
    Report report(options);
    const auto subjects = static_cast<std::uint32_t>(options.number("subjects", 1e6));
    const auto memory = static_cast<std::size_t>(options.number("memory-mib", 512)) << 20U;
    const auto record_bytes = static_cast<std::size_t>(options.number(
                                  "record-kb", static_cast<double>(usual_record_bytes() >> 10U)))
                              << 10U;
    const auto runs = static_cast<int>(options.number("runs", 3));
    if (options.number("pin", 0) != 0) report.fact("processor", pin_to_one_processor());
    report.fact("subjects", subjects);
    report.fact("memory_mib", memory >> 20U);
    Series series;
    for (int i = 0; i < runs; ++i) {
        const TempFolder folder(options.text("dir", {}));
        measure(subjects, memory, record_bytes, folder.path(), series);
    }
    for (const auto& [name, values] : series) report.series(name, values);
    report.print();
    return 0;
}

}  // namespace
}  // namespace trueup::bench

int main(int argc, char** argv) { return trueup::bench::run(argc, argv); }
