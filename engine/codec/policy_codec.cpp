#include "engine/codec/policy_codec.h"

#include "engine/codec/message.h"
#include "engine/codec/policy_wire.h"
#include "trueup/v1/policy.pb.h"

#include <google/protobuf/util/json_util.h>

#include <utility>

namespace trueup::codec {

namespace {

Error broken(std::string_view what) { return {Next::kStop, Code::kCorrupt, std::string(what)}; }

v1::Policy message_of(const policy::Policy& policy) {
    v1::Policy m;
    m.set_language(policy.language);
    m.set_name(policy.name);
    m.set_subject(policy.subject);
    m.set_stale_after_ms(policy.stale_after.count());
    PolicyWire::put_all(policy.roles, *m.mutable_roles());
    PolicyWire::put_all(policy.conditions, *m.mutable_conditions());
    PolicyWire::put_all(policy.counts, *m.mutable_counts());
    if (policy.ledger) PolicyWire::put(*policy.ledger, *m.mutable_ledger());
    for (const auto& [name, owner] : policy.requests) {
        v1::PolicyRequest& request = *m.add_requests();
        request.set_name(name);
        PolicyWire::put(owner, *request.mutable_owner());
    }
    PolicyWire::put_all(policy.rules, *m.mutable_rules());
    return m;
}

}  // namespace

std::string encode_policy(const policy::Policy& policy) {
    return message_of(policy).SerializeAsString();
}

std::string policy_json(const policy::Policy& policy) {
    std::string json;
    google::protobuf::util::JsonPrintOptions options;
    options.preserve_proto_field_names = true;
    // What is told is made here: there is nothing in it that has no JSON.
    (void)google::protobuf::util::MessageToJsonString(message_of(policy), &json, options);
    return json;
}

Result<policy::Policy> decode_policy(std::string_view bytes) {
    v1::Policy m;
    if (!parse(bytes, m)) return broken("the bytes are not a policy");
    if (m.language() != policy::kLanguage) {
        return broken("the policy is written in language " + std::to_string(m.language()) +
                      ", and this build reads language " + std::to_string(policy::kLanguage));
    }
    policy::Policy policy;
    policy.name = m.name();
    policy.subject = m.subject();
    policy.stale_after = Millis(m.stale_after_ms());
    for (const v1::PolicyRequest& request : m.requests()) {
        if (!PolicyWire::take(request.owner(), policy.requests[request.name()])) break;
    }
    const bool known = PolicyWire::take_all(m.roles(), policy.roles) &&
                       PolicyWire::take_all(m.conditions(), policy.conditions) &&
                       PolicyWire::take_all(m.counts(), policy.counts) &&
                       (!m.has_ledger() || PolicyWire::take(m.ledger(), policy.ledger.emplace())) &&
                       PolicyWire::take_all(m.rules(), policy.rules);
    if (!known) return broken("the policy has something that this build does not know");
    return policy;
}

}  // namespace trueup::codec
