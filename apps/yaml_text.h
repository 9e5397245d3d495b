// A text as YAML that every reader takes for a text, whatever is in it. Pure.
#pragma once

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

namespace trueup::apps {

/// Means itself without quotes: it begins with a letter, and is no word of YAML.
inline bool is_plain_yaml(std::string_view text) {
    constexpr std::array<std::string_view, 9> kWords{"true", "false", "yes", "no", "on",
                                                     "off",  "null",  "y",   "n"};
    std::string lower;
    for (const char c : text) lower += static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
    const auto is_letter = [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
    };
    return !text.empty() && is_letter(text.front()) &&
           std::find(kWords.begin(), kWords.end(), lower) == kWords.end() &&
           std::all_of(text.begin(), text.end(), [&](char c) {
               const bool digit = c >= '0' && c <= '9';
               return is_letter(c) || digit || std::string_view("-./=").find(c) < 4;
           });
}

/// In quotes where it needs them. Without control characters.
inline std::string yaml_text(const std::string& text) {
    if (is_plain_yaml(text)) return text;
    std::string out = "\"";
    for (const char c : text) {
        if (c == '"' || c == '\\') out += '\\';
        out += c;
    }
    return out + '"';
}

}  // namespace trueup::apps
