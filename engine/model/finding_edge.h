// One edge in the life of a finding, as it is published (trueup.v1.Finding): where it is now, why,
// and on which journal records that rests.
#pragma once

#include "engine/base/time.h"
#include "engine/model/finding.h"
#include "engine/model/ids.h"
#include "engine/model/reason.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace trueup {

struct FindingEdge {
    FindingId id;  ///< the finding's; the same over its life
    std::string policy;
    std::string rule;
    std::string subject;
    std::string object_id;
    FindingState state = FindingState::kUnspecified;
    Reason reason = Reason::kNone;
    /// Of kUncorrelatedRows: what the policy calls it, if not by the name of the enumerator.
    std::string count_reason;
    bool opened = false;  ///< the first edge of the finding
    JournalTime since{};  ///< first detection
    JournalId journal_id;
    PartitionNumber shard;
    Offset offset = kNoOffset;            ///< of the journal record that made this edge
    std::uint32_t index = 0;              ///< which of that record's effects
    BrokerTime append_time{};             ///< of that record
    std::optional<CommandId> command_id;  ///< the command under way or just ended
    std::string sentence;                 ///< one line for people
    std::vector<Offset> evidence;         ///< journal offsets, ascending
    bool operator==(const FindingEdge&) const = default;

    /// As people read it, and ask by.
    std::string_view reason_name() const {
        return count_reason.empty() ? name_of(reason) : std::string_view(count_reason);
    }
};

}  // namespace trueup
