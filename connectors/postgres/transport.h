// ports::Database over libpq: three sessions, each connected when it is first needed and never
// waited for. (A host name is looked up by the resolver, which does wait.)
//
// Every statement but the making of a slot and the running of a copy or stream has 30 s, a connect
// what hosts.h says. Nothing is sent to a server that need not prove who it is. Error texts never
// hold a password. All sessions read text in one form: UTF-8, ISO dates, UTC; and with row_security
// off, so that a row that the role may not see is an error, never absent. Not thread-safe.
#pragma once

#include "connectors/postgres/statements.h"
#include "engine/base/result.h"
#include "engine/ports/database.h"

#include <memory>
#include <string>
#include <vector>

namespace trueup::connectors::postgres {

class LibpqDatabase : public ports::Database {
  public:
    /// `conninfo` as in libpq: `host=… user=… password=… dbname=…` or a URI. Connects to nothing
    /// yet; fails only on text that is none. `any_tls`: sslmode is the operator's own business.
    /// `read_only`: no statement writes, whatever it calls.
    static Result<std::unique_ptr<LibpqDatabase>> open(const std::string& conninfo,
                                                       bool any_tls = false,
                                                       bool read_only = false);
    ~LibpqDatabase() override;
    LibpqDatabase(const LibpqDatabase&) = delete;
    LibpqDatabase& operator=(const LibpqDatabase&) = delete;

    void inspect(ports::CallId call, const ports::Inspect& request) override;
    void ensure_slot(ports::CallId call, const ports::EnsureSlot& request) override;
    void drop_slot(ports::CallId call, const std::string& slot) override;
    void copy(ports::CallId call, const ports::CopyTable& request) override;
    void start_wal(ports::CallId call, const ports::StartWal& request) override;
    void insert_lsn(ports::CallId call, const ports::AskInsertLsn& request) override;
    void read_rows(ports::CallId call, const ports::ReadRows& request) override;
    void update_row(ports::CallId call, const ports::UpdateRow& request) override;
    void insert_row(ports::CallId call, const ports::InsertRow& request) override;
    /// Any one statement, for what a port need not know. Answer: kRows, kEnd.
    void ask(ports::CallId call, Statement statement);
    void wal_status(ports::CallId call, ports::Lsn written, ports::Lsn flushed,
                    bool want_reply) override;
    void cancel(ports::CallId call) override;
    void poll(Millis max_wait, std::vector<ports::DatabaseEvent>& out) override;
    void poll_beside(const ports::Interest& others, Millis max_wait,
                     std::vector<ports::DatabaseEvent>& out) override;
    bool interest(ports::Interest& all) const override;
    void wake() override;

  private:
    struct Sessions;
    explicit LibpqDatabase(std::unique_ptr<Sessions> sessions);
    std::unique_ptr<Sessions> sessions_;
};

}  // namespace trueup::connectors::postgres
