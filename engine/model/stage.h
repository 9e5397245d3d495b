// The stages in which a rule comes to what it says of a subject, and the fold to what is done about
// it.
#pragma once

#include <cstdint>
#include <string_view>

namespace trueup {

/// In the order in which they are asked. Up to kCount they are the evaluator's (core/evaluate.h),
/// behind it the fold's, which may hold what the evaluator would do (core/verdicts.cpp,
/// core/brake.cpp).
enum class Stage : std::uint8_t {
    kAsked = 0,  ///< is the rule judged at all: its mode, an ending, what waits for being asked
    kPattern = 1,
    kKeyless = 2,
    kKnown = 3,
    kDeadline = 4,
    kSteps = 5,  ///< is anything left to be done; a report ends here
    kVeto = 6,
    kOwnWrite = 7,
    kGrace = 8,
    kHeard = 9,
    kBackoff = 10,
    kCount = 11,
    kUnderWay = 12,  ///< its command has no outcome yet
    kDismissed = 13,
    kHold = 14,
    kMode = 15,
    kPause = 16,
    kWindow = 17,
    kDoubt = 18,  ///< a source on whose word nothing is taken away
    kRefused = 19,
    kApproval = 20,
    kRetry = 21,
    kBusy = 22,
    kOutbox = 23,
    kBudget = 24,
    kAct = 25,  ///< nothing holds it
};
std::string_view name_of(Stage stage);

}  // namespace trueup
