#include "connectors/postgres/sql_calls.h"

#include "connectors/postgres/call_results.h"

#include <libpq-fe.h>

#include <string_view>
#include <utility>

namespace trueup::connectors::postgres {

namespace {

using ports::CallId;
using ports::DatabaseEvent;
using Events = std::vector<DatabaseEvent>;

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

/// Where it has to tell the place and there is no row that would, another statement asks.
class ReadRowsCall : public SqlCall {
  public:
    ReadRowsCall(CallId call, const ports::ReadRows& request)
        : SqlCall(call),
          statement_(read_rows_statement(request)),
          key_columns_(request.pk_columns.size()),
          tells_place_(request.tell_place),
          of_query_(!request.table.query.empty()) {}
    bool shows_rows() const override { return of_query_; }

    std::optional<Statement> next(int) override {
        if (statement_) return std::exchange(statement_, std::nullopt);
        return std::exchange(place_, std::nullopt);
    }
    Status result(const PGresult* result, Events& out) override {
        std::vector<ports::SqlRow> rows;
        rows.reserve(static_cast<std::size_t>(PQntuples(result)));
        for (int i = 0; i < PQntuples(result); ++i) rows.push_back(row_of(result, i));
        if (std::exchange(tells_place_, false) && rows.empty()) {
            place_ = place_statement();
            asks_place_ = true;
            return Done{};
        }
        if (!asks_place_) name_rows(rows);
        out.push_back(rows_event(call(), std::move(rows)));
        return Done{};
    }

  private:
    void name_rows(std::vector<ports::SqlRow>& rows) const {
        for (ports::SqlRow& row : rows) {
            std::string pk;
            for (std::size_t i = 0; i < key_columns_; ++i) {
                if (i > 0) pk += '\x1f';
                pk += row[i].value_or("");
            }
            row.erase(row.begin(), row.begin() + static_cast<std::ptrdiff_t>(key_columns_));
            row.insert(row.begin(), std::move(pk));
        }
    }
    std::optional<Statement> statement_;
    std::size_t key_columns_;
    bool tells_place_;
    bool of_query_;
    bool asks_place_ = false;
    std::optional<Statement> place_;
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
class Write : public SqlCall {
  public:
    Write(CallId call, Statement statement, std::string only_at, Millis send_within)
        : SqlCall(call),
          statement_(std::move(statement)),
          only_at_(std::move(only_at)),
          send_by_(std::chrono::steady_clock::now() + send_within) {}
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
        // Of an INSERT: is the key of the row the one that was meant?
        const bool told = PQntuples(result) == 1 && PQnfields(result) == 1;
        if (told && std::string_view(PQgetvalue(result, 0, 0)) == "false") {
            out.push_back(rows_event(call(), {{ports::InsertRow::kOther}}));
            return Done{};
        }
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
    return std::make_unique<ReadRowsCall>(call, request);
}

std::unique_ptr<SqlCall> update_call(CallId call, const ports::UpdateRow& request) {
    return std::make_unique<Write>(call, update_statement(request), request.only_at,
                                   request.send_within);
}

std::unique_ptr<SqlCall> insert_call(CallId call, const ports::InsertRow& request) {
    return std::make_unique<Write>(call, insert_statement(request), request.only_at,
                                   request.send_within);
}

std::unique_ptr<SqlCall> ask_call(CallId call, Statement statement) {
    return std::make_unique<AskQuery>(call, std::move(statement));
}

}  // namespace trueup::connectors::postgres
