#include "api/server.h"

#include "api/attempts.h"
#include "api/metrics.h"
#include "api/routes.h"
#include "engine/base/mutex.h"
#include "engine/ports/private_file.h"

// gcc's thread sanitizer knows no fences; its queues are behind mutexes anyway.
#if defined(__SANITIZE_THREAD__)
#define BOOST_ASIO_DISABLE_FENCED_BLOCK 1
#endif
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/basic_stream.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http/error.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/status.hpp>
#include <boost/beast/http/string_body.hpp>
#include <boost/beast/ssl/ssl_stream.hpp>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <charconv>
#include <ctime>
#include <filesystem>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <thread>
#include <type_traits>
#include <utility>

namespace trueup::api {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;
using asio::ip::tcp;
using local = asio::local::stream_protocol;
using Code = boost::system::error_code;

namespace {

constexpr std::size_t kLongestHeader = std::size_t{8} << 10U;
constexpr std::size_t kLongestBody = std::size_t{64} << 10U;
/// Of a body as it is sent, with the sizes of its chunks and what may stand beside them.
constexpr std::size_t kLongestRaw = 2 * kLongestBody;
/// Read and thrown away after the answer to a refused request, so that a client that still sends
/// gets to read it.
constexpr std::size_t kLongestScrap = kLongestBody;
constexpr std::uint64_t kNoLimit = std::numeric_limits<std::uint64_t>::max();
constexpr std::chrono::seconds kLinger{1};
constexpr std::chrono::milliseconds kAcceptAgain{100};
constexpr std::size_t kWorkers = 4;
/// Requests that wait for the engine: of users and viewers, and of everybody.
constexpr std::size_t kWaitingOfMany = 32;
constexpr std::size_t kWaiting = 64;
/// Of answers that were not read yet, where each belongs to one request.
constexpr std::size_t kUnread = std::size_t{64} << 20U;

using Plain = beast::tcp_stream;
using Secure = beast::ssl_stream<beast::tcp_stream>;
using Local = beast::basic_stream<local>;

/// The certificate, as its files are now.
class Certificate {
  public:
    Certificate(std::string cert_file, std::string key_file)
        : cert_file_(std::move(cert_file)), key_file_(std::move(key_file)) {}

    /// Reads the files if they changed. The error is one sentence; what was read before stays.
    Status look() {
        const auto times = times_of_files();
        if (times == times_) return Done{};
        const Result<std::string> key = ports::read_private_file(key_file_);
        if (!key) {
            return Error{Next::kStop, trueup::Code::kConfiguration,
                         "http.tls.key_file: " + key.error().what};
        }
        Code wrong;
        auto fresh = std::make_shared<asio::ssl::context>(asio::ssl::context::tls_server);
        SSL_CTX_set_min_proto_version(fresh->native_handle(), TLS1_2_VERSION);
        SSL_CTX_set_options(fresh->native_handle(),
                            SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION);
        // OpenSSL would ask the terminal, and wait there.
        bool locked = false;
        fresh->set_password_callback([&locked](auto, auto) {
            locked = true;
            return std::string();
        });
        fresh->use_certificate_chain_file(cert_file_, wrong);
        if (wrong) return flaw("http.tls.cert_file " + cert_file_, "a PEM certificate", wrong);
        fresh->use_private_key(asio::buffer(*key), asio::ssl::context::pem, wrong);
        if (wrong && locked) {
            return Error{Next::kStop, trueup::Code::kConfiguration,
                         "http.tls.key_file " + key_file_ +
                             " is encrypted with a password, which Trueup cannot ask for; remove "
                             "it: openssl pkey -in FILE -out OTHER"};
        }
        if (wrong) {
            return flaw("http.tls.key_file " + key_file_, "the PEM key of the certificate", wrong);
        }
        fresh->set_password_callback([](auto, auto) { return std::string(); });
        context_ = std::move(fresh);
        // Not before: a chmod that mends a file does not change its time.
        times_ = times;
        return Done{};
    }
    asio::ssl::context& context() { return *context_; }

