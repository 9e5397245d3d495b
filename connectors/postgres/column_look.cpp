#include "connectors/postgres/column_look.h"

#include "connectors/postgres/asker.h"
#include "connectors/postgres/settings.h"
#include "connectors/postgres/table_check.h"

#include <charconv>
#include <utility>

namespace trueup::connectors::postgres {

namespace {

using Rows = std::vector<ports::SqlRow>;

Result<Rows> ask(LibpqDatabase& database, ports::Clock& clock, std::string sql,
                 std::vector<std::optional<std::string>> values) {
    constexpr ports::CallId kAsk = 1;
    database.ask(kAsk, Statement{std::move(sql), std::move(values)});
    return Asker(database, clock).wait_for(kAsk);
}

std::string text(const ports::SqlRow& row, std::size_t i) {
    return i < row.size() ? row[i].value_or("") : std::string();
}

std::uint64_t number(const ports::SqlRow& row, std::size_t i) {
    const std::string digits = text(row, i);
    std::uint64_t value = 0;
    std::from_chars(digits.data(), digits.data() + digits.size(), value);
    return value;
}

/// The array that $1 is: `{"w-1","w-2"}`.
std::string array_of(const std::vector<std::string>& names) {
    std::string out = "{";
    for (const std::string& name : names) {
        out += out.size() > 1 ? ",\"" : "\"";
        for (const char c : name) {
            if (c == '"' || c == '\\') out += '\\';
            out += c;
        }
        out += '"';
    }
    return out + "}";
}

std::vector<std::string> lines_of(const std::string& text) {
    std::vector<std::string> lines;
    for (std::size_t start = 0; start < text.size();) {
        const std::size_t end = std::min(text.find('\n', start), text.size());
        lines.push_back(text.substr(start, end - start));
        start = end + 1;
    }
    return lines;
}

/// The last rows of the table by its primary key, as `s`: of old ones nothing is left elsewhere.
std::string last_rows(const std::string& what, const LookedAt& table) {
    std::string order;
    for (const std::string& column : table.pk_columns) {
        order += (order.empty() ? " ORDER BY " : ", ") + quote_identifier(column) + " DESC";
    }
    return " FROM (SELECT " + what + " FROM " + quoted_table(table.table) + order + " LIMIT " +
           std::to_string(kRowsLooked + 1) + ") s";
}

constexpr std::string_view kColumns = R"(
SELECT a.attname, t.typname = 'uuid',
 coalesce((SELECT string_agg(e.enumlabel, E'\n' ORDER BY e.enumsortorder) FROM pg_enum e
  WHERE e.enumtypid = t.oid), '')
FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid
JOIN pg_namespace n ON n.oid = c.relnamespace JOIN pg_type t ON t.oid = a.atttypid
WHERE n.nspname = $1 AND c.relname = $2 AND a.attnum > 0 AND NOT a.attisdropped
 AND a.attgenerated = '' AND (t.typname IN ('text', 'varchar', 'uuid') OR t.typtype = 'e')
ORDER BY a.attnum)";

}  // namespace

Result<TableLook> look_at_columns(LibpqDatabase& database, const LookedAt& table,
                                  const std::vector<std::string>& names, ports::Clock& clock) {
    const auto columns =
        ask(database, clock, std::string(kColumns), {table.table.schema, table.table.name});
    if (!columns) return columns.error();
    TableLook look;
    std::string counts =
        "SELECT current_user, (SELECT rolreplication OR rolsuper FROM pg_roles WHERE rolname = "
        "current_user), count(*)";
    std::string taken;
    for (const ports::SqlRow& row : *columns) {
        look.columns.push_back({text(row, 0), lines_of(text(row, 2)), text(row, 1) == "t"});
        const std::string column = quote_identifier(look.columns.back().name);
        taken += (taken.empty() ? "" : ", ") + column;
        counts += ", count(DISTINCT " + column;
        counts += "), count(DISTINCT " + column;
        counts += ") FILTER (WHERE " + column;
        counts += "::text = ANY ($1::text[]))";
    }
    // Without such a column the array would be bound to nothing.
    counts += ", $1::text[] IS NULL";
    const auto counted = ask(
        database, clock, counts + last_rows(taken.empty() ? "1" : taken, table), {array_of(names)});
    if (!counted) return counted.error();
    const ports::SqlRow row = counted->empty() ? ports::SqlRow{} : counted->front();
    look.role = text(row, 0);
    look.replicates = text(row, 1) == "t";
    look.rows = number(row, 2);
    for (std::size_t i = 0; i < look.columns.size(); ++i) {
        look.columns[i].distinct = number(row, 3 + 2 * i);
        look.columns[i].named = number(row, 4 + 2 * i);
    }
    return look;
}

Result<std::uint64_t> look_at_key(LibpqDatabase& database, const LookedAt& table,
                                  const Correlation& key, const std::vector<std::string>& names,
                                  ports::Clock& clock) {
    const auto rows =
        ask(database, clock,
            "SELECT count(DISTINCT k)" + last_rows("(" + key.sql() + ") AS k", table) +
                " WHERE k = ANY ($1::text[])",
            {array_of(names)});
    if (!rows) return rows.error();
    return number(rows->empty() ? ports::SqlRow{} : rows->front(), 0);
}

Result<std::vector<WordLook>> look_at_words(LibpqDatabase& database, const LookedAt& table,
                                            const std::string& column, const Correlation& key,
                                            const std::vector<std::string>& names, std::size_t most,
                                            ports::Clock& clock) {
    const std::string taken = quote_identifier(column) + "::text AS w, (" + key.sql() + ") AS k";
    const auto rows =
        ask(database, clock,
            "SELECT w, count(*), count(*) FILTER (WHERE k = ANY ($1::text[]))" +
                last_rows(taken, table) +
                " WHERE btrim(w) <> '' GROUP BY w ORDER BY 2 DESC, 1 LIMIT " + std::to_string(most),
            {array_of(names)});
    if (!rows) return rows.error();
    std::vector<WordLook> words;
    for (const ports::SqlRow& row : *rows) {
        words.push_back({text(row, 0), number(row, 1), number(row, 2)});
    }
    return words;
}

}  // namespace trueup::connectors::postgres
