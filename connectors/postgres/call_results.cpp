#include "connectors/postgres/call_results.h"

#include <utility>

namespace trueup::connectors::postgres {

using ports::CallId;
using ports::DatabaseEvent;

ports::SqlRow row_of(const PGresult* result, int row) {
    ports::SqlRow values;
    for (int column = 0; column < PQnfields(result); ++column) {
        if (PQgetisnull(result, row, column) != 0) {
            values.emplace_back(std::nullopt);
        } else {
            const auto length = static_cast<std::size_t>(PQgetlength(result, row, column));
            values.emplace_back(std::string(PQgetvalue(result, row, column), length));
        }
    }
    return values;
}

DatabaseEvent rows_event(CallId call, std::vector<ports::SqlRow> rows) {
    DatabaseEvent event;
    event.call = call;
    event.kind = DatabaseEvent::Kind::kRows;
    event.rows = std::move(rows);
    return event;
}

namespace {

Error other_server(const std::string& found, const std::string& expected) {
    return {Next::kRefresh, Code::kStale,
            "another server answers: " + found + " instead of " + expected};
}

}  // namespace

Status expect_server(const ServerName& server, const std::string& found) {
    if (!server->empty() && *server != found) return other_server(found, *server);
    return Done{};
}

}  // namespace trueup::connectors::postgres
