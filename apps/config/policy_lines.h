// Where the parts of a policy stand in its file, for sentences about them. Not for other users than
// the reader and its checks.
#pragma once

#include "apps/config/problems.h"
#include "engine/model/rule.h"

#include <map>
#include <string>
#include <vector>

namespace trueup::config {

/// Lines, from 1.
struct PolicyLines {
    std::map<std::string, int> roles;
    std::map<std::string, std::vector<int>> cases;  ///< of each rule, in order
};

/// Holds the rules against each other and against what is safe: errors, and what an author must
/// acknowledge, into `problems`; what only deserves a look into `warnings`.
void check_policy(const policy::Policy& policy, const PolicyLines& lines, Problems& problems,
                  Problems& warnings);

}  // namespace trueup::config
