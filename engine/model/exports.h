// The names under which dashboards and log readers know what a policy finds and counts: its
// `metrics` and `events`. They decide nothing: they are no part of its text, and no journal has
// them.
//
// Plain values; const access is thread-safe.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace trueup::policy {

/// A counter of what came of a rule's findings, or a gauge of what the policy counts.
struct Metric {
    enum class On : std::uint8_t { kFound, kCommanded, kRepaired, kRetracted };
    std::string name;
    std::string help;
    std::string rule;  ///< empty: of a count
    On on = On::kFound;
    std::string count;  ///< empty: of a rule
    std::string label;  ///< of a count with a number for each word: what tells them apart
    bool operator==(const Metric&) const = default;
};

/// An event of a rule in the log; or, with kReconcile, a field of `reconciliation_pass_completed`.
struct Event {
    enum class On : std::uint8_t { kFound, kDone, kReconcile };
    std::string name;
    std::string rule;
    On on = On::kFound;
    bool of_pods = false;  ///< what the rule finds are pods: they have a `pod_name`
    bool operator==(const Event&) const = default;
};

struct Exports {
    std::vector<Metric> metrics;
    std::vector<Event> events;  ///< as they stand in the file
    bool operator==(const Exports&) const = default;
};

}  // namespace trueup::policy
