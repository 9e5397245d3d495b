#include "engine/codec/request_codec.h"

#include "engine/codec/message.h"
#include "trueup/v1/request.pb.h"

namespace trueup::codec {

namespace {

void write_scope(const RequestScope& scope, v1::RequestScope& m) {
    if (!scope.policy.empty()) m.set_policy(scope.policy);
    if (!scope.rule.empty()) m.set_rule(scope.rule);
    if (!scope.subject.empty()) m.set_subject(scope.subject);
    if (!scope.object_id.empty()) m.set_object_id(scope.object_id);
    if (!scope.source.empty()) m.set_source(scope.source);
    if (!scope.reason.empty()) m.set_reason(scope.reason);
    if (scope.reason_of_policy) m.set_reason_of_policy(true);
    if (scope.finding_id) m.set_finding_id(to_hex(*scope.finding_id));
    if (scope.finding_offset) m.set_finding_offset(scope.finding_offset->value());
}

bool read_scope(const v1::RequestScope& m, RequestScope& out) {
    FindingId finding;
    if (m.has_finding_id() && !read_id(m.finding_id(), finding)) return false;
    if (m.has_finding_id()) out.finding_id = finding;
    if (m.has_finding_offset()) out.finding_offset = Offset(m.finding_offset());
    out.policy = m.policy();
    out.rule = m.rule();
    out.subject = m.subject();
    out.object_id = m.object_id();
    out.source = m.source();
    out.reason = m.reason();
    out.reason_of_policy = m.reason_of_policy();
    return true;
}

}  // namespace

std::string encode_request(const Request& request) {
    v1::Request m;
    m.set_id(to_hex(request.id));
    m.set_kind(static_cast<v1::RequestKind>(request.kind));
    if (!(request.scope == RequestScope{})) write_scope(request.scope, *m.mutable_scope());
    m.set_issued_ms(request.issued_ms);
    if (!request.issued_by.empty()) m.set_issued_by(request.issued_by);
    if (!request.comment.empty()) m.set_comment(request.comment);
    if (!request.role.empty()) m.set_role(request.role);
    if (!request.name.empty()) m.set_name(request.name);
    if (request.drop) m.set_drop(true);
    for (const NamedRule& named : request.rules) {
        v1::NamedRule& out = *m.add_rules();
        out.set_rule(named.rule);
        if (!named.text.none()) out.set_text(to_hex(named.text));
    }
    for (const Offset offset : request.seen) m.add_seen(offset.value());
    return m.SerializeAsString();
}

Result<Request> decode_request(std::string_view bytes) {
    v1::Request m;
    Request request;
    if (!parse(bytes, m)) return unreadable("the bytes are not a request");
    if (!read_id(m.id(), request.id)) return unreadable("the request has no id");
    if (m.kind() == v1::REQUEST_KIND_UNSPECIFIED || !v1::RequestKind_IsValid(m.kind())) {
        return unreadable("the request is of an unknown kind");
    }
    if (!read_scope(m.scope(), request.scope)) {
        return unreadable("the request's finding_id is not an id");
    }
    request.kind = static_cast<RequestKind>(m.kind());
    request.issued_ms = m.issued_ms();
    request.issued_by = m.issued_by();
    request.comment = m.comment();
    request.role = m.role();
    request.name = m.name();
    request.drop = m.drop();
    for (const v1::NamedRule& named : m.rules()) {
        NamedRule& out = request.rules.emplace_back();
        out.rule = named.rule();
        if (!named.has_text()) continue;
        const std::optional<Hash128> text = hash_from_hex(named.text());
        if (!text) return unreadable("the request names what is no rule's hash");
        out.text = *text;
    }
    for (const std::int64_t offset : m.seen()) request.seen.emplace_back(offset);
    return request;
}

}  // namespace trueup::codec
