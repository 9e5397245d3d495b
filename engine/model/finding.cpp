#include "engine/model/finding.h"

namespace trueup {

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
