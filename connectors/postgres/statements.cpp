#include "connectors/postgres/statements.h"

#include "connectors/postgres/correlation.h"
#include "connectors/postgres/lsn.h"
#include "connectors/postgres/table_check.h"
#include "engine/base/guard.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>

namespace trueup::connectors::postgres {

namespace {

/// The timeline that the server writes now; the control file lags behind after a promotion.
constexpr std::string_view kTimeline =
    "('x' || substr(pg_walfile_name(pg_current_wal_insert_lsn()), 1, 8))::bit(32)::int::text";

std::string place_sql() {
    return "(SELECT s.system_identifier::text || '/' || " + std::string(kTimeline) +
           " || '/' || current_database() FROM pg_control_system() s)";
}

/// What is written to the WAL of a partitioned table is written by its leaves, each as its own
/// replica identity says, and described by the root's: the weakest of them counts. u: the table's
/// changes are not in the WAL at all, as of an unlogged or a foreign one.
constexpr std::string_view kWeakest = R"(
 LEFT JOIN LATERAL (SELECT l.identity, CASE WHEN l.oid <> c.oid
   THEN quote_ident(n.nspname) || '.' || quote_ident(l.relname) END AS place
  FROM (SELECT t.oid, t.relname, t.relnamespace,
    CASE WHEN t.relkind = 'f' OR t.relpersistence <> 'p' THEN 'u' ELSE t.relreplident::text END
     AS identity
   FROM pg_class t WHERE t.oid = c.oid OR (c.relkind = 'p'
    AND t.oid IN (SELECT relid FROM pg_partition_tree(c.oid) WHERE isleaf))) l
  JOIN pg_namespace n ON n.oid = l.relnamespace
  ORDER BY position(l.identity IN 'unidf'), l.oid = c.oid DESC, l.oid LIMIT 1) weak ON true)";

/// What is published of table $1.$2 by publication $3. An ALTER leaves another xmin in the catalog,
/// a table, a membership or a partition made anew has another oid, and what was rewritten, or was
/// not logged for a while, lies in another file. Members are found by the table or by what it is a
/// part of. Of what a publication has by schema alone nothing is kept that every version of the
/// server would show.
constexpr std::string_view kPublished = R"((
SELECT hashtextextended(string_agg(part, ' ' ORDER BY part), 0)::text
FROM pg_class t JOIN pg_namespace n ON n.oid = t.relnamespace CROSS JOIN LATERAL (
 SELECT 'table ' || t.oid::text || '.' || t.relfilenode::text || t.relpersistence::text AS part
 UNION ALL SELECT 'part ' || l.oid::text || '.' || l.relfilenode::text || l.relpersistence::text ||
   '.' || i.xmin::text
  FROM pg_partition_tree(t.oid) p JOIN pg_inherits i ON i.inhrelid = p.relid
  JOIN pg_class l ON l.oid = p.relid WHERE p.level > 0
 UNION ALL SELECT 'publication ' || p.oid::text || '.' || p.xmin::text FROM pg_publication p
  WHERE p.pubname = $3
 UNION ALL SELECT 'member ' || m.oid::text || '.' || m.xmin::text FROM pg_publication_rel m
  JOIN pg_publication p ON p.oid = m.prpubid
  WHERE p.pubname = $3 AND (m.prrelid = t.oid
   OR m.prrelid IN (SELECT relid FROM pg_partition_ancestors(t.oid)))) parts
WHERE n.nspname = $1 AND t.relname = $2))";

/// Of table c: `t`, or what is amiss with its part in publication $3.
constexpr std::string_view kCoverage = R"(
 CASE WHEN c.relkind = 'r' AND EXISTS (SELECT FROM pg_inherits WHERE inhparent = c.oid)
  THEN 'children'
 WHEN c.relkind = 'p' AND EXISTS (SELECT FROM pg_publication p
  WHERE p.pubname = $3 AND to_jsonb(p) ->> 'pubviaroot' <> 'true') THEN 'parts'
 ELSE coalesce((SELECT CASE
   WHEN NOT (p.pubinsert AND p.pubupdate AND p.pubdelete AND p.pubtruncate) THEN 'kinds'
   WHEN to_jsonb(t) ->> 'rowfilter' IS NOT NULL THEN 'rows' ELSE 't' END
  FROM pg_publication p JOIN pg_publication_tables t
   ON t.pubname = p.pubname AND t.schemaname = $1 AND t.tablename = $2
  WHERE p.pubname = $3),
  CASE WHEN EXISTS (SELECT FROM pg_publication WHERE pubname = $3) THEN 'f' ELSE 'none' END) END,)";

