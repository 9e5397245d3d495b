#include "sandbox/json.h"

#include <chrono>
#include <cstddef>

namespace trueup::sandbox {

namespace {

constexpr std::string_view kDigits = "0123456789abcdef";

}  // namespace

void JsonWriter::separate() {
    if (!first_) out_ += ',';
    first_ = false;
}

JsonWriter& JsonWriter::open(char bracket) {
    separate();
    out_ += bracket;
    first_ = true;
    return *this;
}

JsonWriter& JsonWriter::close(char bracket) {
    out_ += bracket;
    first_ = false;
    return *this;
}

JsonWriter& JsonWriter::key(std::string_view name) {
    text(name);
    out_ += ':';
    first_ = true;
    return *this;
}

JsonWriter& JsonWriter::text(std::string_view value) {
    separate();
    out_ += '"';
    const char* plain = value.data();  // from here on nothing was written
    for (const char& c : value) {
        const auto byte = static_cast<unsigned char>(c);
        if (byte >= 0x20 && c != '"' && c != '\\') continue;
        out_.append(plain, &c);
        plain = &c + 1;
        if (c == '"' || c == '\\') {
            out_ += '\\';
            out_ += c;
        } else if (c == '\n') {
            out_ += "\\n";
        } else {
            out_ += "\\u00";
            out_ += kDigits[byte >> 4U];
            out_ += kDigits[byte & 15U];
        }
    }
    out_.append(plain, value.data() + value.size());
    out_ += '"';
    return *this;
}

JsonWriter& JsonWriter::text_or_null(const std::optional<std::string>& value) {
    return value ? text(*value) : null();
}

JsonWriter& JsonWriter::number(std::int64_t value) { return raw(std::to_string(value)); }
JsonWriter& JsonWriter::number(std::uint64_t value) { return raw(std::to_string(value)); }
JsonWriter& JsonWriter::boolean(bool value) { return raw(value ? "true" : "false"); }
JsonWriter& JsonWriter::null() { return raw("null"); }

JsonWriter& JsonWriter::raw(std::string_view json) {
    separate();
    out_ += json;
    return *this;
}

JsonWriter& JsonWriter::member(std::string_view name,
                               const std::map<std::string, std::string, std::less<>>& value) {
    key(name).open_object();
    for (const auto& [label, text] : value) member(label, std::string_view(text));
    return close_object();
}

JsonWriter& JsonWriter::member(std::string_view name, const std::vector<std::string>& value) {
    key(name).open_array();
    for (const std::string& item : value) text(item);
    return close_array();
}

namespace {

struct Civil {
    int year;
    unsigned month, day;
    int hour, minute, second;
};

Civil civil(std::int64_t wall_ms) {
    using std::chrono::days;
    const std::chrono::sys_seconds at(
        std::chrono::floor<std::chrono::seconds>(std::chrono::milliseconds(wall_ms)));
    const auto day = std::chrono::floor<days>(at);
    const std::chrono::year_month_day date(day);
    const auto rest = static_cast<int>((at - day).count());
    return {static_cast<int>(date.year()),
            static_cast<unsigned>(date.month()),
            static_cast<unsigned>(date.day()),
            rest / 3600,
            rest / 60 % 60,
            rest % 60};
}

/// Over the zeros that end before `end`.
void put(std::string& text, std::size_t end, unsigned number) {
    for (; number > 0; number /= 10) text[--end] = static_cast<char>('0' + number % 10);
}

}  // namespace

std::string rfc3339(std::int64_t wall_ms) {
    const Civil t = civil(wall_ms);
    std::string text = "0000-00-00T00:00:00Z";
    put(text, 4, static_cast<unsigned>(t.year));
    put(text, 7, t.month);
    put(text, 10, t.day);
    put(text, 13, static_cast<unsigned>(t.hour));
    put(text, 16, static_cast<unsigned>(t.minute));
    put(text, 19, static_cast<unsigned>(t.second));
    return text;
}

std::string time_of_day(std::int64_t wall_ms) { return rfc3339(wall_ms).substr(11, 8); }

}  // namespace trueup::sandbox
