// A complete epoch proves the absence of what it lacks. The proof holds at once: whoever looks at a
// subject first lets the epochs that are still on their way count for it. The way itself is
// bounded: each record visits some subjects, in the order of their keys (visits.cpp).
#include "engine/base/guard.h"
#include "engine/core/ending.h"
#include "engine/core/findings.h"
#include "engine/core/marks.h"

#include <algorithm>

namespace trueup::core {

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

/// Forgets tombstones that two complete epochs have confirmed, and a subject that has nothing left.
void Marks::collect(Entry& entry) {
    entry.marked = 0;
    entry.woken = false;
    Subject& subject = entry.subject;
    const auto forgettable = [&](const Facet& facet) {
        const bool confirmed = meta_.sources[facet.source].epochs >= facet.gone_since + 2;
        return !facet.present() && (confirmed || !TRUEUP_GUARD("tombstone_two_epochs"));
    };
    const auto kept = std::remove_if(subject.facets.begin(), subject.facets.end(), forgettable);
    if (kept != subject.facets.end()) {
        subject.facets.erase(kept, subject.facets.end());
        state_.subjects.mark_dirty(entry);
    }
    const bool needed = !subject.facets.empty() || !subject.findings.empty() || subject.held ||
                        subject.ending.has_value();
    if (needed) return state_.subjects.weigh(entry);
    for (const Wait& wait : subject.waits) state_.waits.remove(subject.key, wait);
    state_.subjects.erase(entry);
    --meta_.subjects;
}

}  // namespace trueup::core
