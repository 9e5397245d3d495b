// What the operator decided of one source: the part that it plays for the rules, the topic that it
// writes, and how little is too little. Plain values.
#pragma once

#include "engine/model/topic.h"

#include <cstdint>
#include <string>

namespace trueup {

/// What a source is to the rules: its place in the policy's list of roles. kNoRole: nothing.
using Role = std::uint8_t;
inline constexpr Role kNoRole = 0xff;

struct SourceSettings {
    std::string name;
    Topic topic = Topic::kUnspecified;  ///< the one topic that it writes
    Role role = kNoRole;
    std::string scope = {};  ///< what it sees of a role that several sources share, as a region
    /// A first snapshot of fewer objects proves nothing: more often than not somebody asked in the
    /// wrong place. 0: empty is right.
    std::uint32_t at_least = 1;
    /// Where it looks and what it selects there, in one line without secrets: part of what the
    /// rules mean that lean on it. Empty: it is not said.
    std::string selects = {};
    /// Hash of all by which a connector reads it: what it selects there, by which key objects are
    /// filed, which fields are told, and how. What a connector of another mapping tells is not
    /// taken: it was not restarted since the policy changed. 0: it is not said.
    std::uint64_t mapping = 0;
    bool operator==(const SourceSettings&) const = default;
};

}  // namespace trueup
