// `trueup policy test`: plays the stories beside a policy's file, and looks for words of the policy
// that no story would miss. Asks nobody.
#pragma once

#include "apps/event_printer.h"
#include "apps/stop_signal.h"

#include <cstddef>
#include <string>
#include <vector>

namespace trueup::apps {

struct PolicyTestOptions {
    std::string file;
    std::vector<std::string> stories;  ///< files and folders; none: the folder beside the file
    std::string filter;                ///< of a story's path or title; empty: all
    bool mutants = false;
    std::size_t jobs = 0;  ///< threads for mutants; 0: one for each core
    OutputFormat format = OutputFormat::kText;
};

/// 0 every story went as told and no mutant survived; 1 one did not, one survived, or Ctrl-C came
/// first; 2 the policy or a story cannot be read, or there is none.
int run_policy_test(const PolicyTestOptions& options, StopSignal& stop);

/// Where the stories of a policy file are: `policies/workers` of `policies/workers.yaml`.
std::string stories_beside(const std::string& file);

}  // namespace trueup::apps
