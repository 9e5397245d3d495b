// One call of HttpCluster in flight, as libcurl knows it. Private to it.
//
// Not thread-safe.
#pragma once

#include "connectors/kubernetes/transport.h"
#include "engine/ports/cluster.h"

#include <curl/curl.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace trueup::connectors {

inline constexpr long kConnectMillis = 10'000;

/// Its address is known to libcurl: it never moves.
struct Transfer {
    ports::CallId call = 0;
    CURL* easy = nullptr;
    curl_slist* headers = nullptr;
    std::string body;  ///< of the request
    std::array<char, CURL_ERROR_SIZE> error{};
    std::vector<ports::ClusterEvent>* events = nullptr;  ///< where what it says goes
    bool head_sent = false;
    std::size_t room = std::numeric_limits<std::size_t>::max();  ///< for the rest of the answer
    long connect_within = kConnectMillis;
    std::uint64_t generation = 0;  ///< of the plugin's credentials that it was sent with

    Transfer() = default;
    Transfer(const Transfer&) = delete;
    Transfer& operator=(const Transfer&) = delete;
    ~Transfer();

    void add_header(const std::string& line);
    ports::ClusterEvent event(ports::ClusterEvent::Kind kind) const;
    /// Once, when the head of the answer is whole.
    void send_head();
};

/// What every call has.
void set_usual(Transfer& transfer);
void set_body(Transfer& transfer, const HttpRequest& request);
/// Why it failed.
Error error_of(CURLcode code, const Transfer& transfer);

}  // namespace trueup::connectors
