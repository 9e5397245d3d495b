// A row as logical replication and a copy give it: one cell for each column. Views into bytes of
// whoever read them.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace trueup::connectors::postgres {

/// One column's value. kUnchanged: the server did not send it because it did not change (a TOAST
/// value, or a column outside of a key tuple). That is not null.
struct Cell {
    enum class Kind : std::uint8_t { kNull, kText, kUnchanged };
    Kind kind = Kind::kNull;
    std::string_view text = {};
    bool operator==(const Cell&) const = default;
};
using Tuple = std::vector<Cell>;

/// What an UPDATE or DELETE says of the row before it.
struct OldTuple {
    enum class Kind : std::uint8_t { kNone, kKey, kFull };
    Kind kind = Kind::kNone;
    Tuple cells = {};  ///< kKey: columns outside of the key are null here, whatever they were
};

}  // namespace trueup::connectors::postgres
