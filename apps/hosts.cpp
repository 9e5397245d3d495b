#include "apps/hosts.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <utility>

namespace trueup::apps {

Result<std::unique_ptr<Hosts>> Hosts::open(const api::ServerSettings& http,
                                           std::vector<HostSettings> policies) {
    std::unique_ptr<Hosts> hosts(new Hosts);
    api::Backends backends;
    for (HostSettings& policy : policies) {
        if (!policy.secrets && !hosts->hosts_.empty()) {
            policy.secrets = hosts->front().settings().secrets;
        }
        auto host = Host::open(std::move(policy));
        if (!host) return host.error();
        hosts->hosts_.push_back(std::move(*host));
        backends.policies.push_back(hosts->hosts_.back()->backend());
    }
    if (http.listen.empty() && http.socket.empty()) return hosts;
    backends.tokens = hosts->front().settings().secrets->tokens();
    backends.warn = [](const std::string& sentence) { spdlog::warn("{}", sentence); };
    auto server = api::Server::start(http, std::move(backends));
    if (!server) return server.error();
    hosts->server_ = std::move(*server);
    return hosts;
}

Hosts::~Hosts() {
    if (Status stopped = stop(); !stopped) spdlog::error("{}", stopped.error().what);
}

std::vector<Host*> Hosts::begun() const {
    std::vector<Host*> all;
    for (const auto& host : hosts_) {
        if (host->begun()) all.push_back(host.get());
    }
    return all;
}

void Hosts::begin_stop() {
    for (Host* host : begun()) host->begin_stop();
}

bool Hosts::settling() const {
    const std::vector<Host*> all = begun();
    return std::any_of(all.begin(), all.end(), [](const Host* host) { return host->settling(); });
}

void Hosts::hurry() {
    for (Host* host : begun()) host->hurry();
}

Status Hosts::stop() {
    begin_stop();
    Status stopped = Done{};
    for (const auto& host : hosts_) {
        if (Status one = host->stop(); !one) stopped = one;
    }
    // Last: until then it says what is still to be waited for.
    server_.reset();
    return stopped;
}

std::string Hosts::fatal() const {
    for (const Host* host : begun()) {
        if (std::string why = host->fatal(); !why.empty()) {
            return "policy " + host->policy() + ": " + why;
        }
    }
    return {};
}

}  // namespace trueup::apps
