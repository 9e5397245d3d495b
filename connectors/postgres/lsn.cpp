#include "connectors/postgres/lsn.h"

#include <charconv>
#include <cstdio>

namespace trueup::connectors::postgres {

namespace {

constexpr std::uint64_t kPageSize = 8192;
constexpr std::uint64_t kShortHeader = 24;
constexpr std::uint64_t kLongHeader = 40;
constexpr std::int64_t kSecondsTo2000 = 946684800;

std::optional<std::uint64_t> parse_whole(std::string_view text, int base) {
    std::uint64_t value = 0;
    const char* end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, value, base);
    if (text.empty() || error != std::errc() || stop != end) return std::nullopt;
    return value;
}

}  // namespace

std::string format_lsn(Lsn lsn) {
    char text[32];
    const int length = std::snprintf(text, sizeof text, "%X/%X", static_cast<unsigned>(lsn >> 32U),
                                     static_cast<unsigned>(lsn & 0xffffffffU));
    return {text, static_cast<std::size_t>(length)};
}

std::optional<Lsn> parse_lsn(std::string_view text) {
    const std::size_t slash = text.find('/');
    if (slash == std::string_view::npos || slash > 8 || text.size() - slash > 9)
        return std::nullopt;
    const auto high = parse_whole(text.substr(0, slash), 16);
    const auto low = parse_whole(text.substr(slash + 1), 16);
    if (!high || !low) return std::nullopt;
    return (*high << 32U) | *low;
}

std::optional<std::uint64_t> parse_number(std::string_view text) { return parse_whole(text, 10); }

Lsn before_page_header(Lsn insert_lsn, std::uint64_t segment_size) {
    if (segment_size != 0 && insert_lsn % segment_size == kLongHeader) {
        return insert_lsn - kLongHeader;
    }
    if (insert_lsn % kPageSize == kShortHeader) return insert_lsn - kShortHeader;
    return insert_lsn;
}

std::int64_t millis_of_postgres_time(std::int64_t micros) {
    const std::int64_t millis = micros / 1000 - (micros % 1000 < 0 ? 1 : 0);
    return millis + kSecondsTo2000 * 1000;
}

}  // namespace trueup::connectors::postgres
