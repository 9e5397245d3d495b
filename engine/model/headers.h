// The headers of a record: names and values in the order in which they were added, in one buffer.
// A name may come more than once. Not thread-safe.
#pragma once

#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

namespace trueup {

class Headers {
  public:
    Headers() = default;
    Headers(std::initializer_list<std::pair<std::string_view, std::string_view>> headers) {
        std::size_t size = 0;
        for (const auto& [name, value] : headers) size += kSizes + name.size() + value.size();
        bytes_.reserve(size);
        for (const auto& [name, value] : headers) add(name, value);
    }

    void add(std::string_view name, std::string_view value) {
        put_size(name.size());
        put_size(value.size());
        bytes_ += name;
        bytes_ += value;
    }

    /// Calls `visit(name, value)`, views into these headers, for each in order.
    template <typename Visitor>
    void each(Visitor&& visit) const {
        std::string_view rest = bytes_;
        // The bounds only keep damaged bytes from leading elsewhere.
        while (rest.size() >= kSizes) {
            const std::uint64_t name = size_at(rest, 0);
            const std::uint64_t value = size_at(rest, sizeof(std::uint32_t));
            rest.remove_prefix(kSizes);
            if (rest.size() < name + value) return;
            visit(rest.substr(0, name), rest.substr(name, value));
            rest.remove_prefix(name + value);
        }
    }

    bool empty() const { return bytes_.empty(); }
    /// {u32 name size, u32 value size, name, value}*, in this machine's byte order.
    const std::string& bytes() const { return bytes_; }
    static Headers from_bytes(std::string_view bytes) {
        Headers headers;
        headers.bytes_ = bytes;
        return headers;
    }
    bool operator==(const Headers&) const = default;

  private:
    static constexpr std::size_t kSizes = 2 * sizeof(std::uint32_t);
    void put_size(std::size_t size) {
        const auto word = static_cast<std::uint32_t>(size);
        char raw[sizeof word];
        std::memcpy(raw, &word, sizeof word);
        bytes_.append(raw, sizeof word);
    }
    static std::uint32_t size_at(std::string_view bytes, std::size_t at) {
        std::uint32_t word = 0;
        std::memcpy(&word, bytes.data() + at, sizeof word);
        return word;
    }
    std::string bytes_;
};

/// Which headers findings have: they are many, and their values say the same (docs/adr/0045).
enum class FindingHeaders : std::uint8_t {
    kId,           ///< `ce_id` and `content-type`
    kCloudEvents,  ///< all those of CloudEvents
};

}  // namespace trueup
