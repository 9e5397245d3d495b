#include "connectors/postgres/probe.h"

#include "connectors/postgres/inspection.h"
#include "connectors/postgres/rows.h"

#include <utility>
#include <vector>

namespace trueup::connectors::postgres {

namespace {

constexpr Millis kLimit{5000};
constexpr const char* kSilent = "PostgreSQL did not answer within 5 s";
constexpr ports::CallId kInspect = 1;
constexpr ports::CallId kRead = 2;
constexpr ports::CallId kReplicate = 3;

class Asker {
  public:
    Asker(ports::Database& database, ports::Clock& clock)
        : database_(database), clock_(clock), end_(clock.steady_now() + kLimit) {}

    /// The rows that answer `call`, which was just started.
    Result<std::vector<ports::SqlRow>> wait_for(ports::CallId call) {
        std::vector<ports::SqlRow> rows;
        for (SteadyTime now = clock_.steady_now(); now < end_; now = clock_.steady_now()) {
            std::vector<ports::DatabaseEvent> events;
            database_.poll(end_ - now, events);
            for (ports::DatabaseEvent& event : events) {
                if (event.call != call) continue;
                if (event.kind == ports::DatabaseEvent::Kind::kFailed) return event.error;
                if (event.kind == ports::DatabaseEvent::Kind::kEnd) return rows;
                for (ports::SqlRow& row : event.rows) rows.push_back(std::move(row));
            }
        }
        database_.cancel(call);
        return Error{Next::kRetry, kSilent};
    }

  private:
    ports::Database& database_;
    ports::Clock& clock_;
    SteadyTime end_;
};

Result<Inspection> inspect(Asker& asker, ports::Database& database, const Settings& settings) {
    database.inspect(kInspect, {settings.table, settings.publication, settings.slot});
    const Result<std::vector<ports::SqlRow>> rows = asker.wait_for(kInspect);
    if (!rows) return rows.error();
    return read_inspection(rows->empty() ? ports::SqlRow{} : rows->front());
}

}  // namespace

Result<Inspection> inspect(ports::Database& database, const Settings& settings,
                           ports::Clock& clock) {
    Asker asker(database, clock);
    return inspect(asker, database, settings);
}

Status check_access(ports::Database& database, const Settings& settings, ports::Clock& clock) {
    Asker asker(database, clock);
    const Result<Inspection> inspection = inspect(asker, database, settings);
    if (!inspection) return inspection.error();
    if (Status fit = judge_inspection(*inspection, settings); !fit) return fit;

    // A look for no row at all: it shows missing columns, missing rights and an expression that SQL
    // reads otherwise than we do.
    ports::ReadRows read;
    read.table = settings.table;
    read.pk_columns = inspection->pk_columns;
    read.columns = RowMap::needed(settings, inspection->pk_columns);
    read.key_expression = settings.correlate.sql();
    database.read_rows(kRead, read);
    Result<std::vector<ports::SqlRow>> rows = asker.wait_for(kRead);
    if (!rows) {
        std::string what = "reading " + table_text(settings.table) + " as configured: ";
        what += rows.error().what;
        // It told of the table a moment ago: what it waits for now is the table itself.
        if (rows.error().what == kSilent) what += "; another session may hold a lock on the table";
        return Error{rows.error().next, std::move(what)};
    }

    // Dropping a slot that nobody can have made needs a replication session and leaves no trace.
    database.drop_slot(kReplicate, "trueup_check_there_is_no_such_slot");
    if (rows = asker.wait_for(kReplicate); !rows) {
        return Error{rows.error().next,
                     "the role cannot replicate (ALTER ROLE ... REPLICATION; and a line in "
                     "pg_hba.conf): " +
                         rows.error().what};
    }
    return Done{};
}

}  // namespace trueup::connectors::postgres
