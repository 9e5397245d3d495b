// One question after another to a database that nobody else uses, and its whole answer. Blocking;
// not thread-safe.
#pragma once

#include "engine/base/result.h"
#include "engine/ports/clock.h"
#include "engine/ports/database.h"

#include <string>
#include <utility>
#include <vector>

namespace trueup::connectors::postgres {

class Asker {
  public:
    static constexpr Millis kLimit{5000};  ///< for all of its questions together
    static constexpr const char* kSilent = "PostgreSQL did not answer within 5 s";

    /// Keeps references to both.
    Asker(ports::Database& database, ports::Clock& clock)
        : database_(database), clock_(clock), end_(clock.steady_now() + kLimit) {}

    /// The rows that answer `call`, which was just started.
    Result<std::vector<ports::SqlRow>> wait_for(ports::CallId call) {
        std::vector<ports::SqlRow> rows;
        for (SteadyTime now = clock_.steady_now(); now < end_; now = clock_.steady_now()) {
            std::vector<ports::DatabaseEvent> events;
            database_.poll(end_ - now, events);
            for (ports::DatabaseEvent& event : events) {
                if (event.call != call) continue;
                if (event.kind == ports::DatabaseEvent::Kind::kFailed) {
                    sqlstate_ = event.sqlstate;
                    return event.error;
                }
                if (event.kind == ports::DatabaseEvent::Kind::kEnd) return rows;
                for (ports::SqlRow& row : event.rows) rows.push_back(std::move(row));
            }
        }
        database_.cancel(call);
        return Error{Next::kRetry, Code::kTimeout, kSilent};
    }

    /// Of the last question that failed; empty: no word from the server.
    const std::string& sqlstate() const { return sqlstate_; }

  private:
    ports::Database& database_;
    ports::Clock& clock_;
    SteadyTime end_;
    std::string sqlstate_;
};

}  // namespace trueup::connectors::postgres
