#include "engine/core/rules/graph_instances/orphaned_pod.h"

#include "engine/base/check.h"
#include "engine/base/guard.h"
#include "engine/core/rules/graph_instances/facts.h"

#include <utility>

namespace trueup::core::graph_instances {

namespace {

CommandDraft delete_orphan(const Subject& subject, const References& references,
                           const Settings& settings, const Facet& pod) {
    const std::string& rows = references.sources[settings.source(kRows)].name;
    CommandDraft draft = delete_pod(references.sources[settings.source(kPods)].name, pod);
    // By the key, and by what the key is made of: a row that names the pod may have another key.
    std::vector<Predicate> nobody;
    for (const char* field : {"key", "pod_name"}) {
        nobody.push_back({Predicate::Kind::kNone, rows, {}, field, std::string(subject.name())});
    }
    return relying_on(std::move(nobody), std::move(draft));
}

}  // namespace

Verdict judge_orphaned_pod(const Subject& subject, const References& references,
                           const Settings& settings, std::uint8_t self, JournalTime now) {
    const Side pods(subject, references, settings.source(kPods));
    const Side rows(subject, references, settings.source(kRows));
    if (pods.present().empty() || !rows.present().empty()) return Verdict::healthy();
    if (rows.unknown()) return Verdict::abstain(Reason::kNotSynced);
    if (pods.present().size() > 1) return Verdict::abstain(Reason::kDuplicateClaim);
    const Facet& pod = *pods.present().front();
    if (deleting(pod) || out_of_scope(pod)) return Verdict::healthy();
    if (vetoed(pod)) return Verdict::abstain(Reason::kVeto);

    const Disagreement found{pod, BrokerTime{}, settings.source(kRows), pod.first_seen,
                             settings.rules[self].create_window};
    if (auto held = not_yet(subject, references, settings, self, now, found)) return *held;
    TRUEUP_CHECK(!pod.object_id.empty());  // I2
    CommandDraft draft = delete_orphan(subject, references, settings, pod);
    const bool told = !references.sweeping && references.tallies[kUncorrelatedRows] == 0;
    if (told || !TRUEUP_GUARD("uncorrelated_rows_ask")) {
        return Verdict::act(pod.object_id, std::move(draft));
    }
    Wait until;
    until.none_of = kUncorrelatedRows;
    return Verdict::ask(Reason::kUncorrelatedRows, until, pod.object_id, std::move(draft));
}

}  // namespace trueup::core::graph_instances
