// What the engine answers to `trueup why`, as lines for people. Pure, but for this machine's time
// zone.
#pragma once

#include <nlohmann/json.hpp>

#include <string>

namespace trueup::apps {

/// A line for each rule: where it stopped, and because of what. Of the whole answer.
std::string rules_text(const nlohmann::ordered_json& why);
/// One rule of the answer: what it finds, its verdict, what it orders, then its stages.
std::string rule_text(const nlohmann::ordered_json& rule);
/// Its stages alone, with their facts.
std::string stages_text(const nlohmann::ordered_json& rule);

}  // namespace trueup::apps
