#include "connectors/postgres/session.h"

#include "connectors/postgres/sqlstate.h"

#include <libpq-fe.h>
#include <poll.h>

#include <algorithm>
#include <array>
#include <thread>

namespace trueup::connectors::postgres {

namespace {

constexpr std::chrono::seconds kStatementLimit{30};
constexpr std::size_t kPollBytes = 4UL * 1024 * 1024;

ports::DatabaseEvent event(ports::CallId call, ports::DatabaseEvent::Kind kind) {
    ports::DatabaseEvent made;
    made.call = call;
    made.kind = kind;
    return made;
}

int send(pg_conn* connection, const Statement& statement) {
    if (statement.simple) return PQsendQuery(connection, statement.sql.c_str());
    std::vector<const char*> values;
    for (const auto& value : statement.values) values.push_back(value ? value->c_str() : nullptr);
    return PQsendQueryParams(connection, statement.sql.c_str(), static_cast<int>(values.size()),
                             nullptr, values.data(), nullptr, nullptr, 0);
}

/// Asks the server to end what the connection runs. A backend that waits for a lock, as one that
/// makes a slot waits for every transaction that writes, does not see that its client is gone: it
/// would hold its slot and a walsender until then. The request goes over a connection of its own,
/// which may take as long as the network does (tcp_user_timeout), so nobody waits for it.
void cancel_running(pg_conn* connection) {
    PGcancel* const running = PQgetCancel(connection);
    if (running == nullptr) return;
    std::thread([running] {
        std::array<char, 256> why{};
        PQcancel(running, why.data(), static_cast<int>(why.size()));  // a server that is gone, too
        PQfreeCancel(running);
    }).detach();
}

}  // namespace

Status SqlCall::data(std::string_view bytes, std::vector<ports::DatabaseEvent>& out) {
    (void)out;
    return Error{Next::kRetry, Code::kInvalid, std::to_string(bytes.size()) + " unexpected bytes"};
}

void Session::enqueue(std::unique_ptr<SqlCall> call) { queue_.push_back(std::move(call)); }

bool Session::cancel(ports::CallId call) {
    for (auto it = queue_.begin(); it != queue_.end(); ++it) {
        if ((*it)->call() != call) continue;
        // The result of a statement that is under way would be taken for that of the next call.
        const bool running = it == queue_.begin() && state_ != State::kClosed;
        const bool ends_session = (*it)->ends_session();
        queue_.erase(it);
        if (running && (state_ != State::kReady || ends_session)) close();
        return true;
    }
    return false;
}

void Session::close() {
    if (state_ == State::kBusy) cancel_running(connection_);
    if (connection_ != nullptr) PQfinish(connection_);
    connection_ = nullptr;
    state_ = State::kClosed;
    wants_write_ = false;
    deadline_.reset();
    failure_.reset();
    pending_copy_data_.clear();
    targets_.clear();
}

std::string Session::clean(const char* message) const {
    std::string text = message == nullptr ? "" : message;
    // Messages go into the log, and libpq quotes what it was given.
    Keywords all = keywords_;
    if (target_ < targets_.size()) {
        all.insert(all.end(), targets_[target_].begin(), targets_[target_].end());
    }
    for (const auto& [keyword, value] : all) {
        if (keyword != "password" && keyword != "sslpassword") continue;
        for (std::size_t at = 0; !value.empty();) {
            at = text.find(value, at);
            if (at == std::string::npos) break;
            text.replace(at, value.size(), "***");
            at += 3;
        }
    }
    for (char& c : text) {
        if (c == '\n' || c == '\r') c = ' ';
    }
    while (!text.empty() && text.back() == ' ') text.pop_back();
    return text;
}

void Session::advance(std::vector<ports::DatabaseEvent>& out) {
    if (deadline_ && std::chrono::steady_clock::now() >= *deadline_) {
        const bool connecting = state_ == State::kConnecting;
        const auto limit = connecting ? limit_ : kStatementLimit;
        const std::string silent = "gave no answer in " + std::to_string(limit.count()) + " s";
        if (!connecting || !connect_to_next(silent, out)) {
            fail("", {Next::kRetry, Code::kTimeout, "PostgreSQL " + silent + tried_}, true, out);
        }
    }
    // A stream without a pause must not keep the thread from everything else that it does.
    room_ = kPollBytes;
    for (bool more = true; more && room_ > 0;) {
        const State before = state_;
        const std::size_t queued = queue_.size();
        more = false;
        if (state_ == State::kClosed && !queue_.empty()) connect(out);
        if (state_ == State::kConnecting) go_on_connecting(out);
        if (state_ == State::kReady && !queue_.empty()) send_next(out);
        if (state_ == State::kBusy) more = read_results(out);
        if (state_ == State::kCopy) more = read_copy(out);
        // Another state may have something to do at once; a failed connection is not tried again
        // within one call.
        more = more || (state_ != State::kClosed && (state_ != before || queue_.size() != queued));
    }
}

void Session::send_next(std::vector<ports::DatabaseEvent>& out) {
    const std::optional<Instant> send_by = queue_.front()->send_by();
    if (send_by && std::chrono::steady_clock::now() > *send_by) {
        return fail("", {Next::kRetry, Code::kUnavailable, "not sent: the deadline had passed"},
                    false, out);
    }
    const std::optional<Statement> statement = queue_.front()->next(PQbackendPID(connection_));
    if (!statement) return finish(out);
    if (send(connection_, *statement) == 0) return lost(out);
    state_ = State::kBusy;
    wants_write_ = PQflush(connection_) == 1;
    deadline_.reset();
    if (!queue_.front()->unhurried()) {
        deadline_ = std::chrono::steady_clock::now() + kStatementLimit;
    }
}

void Session::finish(std::vector<ports::DatabaseEvent>& out) {
    const std::unique_ptr<SqlCall> done = std::move(queue_.front());
    queue_.pop_front();
    done->flush(out);
    out.push_back(event(done->call(), ports::DatabaseEvent::Kind::kEnd));
    deadline_.reset();
    if (done->ends_session()) close();
}

void Session::fail(std::string sqlstate, Error error, bool broken,
                   std::vector<ports::DatabaseEvent>& out) {
    deadline_.reset();
    if (!queue_.empty()) {
        ports::DatabaseEvent failed =
            event(queue_.front()->call(), ports::DatabaseEvent::Kind::kFailed);
        failed.sqlstate = std::move(sqlstate);
        failed.error = std::move(error);
        broken = broken || queue_.front()->ends_session();
        out.push_back(std::move(failed));
        queue_.pop_front();
    }
    failure_.reset();
    if (broken) close();
}

void Session::lost(std::vector<ports::DatabaseEvent>& out) {
    const bool connecting = state_ == State::kConnecting;
    const std::string words = clean(connection_ == nullptr ? "" : PQerrorMessage(connection_));
    const std::string sqlstate = connecting ? connect_state(words) : "";
    // As libpq does: one that cannot take anybody now, but not one that does not want us.
    const bool elsewhere = connecting && (sqlstate.empty() || sqlstate == "57P03");
    if (elsewhere && connect_to_next(words, out)) return;
    const Next next = sqlstate.empty() ? Next::kRetry : next_move(sqlstate);
    fail(sqlstate,
         {next, code_of(sqlstate),
          (connecting ? "cannot connect to PostgreSQL: " : "connection lost: ") + words +
              (connecting ? tried_ : "")},
         true, out);
}

bool Session::read_results(std::vector<ports::DatabaseEvent>& out) {
    // What came in before a connection broke is read before that is said: it tells more.
    const bool alive = PQflush(connection_) >= 0 && PQconsumeInput(connection_) == 1;
    wants_write_ = alive && PQflush(connection_) == 1;
    while (PQisBusy(connection_) == 0) {
        PGresult* result = PQgetResult(connection_);
        if (result == nullptr) break;
        const ExecStatusType status = PQresultStatus(result);
        if (status != PGRES_COPY_OUT && status != PGRES_COPY_BOTH) take_result(result, out);
        PQclear(result);
        if (status == PGRES_COPY_OUT || status == PGRES_COPY_BOTH) {
            state_ = State::kCopy;
            deadline_.reset();
            return true;
        }
        if (status == PGRES_COPY_IN) {  // Half closed: the server sends no more.
            fail("", {Next::kRetry, Code::kUnavailable, "the server ended the replication stream"},
                 true, out);
            return false;
        }
    }
    const bool broken = !alive || PQstatus(connection_) == CONNECTION_BAD;
    if (failure_ && (broken || PQisBusy(connection_) == 0)) {
        auto failure = std::move(*failure_);
        state_ = State::kReady;
        fail(std::move(failure.first), std::move(failure.second), broken, out);
        return !broken;
    }
    if (broken) {
        lost(out);
        return false;
    }
    if (PQisBusy(connection_) != 0) return false;
    state_ = State::kReady;
    return true;
}

void Session::take_result(const pg_result* result, std::vector<ports::DatabaseEvent>& out) {
    const ExecStatusType status = PQresultStatus(result);
    // What comes after the first failure is its consequence.
    if (failure_ || status == PGRES_COPY_IN) return;
    if (status == PGRES_TUPLES_OK || status == PGRES_COMMAND_OK) {
        const Status taken = queue_.front()->result(result, out);
        if (!taken) failure_ = std::pair(std::string(), taken.error());
        return;
    }
    const char* code = PQresultErrorField(result, PG_DIAG_SQLSTATE);
    const std::string sqlstate = code == nullptr ? "" : code;
    if (queue_.front()->forgives(sqlstate)) return;
    std::string words = clean(PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY));
    const std::string detail = clean(PQresultErrorField(result, PG_DIAG_MESSAGE_DETAIL));
    // The detail of a data error shows row values; that of a slot says why it is lost.
    if (!detail.empty() && sqlstate.starts_with("55")) words += " (" + detail + ")";
    if (words.empty()) words = clean(PQresultErrorMessage(result));
    if (sqlstate.starts_with("22") && queue_.front()->shows_rows()) {
        words =
            "a value of a row is none of the type that it is cast to (SQLSTATE " + sqlstate + ")";
    }
    failure_ =
        std::pair(sqlstate, Error{next_move(sqlstate), code_of(sqlstate), "PostgreSQL: " + words});
}

