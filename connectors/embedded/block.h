// One append unit as the embedded log stores it:
//
//    0  u32  format, 1
//    4  u32  count of records, > 0
//    8  i64  append time, ms since 1970
//   16  u64  hash of the body
//   24  u64  hash of bytes 0-23, seeded with the first offset, so that a block that lies in the
//            wrong place is noticed too
//   32  body: count × {u32 key length, u32 value length, u32 headers length}, then the bytes
//       of each record in that order; headers are {u32 name length, u32 value length, name,
//       value}*
//
// Little-endian. Hashes are the low half of hash128 (XXH3). Free functions; no state.
#pragma once

#include "engine/base/id.h"
#include "engine/base/result.h"
#include "engine/ports/records.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace trueup::connectors {

/// A sealed unit. Immutable, so readers share it without a lock.
struct Block {
    std::string bytes;
    Offset first_offset;
    std::int64_t count = 0;
    BrokerTime append_time{};

    Offset next_offset() const { return further(first_offset, count); }
};
using BlockRef = std::shared_ptr<const Block>;

/// What `pack` will take; computed first, so that an oversized unit costs no copy.
std::size_t packed_size(const ports::Entries& entries);

/// Lays the entries out; offset and time come with `seal`. Each length must fit 32 bits.
std::string pack(const ports::Entries& entries);

/// Completes what `pack` made.
BlockRef seal(std::string packed, Offset first_offset, BrokerTime append_time);

/// Takes a block that was read from disk. kStop, with a reason, when it is damaged.
Result<BlockRef> parse(std::string bytes, Offset first_offset);

/// Adds the block's records from `offset` on to `out`: while fewer than `max_bytes` are in, and at
/// least one when `out` is empty. `taken` counts the bytes. False: the limit was reached.
bool add_records(const BlockRef& block, Offset offset, std::size_t max_bytes, std::size_t& taken,
                 ports::Fetched& out);

/// The headers of one record of the block.
Headers headers_of(const Block& block, Offset offset);

}  // namespace trueup::connectors
