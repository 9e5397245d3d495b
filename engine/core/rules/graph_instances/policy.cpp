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
    const SourceId pod_source = settings.source(kPods);
    const SourceId row_source = settings.source(kRows);
    Tally tally{};
    bool pods = false;
    bool rows = false;
    std::size_t live_ones = 0;
    for (const Facet& facet : subject.facets) {
        if (!facet.present()) continue;
        if (facet.source == pod_source) {
            pods = true;
            add(tally, phase_of(facet));
        } else if (facet.source == row_source) {
            rows = true;
            live_ones += live(facet) ? 1U : 0U;
            if (untracked(facet) || subject.reference()) add(tally, kUntrackedRows);
        }
    }
    if (subject.ending) return tally;  // what we are ending owns nothing else, and is nobody's
    // A value that was not sent may be any name, or none; and so may what stands for no pod at all,
    // since its key cannot be one.
    const auto may_own = [&](const Facet& row) {
        return live(row) && (subject.reference() || !names_pod(row));
    };
    const auto may_be_owned = [](const Facet& pod) { return !deleting(pod) && !out_of_scope(pod); };
    // The pod of its name is its own, unless that one goes, is none of ours, or is claimed twice.
    const bool has_own = live_ones == 1 && any_present(subject, pod_source, may_be_owned);
    if (!has_own && any_present(subject, row_source, may_own)) add(tally, kUncorrelatedRows);
    if (pods && !rows && any_present(subject, pod_source, may_be_owned)) add(tally, kUnownedPods);
    return tally;
}

bool owned_by(const Subject& subject, const Settings& settings, std::string_view who) {
    for (const Facet& facet : subject.facets) {
        if (facet.source != settings.source(kRows) || !facet.present()) continue;
        if (facet.fields().is("owner_username", who)) return true;
    }
    return false;
}

/// What a write of a row must find as it was: its status, and what says which pod it means.
constexpr std::array<std::string_view, 3> kClaim{"status", "pod_name", "url_slug"};
constexpr std::array<RoleKind, 4> kRoles{
    {{.name = "pods", .topic = Topic::kChangesPods},
     {.name = "rows", .topic = Topic::kChangesRows, .live = live, .claim = kClaim},
     {.name = "services", .topic = Topic::kChangesResources, .optional = true},
     {.name = "ingresses", .topic = Topic::kChangesResources, .optional = true}}};

/// How an instance is ended (G7).
constexpr std::array<Step::Set, 1> kStopping{{{"status", "stopping"}}};
constexpr std::array<Step, 4> kEnd{
    {{.verb = Step::Verb::kDelete, .role = kPods},
     {.verb = Step::Verb::kDelete, .role = kServices},
     {.verb = Step::Verb::kDelete, .role = kIngresses},
     {.verb = Step::Verb::kUpdate, .role = kRows, .sets = kStopping}}};

constexpr Millis kMinute{60'000};
constexpr Millis kCreateWindow{30'000};
constexpr std::array<Rule, 10> kRules{{
    {.name = "orphaned_pod",
     .judge = judge_orphaned_pod,
     .finds = "pod without an instance row",
     .does = "delete the pod",
     .grace = kMinute,
     .create_window = kCreateWindow},
    {.name = "missing_pod",
     .judge = judge_missing_pod,
     .finds = "row whose pod is gone",
     .does = "mark the row failed",
     .grace = kMinute,
     .create_window = kCreateWindow},
    {.name = "status_drift",
     .judge = judge_status_drift,
     .finds = "row says it lives, pod has Failed",
     .does = "mark the row failed"},
    {.name = "ttl_expired",
     .judge = judge_ttl_expired,
     .finds = "instance outlived its TTL",
     .does = "end the instance",
     .steps = kEnd},
    {.name = "inactive",
     .judge = judge_inactive,
     .finds = "instance unused for too long",
     .does = "end the instance",
     .steps = kEnd},
    {.name = "untracked_record",
     .judge = judge_untracked_record,
     .finds = "live row without a pod_name",
     .does = "name its pod, or mark the row failed",
     .grace = kMinute,
     .create_window = kCreateWindow,
     .references = true},
    {.name = "stuck_transition",
     .judge = judge_stuck_transition,
     .finds = "row is stopping, its pod is gone",
     .does = "mark the row failed",
     .grace = 15 * kMinute,
     .create_window = kCreateWindow},
    {.name = "finished_pod",
     .judge = judge_finished_pod,
     .finds = "row says running, pod has Succeeded"},
    {.name = "duplicate_claim",
     .judge = judge_duplicate_claim,
     .finds = "two live objects claim one name"},
    {.name = "termination_requested",
     .judge = judge_termination_requested,
     .finds = "somebody asked to end it",
     .does = "end the instance",
     .on_request = true,
     .steps = kEnd},
}};

}  // namespace

const Policy kPolicy{"graph-instances", kRoles, kRules, kCounted, count, owned_by};

}  // namespace trueup::core::graph_instances
