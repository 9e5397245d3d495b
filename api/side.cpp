// Who is let in and who gives way to it, what is answered from one look for all, and what waits for
// a worker: the server apart from its connections.
#include "api/side.h"

#include <boost/asio/post.hpp>

#include <algorithm>
#include <chrono>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace trueup::api {

using Code = boost::system::error_code;

namespace {

constexpr std::chrono::milliseconds kAcceptAgain{100};
/// Requests that wait for the engine: of users and viewers, and of everybody.
constexpr std::size_t kWaitingOfMany = 32;
constexpr std::size_t kWaiting = 64;

}  // namespace

void Side::accept() {
    // Not those that wait already: something may have been thrown while one came.
    if (acceptor.is_open() && !accepting) accept_tcp();
    if (local_acceptor.is_open() && !local_accepting) accept_local();
}

void Side::accept_tcp() {
    accepting = true;
    acceptor.async_accept([this](const Code& code, tcp::socket socket) {
        accepting = false;
        if (code) return accept_again(accepting, again);
        begin(std::move(socket));
        accept();
    });
}

void Side::accept_local() {
    local_accepting = true;
    local_acceptor.async_accept([this](const Code& code, local::socket socket) {
        local_accepting = false;
        if (code) return accept_again(local_accepting, local_again);
        begin(std::move(socket));
        accept();
    });
}

void Side::accept_again(bool& waits, asio::steady_timer& timer) {
    make_room();  // a stranger may give a file back
    waits = true;
    timer.expires_after(kAcceptAgain);
    timer.async_wait([this, &waits](const Code&) {
        waits = false;
        accept();
    });
}

/// The oldest that has not shown a token gives way. So strangers take from each other, and a probe,
/// which is the newest, is served. Tokens have half of all to themselves, and not more: beyond that
/// the oldest of them gives way, or whoever has one could keep the probes out.
void Side::make_room() {
    std::shared_ptr<Connection> stranger;
    std::shared_ptr<Connection> caller;
    std::size_t callers = 0;
    for (const auto& [number, weak] : connections) {
        auto one = weak.lock();
        if (!one) continue;
        if (one->known) ++callers;
        auto& oldest = one->known ? caller : stranger;
        if (!oldest) oldest = std::move(one);
    }
    const bool many = 2 * callers > settings.limits.connections;
    const auto& gives_way = many || !stranger ? caller : stranger;
    if (!gives_way) return;
    counters.refuse(Refused::kFull);
    gives_way->close();
}

void Side::add(const std::shared_ptr<Connection>& connection) {
    connection->number = ++last_number;
    connections.emplace(connection->number, connection);
    counters.connections = connections.size();
}

void Side::drop(Connection& connection) {
    connections.erase(connection.number);
    counters.connections = connections.size();
}

void Side::look(Look look) {
    const MutexLock lock(looks_mutex);
    // Nobody waits any more on those that gave way.
    if (looks.size() >= 2 * settings.limits.connections) {
        std::erase_if(looks, [](const Look& one) { return one.connection->gone.load(); });
    }
    looks.push_back(std::move(look));
    looks_there.notify_one();
}

Side::Pages Side::see(const std::vector<Look>& taken) {
    const auto now = std::chrono::steady_clock::now();
    if (seen.empty() || now - seen_at >= settings.limits.look) {
        std::vector<Snapshot> fresh;
        for (const Backend& each : backends.policies) fresh.push_back(each.snapshot());
        seen = std::move(fresh);
        seen_at = now;
    }
    Pages pages{{}, readiness(seen, false), readiness(seen, true)};
    pages.metrics.type = "text/plain; version=0.0.4; charset=utf-8";
    if (std::any_of(taken.begin(), taken.end(),
                    [](const Look& one) { return one.page == Page::kMetrics; })) {
        pages.metrics.body =
            std::make_shared<const std::string>(metrics_text(seen, counters.view()));
    }
    return pages;
}

void Side::run_looks() {
    std::string told;
    for (;;) {
        std::vector<Look> taken;
        {
            const MutexLock lock(looks_mutex);
            while (!ending && looks.empty()) looks_there.wait(looks_mutex);
            if (ending) return;
            taken.swap(looks);
        }
        Pages pages;
        try {
            pages = see(taken);
            told.clear();
        } catch (const std::exception& error) {
            if (told != error.what()) {
                told = error.what();
                backends.warn("http: cannot read the state of the process: " + told);
            }
            pages.metrics = pages.strangers = pages.callers =
                refusal(500, "internal error; the log of the process says why");
        }
        asio::post(io, [taken = std::move(taken), pages = std::move(pages)] {
            for (const Look& one : taken) {
                const Answer& ready = one.known ? pages.callers : pages.strangers;
                one.connection->answer(one.page == Page::kMetrics ? pages.metrics : ready);
            }
        });
    }
}

bool Side::work(std::shared_ptr<Connection> connection, Plan plan, std::string body) {
    const std::size_t most = plan.caller.role < Role::kOps ? kWaitingOfMany : kWaiting;
    if (waiting >= most) return false;
    ++waiting;
    asio::post(workers, [this, connection = std::move(connection), plan = std::move(plan),
                         body = std::move(body)]() mutable {
        Answer answer;
        try {
            answer = serve(backends, plan, body);
        } catch (const std::exception& error) {
            backends.warn(std::string("http: a request failed: ") + error.what());
            answer = refusal(500, "internal error; the log of the process says why");
        }
        asio::post(io, [this, connection = std::move(connection), answer = std::move(answer)] {
            --waiting;
            connection->answer(answer);
        });
    });
    return true;
}

std::optional<Answer> Side::unauthorized(const std::string& peer, const Plan& plan) {
    counters.refuse(Refused::kUnauthorized);
    const auto now = std::chrono::steady_clock::now().time_since_epoch();
    const Attempts::Verdict verdict =
        attempts.failed(peer, std::chrono::duration_cast<std::chrono::seconds>(now).count());
    if (verdict.log) {
        std::string sentence =
            "http: " + peer + " asked for " + std::string(path_of(plan.page)) +
            (plan.known ? " as '" + plan.caller.name + "', whose role does not allow it"
                        : " without a valid token");
        if (verdict.wait > 0)
            sentence += "; it fails often, so further failures are not logged for a while";
        if (verdict.unlogged > 0) {
            sentence += " (" + std::to_string(verdict.unlogged) + " more were not logged)";
        }
        backends.warn(sentence);
    }
    if (verdict.wait == 0 || !plan.refusal) return std::nullopt;
    Answer wait = refusal(429, "too many requests from this address had no valid token; wait " +
                                   std::to_string(verdict.wait) + " s, or send a valid one");
    wait.headers.emplace_back("Retry-After", std::to_string(verdict.wait));
    return wait;
}

void Side::run() {
    for (;;) {
        try {
            accept();  // or what was thrown while one came would be the last of all
            io.run();
            return;
        } catch (const std::exception& error) {
            backends.warn(std::string("http: ") + error.what());
        }
        // What it happened to is gone without a word.
        std::erase_if(connections, [](const auto& one) { return one.second.expired(); });
        counters.connections = connections.size();
    }
}

}  // namespace trueup::api
