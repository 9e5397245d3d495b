#include "engine/codec/policy_codec.h"

#include "engine/codec/message.h"
#include "trueup/v1/policy.pb.h"

#include <google/protobuf/util/json_util.h>

#include <utility>

namespace trueup::codec {

namespace {

// One pair of functions a message. `take` is false at a number that this build does not know. A
// struct, so that each knows all others.
struct Wire {
    template <typename Message, typename Value>
    static void put_all(const std::vector<Value>& values,
                        ::google::protobuf::RepeatedPtrField<Message>& messages) {
        for (const Value& value : values) put(value, *messages.Add());
    }
    template <typename Message, typename Value>
    static bool take_all(const ::google::protobuf::RepeatedPtrField<Message>& messages,
                         std::vector<Value>& values) {
        for (const Message& message : messages) {
            if (!take(message, values.emplace_back())) return false;
        }
        return true;
    }
    static void put_texts(const std::vector<std::string>& texts,
                          ::google::protobuf::RepeatedPtrField<std::string>& out) {
        for (const std::string& text : texts) *out.Add() = text;
    }

    /// The numbers of the model's enumerators are those of the wire; 0 is never written.
    template <typename Enum, typename Wire>
    static bool take_number(Wire number, bool (*valid)(int), Enum& out) {
        if (number == 0 || !valid(number)) return false;
        out = static_cast<Enum>(number);
        return true;
    }

    static void put(const policy::FieldRef& field, v1::PolicyFieldRef& m) {
        m.set_role(field.role);
        m.set_field(field.field);
    }
    static bool take(const v1::PolicyFieldRef& m, policy::FieldRef& field) {
        field = {m.role(), m.field()};
        return true;
    }

    static void put(const policy::Key& key, v1::PolicyKey& m) {
        m.set_op(static_cast<v1::PolicyKey::Op>(key.op));
        m.set_text(key.text);
        put_all(key.parts, *m.mutable_parts());
    }
    static bool take(const v1::PolicyKey& m, policy::Key& key) {
        key.text = m.text();
        return take_number(m.op(), v1::PolicyKey::Op_IsValid, key.op) &&
               take_all(m.parts(), key.parts);
    }

    static void put(const policy::Field& field, v1::PolicyField& m) {
        m.set_name(field.name);
        m.set_type(static_cast<v1::PolicyField::Type>(field.type));
        put_texts(field.words, *m.mutable_words());
        m.set_path(field.path);
        m.set_zone(field.zone);
        m.set_required(field.required);
        m.set_null_unequal(field.null_unequal);
        m.set_blank_is_value(field.blank_is_value);
    }
    static bool take(const v1::PolicyField& m, policy::Field& field) {
        field.name = m.name();
        field.words.assign(m.words().begin(), m.words().end());
        field.path = m.path();
        field.zone = m.zone();
        field.required = m.required();
        field.null_unequal = m.null_unequal();
        field.blank_is_value = m.blank_is_value();
        return take_number(m.type(), v1::PolicyField::Type_IsValid, field.type);
    }

    static void put(const policy::Condition& condition, v1::PolicyCondition& m) {
        m.set_kind(static_cast<v1::PolicyCondition::Kind>(condition.kind));
        put_all(condition.parts, *m.mutable_parts());
        if (condition.kind != policy::Condition::Kind::kTest) return;
        v1::PolicyTest& test = *m.mutable_test();
        test.set_field(condition.test.field);
        test.set_op(static_cast<v1::PolicyTest::Op>(condition.test.op));
        test.set_negated(condition.test.negated);
        put_texts(condition.test.values, *test.mutable_values());
        put(condition.test.other, *test.mutable_other());
    }
    static bool take(const v1::PolicyCondition& m, policy::Condition& condition) {
        if (!take_number(m.kind(), v1::PolicyCondition::Kind_IsValid, condition.kind)) return false;
        if (!take_all(m.parts(), condition.parts)) return false;
        if (condition.kind != policy::Condition::Kind::kTest) return true;
        policy::Test& test = condition.test;
        test.field = m.test().field();
        test.negated = m.test().negated();
        test.values.assign(m.test().values().begin(), m.test().values().end());
        return take_number(m.test().op(), v1::PolicyTest::Op_IsValid, test.op) &&
               take(m.test().other(), test.other);
    }

