#include "apps/policy_test.h"

#include "apps/config/policy_file.h"
#include "apps/config/release_limits.h"
#include "apps/policy_needs.h"
#include "stories/hunt.h"
#include "stories/player.h"

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <sstream>
#include <thread>
#include <utility>

namespace trueup::apps {

namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using stories::Hunted;
using stories::Mutant;
using stories::Story;
using stories::Trial;
using Clock = std::chrono::steady_clock;

constexpr int kStopped = 1;
constexpr int kUnusable = 2;

void complain(const std::string& what) { fmt::print(stderr, "{}\n", what); }

/// Says how far it is, once that takes longer than people wait in silence.
class Pace {
  public:
    explicit Pace(StopSignal& stop) : stop_(&stop) {}

    /// False once the process was asked to stop.
    bool go_on(std::size_t done, std::size_t of, const char* what) {
        if (Clock::now() >= next_word_) {
            next_word_ = Clock::now() + std::chrono::seconds(2);
            fmt::print(stderr, "{} of {} {}\n", done, of, what);
        }
        return !stop_->wait(Millis{0});
    }

  private:
    StopSignal* stop_;
    Clock::time_point next_word_ = Clock::now() + std::chrono::seconds(2);
};

/// The files of stories that are meant; an error where there are none.
Result<std::vector<std::string>> paths_of(const PolicyTestOptions& options) {
    std::vector<std::string> named = options.stories;
    if (named.empty()) named.push_back(stories_beside(options.file));
    std::vector<std::string> paths;
    for (const std::string& place : named) {
        if (!fs::is_directory(place)) {
            paths.push_back(place);
            continue;
        }
        for (std::string& path : stories::stories_in(place)) paths.push_back(std::move(path));
    }
    if (options.stories.empty() && (paths.empty() || !fs::is_directory(named.front()))) {
        return Error{Next::kStop, Code::kNotFound,
                     options.file + ": there are no stories beside it; write them into " +
                         named.front() + "/*.scn, or name files or folders that have some"};
    }
    if (paths.empty()) {
        return Error{Next::kStop, Code::kNotFound,
                     named.front() + ": there is no story (*.scn) in it"};
    }
    return paths;
}

bool has(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

/// All that are meant, read; each that cannot be read is told of.
bool read_stories(const PolicyTestOptions& options, std::vector<Story>& all) {
    const Result<std::vector<std::string>> paths = paths_of(options);
    if (!paths) return complain(paths.error().what), false;
    bool sound = true;
    for (const std::string& path : *paths) {
        Result<Story> story = Story::read(path);
        if (!story) {
            complain(story.error().what);
            sound = false;
        } else if (has(path, options.filter) || has(story->title, options.filter)) {
            all.push_back(std::move(*story));
        }
    }
    if (sound && all.empty()) {
        complain("no story has '" + options.filter + "' in its path or title; leave --filter out " +
                 "to see all of them");
        return false;
    }
    return sound;
}

json json_of(const Story& story, const Trial& trial) {
    json differences = json::array();
    for (const stories::Difference& each : trial.told.differences) {
        json came = json::array();
        for (const stories::Came& news : each.came) {
            came.push_back({{"news", news.news}, {"line", news.line}});
        }
        differences.push_back({{"line", each.line},
                               {"expected", each.expected},
                               {"came", came},
                               {"stumbled", each.stumbled}});
    }
    return {{"kind", "story"},
            {"file", story.path},
            {"title", story.title},
            {"ok", trial.flaws.empty()},
            {"how", trial.flaws.empty() ? "" : trial.how},
            {"flaws", trial.flaws},
            {"differences", differences}};
}

class PolicyTest {
  public:
    PolicyTest(const PolicyTestOptions& options, StopSignal& stop)
        : options_(options), stop_(stop) {}

    int run() {
        Result<config::PolicyFile> file = config::load_policy(options_.file);
        if (!file) return complain(file.error().what), kUnusable;
        policy_ = std::move(file->policy);
        lines_ = std::move(file->lines);
        if (!read_stories(options_, stories_)) return kUnusable;
        if (const Result<core::Plan> plan = compiled(*policy_)) {
            for (const std::string& each : config::beyond_release(*policy_, *plan)) {
                complain(
                    fmt::format("warning: {}: {}; stories are told all the same, and `trueup "
                                "config check` refuses it",
                                options_.file, each));
            }
        }
        if (const int rc = play_all(); rc != 0 || !options_.mutants) return rc;
        return hunt();
    }

  private:
    bool text() const { return options_.format == OutputFormat::kText; }

    int play_all() {
        Pace pace(stop_);
        const Clock::time_point begin = Clock::now();
        std::size_t failed = 0;
        bool unusable = false;
        for (std::size_t i = 0; i < stories_.size(); ++i) {
            if (!pace.go_on(i, stories_.size(), "stories")) {
                complain(fmt::format("stopped: {} of {} stories were played", i, stories_.size()));
                return kStopped;
            }
            const Trial trial = stories::try_story(stories_[i], policy_);
            unusable = unusable || !trial.told.unusable.empty();
            if (!trial.flaws.empty()) ++failed;
            tell(stories_[i], trial);
        }
        const double seconds = std::chrono::duration<double>(Clock::now() - begin).count();
        tell_sum(failed, seconds);
        if (unusable) return kUnusable;
        return failed == 0 ? 0 : 1;
    }

    void tell(const Story& story, const Trial& trial) const {
        if (!text()) return fmt::print("{}\n", json_of(story, trial).dump());
        const char* word = trial.flaws.empty() ? "ok    " : "failed";
        fmt::print("{}  {}: {}\n", word, story.path, story.title);
        if (trial.flaws.empty()) return;
        if (!trial.how.empty()) fmt::print("  Told {}:\n", trial.how);
        std::istringstream lines(trial.flaws);
        for (std::string line; std::getline(lines, line);) fmt::print("  {}\n", line);
    }

    void tell_sum(std::size_t failed, double seconds) const {
        if (text()) {
            fmt::print("{} {} of policy {}: {} as told, {} otherwise ({:.1f} s)\n", stories_.size(),
                       stories_.size() == 1 ? "story" : "stories", policy_->name,
                       stories_.size() - failed, failed, seconds);
            return;
        }
        const json sum{{"kind", "policy_test"},   {"file", options_.file},
                       {"policy", policy_->name}, {"stories", stories_.size()},
                       {"failed", failed},        {"seconds", seconds}};
        fmt::print("{}\n", sum.dump());
    }

    int hunt() const {
        Pace pace(stop_);
        stories::HuntOptions how;
        how.jobs = options_.jobs != 0 ? options_.jobs : std::thread::hardware_concurrency();
        how.go_on = [&](std::size_t done, std::size_t of) {
            return pace.go_on(done, of, "mutants");
        };
        const Hunted hunted = stories::hunt(policy_, stories_, how);
        for (const Mutant& mutant : hunted.survivors) tell(mutant);
        tell_sum(hunted);
        if (hunted.stopped) complain("stopped: not every mutant was played");
        return hunted.stopped || !hunted.survivors.empty() ? 1 : 0;
    }

    /// Of the innermost part around the mutant's place that the file has.
    int line_of(std::string place) const {
        while (!place.empty()) {
            const auto found = lines_.find(place);
            if (found != lines_.end()) return found->second;
            const std::size_t last = place.find_last_of(".[");
            place.resize(last == std::string::npos ? 0 : last);
        }
        return 1;
    }

    void tell(const Mutant& mutant) const {
        const int line = line_of(mutant.place);
        if (text()) {
            fmt::print("not noticed  {}:{}: {}\n", options_.file, line, mutant.text());
            return;
        }
        const json told{{"kind", "mutant"},    {"file", options_.file}, {"line", line},
                        {"rule", mutant.rule}, {"place", mutant.place}, {"change", mutant.change}};
        fmt::print("{}\n", told.dump());
    }

    void tell_sum(const Hunted& hunted) const {
        if (text()) {
            fmt::print(
                "{} mutants of policy {}: {} noticed by a story, {} not; {} mean the same, {} no "
                "engine takes, {} are of rules that this build cannot carry out\n",
                hunted.made, policy_->name, hunted.noticed, hunted.survivors.size(), hunted.equal,
                hunted.refused, hunted.unable);
            return;
        }
        const json sum{{"kind", "policy_mutants"}, {"file", options_.file},
                       {"made", hunted.made},      {"noticed", hunted.noticed},
                       {"equal", hunted.equal},    {"refused", hunted.refused},
                       {"unable", hunted.unable},  {"surviving", hunted.survivors.size()},
                       {"stopped", hunted.stopped}};
        fmt::print("{}\n", sum.dump());
    }

    const PolicyTestOptions& options_;
    StopSignal& stop_;
    Shared<policy::Policy> policy_;
    std::map<std::string, int> lines_;
    std::vector<Story> stories_;
};

}  // namespace

std::string stories_beside(const std::string& file) {
    return fs::path(file).replace_extension().string();
}

int run_policy_test(const PolicyTestOptions& options, StopSignal& stop) {
    return PolicyTest(options, stop).run();
}

}  // namespace trueup::apps
