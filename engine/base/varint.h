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

/// One of two to eight bytes, all of which come in the one word that stands at `at`, the first byte
/// lowest; 0: it is longer. `size` is how many bytes it takes.
inline std::uint64_t varint_of(std::uint64_t word, std::size_t& size) {
    const std::uint64_t ends = ~word & 0x8080808080808080U;
    if (ends == 0) return size = 0;
    const auto last = static_cast<unsigned>(std::countr_zero(ends));  // the bit that ends it
    size = last / 8 + 1;
    word &= ends ^ (ends - 1);  // up to that bit
    word = (word & 0x007f007f007f007fU) | (word & 0x7f007f007f007f00U) >> 1U;
    word = (word & 0x00003fff00003fffU) | (word & 0x3fff00003fff0000U) >> 2U;
    return (word & 0x000000000fffffffU) | (word & 0x0fffffff00000000U) >> 4U;
}

/// Takes one off the front. False where `end` comes first or it has more than kMaxVarint bytes;
/// `at` is anywhere up to `end` then, and `out` is void.
inline bool read_varint(const char*& at, const char* end, std::uint64_t& out) {
    if (at != end && static_cast<unsigned char>(*at) < 0x80) {  // nearly all of them
        out = static_cast<unsigned char>(*at++);
        return true;
    }
    if (std::endian::native == std::endian::little && end - at >= 8) {
        std::uint64_t word = 0;
        std::memcpy(&word, at, sizeof word);
        std::size_t size = 0;
        out = varint_of(word, size);
        at += size;
        if (size != 0) return true;
    }
    out = 0;
    for (unsigned shift = 0; shift < 70 && at != end; shift += 7) {
        const auto byte = static_cast<unsigned char>(*at++);
        out |= static_cast<std::uint64_t>(byte & 0x7fU) << shift;
        if (byte < 0x80) return true;
    }
    return false;
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
