#include "engine/core/row_time.h"

#include <chrono>
#include <cstddef>
#include <cstdint>

namespace trueup::core {

namespace {

using std::chrono::days;
using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;

/// Reads a text from its front; each step says whether it found what it looked for.
class Scan {
  public:
    explicit Scan(std::string_view text) : rest_(text) {}
    bool done() const { return rest_.empty(); }

    bool take(char wanted) {
        if (rest_.empty() || rest_.front() != wanted) return false;
        rest_.remove_prefix(1);
        return true;
    }
    bool take(std::string_view wanted) {
        if (!rest_.starts_with(wanted)) return false;
        rest_.remove_prefix(wanted.size());
        return true;
    }
    /// Between `least` and `most` digits.
    std::optional<std::int64_t> number(std::size_t least, std::size_t most) {
        std::int64_t value = 0;
        std::size_t size = 0;
        while (size < rest_.size() && rest_[size] >= '0' && rest_[size] <= '9') {
            if (size == most) return std::nullopt;
            value = value * 10 + (rest_[size++] - '0');
        }
        if (size < least) return std::nullopt;
        rest_.remove_prefix(size);
        return value;
    }
    /// `.123456` as milliseconds; 0 when there is none.
    std::optional<Millis> fraction() {
        if (!take('.')) return Millis{0};
        const std::size_t before = rest_.size();
        const std::string_view digits = rest_;
        if (!number(1, 9)) return std::nullopt;
        Millis value{0};
        for (std::size_t i = 0; i < 3; ++i) {
            value = value * 10 + Millis(i < before - rest_.size() ? digits[i] - '0' : 0);
        }
        return value;
    }

  private:
    std::string_view rest_;
};

/// `+00`, `-05:30`, `Z`.
std::optional<Millis> take_offset(Scan& scan) {
    if (scan.take('Z')) return Millis{0};
    const bool east = scan.take('+');
    if (!east && !scan.take('-')) return std::nullopt;
    const auto hour = scan.number(2, 2);
    if (!hour || *hour > 15) return std::nullopt;
    std::optional<std::int64_t> minute = 0;
    if (scan.take(':')) minute = scan.number(2, 2);
    if (!minute || *minute > 59) return std::nullopt;
    const Millis offset = hours(*hour) + minutes(*minute);
    return east ? offset : -offset;
}

std::optional<std::chrono::sys_days> take_date(Scan& scan) {
    const auto year = scan.number(4, 4);
    if (!year || !scan.take('-')) return std::nullopt;
    const auto month = scan.number(2, 2);
    if (!month || !scan.take('-')) return std::nullopt;
    const auto day = scan.number(2, 2);
    if (!day) return std::nullopt;
    const std::chrono::year_month_day date{std::chrono::year(static_cast<int>(*year)),
                                           std::chrono::month(static_cast<unsigned>(*month)),
                                           std::chrono::day(static_cast<unsigned>(*day))};
    if (!date.ok()) return std::nullopt;
    return std::chrono::sys_days(date);
}

/// `18:57:48.123`; the hours have up to `most` digits.
std::optional<Millis> take_clock(Scan& scan, std::size_t most) {
    const auto hour = scan.number(2, most);
    if (!hour || !scan.take(':')) return std::nullopt;
    const auto minute = scan.number(2, 2);
    if (!minute || *minute > 59 || !scan.take(':')) return std::nullopt;
    const auto second = scan.number(2, 2);
    if (!second || *second > 60) return std::nullopt;
    const auto rest = scan.fraction();
    if (!rest) return std::nullopt;
    return Millis(hours(*hour) + minutes(*minute) + seconds(*second)) + *rest;
}

/// Millions of years: only repeated units add up to more, and they would come round to the past.
constexpr Millis kLongest = days(2'000'000'000);

/// `PnDTnHnMnS`, behind its P.
std::optional<Millis> iso_duration(Scan scan) {
    Millis sum{0};
    bool clock = false;
    bool any = false;
    while (!scan.done()) {
        if (!clock && scan.take('T')) {
            clock = true;
            continue;
        }
        const auto count = scan.number(1, 9);
        if (!count) return std::nullopt;
        if (!clock && scan.take('D')) {
            sum += days(*count);
        } else if (clock && scan.take('H')) {
            sum += hours(*count);
        } else if (clock && scan.take('M')) {
            sum += minutes(*count);
        } else if (clock && scan.take('S')) {
            sum += seconds(*count);
        } else {
            return std::nullopt;
        }
        if (sum > kLongest) return std::nullopt;
        any = true;
    }
    return any ? std::optional(sum) : std::nullopt;
}

/// `24:00:00`, `1 day`, `2 days 03:04:05`.
std::optional<Millis> interval(std::string_view text) {
    Scan scan(text);
    Millis sum{0};
    Scan ahead(text);
    if (const auto count = ahead.number(1, 9); count && ahead.take(" day")) {
        ahead.take('s');
        sum = days(*count);
        if (ahead.done()) return sum;
        if (!ahead.take(' ')) return std::nullopt;
        scan = ahead;
    }
    const auto clock = take_clock(scan, 9);
    if (!clock || !scan.done()) return std::nullopt;
    return sum + *clock;
}

}  // namespace

std::optional<SourceTime> parse_timestamp(std::string_view text, std::optional<Millis> zone) {
    Scan scan(text);
    const auto date = take_date(scan);
    if (!date || !(scan.take(' ') || scan.take('T'))) return std::nullopt;
    const auto clock = take_clock(scan, 2);
    if (!clock || *clock >= Millis(days(1)) + Millis(1'000)) return std::nullopt;
    const auto offset = scan.done() ? zone : take_offset(scan);
    if (!offset || !scan.done()) return std::nullopt;
    return SourceTime(Millis(date->time_since_epoch()) + *clock - *offset);
}

std::optional<SourceTime> parse_date(std::string_view text, Millis zone) {
    Scan scan(text);
    const auto date = take_date(scan);
    if (!date || !scan.done()) return std::nullopt;
    return SourceTime(Millis(date->time_since_epoch()) - zone);
}

std::optional<Millis> parse_duration(std::string_view text) {
    Scan scan(text);
    if (scan.take('P')) return iso_duration(scan);
    Scan plain(text);
    if (const auto count = plain.number(1, 9); count && plain.done()) return seconds(*count);
    return interval(text);
}

}  // namespace trueup::core
