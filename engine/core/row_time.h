// Times as databases write them into text. What cannot be read is said to be so, never guessed.
#pragma once

#include "engine/base/time.h"

#include <optional>
#include <string_view>

namespace trueup::core {

/// `2026-11-21 18:57:48.123456+00`, with `T` for the space, `Z` or `+05:30` for the offset. A text
/// without an offset, as of a `timestamp without time zone`, is so far east of UTC as `zone` says;
/// nullopt: nobody knows which moment it means, and it is not read. Milliseconds are cut off, not
/// rounded.
std::optional<SourceTime> parse_timestamp(std::string_view text,
                                          std::optional<Millis> zone = std::nullopt);

/// `2026-11-21`: the moment at which that day begins there.
std::optional<SourceTime> parse_date(std::string_view text, Millis zone);

/// `3600` (seconds), `24:00:00`, `1 day 02:30:00`, `3 days`, `PT24H`, `P1DT30M`. Months and years
/// have no length and are not read.
std::optional<Millis> parse_duration(std::string_view text);

}  // namespace trueup::core
