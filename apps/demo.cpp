#include "apps/demo.h"

#include "apps/config/config.h"
#include "apps/hosts.h"
#include "apps/operate.h"
#include "apps/sandbox_host.h"
#include "engine/ports/clock.h"
#include "policies/shipped.h"
#include "sandbox/drama.h"
#include "sandbox/wiring/demo_policy.h"
#include "sandbox/wiring/sandbox_wiring.h"
#include "sandbox/world.h"
#include "sandbox/world_file.h"

#include <fmt/core.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <random>

namespace trueup::apps {

namespace {

constexpr Millis kFeedEvery{100};          // also the step of the drama, which goes by time
constexpr Millis kLookEvery{10'000};       // where nothing is due: a shard may have stopped
constexpr Millis kCheckpointEvery{5'000};  // it lives short

/// A folder that goes when the demo ends, unless the user named one.
class StateDir {
  public:
    explicit StateDir(const std::string& wanted) : path_(wanted), ours_(wanted.empty()) {
        if (!ours_) return;
        std::string pattern = (std::filesystem::temp_directory_path() / "trueup-demo-XXXXXX");
        const char* made = mkdtemp(pattern.data());
        if (made != nullptr) path_ = made;
    }
    StateDir(const StateDir&) = delete;
    StateDir& operator=(const StateDir&) = delete;
    ~StateDir() {
        std::error_code ignored;
        if (ours_ && !path_.empty()) std::filesystem::remove_all(path_, ignored);
    }
    const std::string& path() const { return path_; }

  private:
    std::string path_;
    bool ours_;
};

Result<std::unique_ptr<Hosts>> start_demo(sandbox::World& world, const std::string& state_dir) {
    auto secrets = Secrets::load(state_dir + "/keys", true);
    if (!secrets) return secrets.error();
    HostSettings settings;
    settings.secrets = std::move(*secrets);
    settings.memory_bytes = std::size_t{256} << 20U;
    settings.policy = sandbox::demo_policy();
    settings.exports = policies::shipped_exports(settings.policy.text->name);
    settings.state_dir = config::policy_folder(state_dir, settings.policy.policy);
    settings.checkpoints = state_dir + "/checkpoints/" + settings.policy.policy;
    settings.checkpoint_every = kCheckpointEvery;
    api::ServerSettings http;
    http.listen = "127.0.0.1:0";
    http.socket = socket_of(state_dir);
    auto hosts = Hosts::open(http, {std::move(settings)});
    if (!hosts) return hosts;
    if (Status begun = begin_in_sandbox((*hosts)->front(), world); !begun) return begun.error();
    return hosts;
}

std::string world_file(const DemoOptions& options) { return options.state_dir + "/world.jsonl"; }

/// The one that was asked for, that of the world which is kept, or a new one.
Result<std::uint64_t> seed_of(const DemoOptions& options) {
    if (options.seed != 0) return options.seed;
    if (!options.state_dir.empty()) {
        const auto kept = sandbox::kept_seed(world_file(options));
        if (!kept) return kept.error();
        if (*kept) return **kept;
    }
    return std::random_device{}();
}

/// The feed prints times of its own.
std::string_view without_clock(std::string_view note) {
    const std::size_t space = note.find(' ');
    return space == std::string_view::npos ? note : note.substr(space + 1);
}

/// What the first column of the feed means.
constexpr const char* kWords =
    "  world     something happened in the cluster or in the table\n  found     a rule sees a "
    "disagreement, which may be a delay: nothing is done yet\n  suspected the evidence is not "
    "complete: the grace is running, or a side has not confirmed it yet\n  confirmed the evidence "
    "is complete, but something holds the command: a budget, a pause, an approval\n  do, done  a "
    "command, and its outcome\n  resolved  it was repaired, or went away by itself\n";

void greet(const Hosts& host, std::uint64_t seed, const std::string& state_dir) {
    fmt::print(
        "A small cluster and its table, in memory. Things go wrong by themselves; watch Trueup "
        "repair them.\n{}From another terminal: trueup findings list --state-dir {}\nseed {}; "
        "metrics at http://{}/metrics; Ctrl-C stops it\n\n",
        kWords, state_dir, seed, host.address());
    std::fflush(stdout);
}

sandbox::WorldSettings world_settings() {
    sandbox::WorldSettings settings;
    settings.evaluate_key = sandbox::evaluate_key;
    return settings;
}

/// The world as it was left, where the user named a folder.
Status restore(sandbox::World& world, const DemoOptions& options) {
    if (options.state_dir.empty()) return Done{};
    std::error_code failure;
    std::filesystem::create_directories(options.state_dir, failure);
    if (failure) {
        return Error{Next::kStop, Code::kConfiguration,
                     "cannot create " + options.state_dir + ": " + failure.message()};
    }
    return world.restore(world_file(options));
}

/// Says what is wrong, and that the process ends with it.
int failed(const std::string& what) {
    fmt::print(stderr, "trueup demo: {}\n", what);
    return 1;
}

/// Until the time is over or somebody stops it; what it returns broke the host, empty: nothing did.
std::string play(sandbox::Drama& drama, const Host& host, EventPrinter& feed,
                 const DemoOptions& options, StopSignal& stop, SteadyTime start) {
    const Millis length = std::chrono::seconds(options.seconds);
    while (!stop.wait(kFeedEvery)) {
        const SteadyTime now = ports::system_clock().steady_now();
        const Millis left = options.seconds > 0 ? start + length - now : kLookEvery;
        if (left <= Millis{0}) break;
        if (!options.calm) drama.step(now);
        for (const std::string& note : drama.take_notes()) feed.note(without_clock(note));
        feed.show_new();
        if (std::string fatal = host.fatal(); !fatal.empty()) return fatal;
        if (options.calm) stop.wait_for_news(std::min(left, kLookEvery));
    }
    return {};
}

}  // namespace

int run_demo(const DemoOptions& options, StopSignal& stop) {
    ports::Clock& clock = ports::system_clock();
    const Result<std::uint64_t> seed_of_world = seed_of(options);
    if (!seed_of_world) return failed(seed_of_world.error().what);
    const std::uint64_t seed = *seed_of_world;
    const StateDir state(options.state_dir);
    sandbox::World world(seed, clock, world_settings());
    if (const Status restored = restore(world, options); !restored) {
        return failed(restored.error().what);
    }
    sandbox::Drama drama(world, seed);
    // Sets the scene; a world that was kept has one.
    if (!options.calm || options.state_dir.empty()) drama.step(clock.steady_now());
    auto host = start_demo(world, state.path());
    if (!host) return failed(host.error().what);
    Host& engine = (*host)->front();
    EventPrinter feed({{&engine.log(), engine.shards()}}, options.format, options.colours);
    write_address(state.path(), (*host)->address());
    if (options.format == OutputFormat::kText) greet(**host, seed, state.path());
    const SteadyTime start = clock.steady_now();
    const auto heard = engine.log().listen([&stop] { stop.wake(); });
    const std::string fatal = play(drama, engine, feed, options, stop, start);
    if (!fatal.empty()) return failed(fatal);
    const Status stopped = (*host)->stop();
    feed.show_new();
    const auto ran =
        std::chrono::duration_cast<std::chrono::seconds>(clock.steady_now() - start).count();
    feed.summarise(ran, engine.snapshot().open_findings);
    return stopped ? 0 : failed(stopped.error().what);
}

}  // namespace trueup::apps
