// `trueup policy`: what a policy's file says, and what is wrong with it. Asks nobody.
#pragma once

#include "apps/event_printer.h"
#include "engine/base/result.h"
#include "engine/base/shared.h"
#include "engine/model/rule.h"

#include <string>
#include <vector>

namespace trueup::apps {

struct PolicyOptions {
    std::vector<std::string> files;  ///< of check
    std::string policy;              ///< of show: a shipped one's name, or a file
    bool hash = false;               ///< of check: prints what the rules of `config` mean
    std::string config;  ///< of check: where they would run; with `hash` or `rbac`: whose rules
    bool rbac = false;   ///< of show: prints the rights that `config` takes in Kubernetes
    std::string account = "trueup/trueup";  ///< the service account that gets them
    OutputFormat format = OutputFormat::kText;
};

/// A shipped policy, or that of a file. The error is one sentence a line, for people.
Result<Shared<policy::Policy>> policy_named(const std::string& name);

/// 0 all are sound, 2 otherwise; one sentence for each thing that is wrong.
int run_policy_check(const PolicyOptions& options);

/// 0, or 2 where there is no such policy, or it cannot be read.
int run_policy_show(const PolicyOptions& options);

/// Prints the JSON Schema of policy files; 0.
int run_policy_schema(const PolicyOptions& options);

}  // namespace trueup::apps
