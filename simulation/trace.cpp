#include "simulation/trace.h"

#include "engine/codec/change_codec.h"
#include "engine/codec/command_codec.h"
#include "engine/codec/outcome_codec.h"
#include "engine/codec/request_codec.h"
#include "engine/model/object.h"
#include "executors/read_set.h"

#include <cstdio>
#include <variant>

namespace trueup::simulation {

namespace {

/// Enough of an id to tell it from the others of a run.
std::string brief(const CommandId& id) { return to_hex(id).substr(0, 8); }

/// What a source said of an object, or of itself; empty: neither.
std::string told(const ChangeView& change, Offset offset) {
    const std::string from = std::string(change.source) + " " +
                             std::to_string(change.incarnation.value()) + "/" +
                             std::to_string(change.seq);
    const std::string word = change.version.lo == 0 ? "" : "." + std::to_string(change.version.lo);
    const std::string version = " version " + std::to_string(change.version.hi) + word;
    const bool outside = ObjectView(change.object).is("in_scope", "false");
    switch (change.kind) {
        case ChangeKind::kIncarnationStart:
            return std::string(change.source) + " begins incarnation " +
                   std::to_string(offset.value());
        case ChangeKind::kUpsert:
            return from + " says: " + std::string(change.object_id) + version +
                   (outside ? ", out of scope" : "") +
                   (change.epoch != 0 ? " in epoch " + std::to_string(change.epoch) : "");
        case ChangeKind::kSame:
            return from + " says: " + std::string(change.object_id) + version +
                   " is the same as version " + std::to_string(change.base.hi) + " in epoch " +
                   std::to_string(change.epoch);
        case ChangeKind::kRemove:
            return from + " says: " + std::string(change.object_id) + version + " is gone";
        case ChangeKind::kSnapshotBegin:
            return from + " begins epoch " + std::to_string(change.epoch) + version;
        case ChangeKind::kSnapshotEnd:
            return from + " ends epoch " + std::to_string(change.epoch) + " of " +
                   std::to_string(change.count);
        default:
            return {};
    }
}

std::string told(const Command& command) {
    std::string text = "command " + brief(command.id) + " " + command.rule + ": " +
                       std::string(name_of(command.draft.action.kind)) + " " +
                       command.draft.target.object_id + " of " + command.subject + ", emission " +
                       std::to_string(command.emission);
    for (const Predicate& predicate : command.draft.read_set) {
        text.append(" ").append(executors::describe(predicate));
    }
    return text;
}

std::string told(const Outcome& outcome) {
    return "outcome " + brief(outcome.command_id) + " " + std::string(name_of(outcome.kind)) +
           (outcome.detail.empty() ? "" : ": " + outcome.detail) + " by " + outcome.executor +
           " about " + outcome.subject;
}

std::string told(const Request& request) {
    return "request " + std::string(name_of(request.kind)) + " " + request.scope.subject +
           request.scope.rule + request.scope.source + request.scope.reason + " by " +
           request.issued_by;
}

std::string told(const sandbox::PodEvent& event) {
    const sandbox::Pod& pod = event.subject();
    std::string text = "pod " + pod.name + " " + pod.uid + ", version " +
                       std::to_string(event.resource_version) + ": ";
    if (!event.after) return text + "gone";
    text += pod.phase + (pod.deletion_ms ? ", being deleted" : "");
    for (const auto& [label, value] : pod.labels) text.append(" " + label + "=").append(value);
    return text;
}

std::string told(const sandbox::RowChange& change) {
    std::string text = std::string("row ") + change.kind + ":";
    for (const auto& value : *(change.after ? change.after : change.before)) {
        text += " " + value.value_or("NULL");
    }
    return text;
}

std::string told(const sandbox::Effect& effect) {
    using Kind = sandbox::Effect::Kind;
    const std::string pod = " of " + effect.name + " " + effect.uid;
    std::string text = effect.kind == Kind::kDelete   ? "DELETE" + pod
                       : effect.kind == Kind::kPatch  ? "PATCH" + pod
                       : effect.kind == Kind::kCreate ? "POST" + pod
                       : effect.kind == Kind::kInsert
                           ? "INSERT of row " + effect.pk + " for " + effect.name
                           : "UPDATE of row " + effect.pk;
    for (const ports::ColumnValue& set : effect.sets) {
        text.append(" " + set.column + "=").append(set.value.value_or("NULL"));
    }
    return text + (effect.accepted ? ": done" : ": " + effect.why);
}

}  // namespace

void Trace::tell(Millis since, const std::string& what) {
    char time[32];
    std::snprintf(time, sizeof time, "%8.3f ", static_cast<double>(since.count()) / 1000.0);
    lines_.push_back(time + what);
}

void Trace::stored(Millis since, ports::Partition at, const Broker::Record& record) {
    if (record.value.empty()) return;  // a heartbeat
    if (at.topic == Topic::kChangesPods || at.topic == Topic::kChangesRows) {
        const auto change = codec::decode_change(record.value);
        const bool all = change && change->subject_key.empty();
        const std::string text = change ? told(*change, record.offset) : std::string();
        if (!text.empty() && (all || concerns(change->subject_key))) tell(since, text);
    }
    if (at.topic == Topic::kCommands) {
        const auto command = codec::decode_command(record.value);
        if (command && concerns(command->subject)) tell(since, told(*command));
    }
    if (at.topic == Topic::kOutcomes) {
        const auto outcome = codec::decode_outcome(record.value);
        if (outcome && concerns(outcome->subject)) tell(since, told(*outcome));
    }
    if (at.topic == Topic::kRequests) {
        const auto request = codec::decode_request(record.value);
        const bool all = request && request->scope.subject.empty();
        if (all || (request && concerns(request->scope.subject))) tell(since, told(*request));
    }
}

void Trace::happened(Millis since, const std::vector<sandbox::Record>& act) {
    for (const sandbox::Record& record : act) {
        if (const auto* pod = std::get_if<sandbox::PodEvent>(&record)) {
            if (concerns(pod->subject().name)) tell(since, told(*pod));
        } else if (const auto* commit = std::get_if<sandbox::Commit>(&record)) {
            for (const sandbox::RowChange& change : commit->changes) {
                const std::string text = told(change);
                if (concerns(text)) tell(since, text);
            }
        } else if (const auto* effect = std::get_if<sandbox::Effect>(&record)) {
            // A row's key does not say whose it is.
            if (effect->name.empty() || concerns(effect->name)) tell(since, told(*effect));
        }
    }
}

}  // namespace trueup::simulation
