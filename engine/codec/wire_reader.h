// Reads Protobuf's wire format (wire.h) field by field. It never reads outside its bytes, copies
// nothing and allocates nothing; the bytes outlive it. Not thread-safe.
#pragma once

#include "engine/base/varint.h"
#include "engine/codec/wire.h"

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace trueup::codec {

/// Each function that answers false has met a flaw; what it should have filled is void then.
class WireReader {
  public:
    explicit WireReader(std::string_view bytes)
        : at_(bytes.data()), end_(bytes.data() + bytes.size()) {}

    const char* at() const { return at_; }
    bool done() const { return at_ == end_; }
    /// Bytes that were not read yet.
    std::uint64_t left() const { return static_cast<std::uint64_t>(end_ - at_); }

    /// Is this field of a one-byte tag the next one? Then its tag is passed over. Whoever asks for
    /// the fields in the order in which they are written asks once for each.
    bool next_is(std::uint32_t tag) {
        if (done() || static_cast<unsigned char>(*at_) != tag) return false;
        ++at_;
        return true;
    }

    bool varint(std::uint64_t& out) { return read_varint(at_, end_, out); }
    /// The same, for numbers that are long as a rule.
    bool wide_varint(std::uint64_t& out) { return read_wide_varint(at_, end_, out); }

    bool tag(std::uint32_t& out) {
        std::uint64_t wide = 0;
        if (!short_varint(wide) || wide > 0xffffffffU || wide < 8) return false;
        out = static_cast<std::uint32_t>(wide);
        return true;
    }

    bool bytes(std::string_view& out) {
        std::uint64_t size = 0;
        if (!short_varint(size) || size > left()) return false;
        out = std::string_view(at_, static_cast<std::size_t>(size));
        at_ += size;
        return true;
    }

    /// Passes over the value of a field that nobody asked for.
    bool skip(std::uint32_t tag, int depth = 0) {
        std::uint64_t ignored = 0;
        std::string_view unread;
        switch (tag & 7U) {
            case 0:
                return varint(ignored);
            case 1:
                return advance(8);
            case 2:
                return bytes(unread);
            case 3:
                return skip_group(tag >> 3U, depth);
            case 5:
                return advance(4);
            default:
                return false;
        }
    }

  private:
    static constexpr int kMaxDepth = 100;

    /// The generated code reads no longer one as a tag or a length, whatever it says.
    bool short_varint(std::uint64_t& out) {
        const auto byte = [this](std::ptrdiff_t i) -> std::uint64_t {
            return static_cast<unsigned char>(at_[i]);
        };
        if (end_ - at_ >= 2 && byte(0) >= 0x80 && byte(1) < 0x80) {  // the length of an object
            out = (byte(0) & 0x7fU) | byte(1) << 7U;
            at_ += 2;
            return true;
        }
        const char* from = at_;
        return varint(out) && static_cast<std::size_t>(at_ - from) <= kMaxTag;
    }

    bool advance(std::uint64_t n) {
        if (n > left()) return false;
        at_ += n;
        return true;
    }

    bool skip_group(std::uint32_t number, int depth) {
        if (depth >= kMaxDepth) return false;
        std::uint32_t inner = 0;
        while (tag(inner)) {
            if ((inner & 7U) == 4U) return inner >> 3U == number;
            if (!skip(inner, depth + 1)) return false;
        }
        return false;
    }

    const char* at_;
    const char* end_;
};

}  // namespace trueup::codec
