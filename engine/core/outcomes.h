// What became of a command: an outcome ends it, whatever the view says by then; without one it is
// said again, and given up once nobody may carry it out any more.
//
// FoldRun (fold.cpp) has one for each `fold` call, and what it refers to outlives it. Not
// thread-safe; not for other users than the fold's parts.
#pragma once

#include "engine/core/fold.h"

#include <cstddef>

namespace trueup::core {

class Aftermaths;
class Brakes;
class Endings;
class Findings;
class Marks;

/// A failure that is final is tried again, too, but seldom: somebody may have granted the right
/// that was missing.
inline constexpr Millis kAfterFinalFailure{300'000};
/// 1 s, doubling with each failure in a row, up to 60 s.
Millis backoff(std::uint32_t failures);

/// What a finding says once its command has ended so.
Reason reason_of(OutcomeKind kind);

class Outcomes {
  public:
    using Entry = SubjectTable::Entry;

    Outcomes(State& state, Findings& findings, Marks& marks, Endings& endings,
             Aftermaths& aftermaths, const Brakes& brakes)
        : state_(state),
          meta_(state.meta),
          findings_(findings),
          marks_(marks),
          endings_(endings),
          aftermaths_(aftermaths),
          brakes_(brakes) {}

    void take_outcome(const ItemView& item, const Outcome& outcome);
    void tend_commands(Entry& entry);

  private:
    void settle_finding(Entry& entry, std::size_t index, const Outcome& outcome);
    static bool of_a_former(const Subject& subject, const Finding& finding);
    void end_request(Entry& entry, const Finding& finding);
    void late_write(Entry& entry, BrokerTime time);
    void note_write(Entry& entry, const Command& command, OutcomeKind kind, BrokerTime time);
    bool given_up(const Finding& finding) const;

    State& state_;  ///< its subjects are only marked as dirty
    Meta& meta_;
    Findings& findings_;
    Marks& marks_;
    Endings& endings_;        ///< what came of one's step
    Aftermaths& aftermaths_;  ///< what was refused
    const Brakes& brakes_;    ///< what is not to be said again
};

}  // namespace trueup::core
