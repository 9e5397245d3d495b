// The small words of a configuration: times, sizes, percentages, names. Pure text in, value out.
#pragma once

#include "engine/base/time.h"
#include "engine/model/rule_settings.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace trueup::config {

/// `500ms`, `30s`, `5m`, `6h`; at most 366 days.
std::optional<Millis> parse_duration(std::string_view text);
/// In the largest of these units that leaves no rest.
std::string duration_text(Millis duration);

/// `64KiB`, `512MiB`, `2GiB` in bytes; at most 1024GiB.
std::optional<std::uint64_t> parse_size(std::string_view text);
std::string size_text(std::uint64_t bytes);

/// `1%` to `99%`.
std::optional<std::uint32_t> parse_percent(std::string_view text);

/// A whole number without sign.
std::optional<std::uint64_t> parse_number(std::string_view text);

/// Nothing, or blanks only.
bool is_blank(std::string_view text);

/// 1 to 63 letters, digits, `-`, `_` and `.`, a letter or a digit first: it may be the first part
/// of a subject key (details 5), and part of a metric's label.
bool is_name(std::string_view text);
/// Of what a policy names: lower-case letters, digits and _, a letter first, at most 63.
bool is_word(std::string_view text);

bool contains(const std::vector<std::string>& words, std::string_view word);
/// Nothing but lower-case letters, digits and what is in `more`; at least one of them.
bool only_of(std::string_view text, std::string_view more);
/// At each of these; n of them make n + 1 parts.
std::vector<std::string> split(std::string_view text, char at);

/// `host:port`; an IPv6 address stands in brackets.
bool is_address(std::string_view text);

/// `Mon-Fri 08:00-18:00` or `Sat,Sun 10:00-24:00`, UTC; nullopt: it is none, or never opens.
std::optional<Window> window_of(std::string_view text);
/// The same the other way round, each day by its name.
std::string window_text(const Window& window);

}  // namespace trueup::config
