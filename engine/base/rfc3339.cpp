#include "engine/base/rfc3339.h"

#include <algorithm>
#include <chrono>
#include <cstddef>

namespace trueup {

namespace {

constexpr std::int64_t kLastMillis = 253'402'300'799'999;  // 9999-12-31T23:59:59.999Z

/// The last `digits` decimal digits of `value`, with leading zeros.
void put_digits(std::string& out, std::int64_t value, std::size_t digits) {
    const std::size_t end = out.size() + digits;
    out.resize(end);
    for (std::size_t i = 1; i <= digits; ++i, value /= 10) {
        out[end - i] = static_cast<char>('0' + value % 10);
    }
}

}  // namespace

std::string rfc3339(std::int64_t ms_since_1970) {
    const std::chrono::sys_time<std::chrono::milliseconds> at(
        std::chrono::milliseconds(std::clamp(ms_since_1970, std::int64_t{0}, kLastMillis)));
    const auto day = std::chrono::floor<std::chrono::days>(at);
    const std::chrono::year_month_day date(day);
    const std::chrono::hh_mm_ss time(at - day);
    std::string text;
    text.reserve(24);
    put_digits(text, int(date.year()), 4);
    text += '-';
    put_digits(text, unsigned(date.month()), 2);
    text += '-';
    put_digits(text, unsigned(date.day()), 2);
    text += 'T';
    put_digits(text, time.hours().count(), 2);
    text += ':';
    put_digits(text, time.minutes().count(), 2);
    text += ':';
    put_digits(text, time.seconds().count(), 2);
    text += '.';
    put_digits(text, time.subseconds().count(), 3);
    text += 'Z';
    return text;
}

}  // namespace trueup
