#include "connectors/postgres/access_check.h"

#include "connectors/postgres/asker.h"
#include "connectors/postgres/rows.h"
#include "connectors/postgres/statements.h"
#include "connectors/postgres/table_check.h"
#include "engine/world/row_text.h"

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

namespace trueup::connectors::postgres {

namespace {

constexpr ports::CallId kInspect = 1;
constexpr ports::CallId kRead = 2;
constexpr ports::CallId kReplicate = 3;

Result<TableCheck> inspect(Asker& asker, ports::Database& database, const Settings& settings) {
    database.inspect(kInspect, {settings.table, settings.publication, settings.slot});
    const Result<std::vector<ports::SqlRow>> rows = asker.wait_for(kInspect);
    if (!rows) return rows.error();
    return read_table_check(rows->empty() ? ports::SqlRow{} : rows->front());
}

}  // namespace

Result<TableCheck> inspect(ports::Database& database, const Settings& settings,
                           ports::Clock& clock) {
    Asker asker(database, clock);
    return inspect(asker, database, settings);
}

namespace {

/// A look for no row at all: it shows missing columns, missing rights and an expression that SQL
/// reads otherwise than we do.
Status check_reading(Asker& asker, ports::Database& database, const Settings& settings,
                     const std::vector<std::string>& pk_columns) {
    ports::ReadRows read;
    read.table = settings.table;
    read.pk_columns = pk_columns;
    read.columns = RowMap::needed(settings, pk_columns);
    read.key_expression = settings.correlate.sql();
    database.read_rows(kRead, read);
    const Result<std::vector<ports::SqlRow>> rows = asker.wait_for(kRead);
    if (!rows) {
        std::string what = "reading " + table_text(settings.table) + " as configured: ";
        what += rows.error().what;
        // It told of the table a moment ago: what it waits for now is the table itself.
        if (rows.error().what == Asker::kSilent)
            what += "; another session may hold a lock on the table";
        return Error{rows.error().next, rows.error().code, std::move(what)};
    }
    return Done{};
}

}  // namespace

Status check_access(ports::Database& database, const Settings& settings, ports::Clock& clock) {
    Asker asker(database, clock);
    const Result<TableCheck> table = inspect(asker, database, settings);
    if (!table) return table.error();
    if (Status fit = judge_table(*table, settings); !fit) return fit;
    if (Status read = check_reading(asker, database, settings, table->pk_columns); !read) {
        return read;
    }
    // Dropping a slot that nobody can have made needs a replication session and leaves no trace.
    database.drop_slot(kReplicate, "trueup_check_there_is_no_such_slot");
    if (const auto rows = asker.wait_for(kReplicate); !rows) {
        return Error{rows.error().next, rows.error().code,
                     "the role cannot replicate (ALTER ROLE ... REPLICATION; and a line in "
                     "pg_hba.conf): " +
                         rows.error().what};
    }
    return Done{};
}

Status check_query(LibpqDatabase& database, const Settings& settings, ports::Clock& clock) {
    Asker asker(database, clock);
    const std::vector<std::string> columns = RowMap::needed(settings, settings.primary_key);
    database.ask(kInspect, moment_statement({settings.table, columns, {}}));
    const auto moment = asker.wait_for(kInspect);
    if (!moment) {
        return Error{moment.error().next, moment.error().code,
                     "the query is not answered as configured: " + moment.error().what};
    }
    if (Status right = judge_moment(moment->empty() ? ports::SqlRow{} : moment->front(), settings);
        !right) {
        return right;
    }
    return check_reading(asker, database, settings, settings.primary_key);
}

Result<std::string> place_of(LibpqDatabase& database, ports::Clock& clock) {
    constexpr ports::CallId kAsk = 1;
    database.ask(kAsk, place_statement());
    const auto rows = Asker(database, clock).wait_for(kAsk);
    if (!rows) return rows.error();
    if (rows->size() != 1 || rows->front().size() != 1 || !rows->front().front()) {
        return Error{Next::kRetry, Code::kInvalid, "the database does not identify itself"};
    }
    return *rows->front().front();
}

namespace {

/// Is the index among those by which EXPLAIN says that conflicts are told?
bool names_arbiter(const std::string& plan, const std::string& index) {
    constexpr std::string_view kArbiters = "Conflict Arbiter Indexes: ";
    const std::size_t at = plan.find(kArbiters);
    if (at == std::string::npos) return false;
    const std::size_t from = at + kArbiters.size();
    const std::string listed = ", " + plan.substr(from, plan.find('\n', from) - from) + ", ";
    return listed.find(", " + index + ", ") != std::string::npos;
}

}  // namespace

Result<bool> keeps_apart(LibpqDatabase& database, const ports::Table& table,
                         const std::string& indexed, ports::Clock& clock) {
    constexpr ports::CallId kAsk = 1;
    Asker asker(database, clock);
    database.ask(kAsk, {"EXPLAIN INSERT INTO " + quoted_table(table) +
                        " DEFAULT VALUES ON CONFLICT (" + indexed + ") DO NOTHING"});
    const auto plan = asker.wait_for(kAsk);
    if (asker.sqlstate() == "42P10") return false;
    // It is planned before rights are asked for.
    if (!plan && asker.sqlstate() == "42501") return true;
    if (!plan) return plan.error();
    std::string text;
    for (const ports::SqlRow& line : *plan) text += line.front().value_or("") + '\n';
    database.ask(kAsk + 1, deferrable_statement(table));
    const auto deferrable = asker.wait_for(kAsk + 1);
    if (!deferrable) return deferrable.error();
    return std::none_of(deferrable->begin(), deferrable->end(), [&](const ports::SqlRow& index) {
        return names_arbiter(text, index.front().value_or(""));
    });
}

namespace {

/// The plan reads a table from one end to the other, and goes by no index anywhere. (A small
/// partition is read whole beside others that have one.)
bool reads_everything(const std::vector<ports::SqlRow>& plan) {
    bool whole = false;
    for (const ports::SqlRow& line : plan) {
        const std::string text = line.empty() ? "" : line.front().value_or("");
        std::string_view node = text;
        node.remove_prefix(std::min(node.find_first_not_of("-> "), node.size()));
        if (node.starts_with("Parallel ")) node.remove_prefix(9);
        whole = whole || node.starts_with("Seq Scan on ");
        if (node.starts_with("Index ") || node.starts_with("Bitmap Index ")) return false;
    }
    return whole;
}

}  // namespace

Result<std::vector<std::string>> slow_looks(LibpqDatabase& database, const Settings& settings,
                                            const std::vector<std::string>& name_columns,
                                            const TableCheck& table, std::uint64_t rows,
                                            ports::Clock& clock) {
    std::vector<std::string> expressions{settings.correlate.sql()};
    for (const std::string& column : name_columns) {
        expressions.push_back(world::named_in_sql(column));
    }
    std::vector<std::string> slow;
    if (rows < kLargeTable) return slow;
    Asker asker(database, clock);
    ports::CallId call = 0;
    for (const std::string& expression : expressions) {
        ports::ReadRows look;
        look.table = settings.table;
        look.pk_columns = table.pk_columns;
        look.key_expression = expression;
        look.key = "a-name";
        Statement statement = read_rows_statement(look);
        statement.sql.insert(0, "EXPLAIN ");
        database.ask(++call, std::move(statement));
        const auto plan = asker.wait_for(call);
        if (!plan) return plan.error();
        if (!reads_everything(*plan)) continue;
        slow.push_back("before each deletion or insertion, all " + std::to_string(rows) +
                       " rows of " + table_text(settings.table) +
                       " are read to find its name; create an index: " + "CREATE INDEX " +
                       (table.partitioned ? "" : "CONCURRENTLY ") + "ON " +
                       quoted_table(settings.table) + " ((" + expression + "));");
    }
    return slow;
}

}  // namespace trueup::connectors::postgres
