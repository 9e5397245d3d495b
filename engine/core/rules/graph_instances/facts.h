// How the graph-instances rules read a pod and an instance row: field names and what their values
// mean. Statuses of a row: starting, running, stopping, failed, hibernated.
#pragma once

#include "engine/core/facts.h"
#include "engine/core/rules/objects.h"
#include "engine/core/sides.h"

#include <array>
#include <string_view>

namespace trueup::core::graph_instances {

/// Its sources, by Role. What serves an instance, its service and its ingress, has the pod's name;
/// without a source of them they are nobody's concern.
enum Sources : Role { kPods = 0, kRows = 1, kServices = 2, kIngresses = 3 };

/// What the policy counts over all subjects, by TallyId.
enum Counted : TallyId {
    kUncorrelatedRows = 0,  ///< subjects with a live row that may own any pod
    kUnownedPods = 1,       ///< subjects with a pod that no row means
    kUntrackedRows = 2,     ///< rows that name no pod, or none that there can be
    kPodsPending = 3,
    kPodsRunning = 4,
    kPodsSucceeded = 5,
    kPodsFailed = 6,
    kPodsUnknown = 7,
};
inline constexpr std::array<std::string_view, 8> kCounted{
    "uncorrelated_rows", "unowned_pods", "instances_without_pod_name",
    "pods_pending",      "pods_running", "pods_succeeded",
    "pods_failed",       "pods_unknown"};

/// How many pods are present, whatever their phase: known without a look at them.
std::size_t pods_of(const Subject& subject);

/// The row wants a pod: `starting`, `running`, or a status that was not sent.
bool live(const Facet& row);
/// The row says that it names no pod: it was sent, and it is null or blank.
bool untracked(const Facet& row);
/// The row names a pod. False also where the value was not sent: then nobody knows.
bool names_pod(const Facet& row);

/// The present rows that want a pod: how many, and the first of them.
struct LiveRows {
    std::size_t count = 0;
    const Facet* first = nullptr;
};
LiveRows live_rows(const PresentFacets& rows);

/// The command that marks a row failed, with this code and message.
CommandDraft mark_failed(const std::string& source, const Facet& row, std::string_view code,
                         std::string message);
/// UNEXPECTED_TERMINATION: the pod ended, and nobody had said that it should.
inline constexpr std::string_view kUnexpected = "UNEXPECTED_TERMINATION";

}  // namespace trueup::core::graph_instances
