// A sound configuration to spoil, one line at a time.
#pragma once

#include "apps/config/config.h"

#include <string>
#include <string_view>

namespace trueup::config {

/// The shortest one that is sound, and every default with it; lines 1 to 18.
std::string sound();

/// `text` with its one `from` replaced; aborts where it is not there exactly once.
std::string with(std::string text, std::string_view from, std::string_view to);

/// Parses what must be sound; prints the flaws and aborts otherwise.
Config parsed(const std::string& text);

/// The sentences about a text that must be refused, as of a file `trueup.yaml`.
std::string flaws(const std::string& text);

/// The flaws of `sound()` with one replacement.
std::string flaws_with(std::string_view from, std::string_view to);

}  // namespace trueup::config
