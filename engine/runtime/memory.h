// How a process divides the memory that it was given.
#pragma once

#include <cstddef>

namespace trueup::runtime {

/// In bytes. What is left over is for what has no limit of its own: batches on their way, threads.
/// Subjects get most: a row that is read again from the store costs as much as several changes.
struct MemoryShares {
    std::size_t log;
    std::size_t store;
    std::size_t subjects;      ///< ShardSettings::cache_bytes
    std::size_t write_behind;  ///< of `subjects`: dirty ones cannot make room for others
};

constexpr MemoryShares memory_shares(std::size_t limit) {
    const std::size_t eighth = limit / 8;
    return {2 * eighth, eighth, 3 * eighth, 2 * eighth};
}

}  // namespace trueup::runtime