  private:
    using Times = std::pair<std::filesystem::file_time_type, std::filesystem::file_time_type>;
    Times times_of_files() const {
        std::error_code gone;  // min() then: another time than before
        return {std::filesystem::last_write_time(cert_file_, gone),
                std::filesystem::last_write_time(key_file_, gone)};
    }
    static Error flaw(const std::string& what, const char* wanted, const Code& code) {
        return Error{Next::kStop, trueup::Code::kConfiguration,
                     what + " cannot be used (" + code.message() + "); it takes " + wanted +
                         " that this process may read"};
    }

    std::string cert_file_;
    std::string key_file_;
    std::optional<Times> times_;
    std::shared_ptr<asio::ssl::context> context_;
};

/// The address that failures are counted for: of IPv6 its network, which one machine has whole.
std::string counted_as(const asio::ip::address& address) {
    if (address.is_v4()) return address.to_string();
    asio::ip::address_v6 v6 = address.to_v6();
    if (v6.is_v4_mapped()) return asio::ip::make_address_v4(asio::ip::v4_mapped, v6).to_string();
    auto bytes = v6.to_bytes();
    std::fill(bytes.begin() + 8, bytes.end(), 0);
    return asio::ip::address_v6(bytes).to_string() + "/64";
}

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

/// One connection. It lives as long as something of it is under way.
template <typename Stream>
class Session final : public Connection, public std::enable_shared_from_this<Session<Stream>> {
  public:
    Session(Side& server, std::string peer, Stream stream)
        : server_(server), peer_(std::move(peer)), stream_(std::move(stream)) {}

    void start() {
        lowest().expires_after(server_.settings.limits.header);
        if constexpr (std::is_same_v<Stream, Secure>) {
            stream_.async_handshake(asio::ssl::stream_base::server,
                                    [self = self()](const Code& code) {
                                        if (code) return self->fail(code, Refused::kMalformed);
                                        self->read_header();
                                    });
        } else {
            read_header();
        }
    }
    void close() override {
        if (gone.exchange(true)) return;
        server_.unread -= std::exchange(own_unread_, 0);
        lowest().close();
        server_.drop(*this);
    }
    void answer(Answer answer) override {
        if (gone) return;
        const bool own = !plan_.open();
        const std::size_t size = answer.body->size();
        if (own && server_.unread > 0 && server_.unread + size > kUnread) {
            server_.counters.refuse(Refused::kBusy);
            answer =
                refusal(503, "too many responses have not been read; read them, then try again");
        } else if (own) {
            server_.unread += size;
            own_unread_ = size;
        }
        send(std::move(answer));
    }

  private:
    using Parser = http::request_parser<http::string_body>;

    std::shared_ptr<Session> self() { return this->shared_from_this(); }
    auto& lowest() { return beast::get_lowest_layer(stream_); }

    /// The end of a connection on which there was nothing to say any more.
    void fail(const Code& code, Refused otherwise) {
        if (code == beast::error::timeout) {
            server_.counters.refuse(Refused::kDeadline);
        } else if (code != asio::error::operation_aborted && code != asio::error::eof &&
                   code != http::error::end_of_stream) {
            server_.counters.refuse(otherwise);
        }
        close();
    }

    /// Between requests: whoever says nothing may do so for longer than one who has begun.
    void wait() {
        if (buffer_.size() > 0) {
            lowest().expires_after(server_.settings.limits.header);
            return read_header();
        }
        lowest().expires_after(server_.settings.limits.idle);
        stream_.async_read_some(
            buffer_.prepare(1024), [self = self()](const Code& code, std::size_t size) {
                if (code) return self->close();
                self->buffer_.commit(size);
                self->lowest().expires_after(self->server_.settings.limits.header);
                self->read_header();
            });
    }

