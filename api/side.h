// The server behind server.h: what it has, on which thread each part of it runs, and what it needs
// of a connection. For the files of the server only.
#pragma once

#include "api/asio.h"
#include "api/attempts.h"
#include "api/backend.h"
#include "api/certificate.h"
#include "api/http.h"
#include "api/metrics.h"
#include "api/routes.h"
#include "api/server.h"
#include "engine/base/mutex.h"

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/thread_pool.hpp>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace trueup::api {

/// What the server needs of a connection, whatever it runs over. Of the I/O thread.
class Connection {
  public:
    virtual ~Connection() = default;
    virtual void close() = 0;
    virtual void answer(Answer answer) = 0;
    std::uint64_t number = 0;  ///< in the order of their coming
    bool known = false;        ///< it has shown a good token
    std::atomic<bool> gone{false};
};

struct Counters {
    std::array<std::atomic<std::uint64_t>, 5> answered{};
    std::array<std::atomic<std::uint64_t>, kRefusals> refused{};
    std::atomic<std::uint64_t> connections{0};

    void refuse(Refused why) { ++refused[static_cast<std::size_t>(why)]; }
    HttpView view() const {
        HttpView view;
        for (std::size_t i = 0; i < answered.size(); ++i) view.answered[i] = answered[i];
        for (std::size_t i = 0; i < kRefusals; ++i) view.refused[i] = refused[i];
        view.connections = connections;
        return view;
    }
};

/// The server. All but `looks` belongs to the I/O thread, but for what a comment says.
struct Side {
    static constexpr std::size_t kWorkers = 4;

    struct Look {
        std::shared_ptr<Connection> connection;
        Page page = Page::kReady;
        bool known = false;
    };
    struct Pages {
        Answer metrics;
        Answer strangers;  ///< whether it is ready, without names
        Answer callers;
    };

    Side(ServerSettings wanted, Backends given)
        : settings(std::move(wanted)), backends(std::move(given)) {}

    /// Waits for the next connection of each acceptor that is open and does not wait.
    void accept();
    void accept_tcp();
    void accept_local();
    /// No file is left for a connection, as a rule: goes on a little later.
    void accept_again(bool& accepting, asio::steady_timer& again);
    void begin(tcp::socket socket);
    void begin(local::socket socket);
    void make_room();
    void add(const std::shared_ptr<Connection>& connection);
    void drop(Connection& connection);
    /// From one look at the process for all who wait: however many ask, it costs one at a time.
    void look(Look look);
    void run_looks();
    /// What those who wait are answered. Of the looking thread, as `seen` is.
    Pages see(const std::vector<Look>& taken);
    /// On a worker. False: too many wait.
    bool work(std::shared_ptr<Connection> connection, Plan plan, std::string body);
    /// Counts a token that did not do. The answer, if another one than was meant.
    std::optional<Answer> unauthorized(const std::string& peer, const Plan& plan);
    void run();

    asio::io_context io{1};  // first: it ends last, after all that lives in it
    /// Something thrown while nothing is waited for would end `io` for good.
    asio::executor_work_guard<asio::io_context::executor_type> stays{io.get_executor()};
    const ServerSettings settings;
    const Backends backends;
    std::string address;
    tcp::acceptor acceptor{io};
    asio::steady_timer again{io};
    bool accepting = false;  ///< the next connection is waited for, or `again`
    local::acceptor local_acceptor{io};
    asio::steady_timer local_again{io};
    bool local_accepting = false;
    std::optional<Certificate> certificate;
    std::string flaw_told;  ///< of the certificate; empty: it was sound
    Attempts attempts;
    Counters counters;
    std::map<std::uint64_t, std::weak_ptr<Connection>> connections;
    std::uint64_t last_number = 0;
    std::size_t waiting = 0;
    std::size_t unread = 0;

    Mutex looks_mutex;
    CondVar looks_there;
    std::vector<Look> looks TRUEUP_GUARDED_BY(looks_mutex);
    bool ending TRUEUP_GUARDED_BY(looks_mutex) = false;
    std::vector<Snapshot> seen;  ///< of each policy; empty: nobody has looked yet
    std::chrono::steady_clock::time_point seen_at;

    std::thread io_thread;
    std::thread look_thread;
    asio::thread_pool workers{kWorkers};
};

}  // namespace trueup::api
