#include "engine/core/rules/graph_instances/status_drift.h"

#include "engine/core/rules/graph_instances/facts.h"

namespace trueup::core::graph_instances {

namespace {

CommandDraft fail_row(const References& references, const Settings& settings, const Facet& row,
                      const Facet& pod) {
    const std::string& pods = references.sources[settings.pods].name;
    const std::string& rows = references.sources[settings.rows].name;
    const std::string name(pod.fields().text("name").value_or(""));
    CommandDraft draft = mark_failed(rows, row, "Pod entered Failed phase");
    draft.target.name = name;
    draft.read_set = row_still_says(rows, row, {"status", "pod_name"});
    draft.read_set.insert(
        draft.read_set.begin(),
        {Predicate{Predicate::Kind::kExists, pods, pod.object_id, "name", name},
         Predicate{Predicate::Kind::kField, pods, pod.object_id, "phase", "Failed"}});
    return draft;
}

}  // namespace

Verdict judge_status_drift(const Subject& subject, const References& references,
                           const Settings& settings, std::uint8_t self, JournalTime now) {
    const Side pods(subject, references, settings.pods);
    const Side rows(subject, references, settings.rows);
    if (pods.present().empty()) return Verdict::healthy();
    const Facet* says_running = nullptr;
    std::size_t running = 0;
    for (const Facet* facet : rows.present()) {
        if (!facet->fields().is("status", "running")) continue;
        says_running = facet;
        ++running;
    }
    if (running == 0) return Verdict::healthy();
    if (pods.present().size() > 1) return Verdict::abstain(Reason::kDuplicateClaim);
    const Facet& pod = *pods.present().front();
    if (!pod.fields().is("phase", "Failed") || out_of_scope(pod)) return Verdict::healthy();
    if (running > 1) return Verdict::abstain(Reason::kDuplicateClaim);
    const Facet& row = *says_running;
    if (vetoed(row) || vetoed(pod)) return Verdict::abstain(Reason::kVeto);

    const std::optional<Doubt> rows_doubt =
        doubt(subject, references, settings, settings.rows, pod.evidence, Millis{0});
    if (rows_doubt && rows_doubt->reason == Reason::kOwnWrite) {
        return Verdict::abstain(Reason::kOwnWrite, rows_doubt->wait);
    }
    const RuleSettings& rule = settings.rules[self];
    const JournalTime due = first_detected(subject, self, row.object_id, now) + rule.grace;
    if (now < due) {
        return Verdict::waiting(Reason::kGrace, {due, kNoSource, {}}, row.object_id);
    }
    if (rows_doubt) return Verdict::waiting(rows_doubt->reason, rows_doubt->wait, row.object_id);
    if (const auto why =
            doubt(subject, references, settings, settings.pods, row.evidence, Millis{0})) {
        return Verdict::waiting(why->reason, why->wait, row.object_id);
    }
    return Verdict::act(row.object_id, fail_row(references, settings, row, pod));
}

}  // namespace trueup::core::graph_instances
