// The bus of the configuration: Kafka or the embedded log, and how long either is kept.
#include "apps/config/reading.h"
#include "apps/config/words.h"
#include "engine/ports/private_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <sstream>
#include <utility>

namespace trueup::config {

namespace {

/// Lines `name=value`, as librdkafka's own tools read them: for what should not stand here.
void read_client_file(Section& kafka, const std::string& folder, KafkaBus& bus) {
    const std::string path = read_path(kafka, "client_file", "", folder);
    if (path.empty()) return;
    const Result<std::string> text = ports::read_private_file(path);
    if (!text) return kafka.problem("client_file", text.error().what);
    std::istringstream lines(*text);
    for (std::string line; std::getline(lines, line);) {
        const std::size_t equals = line.find('=');
        if (line.empty() || line.front() == '#') continue;
        if (equals == std::string::npos) {
            return kafka.problem("client_file", "has a line without =; write name=value");
        }
        bus.client[line.substr(0, equals)] = line.substr(equals + 1);
    }
}

/// Whoever answers in the brokers' place could take every fact and give every answer. Only what is
/// known to verify does: the client has many spellings of what does not.
void check_verification(Section& kafka, KafkaBus& bus) {
    bus.known = kafka.texts("acknowledge");
    for (const std::string& name : bus.known) {
        if (name == "verification") continue;
        kafka.problem(
            "acknowledge",
            fmt::format("names '{}'; for kafka only verification can be acknowledged", name));
    }
    if (!bus.known.empty()) return;
    for (const auto& [name, value] :
         {std::pair<std::string, std::string>{"enable.ssl.certificate.verification", "true"},
          std::pair<std::string, std::string>{"ssl.endpoint.identification.algorithm", "https"}}) {
        const auto set = bus.client.find(name);
        if (set == bus.client.end() || set->second == value) continue;
        kafka.problem(
            "client",
            fmt::format(
                "has {}: {}, so any server could pose as the broker; write {} or remove it, and "
                "name the authority in ssl.ca.location, or write acknowledge: [verification]",
                name, set->second, value));
    }
}

void read_kafka(Section kafka, const std::string& folder, Config& config) {
    KafkaBus bus;
    if (kafka.require("bootstrap", "bootstrap: broker-1:9092,broker-2:9092")) {
        bus.bootstrap = kafka.text("bootstrap");
    }
    bus.prefix = kafka.text("prefix", bus.prefix);
    const bool plain = !bus.prefix.empty() && bus.prefix.size() <= 200 &&
                       bus.prefix.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789.-_") ==
                           std::string::npos;
    if (!plain)
        kafka.problem("prefix", "may only contain a-z, 0-9, '.', '-' and '_'; write trueup");
    bus.partitions = kafka.count("partitions", bus.partitions);
    if (bus.partitions < 1 || bus.partitions > 1024) {
        kafka.problem("partitions", fmt::format("is {}; write 1 to 1024", bus.partitions));
    }
    bus.replicas = kafka.count("replicas", bus.replicas);
    bus.min_in_sync = kafka.count("min_in_sync", std::min(bus.min_in_sync, bus.replicas));
    if (bus.min_in_sync < 1 || bus.min_in_sync > bus.replicas) {
        kafka.problem("min_in_sync", fmt::format("is {}; write 1 to replicas, which is {}",
                                                 bus.min_in_sync, bus.replicas));
    }
    Section client = kafka.section("client");
    for (const std::string& name : client.keys()) bus.client[name] = client.text(name);
    client.finish();
    read_client_file(kafka, folder, bus);
    check_verification(kafka, bus);
    kafka.finish();
    config.kafka = std::move(bus);
}

/// `forever`, an age, or a size.
void read_journal_retention(Section& retention, Config& config) {
    const std::string text = retention.text("journal", "forever");
    if (text == "forever") return;
    const std::optional<std::uint64_t> bytes = parse_size(text);
    const std::optional<Millis> age = parse_duration(text);
    if (bytes && config.kafka) {
        retention.problem(
            "journal",
            "is a size, which brokers do not report; write an age, as in 30d, or forever");
    } else if (bytes && *bytes < std::uint64_t{1} << 30U) {
        retention.problem(
            "journal", fmt::format("is {}; write at least 1GiB: it is the limit for the whole log",
                                   size_text(*bytes)));
    } else if (age && *age < std::chrono::hours(24)) {
        retention.problem(
            "journal",
            fmt::format("is {}; write at least 1d: what is deleted can no longer be explained",
                        duration_text(*age)));
    } else if (!bytes && !age) {
        retention.problem("journal",
                          fmt::format("is '{}'; write forever, an age as in 30d, or the size of "
                                      "the log as in 20GiB",
                                      text));
    }
    config.retention.journal = age;
    config.retention.log_bytes = bytes;
}

void read_retention(Section retention, Config& config) {
    read_journal_retention(retention, config);
    if (config.kafka) {
        retention.refuse(
            "topics",
            "is set on the brokers; `trueup topics create` creates the topics with a week");
    }
    Millis& topics = config.retention.topics;
    topics = retention.duration("topics", topics);
    if (topics < std::chrono::hours(48)) {
        retention.problem("topics",
                          fmt::format("is {}; write at least 2d: a command may live for a day",
                                      duration_text(topics)));
    }
    retention.finish();
}

}  // namespace

void read_bus(Section bus, const std::string& folder, Config& config) {
    if (bus.has("kafka")) {
        bus.refuse("embedded", "cannot be used together with kafka; remove one of the two");
        read_kafka(bus.section("kafka"), folder, config);
        // Times of several brokers are compared.
        config.max_broker_skew = Millis{1'000};
    }
    Section embedded = bus.section("embedded");
    config.fsync = embedded.flag("fsync", config.fsync);
    embedded.finish();
    read_retention(bus.section("retention"), config);
    config.max_clock_step = bus.duration("max_clock_step", config.max_clock_step);
    if (config.max_clock_step < Millis(100)) {
        bus.problem("max_clock_step",
                    "is shorter than 100ms, so journal time would hardly advance; write 10s");
    }
    config.max_broker_skew = bus.duration("max_broker_skew", config.max_broker_skew);
    config.finding_headers =
        static_cast<FindingHeaders>(bus.choice("finding_headers", 0, {"id", "cloudevents"}));
    bus.finish();
}

}  // namespace trueup::config
