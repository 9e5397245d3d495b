// HTTP as a stranger may speak it: bytes over a socket of loopback, sent as they are.
#pragma once

#include "engine/base/check.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include <cctype>
#include <chrono>
#include <cstdlib>
#include <string>
#include <string_view>
#include <utility>

namespace trueup::test_support {

struct RawAnswer {
    int status = 0;  ///< 0: the connection ended without one
    std::string head;
    std::string body;

    /// Of the header of that name; empty: there is none.
    std::string header(std::string_view name) const {
        const std::string wanted = "\r\n" + std::string(name) + ": ";
        const std::size_t at = head.find(wanted);
        if (at == std::string::npos) return {};
        const std::size_t begin = at + wanted.size();
        return head.substr(begin, head.find("\r\n", begin) - begin);
    }
};

/// One connection to `127.0.0.1:PORT`, or to the Unix socket of that path. No wait is longer than
/// 20 s, where nothing else is said.
class RawHttp {
  public:
    explicit RawHttp(const std::string& address)
        : socket_(::socket(address.starts_with('/') ? AF_UNIX : AF_INET, SOCK_STREAM | SOCK_CLOEXEC,
                           0)) {
        const timeval limit{20, 0};
        wait_at_most(limit);
        setsockopt(socket_, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
        if (address.starts_with('/')) {
            sockaddr_un to{};
            to.sun_family = AF_UNIX;
            TRUEUP_CHECK(address.size() < sizeof to.sun_path);
            address.copy(to.sun_path, address.size());
            TRUEUP_CHECK(connect(socket_, reinterpret_cast<sockaddr*>(&to), sizeof to) == 0);
            return;
        }
        sockaddr_in to{};
        to.sin_family = AF_INET;
        to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        to.sin_port = htons(
            static_cast<std::uint16_t>(std::atoi(address.substr(address.rfind(':') + 1).c_str())));
        TRUEUP_CHECK(connect(socket_, reinterpret_cast<sockaddr*>(&to), sizeof to) == 0);
    }
    ~RawHttp() {
        if (socket_ >= 0) close(socket_);
    }
    RawHttp(const RawHttp&) = delete;
    RawHttp& operator=(const RawHttp&) = delete;

    /// False: the other side takes no more.
    bool send(std::string_view bytes) {
        while (!bytes.empty()) {
            const ssize_t sent = ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
            if (sent <= 0) return false;
            bytes.remove_prefix(static_cast<std::size_t>(sent));
        }
        return true;
    }
    /// The next answer. `has_body`: false for HEAD.
    RawAnswer answer(bool has_body = true) {
        RawAnswer answer;
        std::size_t end = 0;
        while ((end = buffer_.find("\r\n\r\n")) == std::string::npos) {
            if (!more()) return answer;
        }
        answer.head = buffer_.substr(0, end + 2);
        buffer_.erase(0, end + 4);
        answer.status = std::atoi(answer.head.substr(answer.head.find(' ') + 1).c_str());
        const auto length =
            static_cast<std::size_t>(std::atoi(answer.header("Content-Length").c_str()));
        while (has_body && buffer_.size() < length && more()) {
        }
        answer.body = has_body ? buffer_.substr(0, length) : std::string();
        buffer_.erase(0, answer.body.size());
        return answer;
    }
    /// Until the other side has ended the connection. False: it was silent for all the limit.
    bool ended(std::chrono::milliseconds limit = std::chrono::seconds(20)) {
        wait_at_most({limit.count() / 1000, limit.count() % 1000 * 1000});
        while (more()) {
        }
        return ended_;
    }

  private:
    void wait_at_most(const timeval& limit) const {
        setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    }
    bool more() {
        char bytes[4096];
        const ssize_t size = recv(socket_, bytes, sizeof bytes, 0);
        if (size > 0) buffer_.append(bytes, static_cast<std::size_t>(size));
        ended_ = size == 0 || (size < 0 && (errno == ECONNRESET || errno == EPIPE));
        return size > 0;
    }

    int socket_;
    std::string buffer_;
    bool ended_ = false;
};

/// A request as a sound client writes it. `token`: empty for none.
inline std::string request_text(const std::string& method, const std::string& path,
                                const std::string& token, const std::string& body = {}) {
    std::string text = method + " " + path + " HTTP/1.1\r\nHost: trueup\r\n";
    if (!token.empty()) text += "Authorization: Bearer " + token + "\r\n";
    if (!body.empty()) text += "Content-Length: " + std::to_string(body.size()) + "\r\n";
    return text + "\r\n" + body;
}

/// One request over a connection of its own.
inline RawAnswer call(const std::string& address, const std::string& method,
                      const std::string& path, const std::string& token,
                      const std::string& body = {}) {
    RawHttp http(address);
    http.send(request_text(method, path, token, body));
    return http.answer(method != "HEAD");
}

}  // namespace trueup::test_support
