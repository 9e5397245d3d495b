#include "engine/core/rules/graph_instances/finished_pod.h"

#include "engine/core/rules/graph_instances/facts.h"

namespace trueup::core::graph_instances {

Verdict judge_finished_pod(const Subject& subject, const References& references,
                           const Settings& settings, std::uint8_t /*self*/, JournalTime /*now*/) {
    if (subject.counted[kPodsSucceeded] == 0) return Verdict::healthy();
    const Side pods(subject, references, settings.source(kPods));
    const Side rows(subject, references, settings.source(kRows));
    if (pods.present().size() != 1) return Verdict::healthy();
    const Facet& pod = *pods.present().front();
    if (!pod.fields().is("phase", "Succeeded") || out_of_scope(pod)) return Verdict::healthy();
    for (const Facet* row : rows.present()) {
        if (!row->fields().is("status", "running")) continue;
        return Verdict::waiting(Reason::kReportOnly, {}, row->object_id);
    }
    return Verdict::healthy();
}

}  // namespace trueup::core::graph_instances
