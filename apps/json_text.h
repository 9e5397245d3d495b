// What the commands that ask an engine print of its JSON.
#pragma once

#include <nlohmann/json.hpp>

#include <string>

namespace trueup::apps {

/// A text of the object; empty: it has none of that name.
std::string text(const nlohmann::ordered_json& json, const char* name);
/// Without control characters: what a column or an object holds must not draw lines of its own.
std::string plain(std::string value);
/// `2026-11-25 08:30:12`, of this machine's time zone; `none` where it has no time of that name.
std::string time_text(const nlohmann::ordered_json& json, const char* name, const char* none = "-");

}  // namespace trueup::apps
