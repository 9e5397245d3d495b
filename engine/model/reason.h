// Why a finding is where it is, as one word: what its rule waits for, what else holds it, or how it
// ended. The numbers are those of rows and topics.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace trueup {

/// Why a finding is where it is. Data, never a new state.
enum class Reason : std::uint8_t {
    kNone = 0,
    // A rule abstains or waits.
    kNotSynced = 1,         ///< a side is unknown: no complete snapshot, or a hole
    kGrace = 2,             ///< first detection is too young
    kAwaitingProgress = 3,  ///< the other side's progress has not passed the evidence
    kStale = 4,             ///< a source was silent for too long
    kOwnWrite = 5,          ///< our own last outcome is not in view yet
    kUncorrelatedRows = 6,  ///< a count is not 0: of every policy, whatever that calls it
    kDuplicateClaim = 7,    ///< two live objects claim the subject
    kVeto = 8,              ///< a hold on the object, or on another that was looked at
    kObserved = 9,          ///< the rule's mode is observe: it would act
    kOutboxFull = 10,       ///< too many commands are under way
    kRetry = 11,            ///< the last try failed and will be repeated
    kIncomplete = 12,       ///< a field that the rule needs was not sent
    kQuarantine = 13,       ///< a source's last epoch dropped suspiciously much
    kBudget = 14,           ///< the rule has issued enough for now; it waits its turn
    kUnreadable = 15,       ///< a field holds what the rule cannot read
    kClockSkew = 16,        ///< the source's clock is too far from the broker's
    kApproval = 17,         ///< the rule's mode is approve: an operator must say so
    kPaused = 18,           ///< an operator paused the rule
    kWindow = 19,           ///< outside the windows in which commands are issued
    // How a finding ended.
    kDone = 20,
    kAlreadyDone = 21,
    kRetracted = 22,  ///< the disagreement went away by itself
    kRefused = 23,
    kFailed = 24,
    kExpired = 25,
    kDismissed = 26,  ///< an operator ended it without a command
    // A rule abstains or waits, once more.
    kHold = 27,         ///< an operator's hold on the subject
    kNextStep = 28,     ///< one part is done, the next one follows
    kReportOnly = 29,   ///< reported only; what to do is left to the owner
    kBackoff = 30,      ///< what was made anew failed before; the next try comes later
    kTransition = 31,   ///< it is on its way from one state to another
    kEnding = 32,       ///< another rule is ending the subject
    kEndingStuck = 33,  ///< the ending has not gone on for 15 minutes
    kBusy = 34,         ///< another command on the same object is under way
    kNoObject = 35,     ///< what is to be ended is not there yet
    // How a finding ended, once more.
    kSuperseded = 36,  ///< another object came under the name of the one that was taken
    // A rule waits, once more.
    kNotEnabled = 37,   ///< nobody has enabled the rule as it is: an operator must say so
    kUnknownWord = 38,  ///< a field that the rule needs says a word that the policy does not list
    kRecurring = 39,    ///< the rule did the same here twice within a day: an operator must say so
};
std::string_view name_of(Reason reason);
/// May an operator's approval be what a finding waits for?
bool waits_for_approval(Reason reason);
/// Of all reasons but kNone, by number.
std::vector<std::string> reason_names();

}  // namespace trueup
