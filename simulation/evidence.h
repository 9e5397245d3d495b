// Whether what a command relies on was so in the world when it was given, or not long before. Keeps
// nothing of its own; not thread-safe.
#pragma once

#include "engine/base/time.h"
#include "engine/model/command.h"
#include "simulation/allowances.h"
#include "simulation/history.h"
#include "simulation/reinsertions.h"
#include "simulation/witness.h"

#include <string>
#include <vector>

namespace trueup::simulation {

/// The rows whose columns a command relies on, in its order, by primary key; it is about the first.
std::vector<std::string> rows_behind(const Command& command);
/// The first of them; empty: none.
std::string row_behind(const Command& command);

/// Does it go on with a list that began by taking something away?
bool later_step(const Command& command);

class Evidence {
  public:
    /// All of them outlive it.
    Evidence(const History& history, const Reinsertions& reinsertions, const Allowances& allowed)
        : history_(history), reinsertions_(reinsertions), allowed_(allowed) {}

    /// What a command relies on, and the world never said in the time in which it should have, of
    /// its target's source since that was written; empty: it was right to be given.
    /// `begun`: when the list of steps began that it goes on with; else when it was issued.
    std::string against(const Command& command, SteadyTime issued, SteadyTime written,
                        SteadyTime begun) const;

  private:
    bool was_so(const Command& command, const Predicate& predicate, Moment from, Moment to) const;
    /// `issued`: the moment of the command, which knows also what its own outcomes told.
    bool is_so(const Command& command, const Predicate& predicate, Moment as_of,
               Moment issued) const;

    const History& history_;
    const Reinsertions& reinsertions_;
    const Allowances& allowed_;
};

}  // namespace trueup::simulation
