// A journal record as the fold sees it: views into the record's own bytes.
#pragma once

#include "engine/base/boxed.h"
#include "engine/base/time.h"
#include "engine/model/change.h"
#include "engine/model/command.h"
#include "engine/model/ids.h"
#include "engine/model/request.h"
#include "engine/model/settings.h"
#include "engine/model/topic.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace trueup {

/// An item whose bytes say nothing that this build can read. Counted and kept, never acted on.
struct Undecodable {
    std::string reason;
};

/// One record of an input topic, as the sequencer read it.
struct ItemView {
    Topic topic = Topic::kUnspecified;
    Offset prev_offset = kNoOffset;  ///< of the record before it, as this reader read them
    Offset offset = kNoOffset;
    BrokerTime append_time{};
    std::string_view bytes;
    /// Only of requests: the sequencer found it signed with a key that it knows. Part of the
    /// journal, so that a replay needs no keys.
    bool authentic = false;
    /// A request is rare, and larger than all the rest: it lies elsewhere.
    std::variant<ChangeView, Outcome, Boxed<Request>, Undecodable> body;
};

/// The first record of a journal.
struct Genesis {
    JournalId journal_id;
    std::int32_t partitions = 1;
    PartitionNumber shard;
    bool operator==(const Genesis&) const = default;
};

/// Which record of a journal, and what is in it.
struct RecordMark {
    Offset offset = kNoOffset;
    std::uint64_t digest = 0;  ///< over its bytes and its append time
    bool operator==(const RecordMark&) const = default;
};

/// Control parts may come twice without harm.
struct JournalView {
    Offset offset = kNoOffset;
    BrokerTime append_time{};
    std::uint64_t digest = 0;
    /// The last one that its writer had folded. None: it had folded none, or is of a build that
    /// named none.
    std::optional<RecordMark> folded;
    std::optional<Genesis> genesis;
    std::optional<Settings> settings;  ///< in force from here on, unless late
    /// Where those are that their writer knew; none: none. Others by now? Then they are late.
    Offset settings_after = kNoOffset;
    std::vector<ItemView> items;  ///< none: a tick
};

}  // namespace trueup
