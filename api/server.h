// The HTTP side of the process: /healthz, /readyz and /metrics for everybody, and what api/routes.h
// lists for those who have a token.
#pragma once

#include "api/backend.h"
#include "engine/base/result.h"

#include <memory>
#include <string>

namespace trueup::api {

class Server {
  public:
    /// Binds `host:port` (port 0: a free one) and serves on threads of its own.
    static Result<std::unique_ptr<Server>> start(const std::string& listen, Backend backend);
    ~Server();

    /// `host:port` that was bound.
    const std::string& address() const;

  private:
    struct Http;
    explicit Server(std::unique_ptr<Http> http);
    std::unique_ptr<Http> http_;
};

}  // namespace trueup::api
