#include "apps/up.h"

#include "apps/config/config.h"
#include "apps/config/describe.h"
#include "apps/events.h"
#include "apps/wiring.h"
#include "engine/ports/clock.h"

#include <fmt/core.h>
#include <nlohmann/json.hpp>
#include <spdlog/pattern_formatter.h>
#include <spdlog/spdlog.h>

#include <array>
#include <cstdio>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace trueup::apps {

namespace {

constexpr Millis kFeedEvery{100};
constexpr std::string_view kMessage = "\"message\":";

/// Prints what is wrong, one sentence a line. Returns the exit code.
int refuse(const std::string& sentences) {
    fmt::print(stderr, "{}\n", sentences);
    return 2;
}

/// `"message":"…"` as JSON: servers' words have quotes and bytes of all kinds in them. An event has
/// members of its own instead (events.h).
class JsonMessage final : public spdlog::custom_flag_formatter {
  public:
    void format(const spdlog::details::log_msg& message, const std::tm& /*time*/,
                spdlog::memory_buf_t& out) override {
        const std::string_view payload(message.payload.data(), message.payload.size());
        if (const std::string_view members = event_members(payload); !members.empty()) {
            out.append(members.data(), members.data() + members.size());
            return;
        }
        out.append(kMessage.data(), kMessage.data() + kMessage.size());
        const nlohmann::json text = std::string(payload);
        const std::string quoted =
            text.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
        out.append(quoted.data(), quoted.data() + quoted.size());
    }
    std::unique_ptr<spdlog::custom_flag_formatter> clone() const override {
        return std::make_unique<JsonMessage>();
    }
};

void use_log_settings(const config::Config& config) {
    constexpr std::array kLevels{spdlog::level::debug, spdlog::level::info, spdlog::level::warn,
                                 spdlog::level::err};
    spdlog::set_level(kLevels[static_cast<std::size_t>(config.log_level)]);
    use_json_events(config.log_format == config::LogFormat::kJson);
    if (config.log_format == config::LogFormat::kJson) {
        auto formatter =
            std::make_unique<spdlog::pattern_formatter>(spdlog::pattern_time_type::utc);
        formatter->add_flag<JsonMessage>('*');
        formatter->set_pattern(R"({"time":"%Y-%m-%dT%H:%M:%S.%eZ","level":"%l",%*})");
        spdlog::set_formatter(std::move(formatter));
    }
}

/// Lets scripts find the port that was chosen.
void write_address(const std::string& state_dir, const std::string& address) {
    std::ofstream file(state_dir + "/http.addr", std::ios::trunc);
    file << address << '\n';
}

Result<std::unique_ptr<Host>> start_host(const config::Config& config,
                                         const std::string& pause_file) {
    auto sources = make_sources(config);
    if (!sources) return sources.error();
    auto executors = make_executors(config);
    if (!executors) return executors.error();
    if (!pause_file.empty()) {
        // Unknown is not absent: a file that cannot be looked for holds the writes too.
        executors->settings.before_write = [pause_file](const Command&) {
            std::error_code failed;
            return !std::filesystem::exists(pause_file, failed) && !failed;
        };
    }
    HostSettings settings;
    settings.state_dir = config.state_dir;
    settings.memory_bytes = config.memory_bytes;
    settings.checkpoint_every = config.checkpoint_every;
    settings.checkpoints_kept = config.checkpoints_kept;
    settings.fsync = config.fsync;
    settings.policy = config::policy_settings(config);
    settings.listen = config.listen;
    return Host::start(std::move(settings), std::move(*sources), std::move(*executors));
}

}  // namespace

int run_up(const UpOptions& options, StopSignal& stop) {
    const Result<config::Config> config = config::load_config(options.config);
    if (!config) return refuse(config.error().what);
    use_log_settings(*config);
    // Nothing starts before every source has answered.
    for (const std::string& wrong : check_sources(*config, options.config)) return refuse(wrong);
    auto host = start_host(*config, options.pause_file);
    if (!host) return refuse("trueup up: " + host.error().what);
    write_address(config->state_dir, (*host)->address());
    if (options.format == FeedFormat::kText) {
        fmt::print("trueup is up: {} sources, state in {}, metrics at http://{}/metrics\n",
                   config->sources.size(), config->state_dir, (*host)->address());
        std::fflush(stdout);
    }
    Feed feed((*host)->log(), options.format, options.colours);
    ports::Clock& clock = ports::system_clock();
    const SteadyTime start = clock.steady_now();
    const Millis length = std::chrono::seconds(options.seconds);
    while (!stop.wait(kFeedEvery)) {
        feed.show_new();
        if (options.seconds > 0 && clock.steady_now() - start >= length) break;
    }
    const std::string fatal = (*host)->fatal();
    (*host)->begin_stop();
    while ((*host)->settling()) {
        if (stop.again(kFeedEvery)) (*host)->hurry();
        feed.show_new();
    }
    const Status stopped = (*host)->stop();
    feed.show_new();
    if (!stopped) fmt::print(stderr, "trueup up: {}\n", stopped.error().what);
    return stopped && fatal.empty() ? 0 : 1;
}

int run_config_check(const CheckOptions& options) {
    const Result<config::Config> config = config::load_config(options.config);
    if (!config) return refuse(config.error().what);
    const std::vector<std::string> warnings = config::warnings(*config);
    const std::vector<std::string> wrong =
        options.offline ? std::vector<std::string>{} : check_sources(*config, options.config);
    if (options.format == FeedFormat::kJson) {
        nlohmann::json object{{"config", nlohmann::json::parse(config::describe_json(*config))},
                              {"warnings", warnings},
                              {"errors", wrong},
                              {"asked_sources", !options.offline}};
        fmt::print("{}\n", object.dump(2));
        return wrong.empty() ? 0 : 2;
    }
    fmt::print("{}", config::describe(*config));
    for (const std::string& warning : warnings) fmt::print("warning: {}\n", warning);
    for (const std::string& sentence : wrong) fmt::print(stderr, "{}\n", sentence);
    if (wrong.empty()) {
        fmt::print("{}: {}\n", options.config,
                   options.offline ? "well-formed; its sources were not asked"
                                   : "well-formed, and every source answers");
    }
    return wrong.empty() ? 0 : 2;
}

}  // namespace trueup::apps
