// The bus of the configuration: where the log is, and how long it is kept. Plain values.
#pragma once

#include "engine/base/time.h"

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace trueup::config {

/// A Kafka cluster as the bus, instead of the log of a single process.
struct KafkaBus {
    std::string bootstrap;
    std::string prefix = "trueup";  ///< of every topic; a policy's begin with `PREFIX.POLICY`
    std::uint32_t partitions = 1;
    std::uint32_t replicas = 3;
    std::uint32_t min_in_sync = 2;
    std::map<std::string, std::string> client;  ///< TLS and SASL; may hold secrets
    std::vector<std::string> known;             ///< what was loosened knowingly (`acknowledge`)
};

/// How long the bus is kept.
struct Retention {
    Millis topics = std::chrono::hours(168);  ///< of the embedded bus, all but the journal
    std::optional<Millis> journal;            ///< neither of the two: for ever
    std::optional<std::uint64_t> log_bytes;   ///< of the embedded bus: its journal makes room
};

}  // namespace trueup::config
