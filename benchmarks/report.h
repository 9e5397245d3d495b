// What a benchmark says: one JSON object with every figure's runs, median and range, the command
// that made it and how busy the machine was before.
#pragma once

#include <nlohmann/json.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace trueup::bench {

/// `--name value` pairs; whoever gives an unknown name is told so and exits with 2.
class Options {
  public:
    Options(int argc, char** argv, std::vector<std::string_view> known);
    double number(std::string_view name, double otherwise) const;
    std::string text(std::string_view name, std::string otherwise) const;
    const std::string& command() const { return command_; }

  private:
    std::string command_;
    std::vector<std::pair<std::string, std::string>> given_;
};

class Report {
  public:
    /// Remembers the load average now.
    explicit Report(const Options& options);
    void fact(std::string_view name, nlohmann::ordered_json value);
    /// Median and range over the runs.
    void series(std::string_view name, std::vector<double> runs);
    void print() const;

  private:
    nlohmann::ordered_json all_;
};

double median(std::vector<double> values);
/// The value that this share (0 to 1) of the values does not exceed.
double quantile(std::vector<double> values, double share);

/// Seconds by the monotonic clock, and of CPU over all threads of the process.
double wall_seconds();
double cpu_seconds();
/// Of CPU by this thread alone: on a busy machine it tells work from waiting for a processor.
double thread_cpu_seconds();
/// A figure of /proc/self/status, which it gives in KiB, in bytes; 0 when it has none of that name.
std::size_t status_bytes(const std::string& name);

/// Keeps this thread, and those it starts later, on one processor. Says which; -1: it failed.
int pin_to_one_processor();

/// An empty folder that goes with the object.
class TempFolder {
  public:
    /// Below `parent`, or the system's place for temporary files when that is empty.
    explicit TempFolder(const std::string& parent);
    ~TempFolder();
    TempFolder(const TempFolder&) = delete;
    TempFolder& operator=(const TempFolder&) = delete;
    const std::string& path() const { return path_; }

  private:
    std::string path_;
};

/// Ends the process with this sentence: a benchmark that goes wrong has no figures.
[[noreturn]] void fail(const std::string& why);

}  // namespace trueup::bench
