// Who may act by himself (docs/adr/0034): what people enable and disable, what the settings do, and
// what there was to be looked at.
//
// FoldRun (fold.cpp) has one for each `fold` call, and what it refers to outlives it. Not
// thread-safe; not for other users than the fold's parts.
#pragma once

#include "engine/core/answer.h"
#include "engine/core/fold.h"

#include <string>

namespace trueup::core {

class Marks;

/// Whether a rule is enabled is asked of Brakes.
class Enablings {
  public:
    Enablings(const State& state, Meta& meta, const JournalView& record, Marks& marks)
        : state_(state), meta_(meta), record_(record), marks_(marks) {}

    Answer enable(const Request& request);
    Answer disable(const Request& request);

    void note_texts(const Plan& former, const std::string& changed);
    void enable_by_settings();
    void note_looks();

  private:
    std::string against_enabling(const NamedRule& named, Offset seen) const;
    bool shown_whole(const PlanRule& rule) const;

    const State& state_;  ///< the plan
    Meta& meta_;
    const JournalView& record_;  ///< its offset
    Marks& marks_;               ///< every subject is judged by what was turned
};

}  // namespace trueup::core
