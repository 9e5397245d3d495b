// A PostgreSQL server as scripted by a test: it answers what the connector asks from the fields
// below, writes down each call, and streams what the test pushes.
#pragma once

#include "engine/ports/database.h"

#include <map>
#include <string>
#include <utility>
#include <vector>

namespace trueup::connectors::postgres {

class FakeDatabase : public ports::Database {
  public:
    ports::SqlRow inspection = {"77", "1", "150020", "f", "id", "t", "logical", "status,pod_name"};
    std::string published = "table 1";
    ports::SqlRow slot = {"trueup", "0/100", "reserved"};
    std::string insert_position = "0/1000";
    std::string clock = "1700000000000";  ///< its own, in ms since 1970
    std::string place = "77/1/main";      ///< where a query is answered
    ports::SqlRow types;                  ///< and of which types its columns are
    ports::Lsn consistent_point = 0x800;
    std::vector<ports::SqlRow> rows;
    bool answer_copies = true;
    bool give_snapshots = true;  ///< false: a copy waits for transactions that run
    bool answer_positions = true;
    bool answer_inspections = true;
    bool answer_slots = true;
    /// The next call of that name fails with {sqlstate, words}.
    std::map<std::string, std::pair<std::string, std::string>> failures;

    std::vector<std::string> calls;  ///< in order; statuses apart
    struct Status {
        ports::Lsn written = 0;
        ports::Lsn flushed = 0;
        bool want_reply = false;
    };
    std::vector<Status> statuses;
    ports::CallId wal_call = 0;
    ports::CallId copy_call = 0;
    ports::CallId position_call = 0;

    /// The stream says this.
    void stream(std::string bytes);
    void end_copy();
    void answer_position();
    void fail(ports::CallId call, const std::string& sqlstate, const std::string& words,
              Next next = Next::kRetry);
    std::size_t count(const std::string& call) const;

    void inspect(ports::CallId call, const ports::Inspect& request) override;
    void ensure_slot(ports::CallId call, const ports::EnsureSlot& request) override;
    void drop_slot(ports::CallId call, const std::string& slot) override;
    void copy(ports::CallId call, const ports::CopyTable& request) override;
    void start_wal(ports::CallId call, const ports::StartWal& request) override;
    void insert_lsn(ports::CallId call, const ports::AskInsertLsn& request) override;
    void read_rows(ports::CallId call, const ports::ReadRows& request) override;
    void update_row(ports::CallId call, const ports::UpdateRow& request) override;
    void insert_row(ports::CallId call, const ports::InsertRow& request) override;
    void wal_status(ports::CallId call, ports::Lsn written, ports::Lsn flushed,
                    bool want_reply) override;
    void cancel(ports::CallId call) override;
    void poll(Millis max_wait, std::vector<ports::DatabaseEvent>& out) override;

  private:
    bool begin(ports::CallId call, const std::string& name, const std::string& text);
    void answer(ports::CallId call, std::vector<ports::SqlRow> with);
    void push(ports::CallId call, ports::DatabaseEvent::Kind kind);

    std::vector<ports::DatabaseEvent> events_;
};

}  // namespace trueup::connectors::postgres
