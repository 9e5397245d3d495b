// What operators ask. Each authentic request is answered once, and the answer is kept; who has more
// to say of one kind is asked in turn: Approvals, Enablings, Trust.
//
// FoldRun (fold.cpp) has one for each `fold` call, and what it refers to outlives it. Not
// thread-safe; not for other users than the fold's parts.
#pragma once

#include "engine/core/answer.h"
#include "engine/core/facts.h"
#include "engine/core/fold.h"

namespace trueup::core {

class Approvals;
class Brakes;
class Enablings;
class Marks;
class Trust;

class Requests {
  public:
    using Entry = SubjectTable::Entry;

    Requests(State& state, FoldReport& report, Marks& marks, Approvals& approvals,
             Enablings& enablings, Trust& trust, const Brakes& brakes)
        : state_(state),
          meta_(state.meta),
          report_(report),
          marks_(marks),
          approvals_(approvals),
          enablings_(enablings),
          trust_(trust),
          brakes_(brakes) {}

    void take_request(const ItemView& item, const Request& request);

  private:
    Answer answer(const ItemView& item, const Request& request);
    Answer grant(const ItemView& item, const Request& request);
    Answer hold(const Request& request, bool held);
    Answer pause(const ItemView& item, const Request& request);
    Answer resume(const Request& request);
    Answer relist(const Request& request);
    Answer make_request(const Request& request);
    std::string against(const Entry& entry, const Request& request, RuleNumber number);
    Answer join_ending(Entry& entry, RuleNumber rule);
    RuleNumber rule_for(std::string_view name) const;
    Answer no_such_request(const Request& request) const;
    std::string being_ended(const Subject& subject) const;

    State& state_;  ///< the plan and its judge; its subjects are only marked as dirty
    Meta& meta_;
    FoldReport& report_;  ///< what is parked, and wanted epochs
    Marks& marks_;
    Approvals& approvals_;
    Enablings& enablings_;
    Trust& trust_;
    const Brakes& brakes_;
    Facts facts_;  ///< of the subject of which something is asked
};

}  // namespace trueup::core
