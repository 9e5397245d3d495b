// What was begun is carried to its end: what an ending (core/ending.h) has passed by what its
// sources show, and what it orders or waits for next.
//
// Part of Judging, which has what it refers to. Not thread-safe; not for other users.
#pragma once

#include "engine/core/fold.h"
#include "engine/core/truth.h"

#include <optional>

namespace trueup::core {

class Awaited;
class Brakes;
class Endings;
class Findings;

class CarryingOn {
  public:
    using Entry = SubjectTable::Entry;

    CarryingOn(State& state, Findings& findings, Endings& endings, Awaited& awaited,
               const Brakes& brakes)
        : state_(state),
          meta_(state.meta),
          findings_(findings),
          endings_(endings),
          awaited_(awaited),
          brakes_(brakes) {}

    void tend_ending(Entry& entry);

  private:
    Reason carry_on(Entry& entry, Finding& face);
    Reason settle_taking(Entry& entry, Finding& face);
    Reason order_step(Entry& entry, Finding& face, const PlanStep& step);
    CommandDraft draft_of(const Subject& subject, const PlanStep& step, const Facet& object) const;
    void look_elsewhere(const Subject& subject, CommandDraft& draft) const;
    bool vetoed_elsewhere(const Subject& subject) const;
    Reason await_proof(SourceId id, BrokerTime time);
    Reason await_proof_of(Role role, BrokerTime time);

    bool passed(const Subject& subject, const PlanStep& step) const;
    bool superseded(const Subject& subject) const;
    bool proven_past(SourceId id, BrokerTime time) const;
    SourceId behind(Role role, BrokerTime time) const;
    std::optional<Wait> unheard_beside(const Subject& subject) const;
    Truth claims(const Facet& object) const;
    bool plays(SourceId source) const;
    Role role_of(SourceId source) const;
    Role role_taken(const Ending& ending) const;
    const Facet* next_of(const Subject& subject, Role role) const;

    State& state_;  ///< the plan; its subjects are only marked as dirty
    Meta& meta_;
    Findings& findings_;
    Endings& endings_;
    Awaited& awaited_;
    const Brakes& brakes_;
};

}  // namespace trueup::core
