// Judges one subject by one rule of a plan. No state, no clock; equal arguments, equal verdicts.
//
// The stages, in order; the first that says something is the answer:
//   0  the subject is being ended by another rule · nobody asked for what waits for being asked
//   1  a pattern is false: healthy · what was asked for is not there yet: it waits
//   2  an object without a key is only reported, once it is due
//   3  a pattern is unknown: not_synced, then duplicate_claim, then what was not known of an object
//      · a value that the command is made of is not known
//   4  the deadline is not passed, or cannot be told
//   5  nothing is left to be done: healthy · a report
//   6  a veto on what was looked at
//   7  our own last write is not in view
//   8  the grace
//   9  a source that was not heard past what it is leaned on for
//  10  the ladder of a rule that makes anew what failed
//  11  an ending of ours wrote it: a report · a count that is not zero: the act asks first
#pragma once

#include "engine/core/facts.h"
#include "engine/core/references.h"

#include <array>

namespace trueup::core {

struct Judgement {
    const Plan& plan;
    const Subject& subject;
    const Facts& facts;  ///< of this plan, subject and settings; for all of its rules
    const References& references;
    const Settings& settings;
    RuleNumber self;
    JournalTime now{};

    const PlanRule& rule() const { return plan.rules[self.value()]; }
};

using Bound = std::array<const Facet*, kMostRoles>;  ///< by role; nullptr: none

/// What a rule makes of a subject. Pointers are into the plan and the subject.
struct Decision {
    Verdict::Kind kind = Verdict::Kind::kHealthy;
    Reason reason = Reason::kNone;
    Wait wait;
    const Facet* about = nullptr;  ///< of kWaiting and kAct
    // Of kAct.
    const PlanCase* matched = nullptr;
    std::size_t step = 0;           ///< the first that is not behind us
    const Facet* target = nullptr;  ///< of that step; nullptr: it makes something new
    SourceId source = kNoSource;    ///< that the step is for
    Bound bound{};
};

class Witness;

/// `witness` is told on the way what was asked and what was answered (core/witness.h); that changes
/// nothing of the decision. nullptr: nobody looks.
Decision decide(const Judgement& on, Witness* witness = nullptr);

/// The same with its command (core/draft.h).
Verdict verdict_of(const Judgement& on, const Decision& decision);
Verdict judge(const Judgement& on);

}  // namespace trueup::core
