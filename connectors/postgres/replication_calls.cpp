// The calls of sql_calls.h on replication sessions: slots, the stream, and a copy of a table; and
// what a query answers, which is copied, too.
#include "connectors/postgres/call_results.h"
#include "connectors/postgres/lsn.h"
#include "connectors/postgres/sql_calls.h"

#include <libpq-fe.h>

#include <utility>

namespace trueup::connectors::postgres {

namespace {

using ports::CallId;
using ports::DatabaseEvent;
using Events = std::vector<DatabaseEvent>;

// A copy is handed on in pieces: row by row it is slow, and a whole table does not fit into memory.
constexpr std::size_t kRowsPerEvent = 512;
constexpr std::size_t kBytesPerEvent = 256UL * 1024;

/// The first row of IDENTIFY_SYSTEM.
Status expect_identified(const ServerName& server, const PGresult* result) {
    if (PQntuples(result) != 1 || PQnfields(result) < 2) {
        return Error{Next::kRetry, Code::kInvalid, "IDENTIFY_SYSTEM returned nothing"};
    }
    return expect_server(server,
                         std::string(PQgetvalue(result, 0, 0)) + "/" + PQgetvalue(result, 0, 1));
}

/// Looks for the slot, makes it if it is not there, and looks again: what making it answers tells
/// neither its plugin nor its database.
class EnsureSlotCall : public SqlCall {
  public:
    EnsureSlotCall(CallId call, std::string slot) : SqlCall(call), slot_(std::move(slot)) {}
    /// Making one waits for all transactions that write; a limit would only begin that wait again.
    bool unhurried() const override { return creating_; }

    std::optional<Statement> next(int) override {
        if (described_) return std::nullopt;
        if (creating_ && !created_) return create_slot_statement(slot_);
        return describe_slot_statement(slot_);
    }
    Status result(const PGresult* result, Events& out) override {
        if (creating_ && !created_) {
            created_ = true;
            return Done{};
        }
        if (PQntuples(result) == 0) {
            if (created_) {
                return Error{Next::kRetry, Code::kNotFound, "slot " + slot_ + " went away at once"};
            }
            creating_ = true;
            return Done{};
        }
        ports::SqlRow row = row_of(result, 0);
        if (row.size() != 5) {
            return Error{Next::kRetry, Code::kInvalid, "slot " + slot_ + " is not described"};
        }
        if (row[3] != "pgoutput" || row[4] != "true") {
            return Error{Next::kStop, Code::kConflict,
                         "slot " + slot_ +
                             " is not a pgoutput slot of this database: choose another "
                             "name, or drop it"};
        }
        row.resize(3);
        described_ = true;
        out.push_back(rows_event(call(), {std::move(row)}));
        return Done{};
    }

  private:
    std::string slot_;
    bool creating_ = false;
    bool created_ = false;
    bool described_ = false;
};

class DropSlotCall : public SqlCall {
  public:
    DropSlotCall(CallId call, const std::string& slot)
        : SqlCall(call), statement_(drop_slot_statement(slot)) {}
    std::optional<Statement> next(int) override { return std::exchange(statement_, std::nullopt); }
    Status result(const PGresult*, Events&) override { return Done{}; }
    /// A slot that is not there is dropped.
    bool forgives(std::string_view sqlstate) override { return sqlstate == "42704"; }

  private:
    std::optional<Statement> statement_;
};

/// A connection that streams takes no other statement, so that it is closed with the call.
class StartWalCall : public SqlCall {
  public:
    StartWalCall(CallId call, ports::StartWal request, ServerName server)
        : SqlCall(call), request_(std::move(request)), server_(std::move(server)) {}
    bool ends_session() const override { return true; }

    std::optional<Statement> next(int) override {
        ++statements_;
        if (statements_ == 1) return identify_statement();
        if (statements_ == 2) return start_wal_statement(request_);
        return std::nullopt;
    }
    Status result(const PGresult* result, Events&) override {
        if (statements_ == 1) return expect_identified(server_, result);
        return Done{};
    }
    Status data(std::string_view bytes, Events& out) override {
        DatabaseEvent& event = out.emplace_back();
        event.call = call();
        event.kind = DatabaseEvent::Kind::kWal;
        event.data = bytes;
        return Done{};
    }

  private:
    ports::StartWal request_;
    ServerName server_;
    int statements_ = 0;
};

/// What COPY says, row by row. The session ends with the call, and whatever it had begun.
class CopiedRows : public SqlCall {
  public:
    explicit CopiedRows(CallId call) : SqlCall(call) {}
    bool ends_session() const override { return true; }

