// The subjects that are judged although this record says nothing of them: those that a sweep comes
// to, and those whose wait is over. A record visits only some, so that none takes long.
//
// FoldRun (fold.cpp) has one for each `fold` call, and what it refers to outlives it. Not
// thread-safe; not for other users than the fold's parts.
#pragma once

#include "engine/core/fold.h"

#include <cstdint>
#include <string>
#include <vector>

namespace trueup::core {

class Marks;
class Passes;
class Trust;

class Visits {
  public:
    Visits(State& state, FoldReport& report, Marks& marks, Passes& passes, Trust& trust)
        : state_(state),
          meta_(state.meta),
          report_(report),
          marks_(marks),
          passes_(passes),
          trust_(trust) {}

    void sweep_step();
    /// After `sweep_step`, and with a number of its own: a sweep over millions must not keep those
    /// whose wait is over from their turn.
    void wake();

  private:
    using Entry = SubjectTable::Entry;

    void rouse(std::vector<std::string>& keys);

    State& state_;  ///< its waits, which are taken out, and subjects, which are read ahead
    Meta& meta_;
    FoldReport& report_;  ///< whether there is more work
    Marks& marks_;
    Passes& passes_;  ///< told that its sweep has ended, ...
    Trust& trust_;    ///< ... and so is this
};

}  // namespace trueup::core
