#include "connectors/kubernetes/transport.h"

#include "connectors/kubernetes/exec_plugin.h"
#include "connectors/kubernetes/paths.h"
#include "connectors/kubernetes/unary_call.h"
#include "engine/base/loopback.h"
#include "engine/base/version.h"

#include <curl/curl.h>

#include <algorithm>
#include <array>
#include <deque>
#include <limits>
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
constexpr long kConnectMillis = 10'000;
constexpr std::int64_t kPluginPollMs = 20;

/// One call in flight. Its address is known to libcurl: it never moves.
struct Transfer {
    CallId call = 0;
    CURL* easy = nullptr;
    curl_slist* headers = nullptr;
    std::string body;  ///< of the request
    std::array<char, CURL_ERROR_SIZE> error{};
    std::vector<ClusterEvent>* events = nullptr;
    bool head_sent = false;
    std::size_t room = std::numeric_limits<std::size_t>::max();  ///< for the rest of the answer
    long connect_within = kConnectMillis;
    std::uint64_t generation = 0;  ///< of the plugin's credentials that it was sent with

    Transfer() = default;
    Transfer(const Transfer&) = delete;
    Transfer& operator=(const Transfer&) = delete;
    ~Transfer() {
        if (easy != nullptr) curl_easy_cleanup(easy);
        curl_slist_free_all(headers);
    }

    void add_header(const std::string& line) {
        headers = curl_slist_append(headers, line.c_str());
        TRUEUP_CHECK(headers != nullptr);
    }

    ClusterEvent event(ClusterEvent::Kind kind) const {
        ClusterEvent made;
        made.call = call;
        made.kind = kind;
        return made;
    }

    void send_head() {
        long status = 0;
        curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &status);
        if (head_sent || status < 200) return;
        head_sent = true;
        curl_off_t wait = 0;
        curl_easy_getinfo(easy, CURLINFO_RETRY_AFTER, &wait);
        ClusterEvent head = event(ClusterEvent::Kind::kHead);
        head.status = static_cast<int>(status);
        head.retry_after_ms = 1000 * std::clamp<std::int64_t>(wait, 0, 3600);
        events->push_back(std::move(head));
    }
};

/// Called once per header line; the empty one ends the head.
std::size_t take_header(char* bytes, std::size_t size, std::size_t count, void* transfer) {
    if (std::string_view(bytes, size * count) == "\r\n") {
        static_cast<Transfer*>(transfer)->send_head();
    }
    return size * count;
}

std::size_t take_body(char* bytes, std::size_t size, std::size_t count, void* target) {
    auto* transfer = static_cast<Transfer*>(target);
    if (size * count > transfer->room) return 0;  // ends the call
    transfer->room -= size * count;
    ClusterEvent data = transfer->event(ClusterEvent::Kind::kData);
    data.data.assign(bytes, size * count);
    transfer->events->push_back(std::move(data));
    return size * count;
}

curl_blob blob(const std::string& pem) {
    curl_blob view{};
    // libcurl copies it (CURL_BLOB_COPY) and never writes to it.
    view.data = const_cast<char*>(pem.data());  // NOLINT(cppcoreguidelines-pro-type-const-cast)
    view.len = pem.size();
    view.flags = CURL_BLOB_COPY;
    return view;
}

/// A certificate by an authority that has the name of ours and another key: libcurl calls it a
/// handshake that broke, and has what OpenSSL said of the signature.
bool is_forged(CURLcode code, std::string_view detail) {
    const auto says = [detail](std::string_view part) { return detail.find(part) != detail.npos; };
    return code == CURLE_SSL_CONNECT_ERROR &&
           (says("rsa routines") || says("asn1 encoding routines::EVP lib"));
}

/// Is a certificate not accepted? A handshake that broke (CURLE_SSL_CONNECT_ERROR) does not say so:
/// a server that is being started resets it too.
bool is_tls(CURLcode code) {
    return code == CURLE_PEER_FAILED_VERIFICATION || code == CURLE_SSL_CERTPROBLEM ||
           code == CURLE_SSL_CACERT_BADFILE || code == CURLE_SSL_ISSUER_ERROR;
}

