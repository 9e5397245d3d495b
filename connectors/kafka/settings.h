// How to reach a Kafka cluster, and what this process may take of memory for it.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>

namespace trueup::connectors::kafka {

struct Settings {
    std::string bootstrap;          ///< `host:port,host:port`
    std::string prefix = "trueup";  ///< of every topic; one prefix is one trust domain
    std::string client_id = "trueup";
    /// Settings of librdkafka for TLS and SASL, passed through; others are pinned (pinned.h).
    std::map<std::string, std::string> client;
    std::size_t memory_bytes = std::size_t{128} << 20U;  ///< of what is queued in either direction
    /// Given librdkafka's own lines, `severity` as syslog has it. Called from its threads.
    std::function<void(int severity, const std::string& line)> on_log;
};

/// What a record may weigh, key and value together; larger: kSkip.
inline constexpr std::size_t kMaxRecordBytes = std::size_t{8} << 20U;

}  // namespace trueup::connectors::kafka
