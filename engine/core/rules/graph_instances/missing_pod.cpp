#include "engine/core/rules/graph_instances/missing_pod.h"

#include "engine/core/rules/graph_instances/facts.h"

namespace trueup::core::graph_instances {

namespace {

CommandDraft fail_row(const References& references, const Settings& settings, const Facet& row,
                      std::string_view pod_name) {
    const std::string& pods = references.sources[settings.source(kPods)].name;
    const std::string& rows = references.sources[settings.source(kRows)].name;
    CommandDraft draft = mark_failed(
        rows, row, kUnexpected, "Pod " + std::string(pod_name) + " disappeared from Kubernetes");
    draft.target.name = pod_name;
    draft.read_set = still_says(rows, row, {"status", "pod_name"});
    draft.read_set.insert(
        draft.read_set.begin(),
        Predicate{Predicate::Kind::kNone, pods, {}, "name", std::string(pod_name)});
    return draft;
}

}  // namespace

Verdict judge_missing_pod(const Subject& subject, const References& references,
                          const Settings& settings, std::uint8_t self, JournalTime now) {
    const Side pods(subject, references, settings.source(kPods));
    const Side rows(subject, references, settings.source(kRows));
    if (!pods.present().empty()) return Verdict::healthy();
    const LiveRows claims = live_rows(rows.present());
    if (claims.count == 0) return Verdict::healthy();
    if (pods.unknown()) return Verdict::abstain(Reason::kNotSynced);
    if (claims.count > 1) return Verdict::abstain(Reason::kDuplicateClaim);
    const Facet& row = *claims.first;
    const std::optional<Field> status = row.fields().find("status");
    const std::optional<Field> pod_name = row.fields().find("pod_name");
    if (!status || !status->value || !pod_name || pod_name->unchanged) {
        return Verdict::abstain(Reason::kIncomplete);
    }
    if (!names_pod(row)) return Verdict::healthy();  // G6's business: nothing was ever tracked
    if (vetoed(row)) return Verdict::abstain(Reason::kVeto);

    const Disagreement found{row, BrokerTime{}, settings.source(kPods), row.evidence,
                             settings.rules[self].create_window};
    if (auto held = not_yet(subject, references, settings, self, now, found)) return *held;
    return Verdict::act(row.object_id, fail_row(references, settings, row, *pod_name->value));
}

}  // namespace trueup::core::graph_instances
