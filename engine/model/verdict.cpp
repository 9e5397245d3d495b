#include "engine/model/verdict.h"

#include <array>
#include <cstddef>

namespace trueup {

namespace {

/// By number.
constexpr std::array<std::string_view, 37> kReasons{
    "none",
    "unproven",
    "grace",
    "unseen",
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
    "owners_choice",
    "backoff",
    "transition",
    "ending",
    "ending_stuck",
    "busy",
    "no_object_yet",
    "superseded",
};

}  // namespace

std::string_view name_of(Reason reason) {
    const auto number = static_cast<std::size_t>(reason);
    return number < kReasons.size() ? kReasons[number] : "unknown";
}

std::string_view name_of(FindingState state) {
    switch (state) {
        case FindingState::kSuspected:
            return "suspected";
        case FindingState::kWaiting:
            return "waiting";
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
