// The rules of a policy as messages, with their cases, steps and texts.
#include "engine/codec/policy_wire.h"

#include <cstdint>
#include <variant>

namespace trueup::codec {

void PolicyWire::put(const policy::Piece& piece, v1::PolicyPiece& m) {
    m.set_kind(static_cast<v1::PolicyPiece::Kind>(piece.kind));
    m.set_literal(piece.literal);
    put(piece.field, *m.mutable_field());
}
bool PolicyWire::take(const v1::PolicyPiece& m, policy::Piece& piece) {
    piece.literal = m.literal();
    return take_number(m.kind(), v1::PolicyPiece::Kind_IsValid, piece.kind) &&
           take(m.field(), piece.field);
}

void PolicyWire::put(const policy::Text& text, v1::PolicyText& m) {
    put_all(text, *m.mutable_pieces());
}
bool PolicyWire::take(const v1::PolicyText& m, policy::Text& text) {
    return take_all(m.pieces(), text);
}

void PolicyWire::put(const policy::Assigned& assigned, v1::PolicyAssigned& m) {
    m.set_field(assigned.field);
    if (assigned.value) put(*assigned.value, *m.mutable_value());
}
bool PolicyWire::take(const v1::PolicyAssigned& m, policy::Assigned& assigned) {
    assigned.field = m.field();
    return !m.has_value() || take(m.value(), assigned.value.emplace());
}

void PolicyWire::put(const policy::Template& part, v1::PolicyTemplate& m) {
    m.set_kind(static_cast<v1::PolicyTemplate::Kind>(part.kind));
    m.set_key(part.key);
    put(part.text, *m.mutable_text());
    put_all(part.parts, *m.mutable_parts());
}
bool PolicyWire::take(const v1::PolicyTemplate& m, policy::Template& part) {
    part.key = m.key();
    return take_number(m.kind(), v1::PolicyTemplate::Kind_IsValid, part.kind) &&
           take(m.text(), part.text) && take_all(m.parts(), part.parts);
}

void PolicyWire::put(const policy::Step& step, v1::PolicyStep& m) {
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
bool PolicyWire::take(const v1::PolicyStep& m, policy::Step& step) {
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

void PolicyWire::put(const policy::Deadline& deadline, v1::PolicyDeadline& m) {
    put(deadline.from, *m.mutable_from());
    if (const auto* field = std::get_if<policy::FieldRef>(&deadline.length)) {
        put(*field, *m.mutable_length()->mutable_field());
    } else {
        m.mutable_length()->set_ms(std::get<Millis>(deadline.length).count());
    }
}
bool PolicyWire::take(const v1::PolicyDeadline& m, policy::Deadline& deadline) {
    if (!m.length().has_field()) {
        deadline.length = Millis(m.length().ms());
    } else if (!take(m.length().field(), deadline.length.emplace<policy::FieldRef>())) {
        return false;
    }
    return take(m.from(), deadline.from);
}

void PolicyWire::put(const policy::Case& found, v1::PolicyCase& m) {
    m.set_duplicates(found.duplicates);
    put(found.when, *m.mutable_when());
    if (found.past) put(*found.past, *m.mutable_past());
    put_texts(found.ask_while, *m.mutable_ask_while());
    put_all(found.steps, *m.mutable_steps());
}
bool PolicyWire::take(const v1::PolicyCase& m, policy::Case& found) {
    found.duplicates = m.duplicates();
    found.ask_while.assign(m.ask_while().begin(), m.ask_while().end());
    return take(m.when(), found.when) && (!m.has_past() || take(m.past(), found.past.emplace())) &&
           take_all(m.steps(), found.steps);
}

void PolicyWire::put(const policy::Rule& rule, v1::PolicyRule& m) {
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
bool PolicyWire::take(const v1::PolicyRule& m, policy::Rule& rule) {
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

}  // namespace trueup::codec
