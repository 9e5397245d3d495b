// What a verdict comes to: findings that are opened, kept or retracted; and what it proposes is
// held by something, or ordered.
//
// Part of Judging, which has what it refers to. Not thread-safe; not for other users.
#pragma once

#include "engine/core/fold.h"

namespace trueup::core {

class Awaited;
class Brakes;
class Endings;
class Findings;
class Marks;

class Verdicts {
  public:
    using Entry = SubjectTable::Entry;

    Verdicts(State& state, Findings& findings, Marks& marks, Endings& endings, Awaited& awaited,
             const Brakes& brakes)
        : state_(state),
          meta_(state.meta),
          findings_(findings),
          marks_(marks),
          endings_(endings),
          awaited_(awaited),
          brakes_(brakes) {}

    void settle(Entry& entry, RuleNumber rule, Verdict verdict);

  private:
    void let_go(Entry& entry, RuleNumber rule);
    void settle_others(Entry& entry, RuleNumber rule, const Verdict& verdict);

    bool may_act(Entry& entry, Finding& finding, const Verdict& verdict);
    void ask_approval(Entry& entry, Finding& finding, const Verdict& verdict, Reason why);
    void act(Entry& entry, Finding& finding, Verdict& verdict);

    State& state_;  ///< the plan; its subjects are only marked as dirty
    Meta& meta_;    ///< what rules have retracted and spent
    Findings& findings_;
    Marks& marks_;  ///< the subject counts for something else when an ending begins
    Endings& endings_;
    Awaited& awaited_;
    const Brakes& brakes_;
};

}  // namespace trueup::core
