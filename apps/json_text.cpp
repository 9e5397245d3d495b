#include "apps/json_text.h"

#include <fmt/chrono.h>

#include <cstdint>
#include <ctime>

namespace trueup::apps {

std::string text(const nlohmann::ordered_json& json, const char* name) {
    return json.value(name, std::string());
}

std::string plain(std::string value) {
    for (char& c : value) {
        if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = '?';
    }
    return value;
}

std::string time_text(const nlohmann::ordered_json& json, const char* name, const char* none) {
    const auto millis = json.value(name, std::int64_t{0});
    if (millis <= 0) return none;
    return fmt::format("{:%Y-%m-%d %H:%M:%S}", fmt::localtime(std::time_t{millis / 1000}));
}

}  // namespace trueup::apps