    static void put(const policy::Role& role, v1::PolicyRole& m) {
        m.set_name(role.name);
        m.set_kind(static_cast<v1::PolicyRole::Kind>(role.kind));
        put(role.key, *m.mutable_key());
        put_all(role.fields, *m.mutable_fields());
        put(role.live, *m.mutable_live());
        m.set_several(role.several);
        m.set_optional_role(role.optional);
        m.set_reference(role.reference);
        m.set_scope(role.scope);
        m.set_as_of_field(role.as_of_field);
        put(role.as_of, *m.mutable_as_of());
        m.set_as_of_at(role.as_of_at);
        put_texts(role.also, *m.mutable_also());
    }
    static bool take(const v1::PolicyRole& m, policy::Role& role) {
        role.name = m.name();
        role.several = m.several();
        role.optional = m.optional_role();
        role.reference = m.reference();
        role.scope = m.scope();
        role.as_of_field = m.as_of_field();
        role.as_of_at = m.as_of_at();
        role.also.assign(m.also().begin(), m.also().end());
        return take_number(m.kind(), v1::PolicyRole::Kind_IsValid, role.kind) &&
               take(m.key(), role.key) && take_all(m.fields(), role.fields) &&
               take(m.live(), role.live) && take(m.as_of(), role.as_of);
    }

    static void put(const policy::Piece& piece, v1::PolicyPiece& m) {
        m.set_kind(static_cast<v1::PolicyPiece::Kind>(piece.kind));
        m.set_literal(piece.literal);
        put(piece.field, *m.mutable_field());
    }
    static bool take(const v1::PolicyPiece& m, policy::Piece& piece) {
        piece.literal = m.literal();
        return take_number(m.kind(), v1::PolicyPiece::Kind_IsValid, piece.kind) &&
               take(m.field(), piece.field);
    }

    static void put(const policy::Text& text, v1::PolicyText& m) {
        put_all(text, *m.mutable_pieces());
    }
    static bool take(const v1::PolicyText& m, policy::Text& text) {
        return take_all(m.pieces(), text);
    }

    static void put(const policy::Ranking& ranking, v1::PolicyRanking& m) {
        put(ranking.condition, *m.mutable_condition());
        m.set_latest(ranking.latest);
    }
    static bool take(const v1::PolicyRanking& m, policy::Ranking& ranking) {
        ranking.latest = m.latest();
        return take(m.condition(), ranking.condition);
    }

    static void put(const policy::Pattern& pattern, v1::PolicyPattern& m) {
        m.set_role(pattern.role);
        m.set_quantifier(static_cast<v1::PolicyPattern::Quantifier>(pattern.quantifier));
        put(pattern.condition, *m.mutable_condition());
        put_all(pattern.keep, *m.mutable_keep());
        put(pattern.named, *m.mutable_named());
        m.set_named_literal(pattern.named_literal);
        put(pattern.in, *m.mutable_in());
    }
    static bool take(const v1::PolicyPattern& m, policy::Pattern& pattern) {
        pattern.role = m.role();
        pattern.named_literal = m.named_literal();
        return take_number(m.quantifier(), v1::PolicyPattern::Quantifier_IsValid,
                           pattern.quantifier) &&
               take(m.condition(), pattern.condition) && take_all(m.keep(), pattern.keep) &&
               take(m.named(), pattern.named) && take(m.in(), pattern.in);
    }

    static void put(const std::vector<policy::Pattern>& patterns, v1::PolicyPatterns& m) {
        put_all(patterns, *m.mutable_all());
    }
    static bool take(const v1::PolicyPatterns& m, std::vector<policy::Pattern>& patterns) {
        return take_all(m.all(), patterns);
    }

