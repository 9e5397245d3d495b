// A policy file, read and checked: YAML to the policy that it means, every default written down.
// docs/policies has the language.
#pragma once

#include "engine/base/hash.h"
#include "engine/base/result.h"
#include "engine/model/exports.h"
#include "engine/model/rule.h"

#include <map>
#include <string>
#include <string_view>

namespace trueup::config {

/// A larger file, or one that is nested more than 32 deep, is refused.
inline constexpr std::size_t kMostPolicyBytes = std::size_t{256} * 1024;

struct PolicyFile {
    policy::Policy policy;
    policy::Exports exports;  ///< which are no part of it
    Hash128 digest;           ///< of the text
    std::string warnings;     ///< `file:line: sentence`, one a line; may be empty
    /// Where what stands: `rules.orphaned_pod.when`, an element of a list as `do[1]` → its line.
    std::map<std::string, int> lines;
};

/// The error has every flaw, `file:line: sentence`, one a line. Pure.
Result<PolicyFile> parse_policy(std::string_view text, const std::string& file_name);

Result<PolicyFile> load_policy(const std::string& path);

}  // namespace trueup::config
