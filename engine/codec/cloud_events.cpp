#include "engine/codec/cloud_events.h"

#include "engine/codec/outcome_codec.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>

namespace trueup::codec {

namespace {

constexpr std::int64_t kLastMillis = 253'402'300'799'999;  // 9999-12-31T23:59:59.999Z

Headers headers(std::string id, std::string source, const char* type, const std::string& subject) {
    return {{"ce_specversion", "1.0"},        {"ce_id", std::move(id)},
            {"ce_source", std::move(source)}, {"ce_type", type},
            {"ce_subject", subject},          {"content-type", "application/protobuf"}};
}

}  // namespace

std::string rfc3339(std::int64_t ms_since_1970) {
    const std::chrono::sys_time<Millis> at(
        Millis(std::clamp(ms_since_1970, std::int64_t{0}, kLastMillis)));
    const auto day = std::chrono::floor<std::chrono::days>(at);
    const std::chrono::year_month_day date(day);
    const std::chrono::hh_mm_ss time(at - day);
    std::array<char, 64> text{};
    const int length = std::snprintf(
        text.data(), text.size(), "%04d-%02u-%02uT%02d:%02d:%02d.%03dZ", int(date.year()),
        unsigned(date.month()), unsigned(date.day()), static_cast<int>(time.hours().count()),
        static_cast<int>(time.minutes().count()), static_cast<int>(time.seconds().count()),
        static_cast<int>(time.subseconds().count()));
    return {text.data(), static_cast<std::size_t>(length)};
}

Headers headers_for(const FindingEdge& edge) {
    Headers out = headers(
        to_hex(edge.id) + "." + std::to_string(edge.offset) + "." + std::to_string(edge.index),
        "/journals/" + to_hex(edge.journal_id) + "/shards/" + std::to_string(edge.shard),
        "trueup.finding.v1", edge.subject);
    out.emplace_back("ce_time", rfc3339(to_millis(edge.append_time)));
    return out;
}

Headers headers_for(const Command& command) {
    Headers out = headers(to_hex(command.id), "/policies/" + command.policy, "trueup.command.v1",
                          command.subject);
    out.emplace_back("ce_time", rfc3339(to_millis(command.issued)));
    return out;
}

Headers headers_for(const Outcome& outcome, std::optional<BrokerTime> time) {
    // One command may fail several times before it ends: what the outcome says is part of its id.
    const std::string said = to_hex(hash128(encode_outcome(outcome)));
    Headers out = headers(to_hex(outcome.command_id) + "." + said, "/executors/" + outcome.executor,
                          "trueup.outcome.v1", outcome.subject);
    if (time) out.emplace_back("ce_time", rfc3339(to_millis(*time)));
    return out;
}

}  // namespace trueup::codec
