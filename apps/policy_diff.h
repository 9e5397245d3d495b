// `trueup policy diff`: what changes for the rules, the rights and the published fields when one
// text of a policy takes the place of another; over a recorded journal also for the commands
// (commands_diff.h). Asks nobody.
#pragma once

#include "apps/event_printer.h"
#include "apps/stop_signal.h"
#include "engine/model/rule.h"

#include <string>
#include <vector>

namespace trueup::apps {

/// A part of `trueup policy show` that is not the same in both: a role, a condition, a rule, …
struct PartDiff {
    enum class Change { kAdded, kRemoved, kChanged };
    std::string part;  ///< `rule orphaned_pod`
    Change change = Change::kChanged;
    /// Of a rule: what it means, where both texts have it, is another thing now, so that it acts on
    /// approval only until it is enabled again.
    bool enable_again = false;
    bool acts = false;                ///< of a rule: it does more than to report
    std::vector<std::string> before;  ///< lines that only the old text has
    std::vector<std::string> now;     ///< that only the new one has
};

/// In the order of the new text, what it lacks last. Empty: they mean the same.
std::vector<PartDiff> differences(const policy::Policy& before, const policy::Policy& now);

struct PolicyDiffOptions {
    std::string before;  ///< a shipped policy's name, or a file
    std::string now;     ///< likewise
    /// A state folder, or a configuration: its journal is folded under both. Empty: none is.
    std::string journal;
    OutputFormat format = OutputFormat::kText;
};

/// 0 they mean the same, 1 they do not, 2 one of them, or the journal, cannot be read. With a
/// journal: 0 no command differs, 1 some do.
int run_policy_diff(const PolicyDiffOptions& options, StopSignal& stop);

}  // namespace trueup::apps
