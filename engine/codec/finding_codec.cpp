#include "engine/codec/finding_codec.h"

#include "engine/codec/message.h"
#include "engine/codec/wire.h"
#include "engine/codec/wire_writer.h"
#include "trueup/v1/finding.pb.h"

#include <array>
#include <cstddef>
#include <cstdint>

namespace trueup::codec {

namespace {

// Field numbers of trueup.v1.Finding and trueup.v1.JournalPosition.
constexpr std::uint32_t kId = 1;
constexpr std::uint32_t kPolicy = 2;
constexpr std::uint32_t kRule = 3;
constexpr std::uint32_t kSubject = 4;
constexpr std::uint32_t kObjectId = 5;
constexpr std::uint32_t kState = 6;
constexpr std::uint32_t kReason = 7;
constexpr std::uint32_t kPosition = 8;
constexpr std::uint32_t kSince = 9;
constexpr std::uint32_t kAppendTime = 10;
constexpr std::uint32_t kCommandId = 11;
constexpr std::uint32_t kSentence = 12;
constexpr std::uint32_t kEvidence = 13;
constexpr std::uint32_t kOpened = 14;
constexpr std::uint32_t kCountReason = 15;
constexpr std::uint32_t kJournalId = 1;
constexpr std::uint32_t kShard = 2;
constexpr std::uint32_t kOffset = 3;
constexpr std::uint32_t kIndex = 4;
constexpr std::size_t kFields = 19;
constexpr std::size_t kHexSize = 32;
constexpr std::size_t kMaxPosition = 4 * (kMaxTag + kMaxVarint) + kHexSize;

template <typename Number>
std::uint64_t bits(Number n) {
    return static_cast<std::uint64_t>(static_cast<std::int64_t>(n));
}

/// Copies what `fill` writes into `room` as one field that is led by its length.
template <std::size_t kRoom, typename Fill>
void put_part(WireWriter& out, std::uint32_t field, Fill&& fill) {
    std::array<char, kRoom> room{};
    WireWriter part(room.data());
    fill(part);
    out.text(field, {room.data(), static_cast<std::size_t>(part.at() - room.data())});
}

}  // namespace

// By hand: an edge is published for every third change, and the generated code cost more than the
// fold that made it (measured).
std::string encode_finding(const FindingEdge& edge) {
    const std::size_t text = edge.policy.size() + edge.rule.size() + edge.subject.size() +
                             edge.object_id.size() + edge.sentence.size() +
                             edge.count_reason.size() + 2 * kHexSize;
    const std::size_t evidence = edge.evidence.size() * kMaxVarint;
    std::string bytes(text + evidence + kFields * (kMaxTag + kMaxVarint) + kMaxPosition, '\0');
    WireWriter out(bytes.data());
    out.text(kId, Hex(edge.id.value()).text());
    out.text(kPolicy, edge.policy);
    out.text(kRule, edge.rule);
    out.text(kSubject, edge.subject);
    if (!edge.object_id.empty()) out.text(kObjectId, edge.object_id);
    out.number(kState, bits(edge.state));
    if (edge.reason != Reason::kNone) out.number(kReason, bits(edge.reason));
    put_part<kMaxPosition>(out, kPosition, [&](WireWriter& position) {
        position.text(kJournalId, Hex(edge.journal_id.value()).text());
        position.number(kShard, bits(edge.shard.value()));
        position.number(kOffset, bits(edge.offset.value()));
        position.number(kIndex, edge.index);
    });
    out.number(kSince, bits(to_millis(edge.since)));
    out.number(kAppendTime, bits(to_millis(edge.append_time)));
    if (edge.command_id) out.text(kCommandId, Hex(edge.command_id->value()).text());
    if (!edge.sentence.empty()) out.text(kSentence, edge.sentence);
    if (!edge.evidence.empty()) {
        std::string packed(evidence, '\0');
        WireWriter offsets(packed.data());
        for (const Offset offset : edge.evidence) offsets.varint(bits(offset.value()));
        packed.resize(static_cast<std::size_t>(offsets.at() - packed.data()));
        out.text(kEvidence, packed);
    }
    if (edge.opened) out.number(kOpened, 1);
    if (!edge.count_reason.empty()) out.text(kCountReason, edge.count_reason);
    bytes.resize(static_cast<std::size_t>(out.at() - bytes.data()));
    return bytes;
}

Result<FindingEdge> decode_finding(std::string_view bytes) {
    v1::Finding m;
    FindingEdge edge;
    if (!parse(bytes, m)) return unreadable("the bytes are not a finding");
    if (!read_id(m.id(), edge.id)) return unreadable("the finding has no id");
    if (m.state() == v1::FINDING_STATE_UNSPECIFIED || !v1::FindingState_IsValid(m.state()) ||
        !v1::Reason_IsValid(m.reason())) {
        return unreadable("the finding's state or reason is not known to this build");
    }
    if (!read_id(m.position().journal_id(), edge.journal_id)) {
        return unreadable("the finding names no journal");
    }
    CommandId command;
    if (m.has_command_id() && !read_id(m.command_id(), command)) {
        return unreadable("the finding's command_id is not an id");
    }
    if (m.has_command_id()) edge.command_id = command;
    edge.policy = m.policy();
    edge.rule = m.rule();
    edge.subject = m.subject();
    edge.object_id = m.object_id();
    edge.state = static_cast<FindingState>(m.state());
    edge.reason = static_cast<Reason>(m.reason());
    edge.since = from_millis<JournalTime>(m.since_ms());
    edge.shard = PartitionNumber(m.position().shard());
    edge.offset = Offset(m.position().offset());
    edge.index = m.position().index();
    edge.append_time = from_millis<BrokerTime>(m.append_time_ms());
    edge.sentence = m.sentence();
    edge.opened = m.opened();
    edge.count_reason = m.count_reason();
    for (const std::int64_t offset : m.evidence_offsets()) edge.evidence.emplace_back(offset);
    return edge;
}

}  // namespace trueup::codec
