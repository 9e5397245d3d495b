#include "connectors/postgres/transport.h"

#include "connectors/postgres/session.h"
#include "connectors/postgres/sql_calls.h"

#include <libpq-fe.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <utility>

namespace trueup::connectors::postgres {

namespace {

constexpr std::int64_t kMicrosTo2000 = 946684800000000;
constexpr std::string_view kOptions =
    "-c standard_conforming_strings=on -c datestyle=ISO -c timezone=UTC -c intervalstyle=postgres "
    "-c bytea_output=hex -c extra_float_digits=1 -c row_security=off "
    "-c idle_in_transaction_session_timeout=0";

struct Freed {
    void operator()(PQconninfoOption* options) const { PQconninfoFree(options); }
};

bool has(const Keywords& keywords, std::string_view name) {
    return std::any_of(keywords.begin(), keywords.end(),
                       [name](const auto& keyword) { return keyword.first == name; });
}

std::string& entry(Keywords& keywords, const std::string& name) {
    for (auto& [keyword, value] : keywords) {
        if (keyword == name) return value;
    }
    return keywords.emplace_back(name, "").second;
}

void set_default(Keywords& keywords, const std::string& name, const std::string& value) {
    if (!has(keywords, name)) keywords.emplace_back(name, value);
}

Keywords with_defaults(Keywords keywords) {
    entry(keywords, "client_encoding") = "UTF8";
    set_default(keywords, "application_name", "trueup");
    set_default(keywords, "keepalives_idle", "10");
    set_default(keywords, "keepalives_interval", "5");
    set_default(keywords, "keepalives_count", "3");
    set_default(keywords, "tcp_user_timeout", "30000");
    std::string& options = entry(keywords, "options");
    options += (options.empty() ? "" : " ") + std::string(kOptions);
    return keywords;
}

Keywords for_sql(Keywords keywords) {
    // An UPDATE that waits for a lock rests on what was so before it.
    entry(keywords, "options") += " -c statement_timeout=30000 -c lock_timeout=1000";
    return keywords;
}

Keywords for_replication(Keywords keywords) {
    // What makes a slot waits for every transaction that writes. A client that is gone is noticed
    // by servers from 14 on (session.cpp); this ends the wait on any.
    entry(keywords, "options") += " -c statement_timeout=0 -c lock_timeout=150000";
    entry(keywords, "replication") = "database";
    return keywords;
}

std::int64_t postgres_now() {
    const auto since = std::chrono::system_clock::now().time_since_epoch();
    return std::chrono::duration_cast<std::chrono::microseconds>(since).count() - kMicrosTo2000;
}

}  // namespace

/// What a wait for sockets is woken by.
class Bell {
  public:
    Bell() : fd_(eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)) {}
    ~Bell() {
        if (made()) ::close(fd_);
    }
    Bell(const Bell&) = delete;
    Bell& operator=(const Bell&) = delete;

    bool made() const { return fd_ >= 0; }
    void ring() const { eventfd_write(fd_, 1); }
    pollfd interest() const { return {fd_, POLLIN, 0}; }
    /// True: it was rung since the last call.
    bool take() const {
        eventfd_t count = 0;
        return eventfd_read(fd_, &count) == 0;
    }

  private:
    const int fd_;
};

struct LibpqDatabase::Sessions {
    Sessions(const Keywords& keywords, bool any_tls)
        : sql(for_sql(keywords), version, any_tls),
          stream(for_replication(keywords), version, any_tls),
          copying(for_replication(keywords), version, any_tls) {}

    std::array<Session*, 3> all() { return {&sql, &stream, &copying}; }

    ServerName server = std::make_shared<std::string>();
    std::shared_ptr<int> version = std::make_shared<int>(0);
    Session sql;
    Session stream;
    Session copying;
    Bell bell;
};

Result<std::unique_ptr<LibpqDatabase>> LibpqDatabase::open(const std::string& conninfo,
                                                           bool any_tls, bool read_only) {
    char* problem = nullptr;
    const std::unique_ptr<PQconninfoOption, Freed> options(
        PQconninfoParse(conninfo.c_str(), &problem));
    // libpq's words quote the text, password included.
    if (problem != nullptr) PQfreemem(problem);
    if (!options) {
        return Error{Next::kStop, Code::kConfiguration,
                     "the PostgreSQL connection string does not parse: expected host=... user=... "
                     "password=... dbname=..., or a postgresql:// URI"};
    }
    Keywords keywords;
    for (const PQconninfoOption* option = options.get(); option->keyword != nullptr; ++option) {
        if (option->val != nullptr) keywords.emplace_back(option->keyword, option->val);
    }
    if (read_only) entry(keywords, "options") += " -c default_transaction_read_only=on";
    auto sessions = std::make_unique<Sessions>(with_defaults(std::move(keywords)), any_tls);
    if (!sessions->bell.made()) {
        return Error{Next::kRetry, Code::kExhausted,
                     "no more files can be opened in this process (eventfd)"};
    }
    return std::unique_ptr<LibpqDatabase>(new LibpqDatabase(std::move(sessions)));
}

