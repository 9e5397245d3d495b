// Which subjects are judged with this record. A complete epoch proves the absence of what it lacks.
// The proof holds at once: whoever looks at a subject first lets the epochs that are still on their
// way count for it. The way itself is bounded: each record visits some subjects, in the order of
// their keys (visits.cpp).
#include "engine/core/marks.h"

#include "engine/base/check.h"
#include "engine/base/guard.h"
#include "engine/core/ending.h"
#include "engine/core/findings.h"
#include "engine/model/subject_key.h"

#include <algorithm>
#include <string>
#include <utility>

namespace trueup::core {

References Marks::references() {
    return {meta_.sources,
            meta_.broker_now,
            meta_.watched_since,
            meta_.tallies,
            counting(),
            [this](SourceId source, std::string_view name) -> const Subject& {
                return about(source, name);
            }};
}

/// The subject, made if it is new, with the epochs that are still on their way counted in.
Marks::Entry& Marks::subject_of(std::string_view key, Entry* seems) {
    Entry* entry = state_.subjects.find(key, seems);
    if (entry == nullptr) {
        entry = &state_.subjects.at(key);
        ++meta_.subjects;
    }
    if (!meta_.sweeps.empty()) apply_sweeps(*entry);
    return *entry;
}

void Marks::apply_sweeps(Entry& entry) {
    const std::uint64_t before = meta_.counters.swept;
    for (const Sweep& sweep : meta_.sweeps) {
        if (entry.subject.key <= sweep.cursor) continue;
        if (sweep.what == Sweep::What::kApproval)
            findings_.approve(entry, sweep.approval, std::nullopt);
        if (sweep.what == Sweep::What::kPolicy) begin_anew(entry, sweep);
        if (sweep.what != Sweep::What::kEpoch) continue;
        SourceState& source = meta_.sources[sweep.source];
        for (Facet& facet : entry.subject.facets) {
            const bool listed = facet.epoch >= sweep.epoch;
            const bool newer = facet.incarnation >= sweep.incarnation &&
                               facet.version > sweep.as_of && TRUEUP_GUARD("sweep_spares_newer");
            if (facet.source != sweep.source || !facet.present() || listed || newer) continue;
            facet.absence = Absence::kSwept;
            facet.evidence = facet.changed = record_.append_time;
            facet.offset = record_.offset;
            facet.gone_since = source.epochs;
            facet.object.clear();
            facet.answers.plan = 0;
            --source.population;
            ++meta_.counters.swept;
            note_reference(entry, facet.source);
            state_.subjects.mark_dirty(entry);
        }
    }
    // It may be looked at no more before it is judged.
    if (meta_.counters.swept != before && entry.marked != 0) count(entry);
}

/// What a rule found that means something else now is none of its findings: grace and approvals
/// begin again. What was ordered has its outcome first, and then nothing of what went before it.
/// What an operator dismissed stays so.
void Marks::begin_anew(Entry& entry, const Sweep& sweep) {
    if (!TRUEUP_GUARD("changed_rule_begins_anew")) return;
    std::vector<Finding>& findings = entry.subject.findings;
    for (std::size_t i = findings.size(); i > 0; --i) {
        Finding& finding = findings[i - 1];
        const bool other =
            sweep.changed.find(static_cast<char>(finding.rule.value())) != std::string::npos;
        if (!other || finding.since >= sweep.since || finding.dismissed) continue;
        if (ends(entry.subject, finding)) {
            // It may never have begun, and is judged anew then.
            if (entry.subject.ending->stage == Ending::Stage::kTaking) {
                finding.since = meta_.now;
                state_.subjects.mark_dirty(entry);
            }
            continue;
        }
        if (finding.command) {
            finding.since = meta_.now;
            finding.steps = 0;
            finding.more = false;
            state_.subjects.mark_dirty(entry);
            continue;
        }
        ++meta_.rules[finding.rule.value()].retracted;
        findings_.resolve(entry, i - 1, Reason::kRetracted);
    }
}

/// Were the other sources of its role heard past its last word? Until then that tells them what to
/// be heard past. So it tells a table that is filled from elsewhere, which is believed for as long
/// after its filling as a source may be silent.
bool Marks::heard_beside(const Facet& facet) const {
    const Role role = meta_.settings.sources[facet.source].role;
    if (state_.plan == nullptr || role >= state_.plan->roles.size()) return true;
    const std::vector<PlanRole>& roles = state_.plan->roles;
    const bool mirrors = std::any_of(roles.begin(), roles.end(),
                                     [](const PlanRole& each) { return each.as_of.has_value(); });
    const Millis believed = meta_.settings.stale_after + meta_.settings.max_broker_skew;
    if (mirrors && meta_.broker_now - facet.evidence <= believed) return false;
    const std::vector<SourceId>& sources = state_.plan->roles[role].sources;
    return std::all_of(sources.begin(), sources.end(), [&](SourceId source) {
        return source == facet.source || proven_past(meta_.sources[source], facet.evidence);
    });
}

/// Forgets tombstones that two complete epochs have confirmed, and a subject that has nothing left.
void Marks::collect(Entry& entry) {
    entry.marked = 0;
    entry.woken = false;
    Subject& subject = entry.subject;
    const auto forgettable = [&](const Facet& facet) {
        const bool confirmed = meta_.sources[facet.source].epochs >= facet.gone_since + 2;
        return !facet.present() && heard_beside(facet) &&
               (confirmed || !TRUEUP_GUARD("tombstone_two_epochs"));
    };
    const auto kept = std::remove_if(subject.facets.begin(), subject.facets.end(), forgettable);
    if (kept != subject.facets.end()) {
        subject.facets.erase(kept, subject.facets.end());
        state_.subjects.mark_dirty(entry);
    }
    // What was done to it is remembered for a day, also where nothing of it is left.
    const bool remembered = subject.aftermath && !subject.aftermath->mended.empty();
    const bool needed = !subject.facets.empty() || !subject.findings.empty() || subject.held ||
                        subject.ending.has_value() || remembered;
    if (needed) return state_.subjects.weigh(entry);
    for (const Wait& wait : subject.waits) state_.waits.remove({subject.key, entry.hash}, wait);
    state_.subjects.erase(entry);
    --meta_.subjects;
}

void Marks::collect_all() {
    for (std::size_t i = 0; i < marked_.size(); ++i) {
        prefetch(i);
        collect(*marked_[i].entry);
    }
}

void Marks::prefetch(std::size_t i) const {
    SubjectTable::prefetch_behind(i, marked_.size(),
                                  [&](std::size_t at) -> Entry& { return *marked_[at].entry; });
}

/// Has every subject judged, some with each record.
void Marks::judge_all() {
    // One that has not begun yet will do.
    const bool waiting =
        std::any_of(meta_.sweeps.begin(), meta_.sweeps.end(), [](const Sweep& sweep) {
            return sweep.what == Sweep::What::kJudgement && sweep.cursor.empty();
        });
    if (!waiting) meta_.sweeps.push_back({});
}

Marks::Entry* Marks::find(std::string_view key) { return state_.subjects.find(key); }

/// Has the subject judged at the end of this record. Epochs that are still on their way over the
/// subjects count for it at once.
void Marks::mark(Entry& entry) {
    if (state_.plan == nullptr) return;  // nobody is judged
    if (entry.marked == 0) {
        marked_.push_back({&entry, {}});
        entry.marked = static_cast<std::uint32_t>(marked_.size());
    }
    if (!meta_.sweeps.empty()) apply_sweeps(entry);
    count(entry);
}

/// Keeps the policy's tallies: what the subject counts for now in place of what it counted before.
/// Of one that is to be judged it is remembered what its objects came to.
void Marks::count(Entry& entry) {
    Word unmarked;
    Word& word = entry.marked == 0 ? unmarked : marked_[entry.marked - 1].word;
    const Tally now = tally_of(*state_.plan, entry.subject, meta_.settings, word);
    Tally& before = entry.subject.counted;
    if (now == before) return;
    for (std::size_t i = 0; i < now.size(); ++i) {
        meta_.tallies[i] = meta_.tallies[i] + now[i] - before[i];
    }
    before = now;
    state_.subjects.mark_dirty(entry);
}

/// Whoever needs this object is to be judged again.
void Marks::note_reference(const Entry& entry, SourceId id) {
    if (!entry.subject.reference() || state_.plan == nullptr) return;
    const Role role = meta_.settings.sources[id].role;
    if (role != kNoRole && state_.plan->roles[role].reference) reference_changed_ = true;
}

void Marks::judge_dependents() {
    if (!std::exchange(reference_changed_, false)) return;
    judge_all();
    report_.more_work = true;
}

const Subject& Marks::about(SourceId source, std::string_view name) {
    TRUEUP_CHECK(source < meta_.sources.size());
    std::string key = reference_prefix(meta_.sources[source].name);
    key += name;
    Entry* entry = find(key);
    if (entry == nullptr) return nobody_;
    apply_sweeps(*entry);
    return entry->subject;
}

bool Marks::counting() const {
    return std::any_of(meta_.sweeps.begin(), meta_.sweeps.end(), [](const Sweep& sweep) {
        return sweep.what == Sweep::What::kEpoch || sweep.what == Sweep::What::kPolicy;
    });
}

}  // namespace trueup::core