bool Session::send_pending() {
    while (!pending_copy_data_.empty()) {
        const std::string& bytes = pending_copy_data_.front();
        const int put = PQputCopyData(connection_, bytes.data(), static_cast<int>(bytes.size()));
        if (put < 0) return false;
        if (put == 0) break;  // The buffer is full: later.
        pending_copy_data_.pop_front();
    }
    const int flushed = PQflush(connection_);
    wants_write_ = flushed == 1;
    return flushed >= 0;
}

bool Session::read_copy(std::vector<ports::DatabaseEvent>& out) {
    const bool alive = send_pending() && PQconsumeInput(connection_) == 1;
    while (room_ > 0) {
        char* bytes = nullptr;
        const int size = PQgetCopyData(connection_, &bytes, 1);
        if (size == -1) {  // Done or refused: the result says which.
            state_ = State::kBusy;
            return true;
        }
        if (size < 0 || (size == 0 && !alive)) {
            lost(out);
            return false;
        }
        if (size == 0) return false;
        const auto length = static_cast<std::size_t>(size);
        room_ -= std::min(room_, length);
        const Status taken = queue_.front()->data({bytes, length}, out);
        PQfreemem(bytes);
        if (!taken) {
            fail("", taken.error(), true, out);
            return false;
        }
    }
    return false;
}

std::optional<pollfd> Session::interest() const {
    if (connection_ == nullptr || PQsocket(connection_) < 0) return std::nullopt;
    if (state_ == State::kClosed) return std::nullopt;
    // What is said to a session that asked for nothing is that it ended: the next call finds out.
    // Waited for here, it would be there again and again.
    if (state_ == State::kReady && queue_.empty() && !wants_write_) return std::nullopt;
    pollfd wanted{PQsocket(connection_), POLLIN, 0};
    if (state_ == State::kConnecting) {
        wanted.events = wants_write_ ? POLLOUT : POLLIN;
    } else if (wants_write_ || (state_ == State::kCopy && !pending_copy_data_.empty())) {
        wanted.events = POLLIN | POLLOUT;
    }
    return wanted;
}

void Session::send_copy_data(ports::CallId call, std::string bytes) {
    if (queue_.empty() || queue_.front()->call() != call) return;
    pending_copy_data_.push_back(std::move(bytes));
}

}  // namespace trueup::connectors::postgres
