#include "apps/config/words.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <utility>

namespace trueup::config {

namespace {

using Unit = std::pair<std::string_view, std::uint64_t>;

// The largest first, for printing.
constexpr std::array<Unit, 5> kTimes{
    {{"d", 86'400'000}, {"h", 3'600'000}, {"m", 60'000}, {"s", 1'000}, {"ms", 1}}};
constexpr std::array<Unit, 3> kSizes{
    {{"GiB", std::uint64_t{1} << 30U}, {"MiB", std::uint64_t{1} << 20U}, {"KiB", 1024}}};
constexpr std::uint64_t kLongest = std::uint64_t{366} * 24 * 3'600'000;
constexpr std::uint64_t kLargest = std::uint64_t{1} << 40U;

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

template <std::size_t kCount>
std::optional<std::uint64_t> measure(std::string_view text, const std::array<Unit, kCount>& units,
                                     std::uint64_t most) {
    const auto end = std::find_if_not(text.begin(), text.end(), is_digit);
    const auto digits = static_cast<std::size_t>(end - text.begin());
    const std::optional<std::uint64_t> count = parse_number(text.substr(0, digits));
    if (!count) return std::nullopt;
    for (const auto& [name, factor] : units) {
        if (text.substr(digits) != name) continue;
        if (*count > most / factor) return std::nullopt;
        return *count * factor;
    }
    return std::nullopt;
}

template <std::size_t kCount>
std::string print(std::uint64_t value, const std::array<Unit, kCount>& units) {
    for (const auto& [name, factor] : units) {
        if (value >= factor && value % factor == 0)
            return fmt::format("{}{}", value / factor, name);
    }
    return fmt::format("{}", value);
}

}  // namespace

std::optional<std::uint64_t> parse_number(std::string_view text) {
    if (text.empty() || !std::all_of(text.begin(), text.end(), is_digit)) return std::nullopt;
    std::uint64_t value = 0;
    const auto read = std::from_chars(text.data(), text.data() + text.size(), value);
    if (read.ec != std::errc()) return std::nullopt;
    return value;
}

std::optional<Millis> parse_duration(std::string_view text) {
    const std::optional<std::uint64_t> value = measure(text, kTimes, kLongest);
    if (!value) return std::nullopt;
    return Millis(static_cast<Millis::rep>(*value));
}

std::string duration_text(Millis duration) {
    if (duration.count() <= 0) return "0s";
    return print(static_cast<std::uint64_t>(duration.count()), kTimes);
}

std::optional<std::uint64_t> parse_size(std::string_view text) {
    return measure(text, kSizes, kLargest);
}

std::string size_text(std::uint64_t bytes) { return print(bytes, kSizes); }

std::optional<std::uint32_t> parse_percent(std::string_view text) {
    if (text.empty() || text.back() != '%') return std::nullopt;
    const std::optional<std::uint64_t> value = parse_number(text.substr(0, text.size() - 1));
    if (!value || *value < 1 || *value > 99) return std::nullopt;
    return static_cast<std::uint32_t>(*value);
}

bool is_blank(std::string_view text) {
    return text.find_first_not_of(" \t\r\n") == std::string_view::npos;
}

bool is_word(std::string_view text) {
    constexpr std::string_view kKnown = "abcdefghijklmnopqrstuvwxyz0123456789_";
    return !text.empty() && text.size() <= 63 && text.front() > '9' &&
           text.find_first_not_of(kKnown) == std::string_view::npos;
}

bool is_name(std::string_view text) {
    if (text.empty() || text.size() > 63) return false;
    if (!is_letter(text.front()) && !is_digit(text.front())) return false;
    return std::all_of(text.begin(), text.end(), [](char c) {
        return is_letter(c) || is_digit(c) || c == '-' || c == '_' || c == '.';
    });
}

bool is_address(std::string_view text) {
    const std::size_t colon = text.rfind(':');
    if (colon == std::string_view::npos || colon == 0) return false;
    const std::string_view host = text.substr(0, colon);
    const bool bracketed = host.front() == '[' && host.back() == ']' && host.size() > 2;
    if (host.find_first_of(" \t/") != std::string_view::npos) return false;
    if (!bracketed && host.find_first_of(":[]") != std::string_view::npos) return false;
    const std::optional<std::uint64_t> port = parse_number(text.substr(colon + 1));
    return port && *port <= std::numeric_limits<std::uint16_t>::max();
}

namespace {

constexpr std::array<std::string_view, 7> kDays{"Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"};

/// `08:30` as minutes of the day; `24:00` is the end of it.
std::optional<std::uint16_t> minute_of(std::string_view text) {
    if (text.size() != 5 || text[2] != ':') return std::nullopt;
    for (const std::size_t at : {0U, 1U, 3U, 4U}) {
        if (!is_digit(text[at])) return std::nullopt;
    }
    const int minute =
        (text[0] - '0') * 600 + (text[1] - '0') * 60 + (text[3] - '0') * 10 + (text[4] - '0');
    if (text[3] > '5' || minute > 24 * 60) return std::nullopt;
    return static_cast<std::uint16_t>(minute);
}

/// `Mon` or `Mon-Fri` as bits; 0: neither.
std::uint8_t days_in_a_row(std::string_view text) {
    const auto day = [&](std::string_view name) {
        return static_cast<std::size_t>(std::find(kDays.begin(), kDays.end(), name) -
                                        kDays.begin());
    };
    const std::size_t dash = text.find('-');
    const std::size_t first = day(text.substr(0, dash));
    const std::size_t last = dash == std::string_view::npos ? first : day(text.substr(dash + 1));
    unsigned bits = 0;
    for (std::size_t at = first; at <= last && last < kDays.size(); ++at) bits |= 1U << at;
    return static_cast<std::uint8_t>(bits);
}

/// `Mon-Wed,Fri` as bits; 0: not days.
std::uint8_t days_of(std::string_view text) {
    unsigned bits = 0;
    for (bool more = true; more;) {
        const std::size_t comma = text.find(',');
        more = comma != std::string_view::npos;
        const unsigned days = days_in_a_row(text.substr(0, comma));
        if (days == 0) return 0;
        bits |= days;
        if (more) text.remove_prefix(comma + 1);
    }
    return static_cast<std::uint8_t>(bits);
}

}  // namespace

std::optional<Window> window_of(std::string_view text) {
    const std::size_t space = text.find(' ');
    if (space == std::string_view::npos) return std::nullopt;
    const std::string_view hours = text.substr(space + 1);
    const std::size_t dash = hours.find('-');
    if (dash == std::string_view::npos) return std::nullopt;
    const auto from = minute_of(hours.substr(0, dash));
    const auto to = minute_of(hours.substr(dash + 1));
    const Window window{days_of(text.substr(0, space)), from.value_or(0), to.value_or(0)};
    if (!from || !to || window.days == 0 || window.from >= window.to) return std::nullopt;
    return window;
}

std::string window_text(const Window& window) {
    std::string days;
    for (std::size_t day = 0; day < kDays.size(); ++day) {
        if (((window.days >> day) & 1U) == 0) continue;
        days += (days.empty() ? "" : ",") + std::string(kDays[day]);
    }
    return fmt::format("{} {:02}:{:02}-{:02}:{:02}", days, window.from / 60, window.from % 60,
                       window.to / 60, window.to % 60);
}

bool contains(const std::vector<std::string>& words, std::string_view word) {
    return std::find(words.begin(), words.end(), word) != words.end();
}

bool only_of(std::string_view text, std::string_view more) {
    return !text.empty() && std::all_of(text.begin(), text.end(), [more](char c) {
        return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') ||
               more.find(c) != std::string_view::npos;
    });
}

std::vector<std::string> split(std::string_view text, char at) {
    std::vector<std::string> parts(1);
    for (const char c : text) {
        if (c == at) {
            parts.emplace_back();
        } else {
            parts.back() += c;
        }
    }
    return parts;
}

}  // namespace trueup::config
