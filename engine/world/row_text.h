// Texts of rows that name something, read by us and by the database. Each reading is there twice,
// as code and as SQL, and both must come to the same for every text: the connector goes by the one,
// and the executor's live look by the other.
//
// White space is the six bytes space, \t, \n, \r, \f and \v here, whatever a locale says.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace trueup::world {

/// `name` as a quoted SQL identifier.
std::string quote_identifier(std::string_view name);

/// Without the white space at both ends.
std::string_view trimmed(std::string_view text);

/// What SQL has as `text`, but null where there is nothing except white space.
std::string unless_blank_sql(std::string_view column);
/// The column's name, when `sql` begins with what `unless_blank_sql` writes; that much is taken
/// off.
std::optional<std::string> take_unless_blank(std::string_view& sql);

/// The name that a text means, however it is dressed up: what comes after its last slash, trimmed.
/// `wrapper-a`, ` wrapper-a ` and `graph/wrapper-a` all mean `wrapper-a`.
std::string_view named_in(std::string_view text);
std::string named_in_sql(std::string_view column);
/// The column's name, when `sql` is what `named_in_sql` writes.
std::optional<std::string> column_named_in(std::string_view sql);

}  // namespace trueup::world