/// The columns of table c that are generated and not sent.
constexpr std::string_view kGenerated = R"(
 coalesce((SELECT string_agg(a.attname::text, ',' ORDER BY a.attnum) FROM pg_attribute a
  WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped AND a.attgenerated <> ''
  AND NOT (a.attgenerated = 's' AND current_setting('server_version_num')::int >= 180000
   AND EXISTS (SELECT FROM pg_publication_tables t WHERE t.pubname = $3 AND t.schemaname = $1
    AND t.tablename = $2 AND to_jsonb(t) -> 'attnames' ? a.attname::text))), ''),)";

/// What rows are read from. The line's end ends a comment of the query.
std::string from(const ports::Table& table) {
    return table.query.empty() ? quoted_table(table) : "(" + table.query + "\n) q";
}

Statement simple(std::string sql) { return {std::move(sql), {}, true}; }

/// Appends a value and returns its place holder.
std::string bound(Statement& statement, std::optional<std::string> value) {
    statement.values.push_back(std::move(value));
    return "$" + std::to_string(statement.values.size());
}

/// `(a)::text = $1 OR (b)::text = $2`
void add_names(Statement& statement, const std::vector<ports::RowName>& names) {
    for (std::size_t i = 0; i < names.size(); ++i) {
        if (i > 0) statement.sql += " OR ";
        statement.sql += "(" + names[i].expression + ")::text = ";
        statement.sql += bound(statement, names[i].value);
    }
}

/// `"a" = $1 AND "b" = $2`
void add_key(Statement& statement, const std::vector<std::string>& columns,
             const std::vector<std::string>& values) {
    for (std::size_t i = 0; i < columns.size(); ++i) {
        if (i > 0) statement.sql += " AND ";
        statement.sql += quote_identifier(columns[i]) + " = ";
        statement.sql +=
            bound(statement, i < values.size() ? std::optional(values[i]) : std::nullopt);
    }
}

}  // namespace

std::string quote_literal(std::string_view text) {
    std::string out = "'";
    for (const char c : text) {
        out += c;
        if (c == '\'') out += c;
    }
    return out + "'";
}