    Status data(std::string_view bytes, Events& out) override {
        std::optional<ports::SqlRow> row = parse_copy_line(bytes);
        if (!row) return Error{Next::kRetry, Code::kCorrupt, "a copied row does not decode"};
        rows_.push_back(std::move(*row));
        bytes_ += bytes.size();
        if (rows_.size() >= kRowsPerEvent || bytes_ >= kBytesPerEvent) flush(out);
        return Done{};
    }
    void flush(Events& out) override {
        if (rows_.empty()) return;
        out.push_back(rows_event(call(), std::exchange(rows_, {})));
        bytes_ = 0;
    }

  private:
    std::vector<ports::SqlRow> rows_;
    std::size_t bytes_ = 0;
};

/// Under USE_SNAPSHOT the slot's own session reads: no second one has to import the snapshot. The
/// session takes the temporary slot along when it ends.
class CopyCall : public CopiedRows {
  public:
    CopyCall(CallId call, ports::CopyTable request, ServerName server)
        : CopiedRows(call), request_(std::move(request)), server_(std::move(server)) {}
    bool unhurried() const override { return statements_ == 3; }

    std::optional<Statement> next(int backend) override {
        switch (++statements_) {
            case 1:
                return identify_statement();
            case 2:
                return begin_copy_statement();
            case 3:
                // No two sessions have one backend, so no two copies compete for a name.
                return create_copy_slot_statement("trueup_copy_" + std::to_string(backend));
            case 4:
                return copy_statement(request_);
            default:
                return std::nullopt;
        }
    }
    Status result(const PGresult* result, Events& out) override {
        if (statements_ == 1) return expect_identified(server_, result);
        if (statements_ != 3) return Done{};
        const auto point = PQntuples(result) == 1 && PQnfields(result) > 1
                               ? parse_lsn(PQgetvalue(result, 0, 1))
                               : std::nullopt;
        if (!point) {
            return Error{Next::kRetry, Code::kInvalid, "the copying slot has no consistent point"};
        }
        DatabaseEvent& event = out.emplace_back();
        event.call = call();
        event.kind = DatabaseEvent::Kind::kSnapshot;
        event.lsn = *point;
        return Done{};
    }

  private:
    ports::CopyTable request_;
    ServerName server_;
    int statements_ = 0;
};

/// On an ordinary session: a role that may not replicate can read a query.
class QueryCall : public CopiedRows {
  public:
    QueryCall(CallId call, ports::CopyTable request)
        : CopiedRows(call), request_(std::move(request)) {}

    std::optional<Statement> next(int) override {
        switch (++statements_) {
            case 1:
                return begin_copy_statement();
            case 2:
                return moment_statement(request_);
            case 3:
                return copy_statement(request_);
            case 4:
                return rollback_statement();
            default:
                return std::nullopt;
        }
    }
    /// Nothing of its transaction may be left.
    bool ends_session() const override { return !over_; }
    bool shows_rows() const override { return true; }

    /// The first statement that reads takes the snapshot, and then tells the position.
    Status result(const PGresult* result, Events& out) override {
        over_ = statements_ == 4;
        if (statements_ != 2) return Done{};
        ports::SqlRow row = PQntuples(result) == 1 ? row_of(result, 0) : ports::SqlRow{};
        const auto position = row.size() == 3 + request_.columns.size() && row[0]
                                  ? parse_lsn(*row[0])
                                  : std::optional<ports::Lsn>();
        if (!position) {
            return Error{Next::kRetry, Code::kInvalid, "the WAL position is not a single row"};
        }
        DatabaseEvent& event = out.emplace_back(rows_event(call(), {std::move(row)}));
        event.kind = DatabaseEvent::Kind::kSnapshot;
        event.lsn = *position;
        return Done{};
    }

  private:
    ports::CopyTable request_;
    int statements_ = 0;
    bool over_ = false;
};

}  // namespace

std::unique_ptr<SqlCall> ensure_slot_call(CallId call, std::string slot) {
    return std::make_unique<EnsureSlotCall>(call, std::move(slot));
}

std::unique_ptr<SqlCall> drop_slot_call(CallId call, const std::string& slot) {
    return std::make_unique<DropSlotCall>(call, slot);
}

std::unique_ptr<SqlCall> start_wal_call(CallId call, const ports::StartWal& request,
                                        ServerName server) {
    return std::make_unique<StartWalCall>(call, request, std::move(server));
}

std::unique_ptr<SqlCall> query_call(CallId call, ports::CopyTable request) {
    return std::make_unique<QueryCall>(call, std::move(request));
}

std::unique_ptr<SqlCall> copy_call(CallId call, ports::CopyTable request, ServerName server) {
    return std::make_unique<CopyCall>(call, std::move(request), std::move(server));
}

}  // namespace trueup::connectors::postgres