LibpqDatabase::LibpqDatabase(std::unique_ptr<Sessions> sessions) : sessions_(std::move(sessions)) {}
LibpqDatabase::~LibpqDatabase() = default;

void LibpqDatabase::inspect(ports::CallId call, const ports::Inspect& request) {
    sessions_->sql.enqueue(inspect_call(call, request, sessions_->server));
}

void LibpqDatabase::ensure_slot(ports::CallId call, const ports::EnsureSlot& request) {
    sessions_->stream.enqueue(ensure_slot_call(call, request.slot));
}

void LibpqDatabase::drop_slot(ports::CallId call, const std::string& slot) {
    sessions_->stream.enqueue(drop_slot_call(call, slot));
}

void LibpqDatabase::copy(ports::CallId call, const ports::CopyTable& request) {
    if (!request.table.query.empty()) return sessions_->sql.enqueue(query_call(call, request));
    sessions_->copying.enqueue(copy_call(call, request, sessions_->server));
}

void LibpqDatabase::start_wal(ports::CallId call, const ports::StartWal& request) {
    sessions_->stream.enqueue(start_wal_call(call, request, sessions_->server));
}

void LibpqDatabase::insert_lsn(ports::CallId call, const ports::AskInsertLsn& request) {
    sessions_->sql.enqueue(insert_lsn_call(call, request, sessions_->server));
}

void LibpqDatabase::read_rows(ports::CallId call, const ports::ReadRows& request) {
    sessions_->sql.enqueue(read_rows_call(call, request));
}

void LibpqDatabase::update_row(ports::CallId call, const ports::UpdateRow& request) {
    sessions_->sql.enqueue(update_call(call, request));
}

void LibpqDatabase::insert_row(ports::CallId call, const ports::InsertRow& request) {
    sessions_->sql.enqueue(insert_call(call, request));
}

void LibpqDatabase::ask(ports::CallId call, Statement statement) {
    sessions_->sql.enqueue(ask_call(call, std::move(statement)));
}

void LibpqDatabase::wal_status(ports::CallId call, ports::Lsn written, ports::Lsn flushed,
                               bool want_reply) {
    sessions_->stream.send_copy_data(call,
                                     standby_status(written, flushed, postgres_now(), want_reply));
}

void LibpqDatabase::cancel(ports::CallId call) {
    for (Session* session : sessions_->all()) {
        if (session->cancel(call)) return;
    }
}

bool LibpqDatabase::interest(ports::Interest& all) const {
    const Instant now = std::chrono::steady_clock::now();
    for (const Session* session : sessions_->all()) {
        if (const auto wanted = session->interest()) all.sockets.push_back(*wanted);
        if (const auto deadline = session->deadline()) {
            const Millis left = std::chrono::ceil<Millis>(std::max(*deadline, now) - now);
            all.at_most = std::min(all.at_most, left);
        }
    }
    return true;
}

void LibpqDatabase::poll(Millis max_wait, std::vector<ports::DatabaseEvent>& out) {
    poll_beside({}, max_wait, out);
}

void LibpqDatabase::poll_beside(const ports::Interest& others, Millis max_wait,
                                std::vector<ports::DatabaseEvent>& out) {
    const std::size_t before = out.size();
    const Millis longest = std::max(std::min(max_wait, others.at_most), Millis(0));
    const Instant end = std::chrono::steady_clock::now() + longest;
    for (bool woken = false;;) {
        for (Session* session : sessions_->all()) session->advance(out);
        const Instant now = std::chrono::steady_clock::now();
        if (out.size() > before || now >= end || woken) return;
        ports::Interest all = others;
        const auto not_ours = static_cast<std::ptrdiff_t>(all.sockets.size());
        all.sockets.push_back(sessions_->bell.interest());
        all.at_most = std::chrono::ceil<Millis>(end - now);
        interest(all);
        ::poll(all.sockets.data(), all.sockets.size(), static_cast<int>(all.at_most.count()));
        const auto ready = [](const pollfd& each) { return each.revents != 0; };
        woken = sessions_->bell.take() ||
                std::any_of(all.sockets.begin(), all.sockets.begin() + not_ours, ready);
    }
}

void LibpqDatabase::wake() { sessions_->bell.ring(); }

}  // namespace trueup::connectors::postgres
