// What sources say: a `Fact` as a connector's machine states it, a `ChangeView` as it travels, with
// its envelope. One change is one record of a `changes.*` topic.
#pragma once

#include "engine/base/id.h"
#include "engine/base/time.h"

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

namespace trueup {

/// Orders the versions of one object: resourceVersion (lo = 0), or commit LSN and ordinal. Versions
/// of different objects are never compared, except with an epoch's `as_of` of the same source.
struct Version {
    std::uint64_t hi = 0;
    std::uint64_t lo = 0;
    auto operator<=>(const Version&) const = default;
};

/// A connector's ownership of a source: the offset of its IncarnationStart record.
using Incarnation = Offset;

enum class ChangeKind : std::uint8_t {
    kUnspecified = 0,
    kUpsert = 1,            ///< the object is as `object` says
    kRemove = 2,            ///< the source itself said that the object is gone
    kSnapshotBegin = 3,     ///< a complete epoch starts; `version` is its as_of; `rewound`
    kSnapshotEnd = 4,       ///< it ended; `count` of its `total` items went to this partition
    kProgress = 5,          ///< everything up to `complete_as_of` was published before this
    kAlive = 6,             ///< heartbeat of a connector whose source does not answer
    kIncarnationStart = 7,  ///< token-less; its offset becomes the token
    kOwner = 8,             ///< the first record of an incarnation, seq 1, in every partition
    kMarker = 9,            ///< its append time is a point of the broker's clock
    kSame = 10,             ///< in an epoch: the object is as this incarnation told it under `base`
};

/// One change with its envelope. Views into somebody else's bytes.
struct ChangeView {
    ChangeKind kind = ChangeKind::kUnspecified;
    std::string_view source;
    Incarnation incarnation = kNoOffset;
    std::uint64_t seq = 0;         ///< dense per (source, incarnation, partition), from 1
    std::uint64_t epoch = 0;       ///< 0: not part of a snapshot
    std::string_view event_id;     ///< the source's own position; equal after a restart
    std::string_view object_id;    ///< pod uid; `<schema.table>/<pk>`
    std::string_view subject_key;  ///< `<policy>/<name>`, or `!<source>/<object>` for a reference
    Version version;
    SourceTime source_time{};
    std::string_view object;      ///< encoded fields (ObjectView); only of an Upsert
    bool partial = false;         ///< a field of it was not sent, since it did not change
    std::uint64_t count = 0;      ///< SnapshotEnd: items of this partition
    std::uint64_t total = 0;      ///< SnapshotEnd: objects listed, whatever their partition
    Version base;                 ///< Same: the version under which it was told last
    bool rewound = false;         ///< SnapshotBegin: the source is known to have gone back in time
    BrokerTime complete_as_of{};  ///< Progress
    SourceTime source_clock{};    ///< Progress: the source's own clock then; 0 unknown
    std::string_view nonce;       ///< IncarnationStart, Owner, Marker
    std::uint64_t mapping = 0;    ///< IncarnationStart, Owner, SnapshotBegin: see SourceSettings
};

}  // namespace trueup