Statement inspect_statement(const ports::Inspect& request) {
    std::string sql = "SELECT s.system_identifier::text, ";
    sql += kTimeline;
    // rowfilter exists from 15 on; to_jsonb answers null for a column that a server does not have.
    sql += R"(, current_setting('server_version_num'), coalesce(weak.identity, ''),
 coalesce((SELECT string_agg(a.attname::text, ',' ORDER BY k.n) FROM pg_index i
  CROSS JOIN LATERAL unnest(i.indkey::int2[]) WITH ORDINALITY k(attnum, n)
  JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = k.attnum
  WHERE i.indrelid = c.oid AND i.indisprimary AND k.n <= i.indnkeyatts), ''),
)";
    sql += kCoverage;
    sql += R"( current_setting('wal_level'),
 coalesce((SELECT string_agg(a.attname::text, ',' ORDER BY a.attnum) FROM pg_attribute a
  WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
  AND has_column_privilege(c.oid, a.attnum, 'UPDATE')), ''),
 coalesce(weak.place, ''), coalesce(c.relkind::text, ''),
)";
    sql += kGenerated;
    sql += R"( coalesce(current_setting('max_slot_wal_keep_size', true), ''),
 coalesce(to_jsonb(slot) ->> 'wal_status', ''),
 coalesce(pg_wal_lsn_diff(pg_current_wal_lsn(), slot.restart_lsn)::bigint::text, ''), )";
    sql += kPublished;
    // Of a domain what it is made of.
    sql += R"(, coalesce((WITH RECURSIVE made AS (
   SELECT a.attname, a.attnum, t.oid, t.typtype, t.typbasetype
   FROM pg_attribute a JOIN pg_type t ON t.oid = a.atttypid
   WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
   UNION ALL SELECT m.attname, m.attnum, t.oid, t.typtype, t.typbasetype
   FROM made m JOIN pg_type t ON t.oid = m.typbasetype WHERE m.typtype = 'd')
  SELECT string_agg(attname::text || '=' || format_type(oid, NULL), ',' ORDER BY attnum)
  FROM made WHERE typtype <> 'd'), ''),
 coalesce((SELECT string_agg(a.attname::text, ',' ORDER BY a.attnum) FROM pg_attribute a
  WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
  AND has_column_privilege(c.oid, a.attnum, 'INSERT')), ''),
 coalesce((SELECT string_agg(a.attname::text, ',' ORDER BY a.attnum) FROM pg_attribute a
  JOIN pg_type t ON t.oid = a.atttypid AND t.typdefault IS NULL
  WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped AND a.attnotnull
  AND NOT a.atthasdef AND a.attidentity = ''), ''),
 coalesce((SELECT string_agg(quote_ident(n.nspname) || '.' || quote_ident(q.relname), ','
   ORDER BY d.refobjsubid)
  FROM pg_depend d JOIN pg_class q ON q.oid = d.objid
  JOIN pg_namespace n ON n.oid = q.relnamespace
  WHERE d.refobjid = c.oid AND d.refclassid = 'pg_class'::regclass AND d.classid = d.refclassid
  AND d.refobjsubid > 0 AND d.deptype = 'a'
  AND CASE q.relkind WHEN 'S' THEN NOT has_sequence_privilege(q.oid, 'USAGE, UPDATE')
   ELSE false END), '')
FROM pg_control_system() s LEFT JOIN (SELECT c.oid, c.relkind FROM pg_class c
  JOIN pg_namespace n ON n.oid = c.relnamespace
  WHERE n.nspname = $1 AND c.relname = $2 AND c.relkind IN ('r', 'p')) c ON true
 LEFT JOIN pg_replication_slots slot ON slot.slot_name = $4)";
    sql += kWeakest;
    return {std::move(sql),
            {request.table.schema, request.table.name, request.publication, request.slot}};
}

Statement insert_lsn_statement(const ports::AskInsertLsn& request) {
    std::string sql =
        "SELECT pg_current_wal_insert_lsn()::text, "
        "(extract(epoch FROM clock_timestamp()) * 1000)::bigint::text, "
        "pg_size_bytes(current_setting('wal_segment_size'))::text, ";
    sql += kPublished;
    sql += ", (SELECT system_identifier::text FROM pg_control_system()) || '/' || ";
    sql += kTimeline;
    return {std::move(sql), {request.table.schema, request.table.name, request.publication}};
}

Statement emit_message_statement() {
    return {"SELECT pg_logical_emit_message(true, 'trueup', '')"};
}

std::vector<std::string> split_key(std::string_view pk) {
    std::vector<std::string> parts;
    for (std::size_t end = pk.find('\x1f'); end != std::string_view::npos; end = pk.find('\x1f')) {
        parts.emplace_back(pk.substr(0, end));
        pk.remove_prefix(end + 1);
    }
    parts.emplace_back(pk);
    return parts;
}

Statement read_rows_statement(const ports::ReadRows& request) {
    Statement statement{"SELECT "};
    for (const std::string& column : request.pk_columns) {
        statement.sql += quote_identifier(column) + ", ";
    }
    statement.sql += request.table.query.empty() ? "xmin::text" : "''::text";
    for (const std::string& column : request.columns) {
        statement.sql += ", " + quote_identifier(column);
    }
    if (request.tell_place) statement.sql += ", " + place_sql();
    statement.sql += " FROM " + from(request.table) + " WHERE ";
    if (request.pk) {
        add_key(statement, request.pk_columns, split_key(*request.pk));
    } else {
        std::vector<ports::RowName> names{{request.key_expression, request.key}};
        names.insert(names.end(), request.also.begin(), request.also.end());
        add_names(statement, names);
    }
    return statement;
}

