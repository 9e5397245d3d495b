#include "connectors/postgres/sql_calls.h"

#include "connectors/postgres/lsn.h"

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

ports::SqlRow row_of(const PGresult* result, int row) {
    ports::SqlRow values;
    for (int column = 0; column < PQnfields(result); ++column) {
        if (PQgetisnull(result, row, column) != 0) {
            values.emplace_back(std::nullopt);
        } else {
            const auto length = static_cast<std::size_t>(PQgetlength(result, row, column));
            values.emplace_back(std::string(PQgetvalue(result, row, column), length));
        }
    }
    return values;
}

DatabaseEvent rows_event(CallId call, std::vector<ports::SqlRow> rows) {
    DatabaseEvent event;
    event.call = call;
    event.kind = DatabaseEvent::Kind::kRows;
    event.rows = std::move(rows);
    return event;
}

Error other_server(const std::string& found, const std::string& expected) {
    return {Next::kRefresh, Code::kStale,
            "another server answers: " + found + " instead of " + expected};
}

Status expect_server(const ServerName& server, const std::string& found) {
    if (!server->empty() && *server != found) return other_server(found, *server);
    return Done{};
}

/// The first row of IDENTIFY_SYSTEM.
Status expect_identified(const ServerName& server, const PGresult* result) {
    if (PQntuples(result) != 1 || PQnfields(result) < 2) {
        return Error{Next::kRetry, Code::kInvalid, "IDENTIFY_SYSTEM returned nothing"};
    }
    return expect_server(server,
                         std::string(PQgetvalue(result, 0, 0)) + "/" + PQgetvalue(result, 0, 1));
}

/// Statements one after another; the rows of the last one are the answer.
class Query : public SqlCall {
  public:
    Query(CallId call, std::vector<Statement> statements)
        : SqlCall(call), statements_(std::move(statements)) {}

    std::optional<Statement> next(int) override {
        if (sent_ == statements_.size()) return std::nullopt;
        return statements_[sent_++];
    }
    Status result(const PGresult* result, Events& out) override {
        if (sent_ < statements_.size()) return Done{};
        std::vector<ports::SqlRow> rows;
        rows.reserve(static_cast<std::size_t>(PQntuples(result)));
        for (int i = 0; i < PQntuples(result); ++i) rows.push_back(row_of(result, i));
        if (Status good = check(rows); !good) return good;
        out.push_back(rows_event(call(), std::move(rows)));
        return Done{};
    }

  private:
    virtual Status check(std::vector<ports::SqlRow>& rows) = 0;
    std::vector<Statement> statements_;
    std::size_t sent_ = 0;
};

class InspectQuery : public Query {
  public:
    InspectQuery(CallId call, const ports::Inspect& request, ServerName server)
        : Query(call, {inspect_statement(request)}), server_(std::move(server)) {}

  private:
    Status check(std::vector<ports::SqlRow>& rows) override {
        if (rows.size() != 1) {
            return Error{Next::kRetry, Code::kInvalid,
                         "the check of the table did not return a single row"};
        }
        // From now on each call that relies on a position of the log expects this server.
        *server_ = rows[0][0].value_or("") + "/" + rows[0][1].value_or("");
        return Done{};
    }
    ServerName server_;
};

class InsertLsnQuery : public Query {
  public:
    InsertLsnQuery(CallId call, std::vector<Statement> statements, ServerName server)
        : Query(call, std::move(statements)), server_(std::move(server)) {}
    /// A pool may hold a connection to a server that was demoted: begin afresh then.
    bool ends_session() const override { return other_; }

  private:
    Status check(std::vector<ports::SqlRow>& rows) override {
        if (rows.size() != 1 || rows[0].size() != 5) {
            return Error{Next::kRetry, Code::kInvalid, "the WAL position is not a single row"};
        }
        Status same = expect_server(server_, rows[0][4].value_or(""));
        other_ = !same.ok();
        rows[0].pop_back();
        return same;
    }
    ServerName server_;
    bool other_ = false;
};

class ReadRowsQuery : public Query {
  public:
    ReadRowsQuery(CallId call, const ports::ReadRows& request)
        : Query(call, {read_rows_statement(request)}), key_columns_(request.pk_columns.size()) {}

