// Positions in PostgreSQL's write-ahead log: their text form and the arithmetic around page
// headers.
#pragma once

#include "engine/ports/sql.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace trueup::connectors::postgres {

using ports::Lsn;

inline constexpr std::uint64_t kDefaultSegmentSize = 16ULL * 1024 * 1024;

/// "16/B374D848", as PostgreSQL prints it.
std::string format_lsn(Lsn lsn);
/// The inverse: one to eight hex digits on each side. Nothing else is accepted.
std::optional<Lsn> parse_lsn(std::string_view text);

/// A decimal number that fits; nothing else is accepted, no sign and no blanks.
std::optional<std::uint64_t> parse_number(std::string_view text);

/// On a page boundary the insert position counts the header of a page that nobody has written to
/// yet (24 bytes, 40 on the first page of a segment), while the stream reports the boundary itself
/// until the next record. Such a position holds no record, so it is rounded down; others stay.
Lsn before_page_header(Lsn insert_lsn, std::uint64_t segment_size = kDefaultSegmentSize);

/// PostgreSQL counts microseconds from 2000-01-01.
std::int64_t millis_of_postgres_time(std::int64_t micros);

}  // namespace trueup::connectors::postgres
