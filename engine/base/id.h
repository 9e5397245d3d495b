// Where a record lies: the partition and the offset in it. And the partitioner that Kafka's Java
// client uses, so that a key lands in the same partition whoever writes it.
#pragma once

#include "engine/base/hash.h"
#include "engine/base/named.h"

#include <cstdint>
#include <limits>
#include <string_view>

namespace trueup {

/// Kafka's murmur2 over the key's bytes.
std::uint32_t murmur2(std::string_view key);

/// One of a topic's partitions, from 0: also the number of the shard that has this partition of
/// every topic.
using PartitionNumber = Named<std::int32_t, struct PartitionNumberTag>;

/// A record's place in its partition of the log (ports/log.h), from 0: of the journal or of any
/// other topic. They ascend, and may skip.
using Offset = Named<std::int64_t, struct OffsetTag>;
inline constexpr Offset kFirstOffset{0};
inline constexpr Offset kNoOffset{-1};  ///< below every offset
inline constexpr Offset kBeyondOffsets{std::numeric_limits<std::int64_t>::max()};

constexpr Offset further(Offset offset, std::int64_t by) { return Offset(offset.value() + by); }
/// The one after it; of kNoOffset the first.
constexpr Offset next(Offset offset) { return further(offset, 1); }
constexpr Offset previous(Offset offset) { return further(offset, -1); }
/// How many there are from the one on to the other, which does not count.
constexpr std::int64_t distance(Offset from, Offset to) { return to.value() - from.value(); }

/// The partition of a key as Kafka's Java client chooses it. `partitions` > 0.
PartitionNumber partition_of(std::string_view key, std::int32_t partitions);

}  // namespace trueup
