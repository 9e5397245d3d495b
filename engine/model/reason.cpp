#include "engine/model/reason.h"

#include <array>
#include <cstddef>

namespace trueup {

namespace {

/// By number.
constexpr std::array<std::string_view, 40> kReasons{
    "none",
    "not_synced",
    "grace",
    "awaiting_progress",
    "stale",
    "own_write",
    "uncorrelated_rows",
    "duplicate_claim",
    "veto",
    "observed",
    "outbox_full",
    "retry",
    "incomplete",
    "quarantine",
    "budget",
    "unreadable",
    "clock_skew",
    "approval",
    "paused",
    "window",
    "done",
    "already_done",
    "retracted",
    "refused",
    "failed",
    "expired",
    "dismissed",
    "hold",
    "next_step",
    "report_only",
    "backoff",
    "transition",
    "ending",
    "ending_stuck",
    "busy",
    "no_object_yet",
    "superseded",
    "not_enabled",
    "unknown_word",
    "recurring",
};

}  // namespace

std::string_view name_of(Reason reason) {
    const auto number = static_cast<std::size_t>(reason);
    return number < kReasons.size() ? kReasons[number] : "unknown";
}

bool waits_for_approval(Reason reason) {
    return reason == Reason::kApproval || reason == Reason::kNotEnabled ||
           reason == Reason::kRecurring || reason == Reason::kUncorrelatedRows;
}

std::vector<std::string> reason_names() { return {kReasons.begin() + 1, kReasons.end()}; }

}  // namespace trueup
