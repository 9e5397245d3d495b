// Texts as JSON writes them. Keeps no state: thread-safe.
#pragma once

#include <string>
#include <string_view>

namespace trueup {

/// What stands between the quotes; bytes beyond ASCII stay as they are.
inline std::string json_escaped(std::string_view text) {
    constexpr std::string_view kHex = "0123456789ABCDEF";
    std::string escaped;
    for (const char c : text) {
        const auto byte = static_cast<unsigned char>(c);
        if (c == '"' || c == '\\') {
            escaped += '\\';
            escaped += c;
        } else if (byte < 0x20) {
            escaped += "\\u00";
            escaped += kHex[byte >> 4U];
            escaped += kHex[byte & 15U];
        } else {
            escaped += c;
        }
    }
    return escaped;
}

/// With its quotes.
inline std::string json_string(std::string_view text) { return '"' + json_escaped(text) + '"'; }

}  // namespace trueup