    static void put(const policy::NamedCondition& condition, v1::PolicyNamedCondition& m) {
        m.set_name(condition.name);
        m.set_about(condition.about);
        for (const policy::NamedCondition::Line& line : condition.lines) {
            v1::PolicyNamedCondition::Line& out = *m.add_lines();
            put(line.when, *out.mutable_when());
            out.set_then(static_cast<v1::PolicyNamedCondition::Then>(line.then));
            out.set_because(line.because);
        }
    }
    static bool take(const v1::PolicyNamedCondition& m, policy::NamedCondition& condition) {
        condition.name = m.name();
        condition.about = m.about();
        for (const v1::PolicyNamedCondition::Line& from : m.lines()) {
            policy::NamedCondition::Line& line = condition.lines.emplace_back();
            line.because = from.because();
            if (!take_number(from.then(), v1::PolicyNamedCondition::Then_IsValid, line.then) ||
                !take(from.when(), line.when)) {
                return false;
            }
        }
        return true;
    }

    static void put(const policy::Count& count, v1::PolicyCount& m) {
        m.set_name(count.name);
        put_all(count.subjects, *m.mutable_subjects());
        m.set_role(count.role);
        put(count.objects, *m.mutable_objects());
        m.set_by(count.by);
        m.set_reason(count.reason);
    }
    static bool take(const v1::PolicyCount& m, policy::Count& count) {
        count.name = m.name();
        count.role = m.role();
        count.by = m.by();
        count.reason = m.reason();
        return take_all(m.subjects(), count.subjects) && take(m.objects(), count.objects);
    }

    static void put(const policy::Ledger& ledger, v1::PolicyLedger& m) {
        put(ledger.of, *m.mutable_of());
        m.set_objects(ledger.objects);
        put(ledger.belongs, *m.mutable_belongs());
        put(ledger.failed, *m.mutable_failed());
        put(ledger.succeeded, *m.mutable_succeeded());
        m.set_gone_failed(ledger.gone_failed);
        put(ledger.known, *m.mutable_known());
    }
    static bool take(const v1::PolicyLedger& m, policy::Ledger& ledger) {
        ledger.objects = m.objects();
        ledger.gone_failed = m.gone_failed();
        return take(m.of(), ledger.of) && take(m.belongs(), ledger.belongs) &&
               take(m.failed(), ledger.failed) && take(m.succeeded(), ledger.succeeded) &&
               take(m.known(), ledger.known);
    }

    static void put(const policy::Assigned& assigned, v1::PolicyAssigned& m) {
        m.set_field(assigned.field);
        if (assigned.value) put(*assigned.value, *m.mutable_value());
    }
    static bool take(const v1::PolicyAssigned& m, policy::Assigned& assigned) {
        assigned.field = m.field();
        return !m.has_value() || take(m.value(), assigned.value.emplace());
    }

    static void put(const policy::Template& part, v1::PolicyTemplate& m) {
        m.set_kind(static_cast<v1::PolicyTemplate::Kind>(part.kind));
        m.set_key(part.key);
        put(part.text, *m.mutable_text());
        put_all(part.parts, *m.mutable_parts());
    }
    static bool take(const v1::PolicyTemplate& m, policy::Template& part) {
        part.key = m.key();
        return take_number(m.kind(), v1::PolicyTemplate::Kind_IsValid, part.kind) &&
               take(m.text(), part.text) && take_all(m.parts(), part.parts);
    }

    static void put(const policy::Step& step, v1::PolicyStep& m) {
        m.set_verb(static_cast<v1::PolicyStep::Verb>(step.verb));
        m.set_role(step.role);
        put(step.name, *m.mutable_name());
        put_all(step.sets, *m.mutable_sets());
        m.set_from(step.from);
        if (step.object) put(*step.object, *m.mutable_object());
        if (step.grace_period) m.set_grace_period_seconds(*step.grace_period);
        m.set_propagation(step.propagation);
        m.set_subresource(step.subresource);
        put_all(step.reads, *m.mutable_reads());
    }
    static bool take(const v1::PolicyStep& m, policy::Step& step) {
        step.role = m.role();
        step.from = m.from();
        step.propagation = m.propagation();
        step.subresource = m.subresource();
        if (m.has_grace_period_seconds()) step.grace_period = m.grace_period_seconds();
        return take_number(m.verb(), v1::PolicyStep::Verb_IsValid, step.verb) &&
               take(m.name(), step.name) && take_all(m.sets(), step.sets) &&
               (!m.has_object() || take(m.object(), step.object.emplace())) &&
               take_all(m.reads(), step.reads);
    }

