// The keys of the embedded log's RocksDB, and what it keeps of a truncated partition; disk.h shows
// them. Free functions; no state.
#pragma once

#include "connectors/embedded/tail.h"
#include "engine/base/id.h"
#include "engine/ports/records.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace trueup::connectors {

inline constexpr char kBlockTag = 'b';
inline constexpr char kFirstTag = 'f';
inline constexpr std::size_t kPrefixSize = 6;  ///< tag, topic, partition
inline constexpr std::size_t kBlockKeySize = kPrefixSize + sizeof(std::uint64_t);

/// The key of what is kept of the partition under that tag; also the prefix of its blocks' keys.
std::string partition_key(char tag, ports::Partition partition);
std::string block_key(ports::Partition partition, Offset offset);

/// Of a key of either kind, and of one of a block.
ports::Partition partition_of_key(std::string_view key);
Offset offset_of_key(std::string_view key);
bool is_key_of(std::string_view key, std::string_view prefix, std::size_t size);

/// nullopt: these bytes are none. Of the extent first offset and time are kept.
std::optional<TimedExtent> parse_first(std::string_view value);
std::string first_value(const TimedExtent& extent);

}  // namespace trueup::connectors
