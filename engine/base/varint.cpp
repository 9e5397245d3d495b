#include "engine/base/varint.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace trueup {

namespace {

/// One of up to eight bytes, which come in one word, the first byte lowest. Seven bits of each of
/// two bytes are moved together, then of each of two pairs, then of both halves.
std::uint64_t number_in(std::uint64_t word) {
    word = (word & 0x007f007f007f007fU) | (word & 0x7f007f007f007f00U) >> 1U;
    word = (word & 0x00003fff00003fffU) | (word & 0x3fff00003fff0000U) >> 2U;
    return (word & 0x000000000fffffffU) | word >> 32U << 28U;
}

}  // namespace

bool read_long_varint(const char*& at, const char* end, std::uint64_t& out) {
    if (std::endian::native == std::endian::little && end - at >= 8) {
        std::uint64_t word = 0;
        std::memcpy(&word, at, sizeof word);
        const std::uint64_t ends = ~word & 0x8080808080808080U;
        if (ends != 0) {
            at += std::countr_zero(ends) / 8 + 1;
            out = number_in(word & (ends ^ (ends - 1)));  // up to the bit that ends it
            return true;
        }
    }
    out = 0;
    const std::size_t most = std::min<std::size_t>(kMaxVarint, static_cast<std::size_t>(end - at));
    const char* const from = at;
    for (std::size_t i = 0; i < most; ++i) {
        const std::uint64_t byte = static_cast<unsigned char>(from[i]);
        out |= (byte & 0x7fU) << 7 * i;
        if (byte >= 0x80) continue;
        at = from + i + 1;
        return true;
    }
    at = from + most;
    return false;
}

}  // namespace trueup
