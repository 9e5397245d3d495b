// What the columns of a table have to do with the names of objects elsewhere: for `trueup policy
// new`, which proposes what a row's key and its state are. Looks at the last rows by their primary
// key only, changes nothing.
#pragma once

#include "connectors/postgres/correlation.h"
#include "connectors/postgres/transport.h"
#include "engine/base/result.h"
#include "engine/ports/clock.h"
#include "engine/ports/sql.h"

#include <cstdint>
#include <string>
#include <vector>

namespace trueup::connectors::postgres {

/// So many rows are looked at.
constexpr std::uint64_t kRowsLooked = 100'000;

/// A column of text, of an enumeration, or of UUIDs.
struct ColumnLook {
    std::string name;
    std::vector<std::string> labels;  ///< of an enumeration, in its order
    bool uuid = false;
    std::uint64_t distinct = 0;  ///< values
    std::uint64_t named = 0;     ///< how many of the names are among them
};

struct TableLook {
    std::string role;                 ///< as whom we look
    bool replicates = false;          ///< it may, or is a superuser
    std::uint64_t rows = 0;           ///< kRowsLooked + 1: there are more
    std::vector<ColumnLook> columns;  ///< in the order of the table
};

/// A word of a column.
struct WordLook {
    std::string word;
    std::uint64_t rows = 0;
    std::uint64_t named = 0;  ///< of these, whose key is one of the names
};

/// A table, with the columns of its primary key.
struct LookedAt {
    ports::Table table;
    std::vector<std::string> pk_columns;
};

/// All block for at most 5 s. `names`: of the objects.
Result<TableLook> look_at_columns(LibpqDatabase& database, const LookedAt& table,
                                  const std::vector<std::string>& names,
                                  ports::Clock& clock = ports::system_clock());

/// How many of the objects some row names by that key.
Result<std::uint64_t> look_at_key(LibpqDatabase& database, const LookedAt& table,
                                  const Correlation& key, const std::vector<std::string>& names,
                                  ports::Clock& clock = ports::system_clock());

/// The words of the column, those of most rows first, `most` of them. White space is none.
Result<std::vector<WordLook>> look_at_words(LibpqDatabase& database, const LookedAt& table,
                                            const std::string& column, const Correlation& key,
                                            const std::vector<std::string>& names, std::size_t most,
                                            ports::Clock& clock = ports::system_clock());

}  // namespace trueup::connectors::postgres
