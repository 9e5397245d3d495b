#include "engine/codec/outcome_codec.h"

#include "engine/codec/message.h"
#include "trueup/v1/outcome.pb.h"

namespace trueup::codec {

std::string encode_outcome(const Outcome& outcome) {
    v1::Outcome m;
    m.set_command_id(to_hex(outcome.command_id));
    if (!outcome.subject.empty()) m.set_subject(outcome.subject);
    m.set_kind(static_cast<v1::OutcomeKind>(outcome.kind));
    if (outcome.retryable) m.set_retryable(true);
    if (!outcome.detail.empty()) m.set_detail(outcome.detail);
    if (!outcome.executor.empty()) m.set_executor(outcome.executor);
    if (outcome.check_to_write_micros != 0) {
        m.set_check_to_write_micros(outcome.check_to_write_micros);
    }
    return m.SerializeAsString();
}

Result<Outcome> decode_outcome(std::string_view bytes) {
    v1::Outcome m;
    Outcome outcome;
    if (!parse(bytes, m)) return unreadable("the bytes are not an outcome");
    if (!read_id(m.command_id(), outcome.command_id)) {
        return unreadable("the outcome names no command");
    }
    if (m.kind() == v1::OUTCOME_KIND_UNSPECIFIED || !v1::OutcomeKind_IsValid(m.kind())) {
        return unreadable("the outcome is of an unknown kind");
    }
    outcome.subject = m.subject();
    outcome.kind = static_cast<OutcomeKind>(m.kind());
    outcome.retryable = m.retryable();
    outcome.detail = m.detail();
    outcome.executor = m.executor();
    outcome.check_to_write_micros = m.check_to_write_micros();
    return outcome;
}

}  // namespace trueup::codec