Statement insert_statement(const ports::InsertRow& request) {
    const std::string table = quoted_table(request.table);
    std::string columns;
    std::string values;
    Statement statement;
    for (const ports::ColumnValue& set : request.sets) {
        const char* const between = columns.empty() ? "" : ", ";
        columns += between + quote_identifier(set.column);
        values += between + bound(statement, set.value);
    }
    // The look is part of the statement, so that nothing comes between the two but another INSERT.
    // That one the unique index stops, without which the server refuses the statement.
    statement.sql = "INSERT INTO " + table + " (" + columns + ") SELECT " + values +
                    " WHERE NOT EXISTS (SELECT FROM " + table + " WHERE ";
    add_names(statement, request.none_of);
    statement.sql += ")";
    // A value of the column's type may be another text than what it was made of.
    std::string made;
    for (const std::string& column : request.key_columns) {
        const auto set = std::find_if(request.sets.begin(), request.sets.end(),
                                      [&](const auto& each) { return each.column == column; });
        const std::string null = "(NULL::" + table + ")." + quote_identifier(column);
        made += made.empty() ? "" : ", ";
        made += set == request.sets.end()
                    ? null
                    : "coalesce(" + bound(statement, set->value) + ", " + null + ")";
        made += " AS " + quote_identifier(column);
    }
    statement.sql += " AND (SELECT (" + request.none_of.front().expression +
                     ")::text FROM (SELECT " + made +
                     ") made) = " + bound(statement, request.none_of.front().value);
    if (!request.only_at.empty()) {
        statement.sql += " AND " + place_sql() + " = " + bound(statement, request.only_at);
    }
    statement.sql += " ON CONFLICT (" + request.unique + ") DO NOTHING RETURNING ((" +
                     request.none_of.front().expression + ")::text IS NOT DISTINCT FROM " +
                     bound(statement, request.none_of.front().value) + ")::text";
    return statement;
}

Statement update_statement(const ports::UpdateRow& request) {
    Statement statement{"UPDATE " + quoted_table(request.table) + " SET "};
    for (std::size_t i = 0; i < request.sets.size(); ++i) {
        if (i > 0) statement.sql += ", ";
        statement.sql += quote_identifier(request.sets[i].column) + " = ";
        statement.sql += bound(statement, request.sets[i].value);
    }
    statement.sql += " WHERE ";
    add_key(statement, request.pk_columns, split_key(request.pk));
    // xmin: nothing was written since the executor looked. The guards: what it holds is still what
    // the rule relied on.
    statement.sql += " AND xmin = " + bound(statement, request.xmin) + "::xid";
    for (const ports::ColumnValue& guard : request.guards) {
        statement.sql += " AND " + quote_identifier(guard.column) + " IS NOT DISTINCT FROM ";
        statement.sql += bound(statement, guard.value);
    }
    if (!request.only_at.empty()) {
        statement.sql += " AND " + place_sql() + " = " + bound(statement, request.only_at);
    }
    return statement;
}

Statement deferrable_statement(const ports::Table& table) {
    return {
        "SELECT q.relname FROM pg_index i JOIN pg_class q ON q.oid = i.indexrelid "
        "JOIN pg_class c ON c.oid = i.indrelid JOIN pg_namespace n ON n.oid = c.relnamespace "
        "WHERE n.nspname = $1 AND c.relname = $2 AND i.indisunique AND NOT i.indimmediate",
        {table.schema, table.name}};
}

Statement place_statement() { return {"SELECT " + place_sql()}; }

Statement identify_statement() { return simple("IDENTIFY_SYSTEM"); }

Statement describe_slot_statement(const std::string& slot) {
    return simple(
        "SELECT slot_name, coalesce(confirmed_flush_lsn::text, ''), "
        "coalesce(to_jsonb(s) ->> 'wal_status', ''), coalesce(plugin, ''), "
        "(coalesce(database, '') = current_database())::text "
        "FROM pg_replication_slots s WHERE slot_name = " +
        quote_literal(slot));
}

Statement create_slot_statement(const std::string& slot) {
    // No snapshot: each epoch has a slot and a snapshot of its own, as of its own time.
    return simple("CREATE_REPLICATION_SLOT " + quote_identifier(slot) +
                  " LOGICAL pgoutput NOEXPORT_SNAPSHOT");
}

