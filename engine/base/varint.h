// Numbers of seven bits a byte, the lowest first, and signed ones folded so that small ones stay
// small: as Protobuf writes them, and as the rows of the projection have them.
//
// Inline, since most of what is read and written is one of these. Thread-safe.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

namespace trueup {

/// Bytes that one takes at most.
inline constexpr std::size_t kMaxVarint = 10;

constexpr std::int64_t from_zigzag(std::uint64_t n) {
    return static_cast<std::int64_t>((n >> 1U) ^ (~(n & 1U) + 1U));
}
constexpr std::uint64_t to_zigzag(std::int64_t n) {
    return (static_cast<std::uint64_t>(n) << 1U) ^ static_cast<std::uint64_t>(n >> 63U);
}

/// As read_varint, where the first byte does not end it, or there is none.
bool read_long_varint(const char*& at, const char* end, std::uint64_t& out);

/// Takes one off the front. False where `end` comes first or it has more than kMaxVarint bytes;
/// `at` is anywhere up to `end` then, and `out` is void.
inline bool read_varint(const char*& at, const char* end, std::uint64_t& out) {
    if (at == end || static_cast<unsigned char>(*at) >= 0x80) return read_long_varint(at, end, out);
    out = static_cast<unsigned char>(*at++);  // nearly all of them
    return true;
}

/// Writes one where there is room for it; returns where it ends.
inline char* write_varint(char* at, std::uint64_t n) {
    for (; n >= 0x80; n >>= 7U) *at++ = static_cast<char>(n | 0x80U);
    *at++ = static_cast<char>(n);
    return at;
}

inline void append_varint(std::string& out, std::uint64_t n) {
    if (n < 0x80) {
        out += static_cast<char>(n);
        return;
    }
    std::array<char, kMaxVarint> bytes{};
    const char* end = write_varint(bytes.data(), n);
    out.append(bytes.data(), static_cast<std::size_t>(end - bytes.data()));
}

}  // namespace trueup