/// Without how long it took (` after 3 ms`), which is another each time: what is said again is told
/// from what is new by its words.
std::string without_duration(std::string detail) {
    constexpr std::string_view kAfter = " after ";
    constexpr std::string_view kUnit = " ms";
    const std::size_t from = detail.find(kAfter);
    if (from == std::string::npos) return detail;
    const std::size_t unit = detail.find_first_not_of("0123456789", from + kAfter.size());
    if (unit == std::string::npos || detail.compare(unit, kUnit.size(), kUnit) != 0) return detail;
    return detail.erase(from, unit + kUnit.size() - from);
}

Error error_of(CURLcode code, const Transfer& transfer) {
    const std::string detail = without_duration(
        transfer.error[0] != '\0' ? transfer.error.data() : curl_easy_strerror(code));
    if (is_tls(code)) return Error{Next::kStop, Code::kUntrusted, "TLS: " + detail};
    if (is_forged(code, detail)) {
        return Error{Next::kStop, Code::kUntrusted,
                     "TLS: the certificate is not signed by the authority that it names (" +
                         detail + "); the authority may have been replaced under the same name"};
    }
    curl_off_t sent_after = 0;
    curl_easy_getinfo(transfer.easy, CURLINFO_PRETRANSFER_TIME_T, &sent_after);
    if (code == CURLE_OPERATION_TIMEDOUT && sent_after == 0) {
        return Error{
            Next::kRetry, Code::kUnavailable,
            "not sent: no connection within " + std::to_string(transfer.connect_within) + " ms"};
    }
    const bool late = code == CURLE_OPERATION_TIMEDOUT;
    return Error{Next::kRetry, late ? Code::kTimeout : Code::kUnavailable, detail};
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

namespace {

/// What every call has.
void set_usual(Transfer& transfer) {
    CURL* easy = transfer.easy;
    const std::string agent = std::string("trueup/") + kVersion;  // the audit log says who it was
    curl_easy_setopt(easy, CURLOPT_USERAGENT, agent.c_str());
    curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(easy, CURLOPT_HTTP_VERSION, static_cast<long>(CURL_HTTP_VERSION_1_1));
    curl_easy_setopt(easy, CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);  // a proxy's 200 is not an answer
    curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(easy, CURLOPT_TCP_KEEPALIVE, 1L);
    curl_easy_setopt(easy, CURLOPT_TCP_KEEPIDLE, 15L);
    curl_easy_setopt(easy, CURLOPT_TCP_KEEPINTVL, 5L);
    curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS, transfer.connect_within);
    curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, transfer.error.data());
    curl_easy_setopt(easy, CURLOPT_PRIVATE, &transfer);
    curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, take_header);
    curl_easy_setopt(easy, CURLOPT_HEADERDATA, &transfer);
    curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, take_body);
    curl_easy_setopt(easy, CURLOPT_WRITEDATA, &transfer);
}

void set_body(Transfer& transfer, const HttpRequest& request) {
    curl_easy_setopt(transfer.easy, CURLOPT_CUSTOMREQUEST, request.method.c_str());
    curl_easy_setopt(transfer.easy, CURLOPT_POSTFIELDS, transfer.body.data());
    curl_easy_setopt(transfer.easy, CURLOPT_POSTFIELDSIZE_LARGE,
                     static_cast<curl_off_t>(transfer.body.size()));
    transfer.add_header("Content-Type: " + request.content_type);
    transfer.add_header("Expect:");
}

}  // namespace

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
    wire_->gather();
    if (wire_->events.empty()) {
        // libcurl does not know of the plugin's pipe and cannot be woken by it.
        const bool plugin_runs = wire_->plugin && wire_->plugin->tend();
        const auto wait =
            std::clamp<std::int64_t>(max_wait.count(), 0, plugin_runs ? kPluginPollMs : 60'000);
        curl_multi_poll(wire_->multi, nullptr, 0, static_cast<int>(wait), nullptr);
        wire_->gather();
    }
    std::move(wire_->events.begin(), wire_->events.end(), std::back_inserter(out));
    wire_->events.clear();
}

void HttpCluster::wake() { curl_multi_wakeup(wire_->multi); }

}  // namespace trueup::connectors
