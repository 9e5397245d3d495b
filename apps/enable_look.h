// What an operator is shown of a rule before enabling it: its findings, and some of them looked at
// one by one. For enable_command.cpp.
#pragma once

#include "apps/client.h"

#include <cstddef>
#include <map>
#include <string>
#include <vector>

namespace trueup::apps {

/// What of one rule's findings was looked at.
struct RuleLook {
    std::map<std::string, std::size_t> waiting;  ///< by what they wait for
    std::size_t found = 0;
    std::size_t looked = 0;                   ///< of these, one by one
    std::map<std::string, std::size_t> lone;  ///< never had a partner in sight, by their source
    std::vector<std::string> examples;        ///< at random
};

/// Of the findings of this rule on the page.
RuleLook look_of(const EngineClient& engine, const EngineClient::Json& page,
                 const std::string& rule);

/// Its state, and what was found, as people read it.
void print(const EngineClient::Json& rule, const RuleLook& look);
EngineClient::Json json_of(const EngineClient::Json& rule, const RuleLook& look);

/// A lone object on one side only may be right; on both sides a wrong key looks like that.
void warn_of_keys(const std::map<std::string, std::size_t>& lone);

}  // namespace trueup::apps
