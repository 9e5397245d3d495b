// Whether somebody's hold holds: one reading, for the connector that reports it and for the
// executor that looks once more before it writes. What they read differently is found, ordered and
// refused for ever.
//
// A hold that is there holds, unless its value says no in so many words: `false`, `f`, `no`, `n`,
// `off` or `0`, in capitals or not, with or without white space around. A spelling that is not
// known holds.
#pragma once

#include <optional>
#include <string_view>

namespace trueup::world {

/// A label or an annotation. A bare one (an empty value) holds: somebody has put it there.
bool mark_holds(std::string_view value);

/// The text of a hold column. Null (nullopt) and nothing but white space are no hold: every row has
/// the column.
bool column_holds(const std::optional<std::string_view>& value);

}  // namespace trueup::world
