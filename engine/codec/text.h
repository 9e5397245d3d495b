// What text and keys must look like before the engine lets them in.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace trueup::codec {

/// Every byte below 0x80? A few nanoseconds for a few hundred bytes.
inline bool is_ascii(std::string_view bytes) {
    const auto half = [&bytes](std::size_t at) {
        std::uint32_t four = 0;
        std::memcpy(&four, bytes.data() + at, sizeof four);
        return four;
    };
    const auto word = [&bytes](std::size_t at) {
        std::uint64_t eight = 0;
        std::memcpy(&eight, bytes.data() + at, sizeof eight);
        return eight;
    };
    std::uint64_t all = 0;
    if (bytes.size() < sizeof(std::uint32_t)) {
        for (const char byte : bytes) all |= static_cast<unsigned char>(byte);
    } else if (bytes.size() < sizeof all) {
        all = half(0) | half(bytes.size() - sizeof(std::uint32_t));
    } else {
        const std::size_t last = bytes.size() - sizeof all;  // overlaps the one before it
        std::size_t at = 0;
        for (; at + 32 <= last; at += 32)
            all |= word(at) | word(at + 8) | word(at + 16) | word(at + 24);
        for (; at < last; at += 8) all |= word(at);
        all |= word(last);
    }
    return (all & 0x8080808080808080U) == 0;
}

/// As is_utf8, of bytes that are not ASCII.
bool is_wide_utf8(std::string_view bytes);

/// Well-formed UTF-8: no overlong forms, no surrogates, nothing above U+10FFFF. Fast for ASCII.
inline bool is_utf8(std::string_view bytes) { return is_ascii(bytes) || is_wide_utf8(bytes); }

/// Of UTF-8: `<policy>/<name>` with both parts and no other slash, or `!<source>/<object>` for a
/// reference, where the object's part is free. 1 to 253 bytes.
bool is_key(std::string_view text);

}  // namespace trueup::codec
