// The HTTP side of the process (api/routes.h), built so that a stranger cannot hurt it: who may
// speak is decided by a header of 8 KiB at the most before a body is read, every wait has an end,
// and a stranger's connection gives way to a newer one when there are too many. docs/adr/0024 says
// why, docs/operations/http.md what that means for those who run it.
#pragma once

#include "api/backend.h"
#include "engine/base/result.h"
#include "engine/base/time.h"

#include <cstddef>
#include <memory>
#include <string>

namespace trueup::api {

/// The tests make them smaller; nobody else does.
struct ServerLimits {
    std::size_t connections = 256;
    Millis header{10'000};  ///< from its first byte, or from the connection, to its end
    Millis body{10'000};    ///< likewise; not longer, however little comes at a time
    Millis write{30'000};   ///< until an answer was read
    Millis idle{90'000};    ///< between two requests of a connection
    Millis look{200};       ///< how old the look may be that /readyz and /metrics answer from
};

struct ServerSettings {
    std::string listen;     ///< `host:port`; port 0: a free one; empty: no TCP
    std::string socket;     ///< path of a Unix socket, for this account alone; empty: none
    std::string cert_file;  ///< PEM, the chain below it too; empty: plain HTTP
    std::string key_file;   ///< PEM, without a password; as engine/ports/private_file.h takes it
    ServerLimits limits;
};

class Server {
  public:
    /// Binds address and socket for itself alone, and serves on threads of its own. A Unix socket
    /// speaks plain HTTP, takes the same tokens, and is left out with a warning where its path is
    /// longer than the system takes. kRetry: the machine does not give the address away now, or
    /// another process serves on the socket; kStop: the settings are wrong. The certificate is
    /// read again when its file changes; one that is not sound is told, and the old one stays.
    static Result<std::unique_ptr<Server>> start(const ServerSettings& settings, Backends backends);
    /// Ends the threads, and waits for nobody at the other end of a connection.
    ~Server();

    /// `host:port` that was bound; empty without TCP.
    const std::string& address() const;

  private:
    struct Http;
    explicit Server(std::unique_ptr<Http> http);
    std::unique_ptr<Http> http_;
};

}  // namespace trueup::api
