// A connection of the server, from its first byte to its last: the order in which a request is
// read, looked at and answered, and when each step of it has to be over. The only file that uses
// Beast.
#include "api/side.h"

#include <boost/asio/ssl/stream_base.hpp>
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

#include <algorithm>
#include <array>
#include <ctime>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

namespace trueup::api {

namespace beast = boost::beast;
namespace http = boost::beast::http;
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
/// Of answers that were not read yet, where each belongs to one request.
constexpr std::size_t kUnread = std::size_t{64} << 20U;

using Plain = beast::tcp_stream;
using Secure = beast::ssl_stream<beast::tcp_stream>;
using Local = beast::basic_stream<local>;

/// The address that failures are counted for: of IPv6 its network, which one machine has whole.
std::string counted_as(const asio::ip::address& address) {
    if (address.is_v4()) return address.to_string();
    asio::ip::address_v6 v6 = address.to_v6();
    if (v6.is_v4_mapped()) return asio::ip::make_address_v4(asio::ip::v4_mapped, v6).to_string();
    auto bytes = v6.to_bytes();
    std::fill(bytes.begin() + 8, bytes.end(), 0);
    return asio::ip::address_v6(bytes).to_string() + "/64";
}

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

}  // namespace

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

}  // namespace trueup::api
