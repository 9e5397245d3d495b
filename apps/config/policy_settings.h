// What reading a policy's part of the configuration is made of: its text and the sources that play
// its roles, the settings of its rules, and the brakes that hold them. For policies.cpp, roles.cpp,
// published.cpp, rule_settings.cpp and brakes.cpp only.
#pragma once

#include "apps/config/config.h"
#include "apps/config/section.h"
#include "engine/core/plan.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace trueup::config {

void add_once(std::vector<std::string>& words, const std::string& word);

// roles.cpp
/// The key under which the policy's text is named.
const char* named_by(const PolicyConfig& policy);
/// `use` or `file`. False: there is no text that this release can run, which is noted.
bool read_text(Section& section, const std::string& folder, Config& config, PolicyConfig& policy);
/// `roles` and `keys`.
void read_roles(Section& section, const Config& config, PolicyConfig& policy, Problems& problems);

// published.cpp
/// What this build makes of the policy's text with these keys and sources, its rules in the order
/// of the text; nothing: it cannot, which is noted.
std::optional<core::Plan> plan_of(Section& section, const PolicyConfig& policy);
/// Has the policy's sources publish what it reads, its rules' settings included, where they do not
/// say otherwise.
void complete_sources(Section& section, Config& config, PolicyConfig& policy, Problems& problems);

// rule_settings.cpp
std::vector<RuleSettings> usual_rules(const PolicyConfig& policy);
/// It waits out a silence: only such a rule has times.
bool by_absence(const RuleSettings& usual);
void read_rules(Section rules, const core::Plan& plan, const Config& config, PolicyConfig& policy);

// brakes.cpp
/// The resource that the rule deletes and that holds what no controller makes again, or whose
/// source says so; empty: none.
std::string lost_for_good(const PolicyConfig& policy, std::string_view rule, const Config& config);
/// What executors could not find again before a write, no rule acts on.
void check_reach(Section& section, const core::Plan& plan, const PolicyConfig& policy,
                 const Config& config);
/// A brake may be loosened beyond what is safe only by naming it once more.
void check_brakes(Section& section, PolicyConfig& policy, const Config& config);

}  // namespace trueup::config
