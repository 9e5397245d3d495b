#include "engine/core/rules/graph_instances/policy.h"

#include "engine/core/rules/graph_instances/duplicate_claim.h"
#include "engine/core/rules/graph_instances/facts.h"
#include "engine/core/rules/graph_instances/finished_pod.h"
#include "engine/core/rules/graph_instances/missing_pod.h"
#include "engine/core/rules/graph_instances/orphaned_pod.h"
#include "engine/core/rules/graph_instances/status_drift.h"
#include "engine/core/rules/graph_instances/stuck_transition.h"
#include "engine/core/rules/graph_instances/termination.h"
#include "engine/core/rules/graph_instances/untracked_record.h"

#include <algorithm>
#include <array>

namespace trueup::core::graph_instances {

namespace {

Counted phase_of(const Facet& pod) {
    const std::string_view phase = pod.fields().text("phase").value_or("");
    if (phase == "Pending") return kPodsPending;
    if (phase == "Running") return kPodsRunning;
    if (phase == "Succeeded") return kPodsSucceeded;
    if (phase == "Failed") return kPodsFailed;
    return kPodsUnknown;
}

void add(Tally& tally, Counted what) {
    if (tally[what] < 0xff) ++tally[what];
}

/// Is there a present facet of this source that `counts`?
template <typename Condition>
bool any_present(const Subject& subject, SourceId source, Condition&& counts) {
    return std::any_of(subject.facets.begin(), subject.facets.end(), [&](const Facet& facet) {
        return facet.source == source && facet.present() && counts(facet);
    });
}

Tally count(const Subject& subject, const Settings& settings) {
    Tally tally{};
    bool pods = false;
    bool rows = false;
    for (const Facet& facet : subject.facets) {
        if (!facet.present()) continue;
        if (facet.source == settings.pods) {
            pods = true;
            add(tally, phase_of(facet));
        } else if (facet.source == settings.rows) {
            rows = true;
            if (untracked(facet)) add(tally, kUntrackedRows);
        }
    }
    if (pods == rows) return tally;
    // A value that was not sent may be any name, or none.
    const auto may_own = [](const Facet& row) {
        return !row.fields().text("pod_name") && live(row);
    };
    const auto may_be_owned = [](const Facet& pod) {
        return !terminating(pod) && !out_of_scope(pod);
    };
    if (rows && any_present(subject, settings.rows, may_own)) add(tally, kUncorrelatedRows);
    if (pods && any_present(subject, settings.pods, may_be_owned)) add(tally, kUnownedPods);
    return tally;
}

bool owned_by(const Subject& subject, const Settings& settings, std::string_view who) {
    for (const Facet& facet : subject.facets) {
        if (facet.source != settings.rows || !facet.present()) continue;
        if (facet.fields().is("owner_username", who)) return true;
    }
    return false;
}

constexpr std::array<Rule, 10> kRules{{
    {"orphaned_pod", judge_orphaned_pod, "pod without an instance row"},
    {"missing_pod", judge_missing_pod, "row whose pod is gone"},
    {"status_drift", judge_status_drift, "row says it lives, pod has Failed"},
    {"ttl_expired", judge_ttl_expired, "instance outlived its TTL"},
    {"inactive", judge_inactive, "instance that nobody used for too long"},
    {"untracked_record", judge_untracked_record, "live row without a pod_name"},
    {"stuck_transition", judge_stuck_transition, "row is stopping, its pod is gone"},
    {"finished_pod", judge_finished_pod, "row says running, pod has Succeeded"},
    {"duplicate_claim", judge_duplicate_claim, "two live objects claim one name"},
    {"termination_requested", judge_termination_requested, "somebody asked to end it", true},
}};

}  // namespace

const Policy kPolicy{"graph-instances", kRules, kCounted, count, owned_by};

}  // namespace trueup::core::graph_instances
