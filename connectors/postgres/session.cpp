#include "connectors/postgres/session.h"

#include <libpq-fe.h>
#include <poll.h>

#include <algorithm>
#include <array>
#include <thread>

namespace trueup::connectors::postgres {

namespace {

constexpr std::chrono::seconds kStatementLimit{30};
constexpr int kChecksClients = 140000;  // the server that knows client_connection_check_interval
constexpr std::size_t kPollBytes = 4UL * 1024 * 1024;

/// libpq 15 keeps no SQLSTATE of a failed connection; the server's words must do.
constexpr std::array<std::pair<std::string_view, std::string_view>, 8> kConnectStates = {{
    {"authentication failed", "28P01"},
    {"no pg_hba.conf entry", "28000"},
    {"no password supplied", "28P01"},
    {"must be superuser or replication role", "42501"},
    {"permission denied to start WAL sender", "42501"},
    {"is not permitted to log in", "28000"},
    {"too many", "53300"},
    {"starting up", "57P03"},
}};

std::string connect_state(std::string_view message) {
    for (const auto& [words, state] : kConnectStates) {
        if (message.find(words) != std::string_view::npos) return std::string(state);
    }
    if (message.find("does not exist") == std::string_view::npos) return {};
    return message.find("database \"") != std::string_view::npos ? "3D000" : "28000";
}

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

/// What libpq made of it all.
Keywords resolved(pg_conn* connection) {
    Keywords keywords;
    PQconninfoOption* const options = PQconninfo(connection);
    for (PQconninfoOption* o = options; o != nullptr && o->keyword != nullptr; ++o) {
        if (o->val != nullptr && *o->val != '\0') keywords.emplace_back(o->keyword, o->val);
    }
    PQconninfoFree(options);
    return keywords;
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

Next next_move(std::string_view sqlstate) {
    const std::string_view family = sqlstate.substr(0, 2);
    // Names, rights, what this server cannot do: the same again until an operator acts.
    if (family == "42" || family == "28" || family == "3D" || family == "0A") return Next::kStop;
    // It is about these values; other rows may be fine.
    if (family == "22" || family == "23") return Next::kSkip;
    return Next::kRetry;
}

Code code_of(std::string_view sqlstate) {
    const std::string_view family = sqlstate.substr(0, 2);
    if (family == "28" || sqlstate == "42501") return Code::kDenied;
    if (family == "3D" || sqlstate == "42P01" || sqlstate == "42703" || sqlstate == "42704") {
        return Code::kNotFound;  // database; table, column, other object
    }
    if (family == "42" || family == "22" || family == "23") return Code::kInvalid;
    if (family == "0A") return Code::kUnsupported;
    if (family == "53") return Code::kExhausted;
    if (sqlstate == "55006" || family == "40") return Code::kConflict;
    if (family == "55") return Code::kConfiguration;  // not in the state that this needs
    if (sqlstate == "58P01") return Code::kLost;      // WAL that was removed
    return Code::kUnavailable;
}

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

void Session::connect(std::vector<ports::DatabaseEvent>& out) {
    Keywords keywords = keywords_;
    // Such a server finds that its client is gone while it runs a statement, and frees the slot.
    if (*version_ >= kChecksClients) {
        for (auto& [keyword, value] : keywords) {
            if (keyword == "options") value += " -c client_connection_check_interval=10000";
        }
    }
    tried_.clear();
    connect_to(keywords);
    if (connection_ == nullptr) return lost(out);
    // Nothing was sent yet.
    targets_ = one_by_one(resolved(connection_));
    target_ = 0;
    const Status safe = judge_tls(resolved(connection_));
    if (!safe && !any_tls_) return fail("", safe.error(), true, out);
    limit_ = connect_limit(targets_.front(), targets_.size());
    deadline_ = std::chrono::steady_clock::now() + limit_;
    // PQconnectPoll goes on to another host when one refuses, and never when one is silent.
    if (targets_.size() > 1) return connect_to_target(out);
    if (PQstatus(connection_) == CONNECTION_BAD) lost(out);
}

void Session::connect_to(const Keywords& keywords) {
    std::vector<const char*> keys;
    std::vector<const char*> values;
    for (const auto& [keyword, value] : keywords) {
        keys.push_back(keyword.c_str());
        values.push_back(value.c_str());
    }
    keys.push_back(nullptr);
    values.push_back(nullptr);
    if (connection_ != nullptr) PQfinish(connection_);
    connection_ = PQconnectStartParams(keys.data(), values.data(), 0);
    state_ = State::kConnecting;
    wants_write_ = true;
    if (connection_ == nullptr) return;
    PQsetNoticeProcessor(
        connection_, [](void*, const char*) {}, nullptr);
}

void Session::connect_to_target(std::vector<ports::DatabaseEvent>& out) {
    connect_to(targets_[target_]);
    deadline_ = std::chrono::steady_clock::now() + limit_;
    if (connection_ == nullptr) return lost(out);
    // A host that the list leaves empty is filled in from the environment.
    const Status safe = judge_tls(resolved(connection_));
    if (!safe && !any_tls_) return fail("", safe.error(), true, out);
    if (PQstatus(connection_) == CONNECTION_BAD) lost(out);
}

bool Session::connect_to_next(const std::string& why, std::vector<ports::DatabaseEvent>& out) {
    if (target_ + 1 >= targets_.size()) return false;
    const std::string host = value_of(targets_[target_], "host");
    tried_ += "; before it " + (host.empty() ? value_of(targets_[target_], "hostaddr") : host) +
              ": " + why;
    ++target_;
    connect_to_target(out);
    return true;
}

void Session::go_on_connecting(std::vector<ports::DatabaseEvent>& out) {
    // Polling a socket that is not ready makes libpq wait for it.
    pollfd ready{PQsocket(connection_), static_cast<short>(wants_write_ ? POLLOUT : POLLIN), 0};
    if (ready.fd >= 0 && ::poll(&ready, 1, 0) == 0) return;
    switch (PQconnectPoll(connection_)) {
        case PGRES_POLLING_READING:
            wants_write_ = false;
            return;
        case PGRES_POLLING_WRITING:
            wants_write_ = true;
            return;
        case PGRES_POLLING_OK:
            PQsetnonblocking(connection_, 1);
            *version_ = PQserverVersion(connection_);
            state_ = State::kReady;
            wants_write_ = false;
            deadline_.reset();
            targets_.clear();
            tried_.clear();
            return;
        default:
            return lost(out);
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
