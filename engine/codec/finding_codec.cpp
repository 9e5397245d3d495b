#include "engine/codec/finding_codec.h"

#include "engine/codec/message.h"
#include "trueup/v1/finding.pb.h"

namespace trueup::codec {

std::string encode_finding(const FindingEdge& edge) {
    v1::Finding m;
    m.set_id(to_hex(edge.id));
    m.set_policy(edge.policy);
    m.set_rule(edge.rule);
    m.set_subject(edge.subject);
    if (!edge.object_id.empty()) m.set_object_id(edge.object_id);
    m.set_state(static_cast<v1::FindingState>(edge.state));
    if (edge.reason != Reason::kNone) m.set_reason(static_cast<v1::Reason>(edge.reason));
    v1::JournalPosition& position = *m.mutable_position();
    position.set_journal_id(to_hex(edge.journal_id));
    position.set_shard(edge.shard);
    position.set_offset(edge.offset);
    position.set_index(edge.index);
    m.set_since_ms(to_millis(edge.since));
    m.set_append_time_ms(to_millis(edge.append_time));
    if (edge.command_id) m.set_command_id(to_hex(*edge.command_id));
    if (!edge.sentence.empty()) m.set_sentence(edge.sentence);
    m.mutable_evidence_offsets()->Add(edge.evidence.begin(), edge.evidence.end());
    return m.SerializeAsString();
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
    Hash128 command;
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
    edge.shard = m.position().shard();
    edge.offset = m.position().offset();
    edge.index = m.position().index();
    edge.append_time = from_millis<BrokerTime>(m.append_time_ms());
    edge.sentence = m.sentence();
    edge.evidence.assign(m.evidence_offsets().begin(), m.evidence_offsets().end());
    return edge;
}

}  // namespace trueup::codec
