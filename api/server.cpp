#include "api/server.h"

#include "api/metrics.h"
#include "api/routes.h"

#include <httplib.h>

#include <charconv>
#include <thread>

namespace trueup::api {

struct Server::Http {
    httplib::Server server;
    std::thread thread;
    std::string address;
};

Server::Server(std::unique_ptr<Http> http) : http_(std::move(http)) {}

Server::~Server() {
    http_->server.stop();
    http_->thread.join();
}

const std::string& Server::address() const { return http_->address; }

namespace {

constexpr std::size_t kLongestBody = std::size_t{64} << 10U;

void add_open_routes(httplib::Server& server, const std::function<Snapshot()>& look) {
    server.Get("/healthz", [](const httplib::Request&, httplib::Response& out) {
        out.set_content("alive\n", "text/plain");
    });
    server.Get("/readyz", [look](const httplib::Request&, httplib::Response& out) {
        const std::string why = look().not_ready();
        out.status = why.empty() ? 200 : 503;
        out.set_content(why.empty() ? "ready\n" : why + "\n", "text/plain; charset=utf-8");
    });
    server.Get("/metrics", [look](const httplib::Request&, httplib::Response& out) {
        out.set_content(metrics_text(look()), "text/plain; version=0.0.4; charset=utf-8");
    });
}

}  // namespace

Result<std::unique_ptr<Server>> Server::start(const std::string& listen, Backend backend) {
    const std::size_t colon = listen.rfind(':');
    int port = -1;
    if (colon != std::string::npos) {
        const char* end = listen.data() + listen.size();
        const auto parsed = std::from_chars(listen.data() + colon + 1, end, port);
        if (parsed.ec != std::errc{} || parsed.ptr != end || port > 65535) port = -1;
    }
    if (port < 0) {
        return Error{Next::kStop, "http.listen is '" + listen + "'; write it as 127.0.0.1:9464"};
    }
    const std::string host = listen.substr(0, colon);
    auto http = std::make_unique<Http>();
    http->server.new_task_queue = [] { return new httplib::ThreadPool(2); };
    http->server.set_payload_max_length(kLongestBody);
    const auto shared = std::make_shared<const Backend>(std::move(backend));
    add_open_routes(http->server, shared->snapshot);
    add_operator_routes(http->server, shared);
    const bool bound = port == 0 ? (port = http->server.bind_to_any_port(host.c_str())) > 0
                                 : http->server.bind_to_port(host.c_str(), port);
    if (!bound) {
        return Error{Next::kStop, "cannot listen on " + listen +
                                      ": another process has the port; set http.listen to a free "
                                      "one, or to port 0"};
    }
    http->address = host + ":" + std::to_string(port);
    http->thread = std::thread([raw = http.get()] { raw->server.listen_after_bind(); });
    while (!http->server.is_running()) std::this_thread::yield();
    return std::unique_ptr<Server>(new Server(std::move(http)));
}

}  // namespace trueup::api
