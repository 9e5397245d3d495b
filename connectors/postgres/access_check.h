// What `config check` asks of a PostgreSQL source: can it be watched as configured?
#pragma once

#include "connectors/postgres/settings.h"
#include "connectors/postgres/table_check.h"
#include "connectors/postgres/transport.h"
#include "engine/ports/clock.h"
#include "engine/ports/database.h"

#include <cstdint>
#include <string>
#include <vector>

namespace trueup::connectors::postgres {

/// Asks the server everything that the connector will need, and changes nothing. Blocks for at most
/// 5 s. An error is one sentence for the operator: what is missing and the statement that mends it.
/// `database` must have no calls under way.
Status check_access(ports::Database& database, const Settings& settings,
                    ports::Clock& clock = ports::system_clock());

/// The same of a query, on the connection that asks it: its server is the primary, its columns are
/// what the policy says, and it can be asked for a name.
Status check_query(LibpqDatabase& database, const Settings& settings,
                   ports::Clock& clock = ports::system_clock());

/// What the server says of the table, asked once. Blocks for at most 5 s.
Result<TableCheck> inspect(ports::Database& database, const Settings& settings,
                           ports::Clock& clock = ports::system_clock());

/// Where this connection leads, as ports::ReadRows::tell_place says it. Blocks for at most 5 s.
Result<std::string> place_of(LibpqDatabase& database, ports::Clock& clock = ports::system_clock());

/// Does a unique index keep two rows of one `indexed` (Correlation::indexed) apart? Without one no
/// row is inserted (ports::InsertRow). Changes nothing. Blocks for at most 5 s.
Result<bool> keeps_apart(LibpqDatabase& database, const ports::Table& table,
                         const std::string& indexed, ports::Clock& clock = ports::system_clock());

/// A table of so many rows is not to be read whole by each command.
constexpr std::uint64_t kLargeTable = 10'000;

/// Right before it deletes a pod, or inserts a row, an executor asks the table for rows of its
/// name: by the correlation and by each of `name_columns`, as world::named_in_sql reads them. How
/// the server would answer (EXPLAIN): a sentence for each look that reads a large table whole, with
/// the index to make. `rows`: how many there are. Changes nothing. Blocks for at most 5 s.
Result<std::vector<std::string>> slow_looks(LibpqDatabase& database, const Settings& settings,
                                            const std::vector<std::string>& name_columns,
                                            const TableCheck& table, std::uint64_t rows,
                                            ports::Clock& clock = ports::system_clock());

}  // namespace trueup::connectors::postgres
