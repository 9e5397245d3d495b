// What is asked of a PostgreSQL database, call by call, and what it answers to each: the events of
// database.h, through which the calls go. Plain values.
#pragma once

#include "engine/base/time.h"
#include "engine/ports/sql.h"

#include <optional>
#include <string>
#include <vector>

namespace trueup::ports {

/// IDENTIFY_SYSTEM and what `config check` asks. Answer: one kRows event with the row
/// {system id, timeline, server version number, replica identity (d n f i), comma-separated primary
/// key columns, publication covers the table ("t"/"f"; "none" when there is no such publication,
/// "rows" or "kinds" when it shows only some rows or some kinds of change, "parts" or "children"
/// when under other tables' names), wal_level, comma-separated columns that the role may update};
/// where the port knows them also {the partition, quoted, that the identity is of, since the
/// weakest counts (u: its changes are not in the WAL), empty for the table's own; relkind (r p);
/// comma-separated columns that are generated and not sent; max_slot_wal_keep_size; of the slot,
/// empty without one: wal_status, bytes of WAL that it keeps; what is published;
/// comma-separated `column=type` of all columns, of a domain what it is made of; comma-separated
/// columns that the role may insert; those that have to be given then, having no default;
/// comma-separated sequences, quoted, that fill columns and that the role may not use}, then kEnd.
/// No such table: an empty replica identity.
///
/// What is published: a text that is another one after the table, the publication, or the table's
/// place in it was altered or made anew, though all be again as it was.
struct Inspect {
    Table table;
    std::string publication;
    std::string slot = {};
};

/// Makes the slot unless it is there. Answer: kEnd; kRows {slot name, confirmed flush LSN as text
/// (empty when unknown), wal_status} first.
struct EnsureSlot {
    std::string slot;
    std::string publication;
};

/// A complete copy of a table under the exported snapshot of a *temporary* logical slot.
/// Answer: kSnapshot with `lsn` = the slot's consistent point, then kRows events, then kEnd.
/// Of a query, which needs no slot and is read on the primary only, it is a position of the log
/// behind which nothing is in the answer, and kSnapshot has one row: {that position, ms since 1970,
/// where it was read (ReadRows::tell_place), the type of each of the columns}.
struct CopyTable {
    Table table;
    std::vector<std::string> columns;
    /// An SQL expression over the row; its text value is the last column of each row.
    std::string key_expression;
};

/// START_REPLICATION on the main slot. Answer: kWal events with one CopyData payload each (`w` or
/// `k` messages, bytes as the server sent them), until kEnd or kFailed.
struct StartWal {
    std::string slot;
    std::string publication;
    Lsn from = 0;  ///< 0: where the slot was confirmed
};

/// pg_current_wal_insert_lsn() and clock_timestamp(). Answer: kRows {lsn as text, ms since 1970}
/// and, where known, the size of a WAL segment in bytes as third value (else 16 MiB), and as fourth
/// what is published of that table, as Inspect says it, as of when the statement began.
struct AskInsertLsn {
    bool emit_message = false;  ///< write a WAL message first, so that the stream moves at once
    Table table = {};
    std::string publication = {};
};

/// The rows whose expression, an SQL text over a row, has this value.
struct RowName {
    std::string expression;
    std::string value;
};

/// SELECT columns, xmin. Rows come with the pk columns' text joined by 0x1f as first value, xmin as
/// second, then `columns` in order. Either by primary key text (`pk`) or by the value of the key
/// expression (`key_expression` = `key`); then those of `also`, too, each row once.
struct ReadRows {
    Table table;
    std::vector<std::string> pk_columns;
    std::vector<std::string> columns;
    std::optional<std::string> pk;  ///< composite keys joined by 0x1f
    std::string key_expression;
    std::string key;
    /// Each row has one value more at its end: where it was read, as `system id/timeline/database`.
    /// Where there is no row it is the only value of the answer.
    bool tell_place = false;
    std::vector<RowName> also = {};
};

/// UPDATE table SET sets WHERE pk AND xmin AND each guard IS NOT DISTINCT FROM its value.
/// Answer: kRows {affected rows as text}, kEnd. Somewhere else than `only_at` nothing is written,
/// and a second value says where that is.
struct UpdateRow {
    Table table;
    std::vector<std::string> pk_columns;
    std::string pk;
    std::string xmin;
    std::vector<ColumnValue> guards;
    std::vector<ColumnValue> sets;
    /// Later than this it is not sent any more, whatever kept it (calls before it, a connection),
    /// and fails: what it was decided on is too old by then. Nor does it wait for another's lock
    /// for more than a second.
    Millis send_within{2'000};
    std::string only_at = {};  ///< as `tell_place` has it; empty: wherever we are connected to
};

/// INSERT INTO table (sets), unless a row has one of the names, or the same in `unique`, or the new
/// row would not have the first of the names (a uuid is spelled otherwise than it was given).
/// Answer, `send_within` and `only_at` as of UpdateRow; 42P10 (55000: a deferrable one) where no
/// unique index over `unique` alone keeps two apart that are inserted at once, each of which sees
/// no row yet.
struct InsertRow {
    /// Instead of a count: a row was inserted, and a trigger gave it another key.
    static constexpr const char* kOther = "other";
    Table table;
    std::string unique;  ///< SQL text, as in CREATE INDEX: a quoted column, or `(expression)`
    std::vector<ColumnValue> sets;
    std::vector<RowName> none_of;          ///< at least one
    std::vector<std::string> key_columns;  ///< that the first of them reads
    Millis send_within{2'000};
    std::string only_at = {};
};

}  // namespace trueup::ports
