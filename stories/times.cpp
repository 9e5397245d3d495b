#include "stories/times.h"

#include <array>
#include <cstdint>
#include <ctime>

namespace trueup::stories {

namespace {

constexpr std::int64_t kStart = 1'700'000'000'000;

}  // namespace

BrokerTime broker(Millis since) { return from_millis<BrokerTime>(kStart) + since; }

std::string timestamp(Millis since) {
    const auto at = to_millis(broker(since));
    const std::time_t seconds = static_cast<std::time_t>(at / 1000);
    std::tm parts{};
    gmtime_r(&seconds, &parts);
    std::array<char, 64> text{};
    const std::size_t size = std::strftime(text.data(), text.size(), "%Y-%m-%d %H:%M:%S", &parts);
    const std::string millis = std::to_string(1000 + at % 1000).substr(1);
    return std::string(text.data(), size) + '.' + millis + "+00";
}

}  // namespace trueup::stories
