// One call on a session (session.h): the statements that it takes, one after another, and what
// their results mean. The kinds there are stand in sql_calls.h. Belongs to its session; not
// thread-safe.
#pragma once

#include "connectors/postgres/statements.h"
#include "engine/base/result.h"
#include "engine/ports/call_ids.h"
#include "engine/ports/database.h"

#include <chrono>
#include <optional>
#include <string_view>
#include <vector>

struct pg_result;

namespace trueup::connectors::postgres {

using Instant = std::chrono::steady_clock::time_point;

class SqlCall {
  public:
    explicit SqlCall(ports::CallId call) : call_(call) {}
    virtual ~SqlCall() = default;
    SqlCall(const SqlCall&) = delete;
    SqlCall& operator=(const SqlCall&) = delete;

    /// The next statement; nullopt when the call is answered. `backend`: the server's process.
    virtual std::optional<Statement> next(int backend) = 0;
    /// A statement succeeded with this result. An error ends the call.
    virtual Status result(const pg_result* result, std::vector<ports::DatabaseEvent>& out) = 0;
    /// The server refused the statement. True: that is fine, go on.
    virtual bool forgives(std::string_view sqlstate) {
        (void)sqlstate;
        return false;
    }
    /// One CopyData message.
    virtual Status data(std::string_view bytes, std::vector<ports::DatabaseEvent>& out);
    /// The COPY ended as it should, or the call is answered: what was held back goes out.
    virtual void flush(std::vector<ports::DatabaseEvent>& out) { (void)out; }

    /// When it is too late to send its first statement.
    virtual std::optional<Instant> send_by() const { return std::nullopt; }
    /// May run longer than the limit for a statement.
    virtual bool unhurried() const { return false; }
    /// What the server says of values may show those of rows.
    virtual bool shows_rows() const { return false; }
    /// The session is closed after this call, so that nothing of it stays at the server.
    virtual bool ends_session() const { return false; }

    ports::CallId call() const { return call_; }

  private:
    ports::CallId call_;
};

}  // namespace trueup::connectors::postgres
