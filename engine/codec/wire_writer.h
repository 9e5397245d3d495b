// Writes Protobuf's wire format (wire.h) field by field. Not thread-safe.
#pragma once

#include "engine/base/varint.h"
#include "engine/codec/wire.h"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace trueup::codec {

/// Writes into room that the caller has measured: at most kMaxTag + kMaxVarint per number, and the
/// text on top of that per text.
class WireWriter {
  public:
    explicit WireWriter(char* at) : at_(at) {}
    char* at() const { return at_; }

    void varint(std::uint64_t n) { at_ = write_varint(at_, n); }
    void number(std::uint32_t field, std::uint64_t n) {
        varint(varint_tag(field));
        varint(n);
    }
    /// The head of a text of `size` bytes; the text itself is to follow.
    void head(std::uint32_t field, std::size_t size) {
        varint(bytes_tag(field));
        varint(size);
    }
    void text(std::uint32_t field, std::string_view bytes) {
        head(field, bytes.size());
        if (!bytes.empty()) std::memcpy(at_, bytes.data(), bytes.size());
        at_ += bytes.size();
    }

  private:
    char* at_;
};

}  // namespace trueup::codec
