// Numbers of seven bits a byte, the lowest first, and signed ones folded so that small ones stay
// small: as Protobuf writes them, and as the rows of the projection have them.
//
// Inline, since most of what is read and written is one of these. Thread-safe.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
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

/// One of up to eight bytes, which come in one word, the first byte lowest. Seven bits of each of
/// two bytes are moved together, then of each of two pairs, then of both halves.
constexpr std::uint64_t septets_in(std::uint64_t word) {
    word = (word & 0x007f007f007f007fU) | (word & 0x7f007f007f007f00U) >> 1U;
    word = (word & 0x00003fff00003fffU) | (word & 0x3fff00003fff0000U) >> 2U;
    return (word & 0x000000000fffffffU) | word >> 32U << 28U;
}

/// As read_varint, for numbers that are long as a rule: quicker then, and more code.
inline bool read_wide_varint(const char*& at, const char* end, std::uint64_t& out) {
    if (std::endian::native == std::endian::little && end - at >= 8) {
        std::uint64_t word = 0;
        std::memcpy(&word, at, sizeof word);
        const std::uint64_t ends = ~word & 0x8080808080808080U;
        if (ends != 0) {
            at += std::countr_zero(ends) / 8 + 1;
            out = septets_in(word & (ends ^ (ends - 1)));  // up to the bit that ends it
            return true;
        }
    }
    return read_varint(at, end, out);
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
