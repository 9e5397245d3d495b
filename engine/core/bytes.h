// The projection's private row encoding: varints and length-prefixed strings. Rows are rebuilt from
// the journal when they cannot be read, so this format owes nothing to the outside.
#pragma once

#include "engine/base/id.h"
#include "engine/model/change.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace trueup::core {

class ByteWriter {
  public:
    explicit ByteWriter(std::string& out) : out_(out) {}
    void number(std::uint64_t value) {
        if (value < 0x80) {
            out_ += static_cast<char>(value);
            return;
        }
        std::array<char, 10> bytes{};
        std::size_t size = 0;
        for (; value >= 0x80; value >>= 7U) {
            bytes[size++] = static_cast<char>((value & 0x7fU) | 0x80U);
        }
        bytes[size++] = static_cast<char>(value);
        out_.append(bytes.data(), size);
    }
    /// Small negative numbers stay small.
    void signed_number(std::int64_t value) {
        const auto bits = static_cast<std::uint64_t>(value);
        number((bits << 1U) ^ (value < 0 ? ~std::uint64_t{0} : 0));
    }
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
        for (unsigned shift = 0; shift < 70; shift += 7) {
            if (rest_.empty()) break;
            const auto byte = static_cast<unsigned char>(rest_.front());
            rest_.remove_prefix(1);
            value |= shift < 64 ? static_cast<std::uint64_t>(byte & 0x7fU) << shift : 0;
            if (byte < 0x80) return value;
        }
        ok_ = false;
        rest_ = {};
        return 0;
    }
    std::int64_t signed_number() {
        const std::uint64_t bits = number();
        return static_cast<std::int64_t>((bits >> 1U) ^ (~(bits & 1U) + 1));
    }
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
