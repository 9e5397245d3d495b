#include "engine/codec/cloud_events.h"

#include "engine/codec/outcome_codec.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace trueup::codec {

namespace {

constexpr std::int64_t kLastMillis = 253'402'300'799'999;  // 9999-12-31T23:59:59.999Z

Headers headers(std::string_view id, std::string_view source, std::string_view type,
                std::string_view subject) {
    return {{"ce_specversion", "1.0"}, {"ce_id", id},
            {"ce_source", source},     {"ce_type", type},
            {"ce_subject", subject},   {"content-type", "application/protobuf"}};
}

/// The last `digits` decimal digits of `value`, with leading zeros.
void put_digits(std::string& out, std::int64_t value, std::size_t digits) {
    const std::size_t end = out.size() + digits;
    out.resize(end);
    for (std::size_t i = 1; i <= digits; ++i, value /= 10) {
        out[end - i] = static_cast<char>('0' + value % 10);
    }
}

}  // namespace

std::string rfc3339(std::int64_t ms_since_1970) {
    const std::chrono::sys_time<Millis> at(
        Millis(std::clamp(ms_since_1970, std::int64_t{0}, kLastMillis)));
    const auto day = std::chrono::floor<std::chrono::days>(at);
    const std::chrono::year_month_day date(day);
    const std::chrono::hh_mm_ss time(at - day);
    std::string text;
    text.reserve(24);
    put_digits(text, int(date.year()), 4);
    text += '-';
    put_digits(text, unsigned(date.month()), 2);
    text += '-';
    put_digits(text, unsigned(date.day()), 2);
    text += 'T';
    put_digits(text, time.hours().count(), 2);
    text += ':';
    put_digits(text, time.minutes().count(), 2);
    text += ':';
    put_digits(text, time.seconds().count(), 2);
    text += '.';
    put_digits(text, time.subseconds().count(), 3);
    text += 'Z';
    return text;
}

Headers headers_for(const FindingEdge& edge) {
    Headers out = headers(
        to_hex(edge.id) + "." + std::to_string(edge.offset.value()) + "." +
            std::to_string(edge.index),
        "/journals/" + to_hex(edge.journal_id) + "/shards/" + std::to_string(edge.shard.value()),
        "trueup.finding.v1", edge.subject);
    out.add("ce_time", rfc3339(to_millis(edge.append_time)));
    return out;
}

Headers headers_for(const Command& command) {
    Headers out = headers(to_hex(command.id), "/policies/" + command.policy, "trueup.command.v1",
                          command.subject);
    out.add("ce_time", rfc3339(to_millis(command.issued)));
    return out;
}

Headers headers_for(const Outcome& outcome, std::optional<BrokerTime> time) {
    // One command may fail several times before it ends: what the outcome says is part of its id.
    const std::string said = to_hex(hash128(encode_outcome(outcome)));
    Headers out = headers(to_hex(outcome.command_id) + "." + said, "/executors/" + outcome.executor,
                          "trueup.outcome.v1", outcome.subject);
    if (time) out.add("ce_time", rfc3339(to_millis(*time)));
    return out;
}

}  // namespace trueup::codec