Statement drop_slot_statement(const std::string& slot) {
    return simple("DROP_REPLICATION_SLOT " + quote_identifier(slot));
}

Statement start_wal_statement(const ports::StartWal& request) {
    // The server reads the names within the literal as identifiers, so they are quoted twice.
    return simple("START_REPLICATION SLOT " + quote_identifier(request.slot) + " LOGICAL " +
                  format_lsn(request.from) + " (proto_version '1', publication_names " +
                  quote_literal(quote_identifier(request.publication)) + ")");
}

Statement begin_copy_statement() {
    // USE_SNAPSHOT demands this isolation, in a transaction that has not read anything yet.
    return simple("BEGIN READ ONLY ISOLATION LEVEL REPEATABLE READ");
}

Statement create_copy_slot_statement(const std::string& slot) {
    return simple("CREATE_REPLICATION_SLOT " + quote_identifier(slot) +
                  " TEMPORARY LOGICAL pgoutput USE_SNAPSHOT");
}

Statement copy_statement(const ports::CopyTable& request) {
    std::string sql = "COPY (SELECT ";
    for (const std::string& column : request.columns) sql += quote_identifier(column) + ", ";
    sql += "(" + request.key_expression + ")::text FROM " + from(request.table) + ") TO STDOUT";
    // What others wrote is one statement, whatever they wrote.
    if (!request.table.query.empty()) return {std::move(sql)};
    return simple(std::move(sql));
}

Statement moment_statement(const ports::CopyTable& request) {
    std::string sql =
        "SELECT pg_current_wal_insert_lsn()::text, "
        "(extract(epoch FROM clock_timestamp()) * 1000)::bigint::text, " +
        place_sql();
    for (const std::string& column : request.columns) {
        sql += ", pg_typeof(q." + quote_identifier(column) + ")::text";
    }
    return {sql + " FROM (SELECT) one LEFT JOIN (SELECT * FROM " + from(request.table) +
            " LIMIT 0) q ON true"};
}

Statement rollback_statement() { return simple("ROLLBACK"); }

namespace {

constexpr std::array<std::pair<char, char>, 6> kEscapes = {
    {{'b', '\b'}, {'f', '\f'}, {'n', '\n'}, {'r', '\r'}, {'t', '\t'}, {'v', '\v'}}};

/// What stands after a backslash; servers escape exactly these, any other stands for itself.
char unescaped(char c) {
    for (const auto& [letter, meaning] : kEscapes) {
        if (c == letter) return meaning;
    }
    return c;
}

std::optional<std::string> unescaped_field(std::string_view field, bool& good) {
    if (field == "\\N") return std::nullopt;
    std::string text;
    text.reserve(field.size());
    for (std::size_t i = 0; i < field.size(); ++i) {
        if (field[i] != '\\') {
            text += field[i];
        } else if (++i < field.size()) {
            text += unescaped(field[i]);
        } else {
            good = false;
        }
    }
    return text;
}

}  // namespace

std::optional<ports::SqlRow> parse_copy_line(std::string_view line) {
    if (!line.empty() && line.back() == '\n') line.remove_suffix(1);
    ports::SqlRow row;
    bool good = true;
    for (std::size_t tab = line.find('\t'); tab != std::string_view::npos; tab = line.find('\t')) {
        row.push_back(unescaped_field(line.substr(0, tab), good));
        line.remove_prefix(tab + 1);
    }
    row.push_back(unescaped_field(line, good));
    if (!good) return std::nullopt;
    return row;
}

std::string standby_status(ports::Lsn written, ports::Lsn flushed, std::int64_t postgres_micros,
                           bool want_reply) {
    std::string bytes = "r";
    const auto put = [&bytes](std::uint64_t value) {
        for (unsigned shift = 64; shift > 0; shift -= 8) {
            bytes += static_cast<char>((value >> (shift - 8)) & 0xffU);
        }
    };
    put(written);
    put(flushed);
    put(flushed);
    put(static_cast<std::uint64_t>(postgres_micros));
    bytes += want_reply ? '\1' : '\0';
    return bytes;
}

}  // namespace trueup::connectors::postgres
