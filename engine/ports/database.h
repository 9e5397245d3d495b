// PostgreSQL at wire level: typed requests down, rows and raw replication bytes up.
// connectors/postgres/transport speaks libpq below it, sandbox/ answers from memory; everything
// above (slots, epochs, pgoutput, LSN arithmetic, read sets) is the same code in both.
//
// Asynchronous like cluster.h: a call is started under an id that the caller chooses and answered
// by events in `poll`. One port holds up to three sessions of its own: SQL, the main replication
// stream and the copying one. Calls on one session run in the order in which they were started. Not
// thread-safe: one thread owns a port.
#pragma once

#include "engine/base/error.h"
#include "engine/base/time.h"
#include "engine/ports/call_ids.h"
#include "engine/ports/database_calls.h"
#include "engine/ports/interest.h"
#include "engine/ports/sql.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

namespace trueup::ports {

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
    virtual void insert_row(CallId call, const InsertRow& request) = 0;

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
