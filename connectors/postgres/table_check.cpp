#include "connectors/postgres/table_check.h"

#include "connectors/postgres/rows.h"

#include <algorithm>
#include <charconv>
#include <utility>

namespace trueup::connectors::postgres {

namespace {

constexpr std::size_t kFields = 8;

std::vector<std::string> split(const std::string& text) {
    std::vector<std::string> parts;
    for (std::size_t start = 0; start < text.size();) {
        const std::size_t comma = std::min(text.find(',', start), text.size());
        parts.push_back(text.substr(start, comma - start));
        start = comma + 1;
    }
    return parts;
}

Error stop(std::string what) { return {Next::kStop, Code::kConfiguration, std::move(what)}; }

std::string create_publication(const Settings& settings) {
    return "CREATE PUBLICATION " + quote_identifier(settings.publication) + " FOR TABLE " +
           quoted_table(settings.table) + ";";
}

Status judge_coverage(const TableCheck& table, const Settings& settings) {
    const std::string publication = "publication " + settings.publication;
    const std::string name = table_text(settings.table);
    // A row that a filter hides looks like one that was deleted.
    if (table.coverage == "rows") {
        return stop(publication + " publishes only some rows of " + name +
                    " (it has a WHERE); create one without: " + create_publication(settings));
    }
    if (table.coverage == "children") {
        return stop("table " + name +
                    " has inheriting tables, whose changes are not published under its name; watch "
                    "each of them, or a partitioned table");
    }
    if (table.coverage == "parts") {
        return stop(publication + " publishes the changes of " + name +
                    " under the names of its partitions: ALTER PUBLICATION " +
                    quote_identifier(settings.publication) +
                    " SET (publish_via_partition_root = true);");
    }
    // A delete that is not sent leaves its row present until the next epoch.
    if (table.coverage == "kinds") {
        return stop(publication + " must publish insert, update, delete and truncate: ALTER " +
                    "PUBLICATION " + quote_identifier(settings.publication) +
                    " SET (publish = 'insert, update, delete, truncate');");
    }
    if (table.coverage == "none") {
        return stop(publication + " does not exist: " + create_publication(settings));
    }
    if (table.coverage != "t") {
        return stop(publication + " does not cover " + name + ": ALTER PUBLICATION " +
                    quote_identifier(settings.publication) + " ADD TABLE " +
                    quoted_table(settings.table) + ";");
    }
    return Done{};
}

}  // namespace

std::string table_text(const ports::Table& table) { return table.schema + "." + table.name; }

std::string quoted_table(const ports::Table& table) {
    return quote_identifier(table.schema) + "." + quote_identifier(table.name);
}

Result<TableCheck> read_table_check(const ports::SqlRow& row) {
    if (row.size() < kFields) {
        return Error{
            Next::kRetry, Code::kInvalid,
            "the server's description has " + std::to_string(row.size()) + " fields instead of 8"};
    }
    const auto text = [&row](std::size_t i) {
        return i < row.size() ? row[i].value_or("") : std::string();
    };
    TableCheck table;
    table.system_id = text(0);
    table.timeline = text(1);
    table.identity = text(3);
    table.pk_columns = split(text(4));
    table.coverage = text(5);
    table.wal_level = text(6);
    table.updatable = split(text(7));
    table.identity_of = text(8);
    table.partitioned = text(9) == "p";
    table.generated = split(text(10));
    table.keep_size = text(11);
    table.slot.wal_status = text(12);
    table.published = text(14);
    for (const std::string& each : split(text(15))) {
        const std::size_t equals = each.rfind('=');
        if (equals != std::string::npos)
            table.types[each.substr(0, equals)] = each.substr(equals + 1);
    }
    table.insertable = split(text(16));
    table.required = split(text(17));
    table.sequences = split(text(18));
    const std::string kept = text(13);
    std::from_chars(kept.data(), kept.data() + kept.size(), table.slot.retained_bytes);
    return table;
}

bool identity_suffices(char identity, const std::vector<std::string>& pk_columns,
                       const Settings& settings) {
    if (identity == 'f') return true;
    // `d` sends the primary key of an old row: enough where the name follows from it.
    if (identity != 'd') return false;
    const std::vector<std::string>& needed = settings.correlate.columns();
    return std::all_of(needed.begin(), needed.end(), [&](const std::string& column) {
        return std::find(pk_columns.begin(), pk_columns.end(), column) != pk_columns.end();
    });
}

std::string identity_trouble(const Settings& settings, const std::string& place) {
    const std::string table = table_text(settings.table);
    const std::string whose = place.empty() ? table : place + ", a partition of " + table + ",";
    return "the replica identity of " + whose +
           " does not log which name a deleted row had: ALTER TABLE " +
           (place.empty() ? quoted_table(settings.table) : place) + " REPLICA IDENTITY FULL;";
}

std::string slot_remark(const TableCheck& table, const Settings& settings) {
    if (table.keep_size != "-1") return {};
    return "max_slot_wal_keep_size is -1: while slot " + settings.slot +
           " is not read, the server keeps WAL for it until its disk is full; with a limit, the "
           "worst case is one new read of the table: ALTER SYSTEM SET max_slot_wal_keep_size = "
           "'20GB'; SELECT pg_reload_conf();";
}

namespace {

/// Columns that the server computes are not in what it sends (below 18, or not asked to).
Status judge_generated(const TableCheck& table, const Settings& settings) {
    for (const std::string& column : RowMap::needed(settings, table.pk_columns)) {
        const auto& all = table.generated;
        if (std::find(all.begin(), all.end(), column) == all.end()) continue;
        return stop("column " + column + " of " + table_text(settings.table) +
                    " is generated, and logical replication does not send it: name the columns "
                    "that it is computed from, or make it a plain one (ALTER TABLE " +
                    quoted_table(settings.table) + " ALTER " + quote_identifier(column) +
                    " DROP EXPRESSION;) that a trigger keeps; PostgreSQL 18 sends stored ones: "
                    "ALTER PUBLICATION " +
                    quote_identifier(settings.publication) +
                    " SET (publish_generated_columns = stored);");
    }
    return Done{};
}

/// Why a column of that type cannot be read as what the policy says that it is, and what to do;
/// empty: it can.
std::string misread(const policy::Field& field, std::string_view type) {
    using Type = policy::Field::Type;
    const Type as = field.type;
    const auto one_of = [&](std::initializer_list<std::string_view> types) {
        return std::find(types.begin(), types.end(), type) != types.end();
    };
    if (type.ends_with("json[]") ||
        one_of({"json", "xml", "point", "line", "lseg", "box", "path", "polygon", "circle"})) {
        return "has no equality there, so that no write could ask for it as it was read; read "
               "another column, or make it jsonb";
    }
    const bool text = one_of({"text", "character varying"});
    if (as == Type::kBoolean && type != "boolean") {
        return "is read as boolean; declare another type, or text with the words that it has";
    }
    if (as == Type::kNumber && !text && !one_of({"smallint", "integer", "bigint"})) {
        return "is read as number, which is a whole one of 64 bits; read a column of type bigint";
    }
    if (as == Type::kTimestamp && type == "timestamp without time zone" && field.zone.empty()) {
        return "says no zone; declare it: {timestamp, zone: UTC}, or what its writers mean";
    }
    if (as != Type::kText) return {};
    if (one_of({"numeric", "real", "double precision", "money"})) {
        return "is read as text, and one number has several; read a column of type bigint as "
               "number";
    }
    if (type == "boolean") return "is read as text, and its text is t or f; declare it boolean";
    if (type != "character") return {};
    return "has blanks at its end, so that no word equals it; make it text";
}

Status judge_types(const std::map<std::string, std::string>& types, const Settings& settings) {
    for (const auto& [column, as] : settings.types) {
        const auto known = types.find(column);
        const std::string why = known == types.end() ? std::string() : misread(as, known->second);
        if (why.empty()) continue;
        std::string text = "column " + column;
        text += " of " + table_text(settings.table);
        text += " is " + known->second;
        text += " and " + why;
        return stop(std::move(text));
    }
    return Done{};
}

/// A partition whose changes are not in the WAL at all.
std::string unlogged(const TableCheck& table, const Settings& settings) {
    return table.identity_of + ", a partition of " + table_text(settings.table) +
           ", is foreign or unlogged, so its changes are not published: ALTER TABLE " +
           quoted_table(settings.table) + " DETACH PARTITION " + table.identity_of +
           "; or, if it is unlogged, ALTER TABLE " + table.identity_of + " SET LOGGED;";
}

}  // namespace

Status judge_moment(const ports::SqlRow& moment, const Settings& settings) {
    constexpr std::size_t kFirstType = 3;
    const std::vector<std::string> columns = RowMap::needed(settings, settings.primary_key);
    std::map<std::string, std::string> types;
    for (std::size_t i = 0; i < columns.size() && i + kFirstType < moment.size(); ++i) {
        types[columns[i]] = moment[i + kFirstType].value_or("");
    }
    return judge_types(types, settings);
}

Status judge_table(const TableCheck& table, const Settings& settings) {
    if (table.wal_level != "logical") {
        return stop("wal_level is " + table.wal_level +
                    ", but logical replication is needed: ALTER SYSTEM SET wal_level = logical; "
                    "and a restart of the server");
    }
    if (table.identity.empty()) {
        return stop("table " + table_text(settings.table) + " does not exist");
    }
    if (table.pk_columns.empty()) {
        return stop("table " + table_text(settings.table) +
                    " has no primary key, so that its rows have no identity: ALTER TABLE " +
                    quoted_table(settings.table) + " ADD PRIMARY KEY (...);");
    }
    for (const std::string& column : table.pk_columns) {
        // The key's text is in every object id and in every command; it cannot be hidden in the
        // object alone.
        if (settings.fields.of(column) == ports::Treatment::kMap) continue;
        std::string text = "column " + column;
        text += " is in the primary key of " + table_text(settings.table);
        text +=
            ", which is published in clear text and cannot be hashed or dropped; write fields: {";
        text += column + ": map} if its text may be published";
        return stop(text);
    }
    if (Status covered = judge_coverage(table, settings); !covered) return covered;
    if (Status sent = judge_generated(table, settings); !sent) return sent;
    if (Status read = judge_types(table.types, settings); !read) return read;
    if (table.identity == "u") return stop(unlogged(table, settings));
    if (!identity_suffices(table.identity.front(), table.pk_columns, settings)) {
        return stop(identity_trouble(settings, table.identity_of));
    }
    return Done{};
}

}  // namespace trueup::connectors::postgres