    void read_header() {
        parser_.emplace();
        parser_->header_limit(kLongestHeader);
        parser_->body_limit(kNoLimit);  // who asks is looked at first
        plan_ = {};
        http::async_read_header(stream_, buffer_, *parser_,
                                [self = self()](const Code& code, std::size_t) {
                                    if (code) return self->bad_header(code);
                                    self->on_header();
                                });
    }
    void bad_header(const Code& code) {
        if (code == http::error::header_limit || code == http::error::buffer_overflow) {
            return refuse(refusal(431, "the request header is larger than 8 KiB"),
                          Refused::kTooLarge);
        }
        // What is not of HTTP itself came of the connection.
        const bool spoken =
            code.category() == http::make_error_code(http::error::bad_method).category();
        if (!spoken || code == http::error::end_of_stream || code == http::error::partial_message) {
            return fail(code, Refused::kMalformed);
        }
        refuse(refusal(400, "not a valid HTTP request: " + code.message()), Refused::kMalformed);
    }

    void on_header() {
        const auto& header = parser_->get();
        if (header.count(http::field::authorization) > 1) {
            return refuse(refusal(400, "send one Authorization header"), Refused::kMalformed);
        }
        const auto text = [](auto view) { return std::string(view.data(), view.size()); };
        plan_ = plan(server_.backends.tokens,
                     {text(header.method_string()), text(header.target()),
                      text(header[http::field::authorization])},
                     std::time(nullptr));
        known = known || plan_.known;
        if (plan_.unauthorized) {
            if (auto other = server_.unauthorized(peer_, plan_)) plan_.refusal = std::move(other);
        }
        if (plan_.refusal) return refuse(std::move(*plan_.refusal), std::nullopt);
        if (std::optional<Answer> flaw = flaw_of_body()) {
            return refuse(std::move(*flaw),
                          flaw->status == 413 ? Refused::kTooLarge : Refused::kMalformed);
        }
        parser_->body_limit(kLongestBody);
        parser_->eager(true);
        raw_ = 0;
        lowest().expires_after(server_.settings.limits.body);
        if (parser_->is_done() || !beast::iequals(header[http::field::expect], "100-continue")) {
            return read_body();
        }
        head_ = "HTTP/1.1 100 Continue\r\n\r\n";
        asio::async_write(stream_, asio::buffer(head_),
                          [self = self()](const Code& code, std::size_t) {
                              if (code) return self->fail(code, Refused::kMalformed);
                              self->read_body();
                          });
    }

    /// What the header says of the body that cannot be taken, of a caller who may send one.
    std::optional<Answer> flaw_of_body() const {
        const auto& header = parser_->get();
        const auto expect = header[http::field::expect];
        if (!expect.empty() && !beast::iequals(expect, "100-continue")) {
            return refusal(417, "only Expect: 100-continue is supported");
        }
        const auto encoding = header[http::field::content_encoding];
        if (!encoding.empty() && !beast::iequals(encoding, "identity")) {
            return refusal(415, "send the body uncompressed, without Content-Encoding");
        }
        const auto transfer = header[http::field::transfer_encoding];
        if (!transfer.empty() && !beast::iequals(transfer, "chunked")) {
            return refusal(501, "only the Transfer-Encoding chunked is supported");
        }
        if (!plan_.takes_body() && !parser_->is_done()) {
            return refusal(400, "this request takes no body");
        }
        const auto length = parser_->content_length();
        if (length && *length > kLongestBody) return too_large();
        return std::nullopt;
    }
    static Answer too_large() { return refusal(413, "the body is larger than 64 KiB"); }

