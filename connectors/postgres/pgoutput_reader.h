// Values and tuples off the bytes of a replication message (pgoutput.h). Internal to its
// decoder.
#pragma once

#include "connectors/postgres/tuple.h"

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace trueup::connectors::postgres {

/// Takes big-endian values off a message. A read past the end yields zeroes and is remembered, so
/// that a decoder may read on and ask once. Texts and bytes are views into the message. Not
/// thread-safe.
class MessageReader {
  public:
    explicit MessageReader(std::string_view bytes) : rest_(bytes) {}

    std::uint64_t number(std::size_t size) {
        const std::string_view taken = bytes(size);
        std::uint64_t value = 0;
        for (const char byte : taken) value = value << 8U | static_cast<unsigned char>(byte);
        return value;
    }
    char letter() { return static_cast<char>(number(1)); }
    std::uint16_t u16() { return static_cast<std::uint16_t>(number(2)); }
    std::uint32_t u32() { return static_cast<std::uint32_t>(number(4)); }
    std::uint64_t u64() { return number(8); }
    std::int64_t micros() { return static_cast<std::int64_t>(number(8)); }

    std::string_view bytes(std::size_t size) {
        if (size > rest_.size()) {
            failed_ = true;
            rest_ = {};
            return {};
        }
        const std::string_view taken = rest_.substr(0, size);
        rest_.remove_prefix(size);
        return taken;
    }
    std::string_view text() {
        const std::size_t end = rest_.find('\0');
        if (end == std::string_view::npos) {
            failed_ = true;
            rest_ = {};
            return {};
        }
        const std::string_view taken = bytes(end);
        bytes(1);
        return taken;
    }

    void fail() { failed_ = true; }
    bool failed() const { return failed_; }
    bool complete() const { return !failed_ && rest_.empty(); }
    std::size_t left() const { return rest_.size(); }
    std::string_view rest() const { return rest_; }

  private:
    std::string_view rest_;
    bool failed_ = false;
};

/// A tuple's columns, in their order.
Tuple read_tuple(MessageReader& reader);
/// The old tuple that `letter` announces.
OldTuple read_old(MessageReader& reader, char letter);

}  // namespace trueup::connectors::postgres
