// What is remembered of what a subject came through, and until when.
#include "engine/core/aftermaths.h"

#include "engine/core/ending.h"
#include "engine/core/marks.h"

#include <algorithm>

namespace trueup::core {

namespace {

constexpr std::size_t kMostRefusals = 16;  // that a subject remembers
constexpr std::size_t kMostMended = 64;    // likewise
constexpr std::size_t kMostBeside = 64;    // of each of them
constexpr Millis kDay{86'400'000};

/// Of what the command rests on; kNoOffset: it rests on nothing.
Offset newest_evidence(const Command& command) {
    return command.evidence.empty() ? kNoOffset : command.evidence.back();
}

}  // namespace

Aftermath& Aftermaths::aftermath_of(Entry& entry) {
    if (!entry.subject.aftermath) entry.subject.aftermath = Aftermath{};
    state_.subjects.mark_dirty(entry);
    return *entry.subject.aftermath;
}

std::uint64_t Aftermaths::said(const Subject& subject, RuleNumber rule) const {
    return said_to(*state_.plan, state_.plan->rules[rule.value()], subject, meta_.settings,
                   marks_.references());
}

/// Has anything been said since the finding's command was ordered, also of what it looks up?
bool Aftermaths::said_since(const Subject& subject, const Finding& finding) const {
    const Offset newest = newest_evidence(*finding.command);
    bool since = std::any_of(subject.facets.begin(), subject.facets.end(),
                             [&](const Facet& facet) { return facet.offset > newest; });
    const PlanRule& rule = state_.plan->rules[finding.rule.value()];
    each_reference(
        *state_.plan, rule, subject, meta_.settings, marks_.references(),
        [&](const Facet& facet) { since = since || facet.evidence >= finding.command->issued; });
    return since;
}

/// Has anything that the rule reads been said since, or everything been listed anew?
bool Aftermaths::news_since(const Subject& subject, const Refusal& refusal) const {
    if (said(subject, refusal.rule) != refusal.said) return true;
    for (SourceId id = 0; id < meta_.source_count(); ++id) {
        if (meta_.settings.sources[id].role == kNoRole) continue;
        const bool known = id < refusal.epochs.size();
        if (known && refusal.epochs[id] == meta_.sources[id].epochs) return false;
    }
    return true;
}

/// Forgets what is of no use any more: refusals behind which there is news, and an ending whose row
/// says something else by now, or has a pod again.
void Aftermaths::tend_aftermath(Entry& entry) {
    Subject& subject = entry.subject;
    Aftermath& after = *subject.aftermath;
    const std::size_t forgotten =
        std::erase_if(after.refusals,
                      [&](const Refusal& refusal) { return news_since(subject, refusal); }) +
        std::erase_if(after.mended, [&](const Mended& mended) { return !kept(subject, mended); });
    bool changed = forgotten > 0;
    if (after.ended && over(subject, *after.ended)) {
        after.ended.reset();
        changed = true;
    }
    if (after.quiet_until != BrokerTime{} && after.quiet_until < meta_.broker_now) {
        after.quiet_until = {};
        changed = true;
    }
    if (!changed) return;
    if (after == Aftermath{}) subject.aftermath.reset();
    state_.subjects.mark_dirty(entry);
}

/// Less than a day old, or counted against a finding that was opened within that day: what waits
/// because of it is let go by an approval, and not by time.
bool Aftermaths::kept(const Subject& subject, const Mended& mended) const {
    return mended.at + kDay > meta_.now ||
           std::any_of(subject.findings.begin(), subject.findings.end(),
                       [&](const Finding& finding) {
                           return finding.rule == mended.rule && !finding.dismissed &&
                                  finding.since < mended.at + kDay;
                       });
}

std::optional<JournalTime> Aftermaths::forgets_at(const Subject& subject) const {
    for (const Mended& mended : subject.aftermath->mended) {
        if (mended.at + kDay > meta_.now) return mended.at + kDay;
    }
    return std::nullopt;
}

/// Of a rule that asks before it does the same too often. Which objects were there is told by
/// offsets, since clocks differ: one that changed after the newest thing that the command rests on
/// counts as new, and may be asked about once too often.
void Aftermaths::note_mended(Entry& entry, RuleNumber rule, const std::string& object_id,
                             const Command* command) {
    if (state_.plan->rules[rule.value()].may_recur) return;
    std::vector<Mended>& mended = aftermath_of(entry).mended;
    if (mended.size() >= kMostMended) mended.erase(mended.begin());
    Mended& made = mended.emplace_back();
    made.rule = rule;
    made.object_id = object_id;
    made.at = meta_.now;
    const Offset newest = command == nullptr ? kNoOffset : newest_evidence(*command);
    for (const Facet& facet : entry.subject.facets) {
        if (made.beside.size() >= kMostBeside) break;
        const bool before = facet.present() && facet.offset <= newest;
        if (before && facet.object_id != object_id) made.beside.push_back(facet.object_id);
    }
}

/// Does the row that an ending wrote say something else by now, or is there a pod for it again?
bool Aftermaths::over(const Subject& subject, const Ended& ended) const {
    if (!subject.own_writes.empty()) return false;  // what is in view may be from before it
    const std::span<const PlanStep> steps = state_.plan->rules[ended.rule.value()].ending;
    if (steps.empty()) return true;
    const bool again =
        std::any_of(subject.facets.begin(), subject.facets.end(), [&](const Facet& facet) {
            const Role role = steps.front().role;
            if (meta_.settings.sources[facet.source].role != role || !stays(facet)) return false;
            // Of several sources one may have had a dead one all the time.
            return state_.plan->roles[role].sources.size() < 2 ||
                   !claim_of(*state_.plan, facet, meta_.settings).no();
        });
    const Facet* row = shown_by(subject, meta_.settings, steps.back().role, ended.object_id);
    return again || row == nullptr || !row->present() ||
           !has_values(*state_.plan, meta_.settings, steps.back(), subject, *row);
}

/// What a live look refused is not ordered again before there is news; what an operator's word
/// refused waits for his next one.
void Aftermaths::note_refusal(Entry& entry, const Finding& finding, const Outcome& outcome) {
    if (outcome.kind != OutcomeKind::kRefused || outcome.retryable) return;
    // A verification writes nothing: it is the look itself, to be repeated until both agree.
    if (finding.command->draft.action.kind == Action::Kind::kVerifyGone) return;
    // What was said since it was ordered is news already.
    if (said_since(entry.subject, finding)) return;
    std::vector<Refusal>& refusals = aftermath_of(entry).refusals;
    std::erase_if(refusals, [&](const Refusal& old) {
        return old.rule == finding.rule && old.object_id == finding.object_id;
    });
    if (refusals.size() >= kMostRefusals) refusals.erase(refusals.begin());
    Refusal& refusal = refusals.emplace_back();
    refusal.rule = finding.rule;
    refusal.object_id = finding.object_id;
    refusal.said = said(entry.subject, finding.rule);
    for (const SourceState& source : meta_.sources) refusal.epochs.push_back(source.epochs);
}

}  // namespace trueup::core
