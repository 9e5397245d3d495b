// PostgreSQL at wire level: typed requests down, rows and raw replication bytes up.
// connectors/postgres/transport speaks libpq below it, sandbox/ answers from memory; everything
// above (slots, epochs, pgoutput, LSN arithmetic, read sets) is the same code in both.
//
// Asynchronous like cluster.h: a call is started under an id that the caller chooses and answered
// by events in `poll`. One port holds up to three sessions of its own: SQL, the main replication
// stream and the copying one. Calls on one session run in the order in which they were started. Not
// thread-safe: one thread owns a port.
#pragma once

#include "engine/base/result.h"
#include "engine/base/time.h"
#include "engine/ports/cluster.h"
#include "engine/ports/interest.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace trueup::ports {

using Lsn = std::uint64_t;
/// One row of text values; nullopt is SQL null.
using SqlRow = std::vector<std::optional<std::string>>;

/// A table by its parts, quoted by the transport.
struct Table {
    std::string schema = "public";
    std::string name;
};

/// IDENTIFY_SYSTEM and what `config check` asks. Answer: one kRows event with the row
/// {system id, timeline, server version number, replica identity (d n f i), comma-separated primary
/// key columns, publication covers the table ("t"/"f"; "none" when there is no such publication,
/// "rows" or "kinds" when it shows only some rows or some kinds of change, "parts" or "children"
/// when under other tables' names), wal_level, comma-separated columns that the role may update};
/// where the port knows them also {the partition, quoted, that the identity is of, since the
/// weakest counts (u: its changes are not in the WAL), empty for the table's own; relkind (r p);
/// comma-separated columns that are generated and not sent; max_slot_wal_keep_size; of the slot,
/// empty without one: wal_status, bytes of WAL that it keeps; what is published;
/// comma-separated `column=type` of all columns, of a domain what it is made of}, then kEnd. No
/// such table: an empty replica identity.
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

/// SELECT columns, xmin. Rows come with the pk columns' text joined by 0x1f as first value, xmin as
/// second, then `columns` in order. Either by primary key text (`pk`) or by the value of the key
/// expression (`key_expression` = `key`).
struct ReadRows {
    Table table;
    std::vector<std::string> pk_columns;
    std::vector<std::string> columns;
    std::optional<std::string> pk;  ///< composite keys joined by 0x1f
    std::string key_expression;
    std::string key;
    /// Each row has one value more at its end: where it was read, as `system id/timeline/database`.
    bool tell_place = false;
};

/// One column with the value that it has or gets.
struct ColumnValue {
    std::string column;
    std::optional<std::string> value;
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

struct DatabaseEvent {
    enum class Kind : std::uint8_t {
        kRows,      ///< some rows of the answer
        kSnapshot,  ///< CopyTable: the consistent point
        kWal,       ///< one replication message
        kEnd,       ///< the call is answered in full
        kFailed,    ///< `error` and `sqlstate` (empty: no word from the server); nothing follows
    };
    CallId call = 0;
    Kind kind = Kind::kFailed;
    std::vector<SqlRow> rows;
    Lsn lsn = 0;
    std::string data;
    std::string sqlstate;
    Error error;
};

class Database {
  public:
    virtual ~Database() = default;

    virtual void inspect(CallId call, const Inspect& request) = 0;
    virtual void ensure_slot(CallId call, const EnsureSlot& request) = 0;
    /// Answer: kEnd, even if there is no such slot.
    virtual void drop_slot(CallId call, const std::string& slot) = 0;
    virtual void copy(CallId call, const CopyTable& request) = 0;
    virtual void start_wal(CallId call, const StartWal& request) = 0;
    virtual void insert_lsn(CallId call, const AskInsertLsn& request) = 0;
    virtual void read_rows(CallId call, const ReadRows& request) = 0;
    virtual void update_row(CallId call, const UpdateRow& request) = 0;

    /// Sends a standby status update on a running StartWal call. Unknown ids are ignored.
    virtual void wal_status(CallId call, Lsn written, Lsn flushed, bool want_reply) = 0;

    /// Ends a call and, for a stream or a copy, its session. No event of it follows.
    virtual void cancel(CallId call) = 0;

    /// Appends what came in to `out`; waits at most `max_wait` when there is nothing yet.
    virtual void poll(Millis max_wait, std::vector<DatabaseEvent>& out) = 0;
    /// As `poll`; its wait ends for `others` too, which it does not touch (interest.h).
    virtual void poll_beside(const Interest& others, Millis max_wait,
                             std::vector<DatabaseEvent>& out) {
        poll(std::min(max_wait, others.without_sockets()), out);
    }

    /// Adds what its `poll` would wait for, `wake` left out, to a wait in another place. Valid
    /// until the port is used again. False: it cannot say.
    virtual bool interest(Interest& all) const {
        static_cast<void>(all);
        return false;
    }

    /// Ends the wait of the `poll` that is under way, or of the next one (wakeup.h). For any
    /// thread. A port whose `poll` never waits need not.
    virtual void wake() {}
};

}  // namespace trueup::ports
