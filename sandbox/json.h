// Writes JSON text. Just enough for the sandbox's answers and its file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace trueup::sandbox {

/// Writes one JSON value, member by member. The caller opens and closes in pairs; commas are put by
/// the writer. Text is taken as UTF-8; quotes, backslashes and control characters are escaped.
class JsonWriter {
  public:
    /// There will be about so many bytes.
    explicit JsonWriter(std::size_t bytes = 0) { out_.reserve(bytes); }

    JsonWriter& open_object() { return open('{'); }
    JsonWriter& close_object() { return close('}'); }
    JsonWriter& open_array() { return open('['); }
    JsonWriter& close_array() { return close(']'); }
    JsonWriter& key(std::string_view name);
    JsonWriter& text(std::string_view value);
    JsonWriter& text_or_null(const std::optional<std::string>& value);
    JsonWriter& number(std::int64_t value);
    JsonWriter& number(std::uint64_t value);
    JsonWriter& boolean(bool value);
    JsonWriter& null();
    /// Text that is already JSON.
    JsonWriter& raw(std::string_view json);

    JsonWriter& member(std::string_view name, std::string_view value) {
        return key(name).text(value);
    }
    JsonWriter& member(std::string_view name,
                       const std::map<std::string, std::string, std::less<>>& value);
    JsonWriter& member(std::string_view name, const std::vector<std::string>& value);
    JsonWriter& member(std::string_view name, std::int64_t value) {
        return key(name).number(value);
    }
    JsonWriter& member(std::string_view name, std::uint64_t value) {
        return key(name).number(value);
    }

    std::string take() { return std::move(out_); }

  private:
    JsonWriter& open(char bracket);
    JsonWriter& close(char bracket);
    void separate();

    std::string out_;
    bool first_ = true;  ///< no comma before the next member
};

/// "2026-03-04T10:02:03Z" of milliseconds since 1970, as metav1.Time writes it.
std::string rfc3339(std::int64_t wall_ms);
/// "10:02:03" in UTC.
std::string time_of_day(std::int64_t wall_ms);

}  // namespace trueup::sandbox
