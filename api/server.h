// The HTTP side of the process: /healthz, /readyz, /metrics. Read-only.
#pragma once

#include "api/snapshot.h"
#include "engine/base/result.h"

#include <functional>
#include <memory>
#include <string>

namespace trueup::api {

class Server {
  public:
    /// Binds `host:port` (port 0: a free one) and serves on threads of its own. `look` is called
    /// from those threads.
    static Result<std::unique_ptr<Server>> start(const std::string& listen,
                                                 const std::function<Snapshot()>& look);
    ~Server();

    /// `host:port` that was bound.
    const std::string& address() const;

  private:
    struct Http;
    explicit Server(std::unique_ptr<Http> http);
    std::unique_ptr<Http> http_;
};

}  // namespace trueup::api
