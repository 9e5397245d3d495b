// The policies of one process, each in a Host of its own, and the HTTP side over all of them. One
// that is left out, or halts, leaves the others alone (docs/adr/0039).
#pragma once

#include "api/server.h"
#include "apps/host.h"
#include "engine/base/result.h"

#include <memory>
#include <string>
#include <vector>

namespace trueup::apps {

/// Thread-safe, as its hosts are.
class Hosts {
  public:
    /// Makes a host for each policy, at least one, and serves HTTP where `http` says so: none is
    /// ready yet. Without secrets of their own they share the first one's. Errors as of Host::open.
    static Result<std::unique_ptr<Hosts>> open(const api::ServerSettings& http,
                                               std::vector<HostSettings> policies);
    /// As `stop`.
    ~Hosts();

    const std::vector<std::unique_ptr<Host>>& all() const { return hosts_; }
    Host& front() const { return *hosts_.front(); }
    /// Those that have begun.
    std::vector<Host*> begun() const;
    /// `host:port` of the HTTP side; empty without one.
    std::string address() const { return server_ ? server_->address() : std::string(); }

    /// As those of Host, of each that has begun.
    void begin_stop();
    bool settling() const;
    void hurry();
    Status stop();
    std::string fatal() const;

  private:
    Hosts() = default;

    std::vector<std::unique_ptr<Host>> hosts_;
    std::unique_ptr<api::Server> server_;  ///< asks the hosts
};

}  // namespace trueup::apps