    /// Not by Beast's own loop: that one goes on for as long as the sizes of chunks come in pieces,
    /// and what stands beside them is in no limit of a body.
    void read_body() {
        Code code;
        while (buffer_.size() > 0 && !parser_->is_done() && !code) {
            buffer_.consume(parser_->put(buffer_.data(), code));
        }
        if (code && code != http::error::need_more) return bad_body(code);
        if (parser_->is_done()) return dispatch();
        if (raw_ > kLongestRaw || buffer_.size() >= kLongestHeader) {
            return bad_body(http::error::body_limit);
        }
        stream_.async_read_some(buffer_.prepare(kLongestHeader - buffer_.size()),
                                [self = self()](const Code& wrong, std::size_t size) {
                                    if (wrong) return self->fail(wrong, Refused::kMalformed);
                                    self->buffer_.commit(size);
                                    self->raw_ += size;
                                    self->read_body();
                                });
    }
    void bad_body(const Code& code) {
        if (code == http::error::body_limit) return refuse(too_large(), Refused::kTooLarge);
        bad_header(code);
    }

    void dispatch() {
        lowest().expires_never();
        if (plan_.page == Page::kAlive) return answer(serve(server_.backends, plan_, {}));
        if (plan_.open()) return server_.look({self(), plan_.page, plan_.known});
        if (server_.work(self(), plan_, std::move(parser_->get().body()))) return;
        server_.counters.refuse(Refused::kBusy);
        Answer busy = refusal(503, "too many requests at once; try again");
        busy.headers.emplace_back("Retry-After", "1");
        answer(std::move(busy));
    }

    /// Answers and ends the connection: what comes behind this header is nobody's.
    void refuse(Answer answer, std::optional<Refused> why) {
        if (why) server_.counters.refuse(*why);
        ends_ = true;
        send(std::move(answer));
    }

    void send(Answer answer) {
        const bool stays = !ends_ && parser_->get().keep_alive();
        ends_ = !stays;
        const unsigned at = std::clamp(answer.status / 100, 1U, 5U) - 1;
        ++server_.counters.answered[at];
        const auto reason = http::obsolete_reason(static_cast<http::status>(answer.status));
        head_ = "HTTP/1.1 " + std::to_string(answer.status) + " " +
                std::string(reason.data(), reason.size()) + "\r\nContent-Type: " + answer.type +
                "\r\nContent-Length: " + std::to_string(answer.body->size()) +
                "\r\nCache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\nConnection: " +
                (stays ? "keep-alive" : "close") + "\r\n";
        for (const auto& [name, value] : answer.headers) {
            head_.append(name).append(": ").append(value).append("\r\n");
        }
        head_ += "\r\n";
        body_ = parser_->get().method() == http::verb::head ? std::make_shared<const std::string>()
                                                            : std::move(answer.body);
        lowest().expires_after(server_.settings.limits.write);
        asio::async_write(
            stream_, std::array<asio::const_buffer, 2>{asio::buffer(head_), asio::buffer(*body_)},
            [self = self()](const Code& code, std::size_t) { self->on_sent(code); });
    }
    void on_sent(const Code& code) {
        body_.reset();
        server_.unread -= std::exchange(own_unread_, 0);
        if (gone) return;
        if (code) return fail(code, Refused::kDeadline);
        if (!ends_) return wait();
        parser_.reset();
        lowest().expires_after(kLinger);
        if constexpr (std::is_same_v<Stream, Secure>) {
            stream_.async_shutdown([self = self()](const Code&) { self->end(); });
        } else {
            end();
        }
    }
    /// Says that nothing more comes, and reads a little on: a reset would take the answer away.
    void end() {
        Code ignored;
        lowest().socket().shutdown(asio::socket_base::shutdown_send, ignored);
        scrap();
    }
    void scrap() {
        buffer_.clear();
        lowest().async_read_some(buffer_.prepare(1024),
                                 [self = self()](const Code& code, std::size_t size) {
                                     self->scrap_ += size;
                                     if (code || self->scrap_ > kLongestScrap) return self->close();
                                     self->scrap();
                                 });
    }

