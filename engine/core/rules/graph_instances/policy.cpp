#include "engine/core/rules/graph_instances/policy.h"

#include "engine/core/rules/graph_instances/facts.h"
#include "engine/core/rules/graph_instances/missing_pod.h"
#include "engine/core/rules/graph_instances/orphaned_pod.h"
#include "engine/core/rules/graph_instances/status_drift.h"

#include <array>

namespace trueup::core::graph_instances {

namespace {

/// A live row that names no pod, where no pod answers to the name that it would have (G25).
bool uncorrelated(const Subject& subject, const Settings& settings) {
    bool untracked = false;
    for (const Facet& facet : subject.facets) {
        if (!facet.present()) continue;
        if (facet.source == settings.pods) return false;
        if (facet.source == settings.rows && live(facet) && !facet.fields().text("pod_name")) {
            untracked = true;
        }
    }
    return untracked;
}

constexpr std::array<Rule, 3> kRules{{
    {"orphaned_pod", judge_orphaned_pod, "pod without an instance row"},
    {"missing_pod", judge_missing_pod, "row whose pod is gone"},
    {"status_drift", judge_status_drift, "row says running, pod has Failed"},
}};

}  // namespace

const Policy kPolicy{"graph-instances", kRules, uncorrelated};

}  // namespace trueup::core::graph_instances
