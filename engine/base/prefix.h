// The first eight bytes of a text as a number that is ordered as texts are: most names that differ
// are told apart without a look at the rest of them.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace trueup {

/// A smaller one is a smaller text. Of a shorter text the rest is zeros. Thread-safe.
inline std::uint64_t prefix_of(std::string_view text) {
    const std::size_t size = text.size() < 8 ? text.size() : 8;
    if constexpr (std::endian::native == std::endian::little) {
        if (size >= 4) {  // two halves that may overlap
            std::uint32_t first = 0;
            std::uint32_t last = 0;
            std::memcpy(&first, text.data(), 4);
            std::memcpy(&last, text.data() + size - 4, 4);
            return std::uint64_t{__builtin_bswap32(first)} << 32U |
                   std::uint64_t{__builtin_bswap32(last)} << (64 - 8 * size);
        }
    }
    std::uint64_t prefix = 0;
    for (std::size_t i = 0; i < size; ++i) {
        prefix |= std::uint64_t{static_cast<unsigned char>(text[i])} << (56 - 8 * i);
    }
    return prefix;
}

}  // namespace trueup
