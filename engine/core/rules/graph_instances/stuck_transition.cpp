#include "engine/core/rules/graph_instances/stuck_transition.h"

#include "engine/core/rules/graph_instances/facts.h"

namespace trueup::core::graph_instances {

namespace {

CommandDraft close_row(const Subject& subject, const References& references,
                       const Settings& settings, const Facet& row) {
    const std::string& pods = references.sources[settings.source(kPods)].name;
    const std::string& rows = references.sources[settings.source(kRows)].name;
    const std::string name(subject.name());
    CommandDraft draft = mark_failed(rows, row, "STUCK_TRANSITION",
                                     "Row was stopping for too long after pod " + name + " ended");
    draft.target.name = name;
    draft.read_set = still_says(rows, row, {"status", "pod_name"});
    draft.read_set.insert(draft.read_set.begin(),
                          Predicate{Predicate::Kind::kNone, pods, {}, "name", name});
    return draft;
}

}  // namespace

Verdict judge_stuck_transition(const Subject& subject, const References& references,
                               const Settings& settings, std::uint8_t self, JournalTime now) {
    const Side pods(subject, references, settings.source(kPods));
    const Side rows(subject, references, settings.source(kRows));
    if (!pods.present().empty()) return Verdict::healthy();
    const Facet* stopping = nullptr;
    for (const Facet* facet : rows.present()) {
        if (stopping == nullptr && facet->fields().is("status", "stopping")) stopping = facet;
    }
    if (stopping == nullptr) return Verdict::healthy();
    if (pods.unknown()) return Verdict::abstain(Reason::kNotSynced);
    if (live_rows(rows.present()).count > 0) return Verdict::abstain(Reason::kDuplicateClaim);
    const Facet& row = *stopping;
    const std::optional<Field> pod_name = row.fields().find("pod_name");
    if (!pod_name || pod_name->unchanged) return Verdict::abstain(Reason::kIncomplete);
    if (vetoed(row)) return Verdict::abstain(Reason::kVeto);

    const Disagreement found{row, BrokerTime{}, settings.source(kPods), row.evidence,
                             settings.rules[self].create_window};
    if (auto held = not_yet(subject, references, settings, self, now, found)) return *held;
    // What we ended ourselves is no failure; whoever puts it away is late, that is all.
    const Aftermath* after = subject.aftermath ? &*subject.aftermath : nullptr;
    if (after != nullptr && after->ended && after->ended->object_id == row.object_id) {
        return Verdict::waiting(Reason::kReportOnly, {}, row.object_id);
    }
    return Verdict::act(row.object_id, close_row(subject, references, settings, row));
}

}  // namespace trueup::core::graph_instances
