// What operators say of findings that wait: approved, dismissed, or left half done.
//
// FoldRun (fold.cpp) has one for each `fold` call, and what it refers to outlives it. Not
// thread-safe; not for other users than the fold's parts.
#pragma once

#include "engine/core/answer.h"
#include "engine/core/fold.h"

#include <string>

namespace trueup::core {

class Aftermaths;
class Endings;
class Findings;
class Marks;

class Approvals {
  public:
    using Entry = SubjectTable::Entry;

    Approvals(const State& state, Meta& meta, Marks& marks, Findings& findings, Endings& endings,
              Aftermaths& aftermaths)
        : state_(state),
          meta_(meta),
          marks_(marks),
          findings_(findings),
          endings_(endings),
          aftermaths_(aftermaths) {}

    Answer approve(const Request& request);
    Answer dismiss(const Request& request);

  private:
    Answer approve_all(const RequestScope& scope, Approval approval);
    bool name_reason(const RequestScope& scope, Approval& approval) const;
    std::string which_reason(const std::string& wanted) const;
    Answer drop_ending(Entry& entry, const Request& request, RuleNumber rule);

    const State& state_;  ///< the plan
    Meta& meta_;          ///< its sweeps: an approval of many findings is on its way
    Marks& marks_;
    Findings& findings_;
    Endings& endings_;        ///< one that is dropped
    Aftermaths& aftermaths_;  ///< how long one that was dropped is left alone
};

}  // namespace trueup::core
