// What the engine's ids name. All are 128 bits that depend on nothing but what they name, are shown
// as 32 hex digits, and mean "none" where all bits are 0. Beside them, what is told apart by a
// small number: a rule here, a partition in engine/base/id.h.
#pragma once

#include "engine/base/id.h"
#include "engine/base/named.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace trueup {

using CommandId = Named<Hash128, struct CommandIdTag>;  ///< one order; a repetition keeps it
using FindingId = Named<Hash128, struct FindingIdTag>;  ///< a disagreement, over its whole life
using JournalId = Named<Hash128, struct JournalIdTag>;  ///< a shard's journal, from its genesis on
using RequestId = Named<Hash128, struct RequestIdTag>;  ///< what an operator asked for, once

/// A place in the policy's list of rules, which a rule keeps for ever.
using RuleNumber = Named<std::uint8_t, struct RuleNumberTag>;

/// 32 lower-case hex digits.
template <typename Tag>
std::string to_hex(const Named<Hash128, Tag>& id) {
    return to_hex(id.value());
}

/// The inverse of to_hex; nothing else is accepted.
template <typename Id>
std::optional<Id> id_from_hex(std::string_view hex) {
    const std::optional<Hash128> hash = hash_from_hex(hex);
    return hash ? std::optional<Id>(Id(*hash)) : std::nullopt;
}

}  // namespace trueup
