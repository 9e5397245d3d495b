// Why an executor should not have written, given what it had looked at: the shipped policy's rules,
// said once more by somebody who knows the world alone. Keeps nothing of its own; not thread-safe.
#pragma once

#include "sandbox/types.h"
#include "simulation/allowances.h"
#include "simulation/approvals.h"
#include "simulation/endings.h"
#include "simulation/history.h"
#include "simulation/law.h"
#include "simulation/witness.h"

#include <string>
#include <string_view>

namespace trueup::simulation {

/// What an update sets a column to; empty: it leaves it alone.
std::string sets(const sandbox::Effect& effect, std::string_view column);

class Harm {
  public:
    /// All of them outlive it.
    Harm(const History& history, const Approvals& approvals, const Endings& endings,
         const Allowances& allowed)
        : history_(history), approvals_(approvals), endings_(endings), allowed_(allowed) {}

    /// Why a pod should have stayed, given what was so at these moments; empty: it may go.
    std::string against_delete(const sandbox::Effect& effect, const std::string& pk,
                               const Looks& looks) const;
    /// The same for a row that is written.
    std::string against_update(const sandbox::Effect& effect, const std::string& name,
                               const Looks& looks) const;

    /// The same for a pod that was made for a row; it is in the history by now.
    std::string against_creation(const sandbox::Pod& made, const CommandId& by,
                                 const std::string& pk, const Looks& looks) const;

  private:
    std::string against_failing(const History::RowView& row, const std::string& name,
                                Moment pods) const;
    std::string against_stopping(const History::RowView& row, const std::string& name,
                                 Moment pods) const;
    std::string against_naming(const History::RowView& row, const std::string& pod,
                               Moment pods) const;

    const History& history_;
    const Approvals& approvals_;
    const Endings& endings_;
    const Allowances& allowed_;
};

}  // namespace trueup::simulation
