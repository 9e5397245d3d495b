#include "engine/codec/command_codec.h"

#include "engine/codec/message.h"
#include "trueup/v1/command.pb.h"

namespace trueup::codec {

namespace {

/// An executor that knows no absent `grace_seconds` would take it for 0, and kill; one that knows
/// no `propagation` would delete what was to stay. So they are kinds of their own.
v1::Action::Kind kind_of(const Action& action) {
    const bool in_its_time = action.kind == Action::Kind::kDeletePod && !action.grace_seconds;
    if (in_its_time) return v1::Action::KIND_DELETE_POD_IN_ITS_TIME;
    const bool as_said = action.kind == Action::Kind::kDeleteObject && !action.propagation.empty();
    return as_said ? v1::Action::KIND_DELETE_OBJECT_AS_SAID
                   : static_cast<v1::Action::Kind>(action.kind);
}

void write_draft(const CommandDraft& draft, v1::Command& m) {
    v1::Target& target = *m.mutable_target();
    target.set_source(draft.target.source);
    target.set_object_id(draft.target.object_id);
    if (!draft.target.name.empty()) target.set_name(draft.target.name);
    if (!draft.target.name_space.empty()) target.set_namespace_(draft.target.name_space);

    v1::Action& action = *m.mutable_action();
    action.set_kind(kind_of(draft.action));
    if (draft.action.grace_seconds) action.set_grace_seconds(*draft.action.grace_seconds);
    if (!draft.action.propagation.empty()) action.set_propagation(draft.action.propagation);
    for (const Assignment& assignment : draft.action.sets) {
        v1::Assignment& out = *action.add_sets();
        out.set_column(assignment.column);
        if (assignment.value) out.set_value(*assignment.value);
        if (assignment.now) out.set_now(true);
        if (assignment.bare) out.set_bare(true);
    }
    for (const Predicate& predicate : draft.read_set) {
        v1::Predicate& out = *m.add_read_set();
        out.set_kind(static_cast<v1::Predicate::Kind>(predicate.kind));
        if (!predicate.source.empty()) out.set_source(predicate.source);
        if (!predicate.object_id.empty()) out.set_object_id(predicate.object_id);
        if (!predicate.field.empty()) out.set_field(predicate.field);
        if (predicate.value) out.set_value(*predicate.value);
        for (const std::string& beside : predicate.besides) out.add_besides(beside);
    }
}

bool read_target(const v1::Target& m, Target& out) {
    out = {m.source(), m.object_id(), m.name(), m.namespace_()};
    return !out.source.empty() && !out.object_id.empty();
}

bool read_action(const v1::Action& m, Action& out) {
    const bool in_its_time = m.kind() == v1::Action::KIND_DELETE_POD_IN_ITS_TIME;
    const bool as_said = m.kind() == v1::Action::KIND_DELETE_OBJECT_AS_SAID;
    out.kind = in_its_time ? Action::Kind::kDeletePod
               : as_said   ? Action::Kind::kDeleteObject
                           : static_cast<Action::Kind>(m.kind());
    out.propagation = m.propagation();
    const bool known = out.propagation == "foreground" || out.propagation == "orphan";
    if (as_said ? !known : m.has_propagation()) return false;
    if (m.has_grace_seconds()) out.grace_seconds = m.grace_seconds();
    if (in_its_time && m.has_grace_seconds()) return false;
    for (const v1::Assignment& assignment : m.sets()) {
        Assignment& set = out.sets.emplace_back(Assignment{assignment.column(), std::nullopt});
        if (assignment.has_value()) set.value = assignment.value();
        set.now = assignment.now();
        set.bare = assignment.bare();
        const bool blank = !set.value && (set.now || set.bare);
        if (set.column.empty() || blank || (set.now && set.bare)) return false;
    }
    return m.kind() != v1::Action::KIND_UNSPECIFIED && v1::Action::Kind_IsValid(m.kind());
}

bool read_predicate(const v1::Predicate& m, Predicate& out) {
    out.kind = static_cast<Predicate::Kind>(m.kind());
    out.source = m.source();
    out.object_id = m.object_id();
    out.field = m.field();
    if (m.has_value()) out.value = m.value();
    out.besides.assign(m.besides().begin(), m.besides().end());
    return m.kind() != v1::Predicate::KIND_UNSPECIFIED && v1::Predicate::Kind_IsValid(m.kind());
}

const char* read_draft(const v1::Command& m, CommandDraft& draft) {
    if (!read_target(m.target(), draft.target)) return "the command has no exact target";
    if (!read_action(m.action(), draft.action)) return "the command's action is of an unknown kind";
    if (m.read_set().empty()) return "the command relies on nothing";
    for (const v1::Predicate& predicate : m.read_set()) {
        if (!read_predicate(predicate, draft.read_set.emplace_back())) {
            return "the command relies on a predicate of an unknown kind";
        }
    }
    return nullptr;
}

}  // namespace

std::string encode_command(const Command& command) {
    v1::Command m;
    m.set_id(to_hex(command.id));
    m.set_policy(command.policy);
    m.set_rule(command.rule);
    if (!command.finding_id.none()) m.set_finding_id(to_hex(command.finding_id));
    m.set_subject(command.subject);
    write_draft(command.draft, m);
    m.set_issued_ms(to_millis(command.issued));
    m.set_not_after_ms(to_millis(command.not_after));
    for (const Offset offset : command.evidence) m.add_evidence_offsets(offset.value());
    m.set_emission(command.emission);
    return m.SerializeAsString();
}

Result<Command> decode_command(std::string_view bytes) {
    v1::Command m;
    Command command;
    if (!parse(bytes, m)) return unreadable("the bytes are not a command");
    if (!read_id(m.id(), command.id)) return unreadable("the command has no id");
    const std::string named = "command " + m.id() + ": ";
    if (m.has_finding_id() && !read_id(m.finding_id(), command.finding_id)) {
        return unreadable(named + "its finding_id is not an id");
    }
    if (!m.has_issued_ms() || !m.has_not_after_ms()) {
        return unreadable(named + "the command has no expiry");
    }
    if (const char* why = read_draft(m, command.draft)) return unreadable(named + why);
    command.policy = m.policy();
    command.rule = m.rule();
    command.subject = m.subject();
    command.issued = from_millis<BrokerTime>(m.issued_ms());
    command.not_after = from_millis<BrokerTime>(m.not_after_ms());
    for (const std::int64_t offset : m.evidence_offsets()) command.evidence.emplace_back(offset);
    command.emission = m.emission();
    return command;
}

}  // namespace trueup::codec
