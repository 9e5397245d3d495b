#include "engine/model/verdict.h"

#include <array>
#include <cstddef>

namespace trueup {

namespace {

/// By number.
constexpr std::array<std::string_view, 39> kReasons{
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
};

}  // namespace

std::string_view name_of(Reason reason) {
    const auto number = static_cast<std::size_t>(reason);
    return number < kReasons.size() ? kReasons[number] : "unknown";
}

std::vector<std::string> reason_names() { return {kReasons.begin() + 1, kReasons.end()}; }

FindingState state_of(Reason reason) {
    switch (reason) {
        case Reason::kNotSynced:
        case Reason::kGrace:
        case Reason::kAwaitingProgress:
        case Reason::kStale:
        case Reason::kOwnWrite:
        case Reason::kDuplicateClaim:
        case Reason::kIncomplete:
        case Reason::kQuarantine:
        case Reason::kUnreadable:
        case Reason::kClockSkew:
        case Reason::kTransition:
        case Reason::kUnknownWord:
            return FindingState::kSuspected;
        default:
            return FindingState::kConfirmed;
    }
}

std::string_view name_of(FindingState state) {
    switch (state) {
        case FindingState::kSuspected:
            return "suspected";
        case FindingState::kConfirmed:
            return "confirmed";
        case FindingState::kCommanded:
            return "commanded";
        case FindingState::kResolved:
            return "resolved";
        case FindingState::kUnspecified:
            break;
    }
    return "unspecified";
}

}  // namespace trueup
