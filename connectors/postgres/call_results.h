// What libpq's results say, for the calls of sql_calls.h.
#pragma once

#include "connectors/postgres/sql_calls.h"
#include "engine/ports/database.h"

#include <libpq-fe.h>

#include <string>
#include <vector>

namespace trueup::connectors::postgres {

ports::SqlRow row_of(const PGresult* result, int row);

ports::DatabaseEvent rows_event(ports::CallId call, std::vector<ports::SqlRow> rows);

/// kRefresh: another server answers than the one that the last table check saw.
Status expect_server(const ServerName& server, const std::string& found);

}  // namespace trueup::connectors::postgres