    static void put(const policy::Deadline& deadline, v1::PolicyDeadline& m) {
        put(deadline.from, *m.mutable_from());
        if (const auto* field = std::get_if<policy::FieldRef>(&deadline.length)) {
            put(*field, *m.mutable_length()->mutable_field());
        } else {
            m.mutable_length()->set_ms(std::get<Millis>(deadline.length).count());
        }
    }
    static bool take(const v1::PolicyDeadline& m, policy::Deadline& deadline) {
        if (!m.length().has_field()) {
            deadline.length = Millis(m.length().ms());
        } else if (!take(m.length().field(), deadline.length.emplace<policy::FieldRef>())) {
            return false;
        }
        return take(m.from(), deadline.from);
    }

    static void put(const policy::Case& found, v1::PolicyCase& m) {
        m.set_duplicates(found.duplicates);
        put(found.when, *m.mutable_when());
        if (found.past) put(*found.past, *m.mutable_past());
        put_texts(found.ask_while, *m.mutable_ask_while());
        put_all(found.steps, *m.mutable_steps());
    }
    static bool take(const v1::PolicyCase& m, policy::Case& found) {
        found.duplicates = m.duplicates();
        found.ask_while.assign(m.ask_while().begin(), m.ask_while().end());
        return take(m.when(), found.when) &&
               (!m.has_past() || take(m.past(), found.past.emplace())) &&
               take_all(m.steps(), found.steps);
    }

    static void put(const policy::Rule& rule, v1::PolicyRule& m) {
        m.set_name(rule.name);
        m.set_finds(rule.finds);
        put_all(rule.cases, *m.mutable_cases());
        m.set_off(rule.off);
        m.set_grace_ms(rule.grace.count());
        m.set_create_window_ms(rule.create_window.count());
        m.set_since_first_seen(rule.since_first_seen);
        m.set_keyless(rule.keyless);
        for (const Millis step : rule.backoff) m.add_backoff_ms(step.count());
        m.set_requested(rule.requested);
        put_texts(rule.acknowledge, *m.mutable_acknowledge());
    }
    static bool take(const v1::PolicyRule& m, policy::Rule& rule) {
        rule.name = m.name();
        rule.finds = m.finds();
        rule.off = m.off();
        rule.grace = Millis(m.grace_ms());
        rule.create_window = Millis(m.create_window_ms());
        rule.since_first_seen = m.since_first_seen();
        rule.keyless = m.keyless();
        for (const std::int64_t step : m.backoff_ms()) rule.backoff.emplace_back(step);
        rule.requested = m.requested();
        rule.acknowledge.assign(m.acknowledge().begin(), m.acknowledge().end());
        return !rule.name.empty() && take_all(m.cases(), rule.cases);
    }
};

Error broken(std::string_view what) { return {Next::kStop, Code::kCorrupt, std::string(what)}; }

}  // namespace

namespace {

v1::Policy message_of(const policy::Policy& policy) {
    v1::Policy m;
    m.set_language(policy.language);
    m.set_name(policy.name);
    m.set_subject(policy.subject);
    m.set_stale_after_ms(policy.stale_after.count());
    Wire::put_all(policy.roles, *m.mutable_roles());
    Wire::put_all(policy.conditions, *m.mutable_conditions());
    Wire::put_all(policy.counts, *m.mutable_counts());
    if (policy.ledger) Wire::put(*policy.ledger, *m.mutable_ledger());
    for (const auto& [name, owner] : policy.requests) {
        v1::PolicyRequest& request = *m.add_requests();
        request.set_name(name);
        Wire::put(owner, *request.mutable_owner());
    }
    Wire::put_all(policy.rules, *m.mutable_rules());
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
        if (!Wire::take(request.owner(), policy.requests[request.name()])) break;
    }
    const bool known = Wire::take_all(m.roles(), policy.roles) &&
                       Wire::take_all(m.conditions(), policy.conditions) &&
                       Wire::take_all(m.counts(), policy.counts) &&
                       (!m.has_ledger() || Wire::take(m.ledger(), policy.ledger.emplace())) &&
                       Wire::take_all(m.rules(), policy.rules);
    if (!known) return broken("the policy has something that this build does not know");
    return policy;
}

}  // namespace trueup::codec
