// An ending (core/ending.h) from its birth to its end: the stages that it enters, the steps that it
// passes, and what its commands came to. What it does next is not decided here
// (core/carrying_on.h).
//
// FoldRun (fold.cpp) has one for each `fold` call, and what it refers to outlives it. Not
// thread-safe; not for other users than the fold's parts.
#pragma once

#include "engine/core/fold.h"

#include <span>

namespace trueup::core {

class Aftermaths;
class Findings;
class Marks;

class Endings {
  public:
    using Entry = SubjectTable::Entry;

    Endings(State& state, Findings& findings, Marks& marks, Aftermaths& aftermaths)
        : state_(state),
          meta_(state.meta),
          findings_(findings),
          marks_(marks),
          aftermaths_(aftermaths) {}

    void begin_ending(Entry& entry, const Finding& finding, const CommandDraft& draft);
    void settle_step(Entry& entry, Finding& face, OutcomeKind kind, bool retryable,
                     BrokerTime time);
    void close_ending(Entry& entry, Reason reason);
    void forget_ending(Entry& entry);
    void stand_back(Entry& entry);

    void enter(Ending& ending, Ending::Stage stage);
    void pass_step(Ending& ending);
    /// None where the rule that it goes on under means another list by now.
    std::span<const PlanStep> steps_of(const Ending& ending) const;

  private:
    State& state_;  ///< the plan; its subjects are only marked as dirty
    Meta& meta_;
    Findings& findings_;
    Marks& marks_;  ///< the subject counts for something else when an ending is over
    Aftermaths& aftermaths_;
};

}  // namespace trueup::core
