// Sources of PostgreSQL in the configuration: a table, or a query.
#include "apps/config/reading.h"
#include "apps/config/source_types.h"
#include "apps/config/words.h"
#include "connectors/postgres/redaction.h"
#include "connectors/postgres/settings.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <utility>

namespace trueup::config {

namespace {

using connectors::postgres::table_text;
using Json = nlohmann::ordered_json;

}  // namespace

std::optional<ports::Table> parse_table(std::string_view text) {
    const std::vector<std::string> parts = split(text, '.');
    if (parts.size() > 2 || parts.front().empty() || parts.back().empty()) return std::nullopt;
    ports::Table table;
    if (parts.size() == 2) table.schema = parts[0];
    table.name = parts.back();
    return table;
}

std::pair<std::string, std::string> conninfo_entry(const DatabaseLogin& source) {
    if (source.from == Conninfo::kFile) return {"conninfo_file", source.conninfo};
    if (source.from == Conninfo::kEnvironment) return {"conninfo_env", source.conninfo};
    return {"conninfo", connectors::postgres::redact_conninfo(source.conninfo)};
}

namespace {

void read_table(Section& section, ports::Table& table) {
    if (!section.require("table", "table: public.instances")) return;
    const std::string text = section.text("table");
    if (const auto read = parse_table(text)) {
        table = *read;
        return;
    }
    section.problem("table",
                    fmt::format("is '{}'; write schema.table, as in public.instances", text));
}

void read_slot(Section& section, const std::string& name, PostgresSource& source) {
    std::string fallback = "trueup_" + name;
    for (char& c : fallback) {
        if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
        if (c == '-' || c == '.') c = '_';
    }
    source.slot = section.text("slot", fallback.substr(0, 63));
    if (!only_of(source.slot, "_") || source.slot.size() > 63) {
        section.problem("slot", fmt::format("is '{}'; the name of a replication slot has 1 to 63 "
                                            "lower-case letters, digits and '_'",
                                            source.slot));
    }
    source.publication = section.text("publication", source.publication);
    if (is_blank(source.publication)) section.problem("publication", "is empty; write its name");
}

void read_columns(Section& section, PostgresSource& source) {
    source.columns = section.texts("columns");
    if (section.has("columns") && source.columns.empty()) {
        section.problem("columns",
                        "is empty; leave it out to use the columns that the policy reads");
    }
    std::vector<std::string> seen;
    for (const std::string& column : source.columns) {
        if (std::find(seen.begin(), seen.end(), column) != seen.end()) {
            section.problem("columns", fmt::format("has '{}' twice; leave one out", column));
        }
        seen.push_back(column);
    }
    source.fields = read_fields(section, source.known, nullptr, {"sslmode", "slot"});
    source.any_tls = contains(source.known, "sslmode");
    check_listed(section, "columns", source.columns, "", source.fields);
    source.veto_column = section.text("veto_column");
}

/// A slot of that name is made, taken over and, when it is of no use any more, dropped.
void check_slot_is_ours(Section& section, const PostgresSource& source) {
    const bool name = only_of(source.slot, "_");  // else that is said already
    if (!name || source.slot.starts_with("trueup") || contains(source.known, "slot")) return;
    section.problem(
        "slot",
        fmt::format(
            "is '{}', and a slot of that name would be taken over and dropped, even if it belongs "
            "to another program; write one that begins with trueup, or add acknowledge: [slot]",
            source.slot));
}

/// `query` and `primary_key`, in the place of a table with its publication and slot.
void read_query(Section& section, const std::string& name, PostgresSource& source) {
    constexpr std::size_t kMost = 8'192;
    source.publication.clear();
    source.table = {"query", name, section.text("query")};
    source.primary_key = section.texts("primary_key");
    std::string& query = source.table.query;
    query.erase(query.find_last_not_of(" \t\r\n;") + 1);
    std::string first = query.substr(0, query.find_first_of(" \t\r\n("));
    std::transform(first.begin(), first.end(), first.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    if (query.size() > kMost) {
        section.problem("query", fmt::format("has {} bytes, and at most {} are read; make a view, "
                                             "and write SELECT * FROM it",
                                             query.size(), kMost));
    } else if (first != "select" && first != "with") {
        section.problem("query",
                        "does not begin with SELECT or WITH; write one query, as in "
                        "SELECT id, data ->> 'state' AS state FROM public.users");
    }
    if (!section.require("primary_key", "primary_key: [COLUMN], what tells its rows apart")) return;
    if (source.primary_key.empty()) {
        section.problem("primary_key", "is empty; write the columns that tell its rows apart");
    }
    for (const char* const key : {"table", "publication", "slot", "emit_message"}) {
        if (!section.has(key)) continue;
        section.text(key);
        section.problem(key, "is of a table, and this is a query; leave one out");
    }
}

/// The key's text is in every object id and in every command.
void check_key_is_public(Section& section, const PostgresSource& source) {
    for (const std::string& column : source.primary_key) {
        const auto field = source.fields.find(column);
        const bool plain = field == source.fields.end()
                               ? !ports::looks_secret(column)
                               : field->second.treatment == ports::Treatment::kMap;
        if (plain) continue;
        section.problem("primary_key",
                        fmt::format("has '{0}', which is published in clear text and cannot be "
                                    "hashed or dropped; write another column, or fields: "
                                    "{{{0}: map}} if its text may be published",
                                    column));
    }
}

PostgresSource read_postgres(Section section, const std::string& name, const std::string& folder) {
    PostgresSource source;
    read_login(section, folder, source);
    if (section.has("query")) {
        read_query(section, name, source);
        read_columns(section, source);
        check_key_is_public(section, source);
        section.finish();
        return source;
    }
    if (section.has("primary_key")) {
        section.texts("primary_key");
        section.problem("primary_key", "is of a query, and a table has its own; leave it out");
    }
    read_table(section, source.table);
    read_slot(section, name, source);
    read_columns(section, source);
    source.emit_message = section.flag("emit_message", false);
    check_slot_is_ours(section, source);
    section.finish();
    return source;
}

Json json_of(const PostgresSource& source) {
    Json json;
    const auto [key, value] = conninfo_entry(source);
    json[key] = value;
    if (source.table.query.empty()) {
        json["table"] = table_text(source.table);
        json["publication"] = source.publication;
        json["slot"] = source.slot;
        json["emit_message"] = source.emit_message;
    } else {
        json["query"] = source.table.query;
        json["primary_key"] = source.primary_key;
    }
    json["columns"] = source.columns;
    add_fields(json, source.fields, source.known);
    if (!source.veto_column.empty()) json["veto_column"] = source.veto_column;
    return json;
}

std::string text_of(const SourceConfig& source) {
    const PostgresSource& postgres = *source.postgres();
    const auto [key, value] = conninfo_entry(postgres);
    const std::string columns = names_text(postgres.columns, postgres.fields);
    if (source.only_read()) {
        return fmt::format(
            "rows of a query ({}), told apart by {}, asked every {}, at least {}, {} \"{}\"",
            columns, fmt::join(postgres.primary_key, ", "), duration_text(source.idle),
            source.at_least, key, value);
    }
    return fmt::format("rows of {} ({}), at least {}, publication {}, slot {}, {} \"{}\"",
                       table_text(postgres.table), columns, source.at_least, postgres.publication,
                       postgres.slot, key, value);
}

}  // namespace

const SourceType kPostgresType{
    "postgres",
    [](Section section, const std::string& folder, SourceConfig& source) {
        source.world = read_postgres(std::move(section), source.name, folder);
    },
    [](const SourceConfig& source) { return json_of(*source.postgres()); },
    text_of,
};

}  // namespace trueup::config
