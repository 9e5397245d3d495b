// The Kubernetes API over HTTPS, by libcurl. The only part of this connector that does I/O.
//
// HTTP/1.1, so that each call has its own connection: a watch that hangs, or is read slowly, takes
// no list along. TLS is verified, redirects are not followed, a loopback server is never asked
// through a proxy. A body that is cut is kFailed, never a short kEnd. Not thread-safe, but for
// `wake`.
#pragma once

#include "connectors/kubernetes/cluster_access.h"
#include "engine/ports/clock.h"
#include "engine/ports/cluster.h"

#include <chrono>
#include <memory>
#include <string>
#include <vector>

namespace trueup::connectors {

/// Silence after which a call that is no watch fails by itself. Longer than callers wait: whoever
/// gives up first knows what a late answer means to it.
inline constexpr std::chrono::seconds kStall{60};

/// Any other call, for tools and tests: what the port has no word for.
struct HttpRequest {
    std::string method = "GET";
    std::string path;  ///< from `/api` on, with its query
    std::string content_type = "application/json";
    std::string body;
};

class HttpCluster final : public ports::Cluster {
  public:
    /// `clock` tells how old credentials and authorities are.
    static Result<std::unique_ptr<HttpCluster>> open(ClusterAccess access,
                                                     ports::Clock& clock = ports::system_clock());
    ~HttpCluster() override;

    void list_page(ports::CallId call, const ports::ListPage& request) override;
    void watch(ports::CallId call, const ports::WatchFrom& request) override;
    void get(ports::CallId call, const ports::GetObject& request) override;
    void erase(ports::CallId call, const ports::DeleteObject& request) override;
    void patch(ports::CallId call, const ports::PatchObject& request) override;
    void create(ports::CallId call, const ports::CreateObject& request) override;
    void cancel(ports::CallId call) override;
    void poll(Millis max_wait, std::vector<ports::ClusterEvent>& out) override;
    void poll_beside(const ports::Interest& others, Millis max_wait,
                     std::vector<ports::ClusterEvent>& out) override;
    bool interest(ports::Interest& all) const override;
    void wake() override;

    void send(ports::CallId call, const HttpRequest& request);

  private:
    struct Wire;
    explicit HttpCluster(std::unique_ptr<Wire> wire);
    std::unique_ptr<Wire> wire_;
};

}  // namespace trueup::connectors
