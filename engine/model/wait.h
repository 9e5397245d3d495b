// What must happen before a rule has something else to say of a subject: a time, a source that
// proves itself, a count that falls to nothing, or a turn. Plain values.
#pragma once

#include "engine/base/time.h"
#include "engine/model/ids.h"

#include <compare>
#include <cstdint>
#include <optional>

namespace trueup {

/// Index of a source in the policy's settings. kNoSource where none is meant.
using SourceId = std::uint16_t;
inline constexpr SourceId kNoSource = 0xffff;

/// Index of something that a policy counts over all its subjects. kNoTally where none is meant.
using TallyId = std::uint8_t;
inline constexpr TallyId kNoTally = 0xff;

/// A place in the queue of findings that wait for a rule's budget: the oldest finding is next.
struct Turn {
    RuleNumber rule;
    JournalTime since{};  ///< of the finding
    auto operator<=>(const Turn&) const = default;
};

/// Something that must happen before a verdict can change without a new fact.
struct Wait {
    /// Judge again when journal time reaches this.
    std::optional<JournalTime> due;
    /// Judge again when `source` has proven itself past `beyond`.
    SourceId source = kNoSource;
    BrokerTime beyond{};
    /// Judge again when nothing counts to this tally of the policy any more.
    TallyId none_of = kNoTally;
    /// Judge again when the rule's budget has room for this one.
    std::optional<Turn> turn = std::nullopt;
    bool operator==(const Wait&) const = default;
    /// It waits for nothing.
    bool empty() const { return !due && source == kNoSource && none_of == kNoTally && !turn; }
};

}  // namespace trueup
