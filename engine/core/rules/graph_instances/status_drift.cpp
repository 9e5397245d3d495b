#include "engine/core/rules/graph_instances/status_drift.h"

#include "engine/core/rules/graph_instances/facts.h"

namespace trueup::core::graph_instances {

namespace {

CommandDraft fail_row(const References& references, const Settings& settings, const Facet& row,
                      const Facet& pod) {
    const std::string& pods = references.sources[settings.source(kPods)].name;
    const std::string& rows = references.sources[settings.source(kRows)].name;
    const std::string name(pod.fields().text("name").value_or(""));
    CommandDraft draft = mark_failed(rows, row, kUnexpected, "Pod entered Failed phase");
    draft.target.name = name;
    draft.read_set = still_says(rows, row, {"status", "pod_name"});
    draft.read_set.insert(
        draft.read_set.begin(),
        {Predicate{Predicate::Kind::kExists, pods, pod.object_id, "name", name},
         Predicate{Predicate::Kind::kField, pods, pod.object_id, "phase", "Failed"},
         Predicate{Predicate::Kind::kNoVeto, pods, pod.object_id, {}, {}}});
    return draft;
}

}  // namespace

Verdict judge_status_drift(const Subject& subject, const References& references,
                           const Settings& settings, std::uint8_t self, JournalTime now) {
    if (subject.counted[kPodsFailed] == 0 && pods_of(subject) < 2) return Verdict::healthy();
    const Side pods(subject, references, settings.source(kPods));
    const Side rows(subject, references, settings.source(kRows));
    if (pods.present().empty()) return Verdict::healthy();
    const LiveRows claims = live_rows(rows.present());
    if (claims.count == 0) return Verdict::healthy();
    if (pods.present().size() > 1) return Verdict::abstain(Reason::kDuplicateClaim);
    const Facet& pod = *pods.present().front();
    if (!pod.fields().is("phase", "Failed") || out_of_scope(pod)) return Verdict::healthy();
    if (claims.count > 1) return Verdict::abstain(Reason::kDuplicateClaim);
    const Facet& row = *claims.first;
    if (!row.fields().text("status")) return Verdict::abstain(Reason::kIncomplete);
    if (vetoed(row) || vetoed(pod)) return Verdict::abstain(Reason::kVeto);

    const Disagreement found{row, pod.evidence, settings.source(kPods), row.evidence};
    if (auto held = not_yet(subject, references, settings, self, now, found)) return *held;
    return Verdict::act(row.object_id, fail_row(references, settings, row, pod));
}

}  // namespace trueup::core::graph_instances