    Side& server_;
    std::string peer_;
    Stream stream_;
    beast::flat_buffer buffer_{kLongestHeader};
    std::optional<Parser> parser_;
    Plan plan_;
    std::string head_;                         ///< of the answer
    std::shared_ptr<const std::string> body_;  ///< likewise
    std::size_t raw_ = 0;                      ///< bytes of the body, as they came
    std::size_t scrap_ = 0;
    std::size_t own_unread_ = 0;
    bool ends_ = false;
};

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

/// Who may open the socket runs as our account: its failures are counted as one address.
void Side::begin(local::socket socket) {
    if (connections.size() >= settings.limits.connections) make_room();
    auto session =
        std::make_shared<Session<Local>>(*this, "the local socket", Local(std::move(socket)));
    add(session);
    session->start();
}

void Side::begin(tcp::socket socket) {
    Code gone;
    const tcp::endpoint peer = socket.remote_endpoint(gone);
    if (gone) return;
    socket.set_option(tcp::no_delay(true), gone);
    if (connections.size() >= settings.limits.connections) make_room();
    if (!certificate) {
        auto session = std::make_shared<Session<Plain>>(*this, counted_as(peer.address()),
                                                        Plain(std::move(socket)));
        add(session);
        return session->start();
    }
    const Status read = certificate->look();
    const std::string flaw = read ? std::string() : read.error().what;
    const bool news = flaw != flaw_told;  // else there would be a line for each connection
    flaw_told = flaw;
    if (news && !flaw.empty()) backends.warn(flaw);
    auto session = std::make_shared<Session<Secure>>(
        *this, counted_as(peer.address()), Secure(std::move(socket), certificate->context()));
    add(session);
    session->start();
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

}  // namespace

struct Server::Http : Side {
    using Side::Side;
    Status bind_local();
    ~Http();
    std::uint64_t local_inode = 0;  ///< of the socket that was bound here
};

Server::Server(std::unique_ptr<Http> http) : http_(std::move(http)) {}

Server::~Server() {
    http_->io.stop();
    {
        const MutexLock lock(http_->looks_mutex);
        http_->ending = true;
    }
    http_->looks_there.notify_one();
    http_->workers.stop();
    http_->io_thread.join();
    http_->look_thread.join();
    http_->workers.join();
}

const std::string& Server::address() const { return http_->address; }

namespace {

struct Place {
    std::string host;
    std::uint16_t port = 0;
};

std::optional<Place> place_of(const std::string& listen) {
    const std::size_t colon = listen.rfind(':');
    if (colon == std::string::npos) return std::nullopt;
    Place place{listen.substr(0, colon), 0};
    const char* end = listen.data() + listen.size();
    const auto parsed = std::from_chars(listen.data() + colon + 1, end, place.port);
    if (parsed.ec != std::errc{} || parsed.ptr != end) return std::nullopt;
    return place;
}

/// For this process alone: SO_REUSEADDR takes over what a dead one left behind, and never what
/// another one listens on; SO_REUSEPORT would share it.
Code bind_alone(tcp::acceptor& acceptor, const tcp::endpoint& endpoint) {
    Code code;
    acceptor.open(endpoint.protocol(), code);
    if (!code) acceptor.set_option(tcp::acceptor::reuse_address(true), code);
    if (!code) acceptor.bind(endpoint, code);
    if (!code) acceptor.listen(asio::socket_base::max_listen_connections, code);
    Code ignored;
    if (code) acceptor.close(ignored);
    return code;
}

Status bind_to(tcp::acceptor& acceptor, const Place& place, const std::string& listen) {
    std::string host = place.host;
    if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
    Code code;
    tcp::resolver resolver(acceptor.get_executor());
    const auto found =
        resolver.resolve(host, std::to_string(place.port),
                         tcp::resolver::passive | tcp::resolver::numeric_service, code);
    for (auto one = found.begin(); one != found.end(); ++one) {
        code = bind_alone(acceptor, one->endpoint());
        if (!code || code == asio::error::address_in_use) break;
    }
    if (!code) return Done{};
    const bool taken = code == asio::error::address_in_use;
    return Error{Next::kRetry, taken ? trueup::Code::kConflict : trueup::Code::kUnavailable,
                 "cannot listen on " + listen + ": " +
                     (taken ? "another process has the port" : code.message()) +
                     "; set http.listen to a free one, or to port 0"};
}

/// May the path be bound? What a dead process left behind refuses a connection, and is removed;
/// anything else belongs to a living one, or cannot be judged.
bool is_free(asio::io_context& io, const local::endpoint& endpoint) {
    local::socket socket(io);
    Code code;
    socket.connect(endpoint, code);
    if (code == asio::error::connection_refused) {
        std::error_code ignored;
        std::filesystem::remove(endpoint.path(), ignored);
        return true;
    }
    return code == boost::system::errc::no_such_file_or_directory;
}

/// Which file it is; another one of that name has another number.
std::uint64_t inode_of(const std::string& path) {
    struct stat found {};
    return ::lstat(path.c_str(), &found) == 0 ? found.st_ino : 0;
}

}  // namespace

Status Server::Http::bind_local() {
    const std::string& path = settings.socket;
    if (path.empty()) return Done{};
    Code code;
    local::endpoint endpoint;
    try {
        endpoint.path(path);
    } catch (const boost::system::system_error&) {
        backends.warn(path +
                      " is too long for a socket: the command line uses http.listen instead");
        return Done{};
    }
    if (!is_free(io, endpoint)) {
        return Error{
            Next::kRetry, trueup::Code::kConflict,
            "another process serves on " + path + "; stop it, or give this one its own state_dir"};
    }
    local_acceptor.open(endpoint.protocol(), code);
    if (!code) local_acceptor.bind(endpoint, code);
    if (!code) local_inode = inode_of(path);
    // Before it listens: who may connect is decided by the file's mode.
    if (!code) {
        std::error_code refused;
        std::filesystem::permissions(
            path, std::filesystem::perms::owner_read | std::filesystem::perms::owner_write,
            refused);
        code.assign(refused.value(), boost::system::system_category());
    }
    if (!code) local_acceptor.listen(asio::socket_base::max_listen_connections, code);
    if (!code) return Done{};
    Code closed;
    local_acceptor.close(closed);
    return Error{Next::kRetry, trueup::Code::kUnavailable,
                 "cannot listen on " + path + ": " + code.message()};
}

Server::Http::~Http() {
    // Another process may have taken the name over.
    if (!local_acceptor.is_open() || inode_of(settings.socket) != local_inode) return;
    std::error_code ignored;
    std::filesystem::remove(settings.socket, ignored);
}

Result<std::unique_ptr<Server>> Server::start(const ServerSettings& settings, Backends backends) {
    const std::optional<Place> place = place_of(settings.listen);
    if (!place && !settings.listen.empty()) {
        return Error{Next::kStop, trueup::Code::kConfiguration,
                     "http.listen is '" + settings.listen + "'; write it as 127.0.0.1:9464"};
    }
    auto http = std::make_unique<Http>(settings, std::move(backends));
    if (!settings.cert_file.empty()) {
        http->certificate.emplace(settings.cert_file, settings.key_file);
        if (Status read = http->certificate->look(); !read) return read.error();
    }
    if (place) {
        if (Status bound = bind_to(http->acceptor, *place, settings.listen); !bound) {
            return bound.error();
        }
        http->address = place->host + ":" + std::to_string(http->acceptor.local_endpoint().port());
    }
    if (Status bound = http->bind_local(); !bound) return bound.error();
    http->io_thread = std::thread([raw = http.get()] { raw->run(); });
    http->look_thread = std::thread([raw = http.get()] { raw->run_looks(); });
    return std::unique_ptr<Server>(new Server(std::move(http)));
}

}  // namespace trueup::api
