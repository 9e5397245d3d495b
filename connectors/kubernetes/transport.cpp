#include "connectors/kubernetes/transport.h"

#include "connectors/kubernetes/exec_plugin.h"
#include "connectors/kubernetes/kubeconfig.h"
#include "connectors/kubernetes/paths.h"
#include "connectors/kubernetes/transfer.h"
#include "connectors/kubernetes/unary_call.h"
#include "engine/base/loopback.h"

#include <curl/curl.h>
#include <sys/select.h>

#include <algorithm>
#include <array>
#include <deque>
#include <map>
#include <optional>
#include <utility>

namespace trueup::connectors {

namespace {

using ports::CallId;
using ports::ClusterEvent;
using Steady = std::chrono::steady_clock;

constexpr Millis kTokenLife{60'000};
constexpr Millis kAccessLife{120'000};
/// Some hundred packed bytes are a megabyte: libcurl may unpack more than there is memory for
/// before anybody has seen the first of it. Callers who see this much know that it is too large.
constexpr std::size_t kMostUnpacked = kMaxBody + (std::size_t{1} << 20U);
constexpr std::int64_t kPluginPollMs = 20;

curl_blob blob(const std::string& pem) {
    curl_blob view{};
    // libcurl copies it (CURL_BLOB_COPY) and never writes to it.
    view.data = const_cast<char*>(pem.data());  // NOLINT(cppcoreguidelines-pro-type-const-cast)
    view.len = pem.size();
    view.flags = CURL_BLOB_COPY;
    return view;
}

curl_waitfd waitfd(const pollfd& of) {
    curl_waitfd same{};
    same.fd = of.fd;
    if ((of.events & POLLIN) != 0) same.events |= CURL_WAIT_POLLIN;
    if ((of.events & POLLOUT) != 0) same.events |= CURL_WAIT_POLLOUT;
    return same;
}

/// A call before it is sent; where there is a plugin it waits for its credentials.
struct Waiting {
    CallId call = 0;
    HttpRequest request;
    bool is_watch = false;
    std::optional<Steady::time_point> send_by = std::nullopt;
};

}  // namespace

struct HttpCluster::Wire {
    Wire(ClusterAccess given, ports::Clock& with)
        : access(std::move(given)), clock(with), multi(curl_multi_init()) {
        TRUEUP_CHECK(multi != nullptr);
        if (access.exec) plugin.emplace(*access.exec, with);
    }
    Wire(const Wire&) = delete;
    Wire& operator=(const Wire&) = delete;
    ~Wire() {
        for (const auto& [call, transfer] : transfers) {
            curl_multi_remove_handle(multi, transfer->easy);
        }
        transfers.clear();
        curl_multi_cleanup(multi);
    }

    void begin(Waiting one);
    void start(const Waiting& one);
    void set_security(CURL* easy) const;
    std::string bearer();
    void read_again();
    void say_once(const std::string& change);
    void take_credentials();
    void go_on();
    void fail(CallId call, Error error);
    void gather();
    void finish(const CURLMsg& done);

    ClusterAccess access;
    ports::Clock& clock;
    CURLM* multi;
    std::map<CallId, std::unique_ptr<Transfer>> transfers;
    std::vector<ClusterEvent> events;
    std::optional<ExecPlugin> plugin;
    std::deque<Waiting> waiting;
    SteadyTime token_read{};
    bool token_stale = true;
    SteadyTime access_read = clock.steady_now();
    bool access_stale = false;
    bool said = false;  ///< that the file wants what takes a restart
};

/// What cannot be read for once leaves the last one in use, and so does another server: to go there
/// takes a restart.
void HttpCluster::Wire::read_again() {
    const SteadyTime now = clock.steady_now();
    if (!access.again || (!access_stale && now - access_read < kAccessLife)) return;
    access_read = now;
    access_stale = false;
    Result<ClusterAccess> fresh = access.again();
    if (!fresh) return;
    // Another server is another history: versions that were published would be compared with those.
    const bool elsewhere = fresh->server != access.server;
    if (elsewhere || fresh->exec.has_value() != plugin.has_value()) {
        say_once(elsewhere ? "names another server now, " + fresh->server
                           : std::string("changed between exec and other credentials"));
        return;
    }
    said = false;
    access.ca = std::move(fresh->ca);
    access.verify = fresh->verify;
    if (plugin) return;  // the rest is what it printed
    access.cert = std::move(fresh->cert);
    access.key = std::move(fresh->key);
    if (fresh->token_file.empty()) access.token = std::move(fresh->token);
    token_stale = token_stale || access.token_file != fresh->token_file;
    access.token_file = std::move(fresh->token_file);
}

void HttpCluster::Wire::say_once(const std::string& change) {
    if (!std::exchange(said, true) && access.say) {
        access.say("the kubeconfig " + change + ": restart to use it; until then the last is used");
    }
}

std::string HttpCluster::Wire::bearer() {
    if (access.token_file.empty()) return access.token;
    const SteadyTime now = clock.steady_now();
    if (token_stale || now - token_read > kTokenLife) {
        // A token that cannot be read for once leaves the last one in use.
        if (Result<std::string> text = read_text_file(access.token_file)) {
            access.token = std::move(*text);
            while (!access.token.empty() && access.token.back() <= ' ') access.token.pop_back();
            token_stale = false;
            token_read = now;
        }
    }
    return access.token;
}

/// Starts a call, or leaves it to `go_on` until the plugin brought credentials.
void HttpCluster::Wire::begin(Waiting one) {
    if (!plugin) return start(one);
    waiting.push_back(std::move(one));
    go_on();
}

void HttpCluster::Wire::go_on() {
    if (waiting.empty()) return;
    const ExecPlugin::State state = plugin->advance();
    if (state == ExecPlugin::State::kRunning) return;
    if (state == ExecPlugin::State::kReady) take_credentials();
    for (const Waiting& each : std::exchange(waiting, {})) {
        if (state == ExecPlugin::State::kReady) {
            start(each);
            continue;
        }
        fail(each.call, plugin->failure());
    }
}

void HttpCluster::Wire::fail(CallId call, Error error) {
    ClusterEvent& failed = events.emplace_back();
    failed.call = call;
    failed.error = std::move(error);
}

/// libcurl shares a connection only between calls of one client certificate.
void HttpCluster::Wire::take_credentials() {
    access.token = plugin->credential().token;
    access.cert = plugin->credential().cert;
    access.key = plugin->credential().key;
}

void HttpCluster::Wire::set_security(CURL* easy) const {
    curl_easy_setopt(easy, CURLOPT_SSL_VERIFYPEER, access.verify ? 1L : 0L);
    curl_easy_setopt(easy, CURLOPT_SSL_VERIFYHOST, access.verify ? 2L : 0L);
    if (!access.ca.empty()) {
        const curl_blob ca = blob(access.ca);
        curl_easy_setopt(easy, CURLOPT_CAINFO_BLOB, &ca);
        curl_easy_setopt(easy, CURLOPT_CAPATH, nullptr);  // that authority and no other
    }
    if (!access.cert.empty()) {
        const curl_blob cert = blob(access.cert);
        const curl_blob key = blob(access.key);
        curl_easy_setopt(easy, CURLOPT_SSLCERT_BLOB, &cert);
        curl_easy_setopt(easy, CURLOPT_SSLKEY_BLOB, &key);
    }
    if (is_loopback(access.server)) curl_easy_setopt(easy, CURLOPT_PROXY, "");
}

void HttpCluster::Wire::start(const Waiting& one) {
    TRUEUP_CHECK(!transfers.contains(one.call));
    const HttpRequest& request = one.request;
    read_again();
    auto transfer = std::make_unique<Transfer>();
    if (one.send_by) {
        const auto left = std::chrono::duration_cast<Millis>(*one.send_by - Steady::now());
        if (left.count() <= 0)
            return fail(one.call,
                        {Next::kRetry, Code::kUnavailable, "not sent: the deadline had passed"});
        transfer->connect_within = std::min<long>(transfer->connect_within, left.count());
    }
    transfer->call = one.call;
    transfer->events = &events;
    transfer->body = request.body;
    if (plugin) transfer->generation = plugin->generation();
    transfer->easy = curl_easy_init();
    CURL* easy = transfer->easy;
    TRUEUP_CHECK(easy != nullptr);
    curl_easy_setopt(easy, CURLOPT_URL, (access.server + request.path).c_str());
    set_usual(*transfer);
    if (!one.is_watch) {  // a quiet watch is no stalled one, and one that is packed comes late
        curl_easy_setopt(easy, CURLOPT_ACCEPT_ENCODING, "gzip");
        transfer->room = kMostUnpacked;
        curl_easy_setopt(easy, CURLOPT_LOW_SPEED_LIMIT, 1L);
        curl_easy_setopt(easy, CURLOPT_LOW_SPEED_TIME, static_cast<long>(kStall.count()));
    }
    set_security(easy);
    transfer->add_header("Accept: application/json");
    if (const std::string token = bearer(); !token.empty()) {
        transfer->add_header("Authorization: Bearer " + token);
    }
    if (request.method != "GET") set_body(*transfer, request);
    curl_easy_setopt(easy, CURLOPT_HTTPHEADER, transfer->headers);
    TRUEUP_CHECK(curl_multi_add_handle(multi, easy) == CURLM_OK);
    transfers.emplace(one.call, std::move(transfer));
}

void HttpCluster::Wire::gather() {
    if (plugin) {
        plugin->tend();
        go_on();
    }
    int running = 0;
    curl_multi_perform(multi, &running);
    int more = 0;
    while (const CURLMsg* message = curl_multi_info_read(multi, &more)) {
        if (message->msg == CURLMSG_DONE) finish(*message);
    }
}

void HttpCluster::Wire::finish(const CURLMsg& done) {
    char* target = nullptr;
    curl_easy_getinfo(done.easy_handle, CURLINFO_PRIVATE, &target);
    Transfer& transfer = *static_cast<Transfer*>(static_cast<void*>(target));
    const CURLcode code = done.data.result;
    long status = 0;
    curl_easy_getinfo(transfer.easy, CURLINFO_RESPONSE_CODE, &status);
    if (status == 401) token_stale = true;
    // A rotated authority shows as a failed handshake, a rotated token as a 401: the file is read
    // again before its time.
    access_stale = access_stale || status == 401 || code != CURLE_OK;
    // By generation: a call that was sent with the credentials before says nothing about those of
    // now.
    if (status == 401 && plugin) plugin->refused(transfer.generation);
    if (code == CURLE_OK) {
        transfer.send_head();
        events.push_back(transfer.event(ClusterEvent::Kind::kEnd));
    } else {
        ClusterEvent failed = transfer.event(ClusterEvent::Kind::kFailed);
        failed.error = error_of(code, transfer);
        events.push_back(std::move(failed));
    }
    curl_multi_remove_handle(multi, transfer.easy);
    transfers.erase(transfer.call);
}

Result<std::unique_ptr<HttpCluster>> HttpCluster::open(ClusterAccess access, ports::Clock& clock) {
    static const CURLcode kReady = curl_global_init(CURL_GLOBAL_DEFAULT);
    if (kReady != CURLE_OK) {
        return Error{Next::kStop, Code::kInternal, "libcurl cannot be initialised"};
    }
    const bool secure = access.server.starts_with("https://");
    const bool plain = access.server.starts_with("http://") && is_loopback(access.server);
    if (!secure && !plain) {
        return Error{
            Next::kStop, Code::kConfiguration,
            "the server '" + access.server + "' is not an https address (http only on loopback)"};
    }
    if (!access.tls_name.empty()) {
        return Error{Next::kStop, Code::kConfiguration,
                     "the kubeconfig's tls-server-name is not supported"};
    }
    if (!access.token_file.empty()) {
        const Result<std::string> token = read_text_file(access.token_file);
        if (!token) return token.error();
    }
    return std::unique_ptr<HttpCluster>(
        new HttpCluster(std::make_unique<Wire>(std::move(access), clock)));
}

HttpCluster::HttpCluster(std::unique_ptr<Wire> wire) : wire_(std::move(wire)) {}

HttpCluster::~HttpCluster() = default;

void HttpCluster::list_page(CallId call, const ports::ListPage& request) {
    wire_->begin({call, HttpRequest{"GET", list_path(request), "", ""}});
}

void HttpCluster::watch(CallId call, const ports::WatchFrom& request) {
    wire_->begin({call, HttpRequest{"GET", watch_path(request), "", ""}, true});
}

void HttpCluster::get(CallId call, const ports::GetObject& request) {
    wire_->begin({call, HttpRequest{"GET", object_path(request.resource, request.name), "", ""}});
}

void HttpCluster::erase(CallId call, const ports::DeleteObject& request) {
    wire_->begin({call,
                  HttpRequest{"DELETE", object_path(request.resource, request.name),
                              "application/json", delete_body(request)},
                  false, Steady::now() + request.send_within});
}

void HttpCluster::patch(CallId call, const ports::PatchObject& request) {
    wire_->begin({call,
                  HttpRequest{"PATCH", patch_path(request), "application/merge-patch+json",
                              patch_body(request)},
                  false, Steady::now() + request.send_within});
}

void HttpCluster::create(CallId call, const ports::CreateObject& request) {
    wire_->begin({call, HttpRequest{"POST", create_path(request), "application/json", request.body},
                  false, Steady::now() + request.send_within});
}

void HttpCluster::send(CallId call, const HttpRequest& request) { wire_->begin({call, request}); }

void HttpCluster::cancel(CallId call) {
    const auto transfer = wire_->transfers.find(call);
    if (transfer != wire_->transfers.end()) {
        curl_multi_remove_handle(wire_->multi, transfer->second->easy);
        wire_->transfers.erase(transfer);
    }
    std::erase_if(wire_->waiting, [call](const Waiting& each) { return each.call == call; });
    // No event of a cancelled call follows, as the port promises; some may be gathered already.
    std::erase_if(wire_->events, [call](const ClusterEvent& event) { return event.call == call; });
}

void HttpCluster::poll(Millis max_wait, std::vector<ClusterEvent>& out) {
    poll_beside({}, max_wait, out);
}

void HttpCluster::poll_beside(const ports::Interest& others, Millis max_wait,
                              std::vector<ClusterEvent>& out) {
    wire_->gather();
    if (wire_->events.empty()) {
        // libcurl does not know of the plugin's pipe and cannot be woken by it.
        const bool plugin_runs = wire_->plugin && wire_->plugin->tend();
        const auto wait = std::clamp<std::int64_t>(std::min(max_wait, others.at_most).count(), 0,
                                                   plugin_runs ? kPluginPollMs : 60'000);
        std::vector<curl_waitfd> sockets;
        for (const pollfd& each : others.sockets) sockets.push_back(waitfd(each));
        curl_multi_poll(wire_->multi, sockets.data(), static_cast<unsigned>(sockets.size()),
                        static_cast<int>(wait), nullptr);
        wire_->gather();
    }
    std::move(wire_->events.begin(), wire_->events.end(), std::back_inserter(out));
    wire_->events.clear();
}

/// libcurl tells its sockets by `select`'s sets only, and leaves out what does not fit into those.
bool HttpCluster::interest(ports::Interest& all) const {
    std::array<fd_set, 3> sets{};
    for (fd_set& set : sets) FD_ZERO(&set);
    int highest = -1;
    long timeout = -1;
    const bool told =
        curl_multi_fdset(wire_->multi, &sets[0], &sets[1], &sets[2], &highest) == CURLM_OK &&
        curl_multi_timeout(wire_->multi, &timeout) == CURLM_OK;
    std::size_t sockets = 0;
    for (int fd = 0; fd <= highest; ++fd) {
        pollfd wanted{fd, 0, 0};
        if (FD_ISSET(fd, &sets[0])) wanted.events |= POLLIN;
        if (FD_ISSET(fd, &sets[1])) wanted.events |= POLLOUT;
        if (wanted.events == 0) continue;
        all.sockets.push_back(wanted);
        ++sockets;
    }
    if (timeout >= 0) all.at_most = std::min(all.at_most, Millis(timeout));
    // A call has a socket of its own (HTTP/1.1); one without any waits for something else.
    return told && sockets >= wire_->transfers.size() && wire_->waiting.empty();
}

void HttpCluster::wake() { curl_multi_wakeup(wire_->multi); }

}  // namespace trueup::connectors
