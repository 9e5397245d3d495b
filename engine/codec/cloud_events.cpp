#include "engine/codec/cloud_events.h"

#include "engine/base/rfc3339.h"
#include "engine/codec/outcome_codec.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace trueup::codec {

namespace {

constexpr std::string_view kProtobuf = "application/protobuf";
constexpr std::size_t kIdRoom = 64;  // of a finding's: 32 digits, an offset and an index

Headers headers(std::string_view id, std::string_view source, std::string_view type,
                std::string_view subject) {
    return {{"ce_specversion", "1.0"}, {"ce_id", id},           {"ce_source", source},
            {"ce_type", type},         {"ce_subject", subject}, {"content-type", kProtobuf}};
}

}  // namespace

Headers headers_for(const FindingEdge& edge, FindingHeaders which) {
    std::string id;
    id.reserve(kIdRoom);
    id += Hex(edge.id.value()).text();
    (id += '.') += std::to_string(edge.offset.value());
    (id += '.') += std::to_string(edge.index);
    if (which == FindingHeaders::kId) return {{"ce_id", id}, {"content-type", kProtobuf}};
    Headers out = headers(
        id,
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
