#include "benchmarks/report.h"

#include <sched.h>
#include <sys/resource.h>
#include <time.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <utility>

namespace trueup::bench {

void fail(const std::string& why) {
    std::fprintf(stderr, "%s\n", why.c_str());
    std::exit(1);
}

Options::Options(int argc, char** argv, std::vector<std::string_view> known) {
    for (int i = 0; i < argc; ++i) command_ += (i > 0 ? " " : "") + std::string(argv[i]);
    for (int i = 1; i < argc; i += 2) {
        std::string name(argv[i]);
        const bool named = name.starts_with("--") &&
                           std::find(known.begin(), known.end(), name.substr(2)) != known.end();
        if (!named || i + 1 == argc) {
            std::string usage = "usage: " + std::string(argv[0]);
            for (const std::string_view option : known) {
                usage += " [--" + std::string(option) + " VALUE]";
            }
            std::fprintf(stderr, "%s\n", usage.c_str());
            std::exit(2);
        }
        given_.emplace_back(name.substr(2), argv[i + 1]);
    }
}

std::string Options::text(std::string_view name, std::string otherwise) const {
    for (const auto& [given, value] : given_) {
        if (given == name) return value;
    }
    return otherwise;
}

double Options::number(std::string_view name, double otherwise) const {
    const std::string value = text(name, {});
    return value.empty() ? otherwise : std::strtod(value.c_str(), nullptr);
}

Report::Report(const Options& options) {
    std::array<double, 3> load{};
    if (getloadavg(load.data(), 3) < 1) load[0] = -1;
    all_["command"] = options.command();
    all_["load_average_before"] = std::round(load[0] * 100) / 100;
}

void Report::fact(std::string_view name, nlohmann::ordered_json value) {
    all_[std::string(name)] = std::move(value);
}

void Report::series(std::string_view name, std::vector<double> runs) {
    nlohmann::ordered_json& out = all_[std::string(name)];
    const auto [least, most] = std::minmax_element(runs.begin(), runs.end());
    out["median"] = median(runs);
    out["min"] = *least;
    out["max"] = *most;
    out["runs"] = runs;
}

void Report::print() const { std::printf("%s\n", all_.dump(2).c_str()); }

double median(std::vector<double> values) { return quantile(std::move(values), 0.5); }

double quantile(std::vector<double> values, double share) {
    if (values.empty()) return 0;
    std::sort(values.begin(), values.end());
    const double place = share * static_cast<double>(values.size() - 1);
    const auto below = static_cast<std::size_t>(place);
    const std::size_t above = std::min(below + 1, values.size() - 1);
    const double rest = place - static_cast<double>(below);
    return values[below] + (values[above] - values[below]) * rest;
}

double wall_seconds() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch())
        .count();
}

std::size_t status_bytes(const std::string& name) {
    std::ifstream status("/proc/self/status");
    for (std::string word; status >> word;) {
        if (word != name + ":") continue;
        std::size_t kib = 0;
        status >> kib;
        return kib << 10U;
    }
    return 0;
}

double cpu_seconds() {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    const auto seconds = [](const timeval& t) {
        return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) / 1e6;
    };
    return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

double thread_cpu_seconds() {
    timespec time{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) / 1e9;
}

int pin_to_one_processor() {
    const int processor = sched_getcpu();
    cpu_set_t set;
    CPU_ZERO(&set);
    if (processor < 0) return -1;
    CPU_SET(static_cast<std::size_t>(processor), &set);
    return sched_setaffinity(0, sizeof set, &set) == 0 ? processor : -1;
}

TempFolder::TempFolder(const std::string& parent) {
    const std::filesystem::path base =
        parent.empty() ? std::filesystem::temp_directory_path() : std::filesystem::path(parent);
    std::string path = (base / "trueup-bench-XXXXXX").string();
    if (mkdtemp(path.data()) == nullptr) fail("cannot make a folder in " + base.string());
    path_ = std::move(path);
}

TempFolder::~TempFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
}

}  // namespace trueup::bench
