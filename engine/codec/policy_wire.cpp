#include "engine/codec/policy_wire.h"

namespace trueup::codec {

void PolicyWire::put(const policy::FieldRef& field, v1::PolicyFieldRef& m) {
    m.set_role(field.role);
    m.set_field(field.field);
}
bool PolicyWire::take(const v1::PolicyFieldRef& m, policy::FieldRef& field) {
    field = {m.role(), m.field()};
    return true;
}

void PolicyWire::put(const policy::Key& key, v1::PolicyKey& m) {
    m.set_op(static_cast<v1::PolicyKey::Op>(key.op));
    m.set_text(key.text);
    put_all(key.parts, *m.mutable_parts());
}
bool PolicyWire::take(const v1::PolicyKey& m, policy::Key& key) {
    key.text = m.text();
    return take_number(m.op(), v1::PolicyKey::Op_IsValid, key.op) && take_all(m.parts(), key.parts);
}

void PolicyWire::put(const policy::Field& field, v1::PolicyField& m) {
    m.set_name(field.name);
    m.set_type(static_cast<v1::PolicyField::Type>(field.type));
    put_texts(field.words, *m.mutable_words());
    m.set_path(field.path);
    m.set_zone(field.zone);
    m.set_required(field.required);
    m.set_null_unequal(field.null_unequal);
    m.set_blank_is_value(field.blank_is_value);
}
bool PolicyWire::take(const v1::PolicyField& m, policy::Field& field) {
    field.name = m.name();
    field.words.assign(m.words().begin(), m.words().end());
    field.path = m.path();
    field.zone = m.zone();
    field.required = m.required();
    field.null_unequal = m.null_unequal();
    field.blank_is_value = m.blank_is_value();
    return take_number(m.type(), v1::PolicyField::Type_IsValid, field.type);
}

void PolicyWire::put(const policy::Condition& condition, v1::PolicyCondition& m) {
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
bool PolicyWire::take(const v1::PolicyCondition& m, policy::Condition& condition) {
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

void PolicyWire::put(const policy::Role& role, v1::PolicyRole& m) {
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
bool PolicyWire::take(const v1::PolicyRole& m, policy::Role& role) {
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

void PolicyWire::put(const policy::Ranking& ranking, v1::PolicyRanking& m) {
    put(ranking.condition, *m.mutable_condition());
    m.set_latest(ranking.latest);
}
bool PolicyWire::take(const v1::PolicyRanking& m, policy::Ranking& ranking) {
    ranking.latest = m.latest();
    return take(m.condition(), ranking.condition);
}

void PolicyWire::put(const policy::Pattern& pattern, v1::PolicyPattern& m) {
    m.set_role(pattern.role);
    m.set_quantifier(static_cast<v1::PolicyPattern::Quantifier>(pattern.quantifier));
    put(pattern.condition, *m.mutable_condition());
    put_all(pattern.keep, *m.mutable_keep());
    put(pattern.named, *m.mutable_named());
    m.set_named_literal(pattern.named_literal);
    put(pattern.in, *m.mutable_in());
}
bool PolicyWire::take(const v1::PolicyPattern& m, policy::Pattern& pattern) {
    pattern.role = m.role();
    pattern.named_literal = m.named_literal();
    return take_number(m.quantifier(), v1::PolicyPattern::Quantifier_IsValid, pattern.quantifier) &&
           take(m.condition(), pattern.condition) && take_all(m.keep(), pattern.keep) &&
           take(m.named(), pattern.named) && take(m.in(), pattern.in);
}

void PolicyWire::put(const std::vector<policy::Pattern>& patterns, v1::PolicyPatterns& m) {
    put_all(patterns, *m.mutable_all());
}
bool PolicyWire::take(const v1::PolicyPatterns& m, std::vector<policy::Pattern>& patterns) {
    return take_all(m.all(), patterns);
}

void PolicyWire::put(const policy::NamedCondition& condition, v1::PolicyNamedCondition& m) {
    m.set_name(condition.name);
    m.set_about(condition.about);
    for (const policy::NamedCondition::Line& line : condition.lines) {
        v1::PolicyNamedCondition::Line& out = *m.add_lines();
        put(line.when, *out.mutable_when());
        out.set_then(static_cast<v1::PolicyNamedCondition::Then>(line.then));
        out.set_because(line.because);
    }
}
bool PolicyWire::take(const v1::PolicyNamedCondition& m, policy::NamedCondition& condition) {
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

void PolicyWire::put(const policy::Count& count, v1::PolicyCount& m) {
    m.set_name(count.name);
    put_all(count.subjects, *m.mutable_subjects());
    m.set_role(count.role);
    put(count.objects, *m.mutable_objects());
    m.set_by(count.by);
    m.set_reason(count.reason);
}
bool PolicyWire::take(const v1::PolicyCount& m, policy::Count& count) {
    count.name = m.name();
    count.role = m.role();
    count.by = m.by();
    count.reason = m.reason();
    return take_all(m.subjects(), count.subjects) && take(m.objects(), count.objects);
}

void PolicyWire::put(const policy::Ledger& ledger, v1::PolicyLedger& m) {
    put(ledger.of, *m.mutable_of());
    m.set_objects(ledger.objects);
    put(ledger.belongs, *m.mutable_belongs());
    put(ledger.failed, *m.mutable_failed());
    put(ledger.succeeded, *m.mutable_succeeded());
    m.set_gone_failed(ledger.gone_failed);
    put(ledger.known, *m.mutable_known());
}
bool PolicyWire::take(const v1::PolicyLedger& m, policy::Ledger& ledger) {
    ledger.objects = m.objects();
    ledger.gone_failed = m.gone_failed();
    return take(m.of(), ledger.of) && take(m.belongs(), ledger.belongs) &&
           take(m.failed(), ledger.failed) && take(m.succeeded(), ledger.succeeded) &&
           take(m.known(), ledger.known);
}

}  // namespace trueup::codec