  private:
    Status check(std::vector<ports::SqlRow>& rows) override {
        for (ports::SqlRow& row : rows) {
            std::string pk;
            for (std::size_t i = 0; i < key_columns_; ++i) {
                if (i > 0) pk += '\x1f';
                pk += row[i].value_or("");
            }
            row.erase(row.begin(), row.begin() + static_cast<std::ptrdiff_t>(key_columns_));
            row.insert(row.begin(), std::move(pk));
        }
        return Done{};
    }
    std::size_t key_columns_;
};

/// One statement, whatever it says.
class AskQuery : public Query {
  public:
    AskQuery(CallId call, Statement statement) : Query(call, {std::move(statement)}) {}

  private:
    Status check(std::vector<ports::SqlRow>&) override { return Done{}; }
};

/// The statement itself says where it may write, so that nothing comes between the look and the
/// write; where it wrote nothing, another one asks whether that was why.
class Update : public SqlCall {
  public:
    Update(CallId call, const ports::UpdateRow& request)
        : SqlCall(call),
          statement_(update_statement(request)),
          only_at_(request.only_at),
          send_by_(std::chrono::steady_clock::now() + request.send_within) {}
    std::optional<Instant> send_by() const override {
        return statement_ ? std::optional(send_by_) : std::nullopt;
    }
    std::optional<Statement> next(int) override {
        if (statement_) return std::exchange(statement_, std::nullopt);
        if (!std::exchange(asks_place_, false)) return std::nullopt;
        return place_statement();
    }
    Status result(const PGresult* result, Events& out) override {
        if (wrote_nothing_) {
            const ports::SqlRow row = PQntuples(result) == 1 ? row_of(result, 0) : ports::SqlRow{};
            const std::string place = row.empty() ? "" : row.front().value_or("");
            ports::SqlRow answer{"0"};
            if (place != only_at_) answer.emplace_back(place);
            out.push_back(rows_event(call(), {std::move(answer)}));
            return Done{};
        }
        // PQcmdTuples only reads; its parameter lacks a const.
        const std::string affected = PQcmdTuples(const_cast<PGresult*>(result));
        wrote_nothing_ = asks_place_ = affected == "0" && !only_at_.empty();
        if (!wrote_nothing_) out.push_back(rows_event(call(), {{affected}}));
        return Done{};
    }

  private:
    std::optional<Statement> statement_;
    std::string only_at_;
    Instant send_by_;
    bool wrote_nothing_ = false;
    bool asks_place_ = false;
};

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

/// Under USE_SNAPSHOT the slot's own session reads: no second one has to import the snapshot. The
/// session ends with the call and takes the temporary slot along.
class CopyCall : public SqlCall {
  public:
    CopyCall(CallId call, ports::CopyTable request, ServerName server)
        : SqlCall(call), request_(std::move(request)), server_(std::move(server)) {}
    bool ends_session() const override { return true; }
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
    ports::CopyTable request_;
    ServerName server_;
    int statements_ = 0;
    std::vector<ports::SqlRow> rows_;
    std::size_t bytes_ = 0;
};

}  // namespace

std::unique_ptr<SqlCall> inspect_call(CallId call, const ports::Inspect& request,
                                      ServerName server) {
    return std::make_unique<InspectQuery>(call, request, std::move(server));
}

std::unique_ptr<SqlCall> insert_lsn_call(CallId call, const ports::AskInsertLsn& request,
                                         ServerName server) {
    std::vector<Statement> statements;
    if (request.emit_message) statements.push_back(emit_message_statement());
    statements.push_back(insert_lsn_statement(request));
    return std::make_unique<InsertLsnQuery>(call, std::move(statements), std::move(server));
}

std::unique_ptr<SqlCall> read_rows_call(CallId call, const ports::ReadRows& request) {
    return std::make_unique<ReadRowsQuery>(call, request);
}

std::unique_ptr<SqlCall> update_call(CallId call, const ports::UpdateRow& request) {
    return std::make_unique<Update>(call, request);
}

std::unique_ptr<SqlCall> ask_call(CallId call, Statement statement) {
    return std::make_unique<AskQuery>(call, std::move(statement));
}

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

std::unique_ptr<SqlCall> copy_call(CallId call, ports::CopyTable request, ServerName server) {
    return std::make_unique<CopyCall>(call, std::move(request), std::move(server));
}

}  // namespace trueup::connectors::postgres
