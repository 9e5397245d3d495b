// The projection's private row encoding: varints and length-prefixed strings. Rows are rebuilt from
// the journal when they cannot be read, so this format owes nothing to the outside.
#pragma once

#include "engine/base/id.h"
#include "engine/base/varint.h"
#include "engine/model/change.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace trueup::core {

class ByteWriter {
  public:
    explicit ByteWriter(std::string& out) : out_(out) {}
    void number(std::uint64_t value) { append_varint(out_, value); }
    void signed_number(std::int64_t value) { number(to_zigzag(value)); }
    void text(std::string_view value) {
        number(value.size());
        out_ += value;
    }
    void flag(bool value) { out_ += value ? '\1' : '\0'; }
    void hash(const Hash128& value) {
        number(value.hi);
        number(value.lo);
    }
    void version(const Version& value) {
        number(value.hi);
        number(value.lo);
    }
    template <typename TimePoint>
    void time(TimePoint value) {
        signed_number(value.time_since_epoch().count());
    }

  private:
    std::string& out_;
};

/// Reads what ByteWriter wrote. After the first flaw `ok()` is false and every read yields zero.
class ByteReader {
  public:
    explicit ByteReader(std::string_view bytes) : rest_(bytes) {}
    bool ok() const { return ok_; }
    bool done() const { return ok_ && rest_.empty(); }

    std::uint64_t number() {
        std::uint64_t value = 0;
        const char* at = rest_.data();
        ok_ = read_varint(at, at + rest_.size(), value) && ok_;
        rest_.remove_prefix(ok_ ? static_cast<std::size_t>(at - rest_.data()) : rest_.size());
        return ok_ ? value : 0;
    }
    std::int64_t signed_number() { return from_zigzag(number()); }
    std::string_view text() {
        const std::uint64_t size = number();
        if (size > rest_.size()) {
            ok_ = false;
            rest_ = {};
            return {};
        }
        const std::string_view value = rest_.substr(0, size);
        rest_.remove_prefix(size);
        return value;
    }
    bool flag() { return number() != 0; }
    Hash128 hash() {
        const std::uint64_t hi = number();
        return {hi, number()};
    }
    Version version() {
        const std::uint64_t hi = number();
        return {hi, number()};
    }
    template <typename TimePoint>
    TimePoint time() {
        return TimePoint(typename TimePoint::duration(signed_number()));
    }
    /// A count of things that take at least one byte each.
    std::size_t count() {
        const std::uint64_t n = number();
        if (n <= rest_.size()) return n;
        ok_ = false;
        rest_ = {};
        return 0;
    }

  private:
    std::string_view rest_;
    bool ok_ = true;
};

}  // namespace trueup::core
