// An oracle of the world at rest.
//
//   O8 repaired   at rest nothing is wrong in the world any more
//
// Not thread-safe.
#pragma once

#include "simulation/allowances.h"
#include "simulation/approvals.h"
#include "simulation/endings.h"
#include "simulation/history.h"
#include "simulation/law.h"
#include "simulation/scheduler.h"
#include "simulation/violations.h"

#include <functional>
#include <string>
#include <vector>

namespace trueup::simulation {

class Repaired {
  public:
    /// All of them outlive it.
    Repaired(Scheduler& scheduler, const History& history, const Approvals& approvals,
             const Endings& endings, const Allowances& allowed, Violations& violations)
        : scheduler_(scheduler),
          history_(history),
          approvals_(approvals),
          endings_(endings),
          allowed_(allowed),
          violations_(violations) {}

    /// `explain` says what an engine believes of a subject.
    void judge_world(const std::function<std::string(const std::string&)>& explain);
    /// Under other policies: what engines have open is what their texts say of the world.
    void judge_open(const std::vector<OpenFinding>& open);

  private:
    void judge_row(const History::Row& row,
                   const std::function<void(const std::string&, const std::string&)>& wrong) const;

    Scheduler& scheduler_;
    const History& history_;
    const Approvals& approvals_;
    const Endings& endings_;
    const Allowances& allowed_;
    Violations& violations_;
};

}  // namespace trueup::simulation
