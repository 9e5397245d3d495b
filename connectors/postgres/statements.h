// The SQL and replication commands that the transport sends, as text and bound values. Names are
// quoted, values are bound; replication commands, which know no parameters, carry quoted literals.
// Pure: no connection, no state. Thread-safe.
#pragma once

#include "engine/ports/database_calls.h"
#include "engine/ports/sql.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace trueup::connectors::postgres {

struct Statement {
    std::string sql;
    std::vector<std::optional<std::string>> values = {};  ///< $1, $2, …
    /// Sent by the simple protocol, as replication sessions need it; then without values.
    bool simple = false;
};

/// `text` as an SQL literal under standard_conforming_strings.
std::string quote_literal(std::string_view text);

/// One row as ports::Inspect says. Works on servers from 12 on, fails on a standby.
Statement inspect_statement(const ports::Inspect& request);
/// One row: the four values of ports::AskInsertLsn and `system id/timeline`.
Statement insert_lsn_statement(const ports::AskInsertLsn& request);
Statement emit_message_statement();
/// The primary key's columns come first, one value each, then xmin, then the columns. The values of
/// the key must be as many as its columns: see split_key.
Statement read_rows_statement(const ports::ReadRows& request);
Statement update_statement(const ports::UpdateRow& request);
Statement insert_statement(const ports::InsertRow& request);
/// The names, as EXPLAIN has them, of the table's unique indexes that may be checked late.
Statement deferrable_statement(const ports::Table& table);
/// One value: where this is, as ports::ReadRows::tell_place says it.
Statement place_statement();

/// The parts of a key's text joined by 0x1f.
std::vector<std::string> split_key(std::string_view pk);

// For replication sessions.
Statement identify_statement();
/// {slot, confirmed flush LSN, wal_status, plugin, database is ours} or no row.
Statement describe_slot_statement(const std::string& slot);
Statement create_slot_statement(const std::string& slot);
Statement drop_slot_statement(const std::string& slot);
Statement start_wal_statement(const ports::StartWal& request);
Statement begin_copy_statement();
Statement create_copy_slot_statement(const std::string& slot);
Statement copy_statement(const ports::CopyTable& request);
/// One row, as CopyTable has it of a query. Fails on a standby.
Statement moment_statement(const ports::CopyTable& request);
Statement rollback_statement();

/// One line of COPY's text format, with or without its newline; nullopt when it is none.
std::optional<ports::SqlRow> parse_copy_line(std::string_view line);

/// A standby status update (`r`).
std::string standby_status(ports::Lsn written, ports::Lsn flushed, std::int64_t postgres_micros,
                           bool want_reply);

}  // namespace trueup::connectors::postgres
