#include "engine/model/verdict.h"

namespace trueup {

std::string_view name_of(Reason reason) {
    switch (reason) {
        case Reason::kNone:
            return "none";
        case Reason::kUnproven:
            return "unproven";
        case Reason::kGrace:
            return "grace";
        case Reason::kUnseen:
            return "unseen";
        case Reason::kStale:
            return "stale";
        case Reason::kOwnWrite:
            return "own_write";
        case Reason::kUncorrelatedRows:
            return "uncorrelated_rows";
        case Reason::kDuplicateClaim:
            return "duplicate_claim";
        case Reason::kVeto:
            return "veto";
        case Reason::kObserved:
            return "observed";
        case Reason::kOutboxFull:
            return "outbox_full";
        case Reason::kRetry:
            return "retry";
        case Reason::kIncomplete:
            return "incomplete";
        case Reason::kQuarantine:
            return "quarantine";
        case Reason::kBudget:
            return "budget";
        case Reason::kUnreadable:
            return "unreadable";
        case Reason::kClockSkew:
            return "clock_skew";
        case Reason::kApproval:
            return "approval";
        case Reason::kPaused:
            return "paused";
        case Reason::kWindow:
            return "window";
        case Reason::kDone:
            return "done";
        case Reason::kAlreadyDone:
            return "already_done";
        case Reason::kRetracted:
            return "retracted";
        case Reason::kRefused:
            return "refused";
        case Reason::kFailed:
            return "failed";
        case Reason::kExpired:
            return "expired";
        case Reason::kDismissed:
            return "dismissed";
        case Reason::kHold:
            return "hold";
        case Reason::kNextStep:
            return "next_step";
        case Reason::kOwnersChoice:
            return "owners_choice";
        case Reason::kBackoff:
            return "backoff";
        case Reason::kTransition:
            return "transition";
        case Reason::kEnding:
            return "ending";
        case Reason::kEndingStuck:
            return "ending_stuck";
        case Reason::kBusy:
            return "busy";
        case Reason::kNoObject:
            return "no_object_yet";
        case Reason::kSuperseded:
            return "superseded";
    }
    return "unknown";
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
