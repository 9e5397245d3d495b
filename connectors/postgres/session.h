// One connection to a server, made when it is first needed, never waited for: calls queue up on it
// and run one after another. Internal to the transport. Not thread-safe.
#pragma once

#include "connectors/postgres/hosts.h"
#include "connectors/postgres/sql_call.h"
#include "engine/base/time.h"
#include "engine/ports/database.h"

#include <chrono>
#include <cstddef>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

struct pg_conn;
struct pg_result;
struct pollfd;

namespace trueup::connectors::postgres {

class Session {
  public:
    /// `version`: of the server, shared by its sessions; 0 until one of them has met it.
    /// `any_tls`: also without knowing who answers.
    Session(Keywords keywords, std::shared_ptr<int> version, bool any_tls)
        : keywords_(std::move(keywords)), version_(std::move(version)), any_tls_(any_tls) {}
    ~Session() { close(); }
    Session(const Session&) = delete;
    Session& operator=(const Session&) = delete;

    void enqueue(std::unique_ptr<SqlCall> call);
    /// Forgets a call; one that runs takes the connection with it. False: not here.
    bool cancel(ports::CallId call);
    void close();

    /// Moves on as far as possible without waiting, and up to some MiB.
    void advance(std::vector<ports::DatabaseEvent>& out);
    /// What to wait for; nullopt when there is nothing.
    std::optional<pollfd> interest() const;
    /// When `advance` has something to do even if nothing comes.
    std::optional<Instant> deadline() const { return deadline_; }

    /// Sends CopyData on a running stream of that call; kept back until the stream runs.
    void send_copy_data(ports::CallId call, std::string bytes);

  private:
    enum class State { kClosed, kConnecting, kReady, kBusy, kCopy };

    void connect(std::vector<ports::DatabaseEvent>& out);
    void connect_to(const Keywords& keywords);
    void connect_to_target(std::vector<ports::DatabaseEvent>& out);
    bool connect_to_next(const std::string& why, std::vector<ports::DatabaseEvent>& out);
    void go_on_connecting(std::vector<ports::DatabaseEvent>& out);
    void send_next(std::vector<ports::DatabaseEvent>& out);
    bool read_results(std::vector<ports::DatabaseEvent>& out);
    void take_result(const pg_result* result, std::vector<ports::DatabaseEvent>& out);
    bool read_copy(std::vector<ports::DatabaseEvent>& out);
    bool send_pending();
    void finish(std::vector<ports::DatabaseEvent>& out);
    void fail(std::string sqlstate, Error error, bool broken,
              std::vector<ports::DatabaseEvent>& out);
    void lost(std::vector<ports::DatabaseEvent>& out);
    std::string clean(const char* message) const;

    Keywords keywords_;
    std::shared_ptr<int> version_;
    bool any_tls_ = false;
    std::vector<Keywords> targets_;  ///< while connecting: the hosts, tried one after another
    std::size_t target_ = 0;
    std::string tried_;  ///< what those before it said
    std::chrono::seconds limit_{};
    pg_conn* connection_ = nullptr;
    State state_ = State::kClosed;
    bool wants_write_ = false;
    std::optional<Instant> deadline_;
    std::deque<std::unique_ptr<SqlCall>> queue_;
    std::optional<std::pair<std::string, Error>> failure_;  ///< of the running statement
    std::deque<std::string> pending_copy_data_;
    std::size_t room_ = 0;  ///< bytes that this call of `advance` may still read
};

}  // namespace trueup::connectors::postgres
