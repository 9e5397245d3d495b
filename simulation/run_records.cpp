// What a run notices as it goes: each record that is stored, and each act in the worlds.
#include "engine/codec/change_codec.h"
#include "engine/codec/command_codec.h"
#include "engine/codec/finding_codec.h"
#include "engine/codec/journal_codec.h"
#include "engine/codec/outcome_codec.h"
#include "engine/codec/request_codec.h"
#include "engine/core/rule_text.h"
#include "simulation/one_run.h"
#include "simulation/staging.h"

#include <algorithm>
#include <utility>

namespace trueup::simulation {

void Run::see_command(ports::Partition at, const Broker::Record& record) {
    if (record.value.empty()) return;  // a heartbeat
    const auto command = codec::decode_command(record.value);
    if (!command) return;
    oracles_.given(*command, broker_.stored_at({Topic::kJournal, at.index}, command->issued));
    if (!later_step(*command)) oracles_.judge_configured(at.index, *command);
    if (command->emission > 1 || stage_.over) return;
    const bool ends = command->draft.action.kind == Action::Kind::kDeletePod &&
                      command->draft.read_set.front().kind == Predicate::Kind::kField;
    if (ends && !stage_.last_words.empty()) {
        const std::uint64_t draw = stage_.last_words.front();
        stage_.last_words.pop_front();
        last_word(stage_, *command, Random(draw));
    }
    if (stage_.toctous.empty()) return;
    const std::uint64_t draw = stage_.toctous.front();
    stage_.toctous.pop_front();
    toctou(stage_, *command, Random(draw));
}

void Run::see_settings(ports::Partition at, const Broker::Record& record) {
    JournalView view;
    if (!codec::decode_journal(record.value, record.offset, record.append_time, view)) return;
    Offset& in_force = settings_at_.try_emplace(at.index, kNoOffset).first->second;
    if (!view.settings || view.settings_after < in_force) return;  // passed over
    in_force = record.offset;
    for (const RuleSettings& rule : view.settings->rules) {
        if (acts(rule.mode) || fleet_.acts_on(at.index, rule.rule)) continue;
        oracles_.restraints().off(at.index, rule.rule);
    }
    if (oracles_.law == nullptr) return;
    for (const RuleSettings& rule : view.settings->rules) means_.try_emplace(rule.rule);
    for (auto& [rule, means] : means_) {
        const Hash128 text =
            core::rule_text(*view.settings->text, view.settings->sources, rule).text;
        if (std::exchange(means, text) != text) oracles_.restraints().silenced(rule);
    }
    oracles_.law->in_force(*view.settings, record.stored_at);
    // What a rule means by now may be another thing than somebody took back.
    if (!view.settings->enabled_by.empty()) oracles_.restraints().all_enabled();
}

void Run::see_change(ports::Partition at, const Broker::Record& record) {
    const auto change = codec::decode_change(record.value);
    if (change && change->kind == ChangeKind::kSnapshotEnd) {
        oracles_.listed(at.topic);
        listed_[at.topic] = std::max(listed_[at.topic], change->incarnation);
    }
    if (at.topic != Topic::kChangesRows || !oracles_.reinsertions().any()) return;
    if (change && change->kind == ChangeKind::kSnapshotBegin) oracles_.reinsertions().list_begins();
    if (!change || change->kind != ChangeKind::kRemove) return;
    const std::string_view id = change->object_id;
    oracles_.reinsertions().told_gone(std::string(id.substr(id.rfind('/') + 1)));
}

void Run::see_outcome(const Broker::Record& record) {
    if (record.value.empty()) return;  // a heartbeat
    if (const auto outcome = codec::decode_outcome(record.value)) {
        oracles_.ended(*outcome);
    }
}

void Run::see_finding(const Broker::Record& record) {
    if (record.value.empty()) return;  // it is over
    if (const auto edge = codec::decode_finding(record.value)) oracles_.found(*edge);
}

void Run::see_request(ports::Partition at, const Broker::Record& record) {
    const auto request = codec::decode_request(record.value);
    if (request && request->kind == RequestKind::kActivation) {
        return oracles_.restraints().silenced(request->scope.rule);
    }
    if (request && (request->kind == RequestKind::kPause || request->kind == RequestKind::kHold ||
                    request->kind == RequestKind::kDisable)) {
        stage_.placed[request->id].push_back({at.index, record.offset});
    }
    const bool meant = request && request->id.value().hi == kMeant;
    if (meant && request->kind == RequestKind::kEnable) {
        for (const NamedRule& named : request->rules)
            oracles_.restraints().may_be_enabled(named.rule);
    }
    if (meant && seen_.insert(request->id).second) oracles_.approvals().asked(*request);
    // One that comes late may end what was asked for after it.
    const bool ends =
        request && (request->kind == RequestKind::kResume ||
                    (request->kind == RequestKind::kRelease && request->scope.source.empty()));
    if (ends) unbind(stage_, Restraints::bound_by(request->scope));
}

void Run::happened(const std::vector<sandbox::Record>& act) {
    if (trace_ != nullptr) trace_->happened(scheduler_.since(), act);
    oracles_.act(act);
    for (const sandbox::Record& record : act) {
        const auto* effect = std::get_if<sandbox::Effect>(&record);
        const bool made =
            effect != nullptr && effect->accepted && effect->kind == sandbox::Effect::Kind::kCreate;
        if (!made || stage_.undoings.empty()) continue;
        const std::uint64_t draw = stage_.undoings.front();
        stage_.undoings.pop_front();
        undo(stage_, effect->name, Random(draw));
    }
    hear_answers(stage_);
    hash_ = combine(hash_, {act.size(), static_cast<std::uint64_t>(scheduler_.since().count())});
    scheduler_.after(Millis{0}, [this] { fleet_.world_changed(); });
}

}  // namespace trueup::simulation
