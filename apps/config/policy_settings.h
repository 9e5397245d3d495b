// What reading a policy's part of the configuration is made of: the settings of its rules, and the
// brakes that hold them. For policies.cpp, rule_settings.cpp and brakes.cpp only.
#pragma once

#include "apps/config/config.h"
#include "apps/config/section.h"

#include <string>
#include <string_view>
#include <vector>

namespace trueup::config {

inline constexpr std::string_view kGraphInstances = "graph-instances";

bool contains(const std::vector<std::string>& words, std::string_view word);
void add_once(std::vector<std::string>& words, const std::string& word);

// rule_settings.cpp
std::vector<RuleSettings> usual_rules();
/// It waits out a silence: only such a rule has times.
bool by_absence(const RuleSettings& usual);
void read_rules(Section rules, const Config& config, PolicyConfig& policy);
/// The columns that the rules read which are not off.
std::vector<std::string> needed_columns(const PolicyConfig& policy);

// brakes.cpp
/// Where the live look before a write asks by the pod's name, a label that names it is no use.
void check_key_label(Section& section, const PolicyConfig& policy, const Config& config);
/// A brake may be loosened beyond what is safe only by naming it once more.
void check_brakes(Section& section, PolicyConfig& policy, const Config& config);

}  // namespace trueup::config
