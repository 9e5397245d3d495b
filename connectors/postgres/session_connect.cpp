// How a session gets its connection: one host after another, and never without protection.
#include "connectors/postgres/session.h"

#include <libpq-fe.h>
#include <poll.h>

namespace trueup::connectors::postgres {

namespace {

constexpr int kChecksClients = 140000;  // the server that knows client_connection_check_interval

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

}  // namespace

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

}  // namespace trueup::connectors::postgres
