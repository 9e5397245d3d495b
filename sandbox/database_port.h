// One client of a world's database: an SQL session, a replication stream and a copying session.
// Internal to sandbox/; made by World::database.
//
// Calls are carried out when they are started and answered in `poll`; streams are fed in `poll`.
#pragma once

#include "engine/ports/database.h"
#include "sandbox/realm.h"

#include <functional>
#include <memory>
#include <set>

namespace trueup::sandbox {

class DatabasePort final : public ports::Database {
  public:
    explicit DatabasePort(std::shared_ptr<Realm> realm);
    ~DatabasePort() override;
    DatabasePort(const DatabasePort&) = delete;
    DatabasePort& operator=(const DatabasePort&) = delete;

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
    void wake() override { realm_->wake(woken_); }

  private:
    /// What a call does once its session gets to it; true as argument: its answer will be lost.
    using Work = std::function<void(const Act& act, bool lose_reply)>;
    struct Queued {
        ports::CallId call = 0;
        Op op = Op::kRead;
        Work work;
    };
    /// A call that makes a slot waits for the transactions that run.
    struct Waiting {
        ports::CallId call = 0;
        std::uint64_t horizon = 0;
        Work work;
        bool lose_reply = false;
    };
    struct Stream {
        ports::CallId call = 0;
        std::uint64_t number = 0;  ///< unique in the world
        std::string slot;
        ports::Lsn position = 0;  ///< commits from here on are yet to be sent
        ports::Lsn sent = 0;      ///< what the last message or keepalive told
        std::uint64_t kills = 0;
        SteadyTime last_status;
        bool pinged = false;
        bool reply_due = false;
        bool relation_sent = false;
        bool dies_soon = false;
    };

    void rows(ports::CallId call, std::vector<ports::SqlRow> rows);
    void snapshot(ports::CallId call, ports::Lsn lsn);
    void wal(Stream& stream, std::string data);
    void end(ports::CallId call);
    void fail(ports::CallId call, std::string sqlstate, std::string what);

    /// Runs `work` on the SQL session, behind whatever hangs there.
    void on_sql_session(ports::CallId call, Op op, Work work);
    void run(const Queued& queued, const Act& act) TRUEUP_REQUIRES(realm_->mutex);
    /// The call meets a prepared failure. True: it is dealt with and does nothing else.
    bool fails(ports::CallId call, Op op, bool& lose_reply) TRUEUP_REQUIRES(realm_->mutex);
    void when_quiet(ports::CallId call, Work work, const Act& act, bool lose_reply)
        TRUEUP_REQUIRES(realm_->mutex);

    bool is_our_table(ports::CallId call, const ports::Table& table);
    std::optional<std::vector<std::size_t>> columns(ports::CallId call,
                                                    const std::vector<std::string>& names)
        TRUEUP_REQUIRES(realm_->mutex);
    /// The value of a key expression over a row; nullopt: the expression is none (call failed).
    std::optional<std::optional<std::string>> key_of(ports::CallId call,
                                                     const std::string& expression,
                                                     const ports::SqlRow& values)
        TRUEUP_REQUIRES(realm_->mutex);
    /// Does the row have one of the names? nullopt: one of them is no expression (call failed).
    std::optional<bool> has_name(ports::CallId call, const std::vector<ports::RowName>& names,
                                 const ports::SqlRow& values) TRUEUP_REQUIRES(realm_->mutex);
    template <typename Request>
    bool may_write(ports::CallId call, const Request& request, Millis kept,
                   std::vector<std::string> names) TRUEUP_REQUIRES(realm_->mutex);
    /// Keeps what a write did, and answers it.
    void tell(ports::CallId call, Effect effect, bool lose_reply) TRUEUP_REQUIRES(realm_->mutex);
    Effect attempt(const ports::UpdateRow& request, const Act& act) TRUEUP_REQUIRES(realm_->mutex);
    std::string why_refused(const ports::UpdateRow& request) const TRUEUP_REQUIRES(realm_->mutex);
    void send_copy(ports::CallId call, const ports::CopyTable& request, bool cut)
        TRUEUP_REQUIRES(realm_->mutex);
    void begin_stream(ports::CallId call, const ports::StartWal& request, bool dies_soon)
        TRUEUP_REQUIRES(realm_->mutex);

    void collect(const Act& act, std::vector<ports::DatabaseEvent>& out)
        TRUEUP_REQUIRES(realm_->mutex);
    /// Returns false when the stream ended.
    bool feed(Stream& stream, const Act& act) TRUEUP_REQUIRES(realm_->mutex);
    void send_commit(Stream& stream, const Commit& commit) TRUEUP_REQUIRES(realm_->mutex);
    bool keep_alive(Stream& stream, const Act& act) TRUEUP_REQUIRES(realm_->mutex);
    void end_streams(const std::function<bool(Stream&)>& which) TRUEUP_REQUIRES(realm_->mutex);
    std::optional<SteadyTime> next_due() const TRUEUP_REQUIRES(realm_->mutex);

    std::shared_ptr<Realm> realm_;
    bool woken_ = false;  ///< under the realm's mutex
    std::uint64_t restarts_seen_ = 0;
    SteadyTime now_{};
    std::int64_t wall_ms_ = 0;
    std::set<ports::CallId> open_;
    std::optional<ports::CallId> hung_;  ///< what the SQL session waits for
    std::deque<Queued> queued_;
    std::vector<Waiting> waiting_;
    std::vector<Stream> streams_;
    std::deque<ports::DatabaseEvent> outbox_;
};

}  // namespace trueup::sandbox
