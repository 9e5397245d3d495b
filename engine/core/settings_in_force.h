// Settings that come into force: whether this build can go by them, the numbers that they give to
// rules and sources, and what changes with them.
//
// FoldRun (fold.cpp) has one for each `fold` call, and what it refers to outlives it. Not
// thread-safe; not for other users than the fold's parts.
#pragma once

#include "engine/core/fold.h"

#include <vector>

namespace trueup::core {

class Enablings;
class Marks;
class Sources;

class SettingsInForce {
  public:
    SettingsInForce(State& state, const JournalView& record, FoldReport& report, Sources& sources,
                    Enablings& enablings, Marks& marks)
        : state_(state),
          meta_(state.meta),
          record_(record),
          report_(report),
          sources_(sources),
          enablings_(enablings),
          marks_(marks) {}

    void take_settings(const Settings& settings);

  private:
    void forget_other_views(const Settings& former, const Settings& ours);
    std::vector<RuleSettings> numbered(const std::vector<RuleSettings>& listed) const;
    std::vector<SourceSettings> numbered(const std::vector<SourceSettings>& listed,
                                         std::vector<SourceState>& states) const;

    State& state_;  ///< the plan, or why it is halted; no subject
    Meta& meta_;
    const JournalView& record_;  ///< its offset
    FoldReport& report_;         ///< wanted epochs
    Sources& sources_;           ///< those that leave are forgotten
    Enablings& enablings_;
    Marks& marks_;  ///< every subject is judged by them
};

}  // namespace trueup::core
