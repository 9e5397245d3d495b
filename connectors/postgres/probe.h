// What `config check` asks of a PostgreSQL source: can it be watched as configured?
#pragma once

#include "connectors/postgres/inspection.h"
#include "connectors/postgres/settings.h"
#include "engine/ports/clock.h"
#include "engine/ports/database.h"

namespace trueup::connectors::postgres {

/// Asks the server everything that the connector will need, and changes nothing. Blocks for at most
/// 5 s. An error is one sentence for the operator: what is missing and the statement that mends it.
/// `database` must have no calls under way.
Status check_access(ports::Database& database, const Settings& settings,
                    ports::Clock& clock = ports::system_clock());

/// What the server says of the table, asked once. Blocks for at most 5 s.
Result<Inspection> inspect(ports::Database& database, const Settings& settings,
                           ports::Clock& clock = ports::system_clock());

}  // namespace trueup::connectors::postgres
