// What an operator is shown of a rule before enabling it: its findings, and some of them looked at
// one by one. For enable_command.cpp.
#pragma once

#include "apps/client.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
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
    /// Of those that had a partner: the longest from the first sight of one to that of the other.
    std::optional<std::int64_t> apart_ms;
    std::size_t paired = 0;       ///< that had one
    std::size_t overdue = 0;      ///< past a deadline, by the clock of its source
    std::int64_t overdue_ms = 0;  ///< the longest of these
};

/// Of the findings of this rule on the page.
RuleLook look_of(const EngineClient& engine, const EngineClient::Json& page,
                 const std::string& rule);
/// Counts one finding in, as the engine shows it by itself.
void look_at(const EngineClient::Json& shown, RuleLook& look);

/// Its state, and what was found, as people read it.
std::string text_of(const EngineClient::Json& rule, const RuleLook& look);
EngineClient::Json json_of(const EngineClient::Json& rule, const RuleLook& look);

/// A lone object on one side only may be right; on both sides a wrong key looks like that. Empty:
/// there is nothing to say.
std::string warning_of_keys(const std::map<std::string, std::size_t>& lone);

}  // namespace trueup::apps
