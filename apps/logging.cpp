#include "apps/logging.h"

#include "apps/events.h"

#include <nlohmann/json.hpp>
#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/spdlog.h>

#include <array>
#include <ctime>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace trueup::apps {

namespace {

constexpr std::string_view kMessage = "\"message\":";

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

}  // namespace

void use_text_log(const std::string& level) {
    spdlog::set_default_logger(spdlog::stderr_color_mt("trueup"));
    spdlog::set_pattern("%H:%M:%S  %^%-9l%$ %v");
    spdlog::set_level(spdlog::level::from_str(level.empty() ? "warn" : level));
}

void use_log_settings(const config::Config& config, const std::string& level,
                      config::LogFormat feed) {
    constexpr std::array kLevels{spdlog::level::debug, spdlog::level::info, spdlog::level::warn,
                                 spdlog::level::err};
    if (level.empty()) spdlog::set_level(kLevels[static_cast<std::size_t>(config.log_level)]);
    const bool json = config.log_format.value_or(feed) == config::LogFormat::kJson;
    use_json_events(json);
    if (json) {
        auto formatter =
            std::make_unique<spdlog::pattern_formatter>(spdlog::pattern_time_type::utc);
        formatter->add_flag<JsonMessage>('*');
        formatter->set_pattern(R"({"time":"%Y-%m-%dT%H:%M:%S.%eZ","level":"%l",%*})");
        spdlog::set_formatter(std::move(formatter));
    }
}

}  // namespace trueup::apps
