#include "engine/core/rules/graph_instances/missing_pod.h"

#include "engine/core/rules/graph_instances/facts.h"

namespace trueup::core::graph_instances {

namespace {

CommandDraft fail_row(const References& references, const Settings& settings, const Facet& row,
                      std::string_view pod_name) {
    const std::string& pods = references.sources[settings.pods].name;
    const std::string& rows = references.sources[settings.rows].name;
    CommandDraft draft =
        mark_failed(rows, row, "Pod " + std::string(pod_name) + " disappeared from Kubernetes");
    draft.target.name = pod_name;
    draft.read_set = row_still_says(rows, row, {"status", "pod_name"});
    draft.read_set.insert(
        draft.read_set.begin(),
        Predicate{Predicate::Kind::kNone, pods, {}, "name", std::string(pod_name)});
    return draft;
}

}  // namespace

Verdict judge_missing_pod(const Subject& subject, const References& references,
                          const Settings& settings, std::uint8_t self, JournalTime now) {
    const Side pods(subject, references, settings.pods);
    const Side rows(subject, references, settings.rows);
    if (!pods.present().empty()) return Verdict::healthy();
    const Facet* claim = nullptr;
    std::size_t claims = 0;
    for (const Facet* facet : rows.present()) {
        if (!live(*facet)) continue;
        claim = facet;
        ++claims;
    }
    if (claims == 0) return Verdict::healthy();
    if (pods.unknown()) return Verdict::abstain(Reason::kUnproven);
    if (claims > 1) return Verdict::abstain(Reason::kDuplicateClaim);
    const Facet& row = *claim;
    const std::optional<Field> status = row.fields().find("status");
    const std::optional<Field> pod_name = row.fields().find("pod_name");
    if (!status || !status->value || !pod_name || pod_name->unchanged) {
        return Verdict::abstain(Reason::kIncomplete);
    }
    if (!pod_name->value) return Verdict::healthy();  // G6's business: nothing was ever tracked
    if (vetoed(row)) return Verdict::abstain(Reason::kVeto);

    const std::optional<Doubt> self_doubt =
        doubt(subject, references, settings, settings.rows, BrokerTime{}, Millis{0});
    if (self_doubt && self_doubt->reason == Reason::kOwnWrite) {
        return Verdict::abstain(Reason::kOwnWrite, self_doubt->wait);
    }
    const RuleSettings& rule = settings.rules[self];
    const JournalTime due = first_detected(subject, self, row.object_id, now) + rule.grace;
    if (now < due) {
        return Verdict::waiting(Reason::kGrace, {due, kNoSource, {}}, row.object_id);
    }
    if (self_doubt) return Verdict::waiting(self_doubt->reason, self_doubt->wait, row.object_id);
    if (const auto why =
            doubt(subject, references, settings, settings.pods, row.evidence, rule.create_window)) {
        return Verdict::waiting(why->reason, why->wait, row.object_id);
    }
    return Verdict::act(row.object_id, fail_row(references, settings, row, *pod_name->value));
}

}  // namespace trueup::core::graph_instances
