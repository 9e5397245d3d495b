// Identities: a 128-bit hash for command ids, findings and digests, and the partitioner that
// Kafka's Java client uses, so that a key lands in the same partition whoever writes it.
#pragma once

#include "engine/base/named.h"

#include <compare>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

namespace trueup {

/// 128 bits; value 0 means "none".
struct Hash128 {
    std::uint64_t hi = 0;
    std::uint64_t lo = 0;

    auto operator<=>(const Hash128&) const = default;
    bool none() const { return hi == 0 && lo == 0; }

    /// Addition and subtraction modulo 2^128: the digest of a set of rows is the sum of the rows'
    /// hashes, whatever their order.
    Hash128& operator+=(const Hash128& other);
    Hash128& operator-=(const Hash128& other);
};

/// XXH3-128 of the bytes. The same on every machine.
Hash128 hash128(std::string_view bytes, std::uint64_t seed = 0);
/// XXH3-64 of the bytes. The same on every machine.
std::uint64_t hash64(std::string_view bytes);
/// One hash that depends on both, in this order.
Hash128 combine(const Hash128& first, const Hash128& second);

/// 32 lower-case hex digits.
std::string to_hex(const Hash128& hash);
/// The inverse of to_hex; nothing else is accepted.
std::optional<Hash128> hash_from_hex(std::string_view hex);

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
