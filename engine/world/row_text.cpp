#include "engine/world/row_text.h"

#include <array>
#include <span>
#include <utility>

namespace trueup::world {

namespace {

constexpr std::string_view kBlanks = " \t\n\r\f\v";
// In an E'' string \v is the letter v, to servers before 16.
constexpr std::string_view kBlanksSql = R"(E' \t\n\r\f\x0B')";

/// The pieces of an expression over one column; an empty one stands for its quoted name.
using Pieces = std::span<const std::string_view>;

constexpr std::array<std::string_view, 7> kUnlessBlank{
    "CASE WHEN btrim(", {}, "::text, ", kBlanksSql, ") <> '' THEN ", {}, "::text END"};
constexpr std::array<std::string_view, 5> kNamedIn{
    "btrim(regexp_replace(", {}, "::text, '^.*/', ''), ", kBlanksSql, ")"};

std::string expression(Pieces pieces, std::string_view column) {
    const std::string name = quote_identifier(column);
    std::string sql;
    for (const std::string_view piece : pieces) sql += piece.empty() ? name : piece;
    return sql;
}

bool take(std::string_view& sql, std::string_view part) {
    if (!sql.starts_with(part)) return false;
    sql.remove_prefix(part.size());
    return true;
}

std::optional<std::string> take_name(std::string_view& sql) {
    if (!take(sql, "\"")) return std::nullopt;
    std::string name;
    while (!sql.empty()) {
        const char c = sql.front();
        sql.remove_prefix(1);
        if (c == '"' && !take(sql, "\"")) return name;
        name += c;
    }
    return std::nullopt;
}

/// The column of an expression that `sql` begins with; that much is taken off.
std::optional<std::string> take_expression(Pieces pieces, std::string_view& sql) {
    std::string_view rest = sql;
    std::optional<std::string> column;
    for (const std::string_view piece : pieces) {
        if (!piece.empty()) {
            if (!take(rest, piece)) return std::nullopt;
            continue;
        }
        std::optional<std::string> name = take_name(rest);
        if (!name || (column && *column != *name)) return std::nullopt;
        column = std::move(name);
    }
    sql = rest;
    return column;
}

}  // namespace

std::string quote_identifier(std::string_view name) {
    std::string quoted = "\"";
    for (const char c : name) {
        quoted += c;
        if (c == '"') quoted += c;
    }
    return quoted + '"';
}

std::string_view trimmed(std::string_view text) {
    const std::size_t first = text.find_first_not_of(kBlanks);
    if (first == std::string_view::npos) return {};
    return text.substr(first, text.find_last_not_of(kBlanks) - first + 1);
}

std::string unless_blank_sql(std::string_view column) { return expression(kUnlessBlank, column); }

std::optional<std::string> take_unless_blank(std::string_view& sql) {
    return take_expression(kUnlessBlank, sql);
}

std::string_view named_in(std::string_view text) {
    return trimmed(text.substr(text.rfind('/') + 1));  // npos + 1 is the start
}

std::string named_in_sql(std::string_view column) { return expression(kNamedIn, column); }

std::optional<std::string> column_named_in(std::string_view sql) {
    std::optional<std::string> name = take_expression(kNamedIn, sql);
    return sql.empty() ? name : std::nullopt;
}

}  // namespace trueup::world
