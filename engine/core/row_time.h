// Times as databases write them into text. What cannot be read is said to be so, never guessed.
#pragma once

#include "engine/base/time.h"

#include <optional>
#include <string_view>

namespace trueup::core {

/// `2026-11-21 18:57:48.123456+00`, with `T` for the space, `Z` or `+05:30` for the offset; without
/// an offset it is UTC. Milliseconds are cut off, not rounded.
std::optional<SourceTime> parse_timestamp(std::string_view text);

/// `3600` (seconds), `24:00:00`, `1 day 02:30:00`, `3 days`, `PT24H`, `P1DT30M`. Months and years
/// have no length and are not read.
std::optional<Millis> parse_duration(std::string_view text);

}  // namespace trueup::core
