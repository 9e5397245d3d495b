#include "connectors/kubernetes/base64.h"

#include <cstdint>

namespace trueup::connectors {

namespace {

constexpr std::string_view kDigits =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

}  // namespace

std::optional<std::string> decode_base64(std::string_view text) {
    std::string bytes;
    std::uint32_t window = 0;
    unsigned bits = 0;
    for (const char c : text) {
        if (c == '=' || c == '\n' || c == '\r' || c == ' ') continue;
        const std::size_t digit = kDigits.find(c);
        if (digit == std::string_view::npos) return std::nullopt;
        window = (window << 6U | static_cast<std::uint32_t>(digit)) & 0xffffffU;
        bits += 6;
        if (bits >= 8) {
            bits -= 8;
            bytes += static_cast<char>(window >> bits & 0xffU);
        }
    }
    return bytes;
}

std::string encode_base64(std::string_view bytes) {
    std::string text;
    std::uint32_t window = 0;
    unsigned bits = 0;
    for (const char c : bytes) {
        window = window << 8U | static_cast<unsigned char>(c);
        for (bits += 8; bits >= 6; bits -= 6) text += kDigits[window >> (bits - 6) & 63U];
        window &= (1U << bits) - 1;
    }
    if (bits > 0) text += kDigits[window << (6 - bits) & 63U];
    while (text.size() % 4 != 0) text += '=';
    return text;
}

}  // namespace trueup::connectors
