// Whether an epoch answers the question that was meant (design §4.6;
// docs/adr/0023-first-snapshots.md): what is held back of it, the trial of a first one, and
// operators who vouch for what a source lists.
//
// FoldRun (fold.cpp) has one for each `fold` call, and what it refers to outlives it. Not
// thread-safe; not for other users than the fold's parts.
#pragma once

#include "engine/core/answer.h"
#include "engine/core/fold.h"

namespace trueup::core {

class Marks;

class Trust {
  public:
    Trust(const State& state, Meta& meta, FoldReport& report, Marks& marks)
        : state_(state), meta_(meta), report_(report), marks_(marks) {}

    bool believable(SourceId id, const OpenEpoch& epoch, const ChangeView& change);
    void trust(SourceId id, const OpenEpoch& epoch);
    Answer release_source(const Request& request);

    void tend_trial();
    /// Its sweep has come to the last subject, which is judged before `end_trial`.
    void hear_trial() { trial_heard_ = true; }
    void end_trial();

  private:
    const State& state_;  ///< the plan
    Meta& meta_;
    FoldReport& report_;  ///< wanted epochs, and whether there is more work
    Marks& marks_;        ///< every subject is judged when a trial or a quarantine is over
    bool trial_heard_ = false;
};

}  // namespace trueup::core
