// `trueup policy enable` and `trueup policy disable`: an operator looks at what rules would do, and
// lets them act by themselves, or takes that back (docs/operations/enabling.md).
//
// Exit codes as those of operate.h.
#pragma once

#include "apps/client.h"
#include "apps/event_printer.h"

#include <string>
#include <vector>

namespace trueup::apps {

struct EnableOptions {
    EngineAddress engine;
    OutputFormat format = OutputFormat::kText;
    std::string policy;
    std::vector<std::string> rules;  ///< none: of enable those that act and are not enabled; of
                                     ///< disable all
    /// `242`, or of several shards `242.159.77`, one journal offset each: what was looked at.
    /// Empty: what is shown now.
    std::string seen;
    std::string comment;  ///< why, for the record
    bool yes = false;
    bool dry_run = false;  ///< only show
};

int run_policy_enable(const EnableOptions& options);
int run_policy_disable(const EnableOptions& options);

}  // namespace trueup::apps
