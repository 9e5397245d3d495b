// What libcurl is told of a call, what it tells of it, and what its failures mean.
#include "connectors/kubernetes/transfer.h"

#include "engine/base/check.h"
#include "engine/base/version.h"

#include <algorithm>
#include <string_view>
#include <utility>

namespace trueup::connectors {

using ports::ClusterEvent;

Transfer::~Transfer() {
    if (easy != nullptr) curl_easy_cleanup(easy);
    curl_slist_free_all(headers);
}

void Transfer::add_header(const std::string& line) {
    headers = curl_slist_append(headers, line.c_str());
    TRUEUP_CHECK(headers != nullptr);
}

ClusterEvent Transfer::event(ClusterEvent::Kind kind) const {
    ClusterEvent made;
    made.call = call;
    made.kind = kind;
    return made;
}

void Transfer::send_head() {
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

namespace {

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

}  // namespace

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

}  // namespace trueup::connectors
