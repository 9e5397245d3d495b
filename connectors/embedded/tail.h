// What the embedded log knows of its partitions without asking the disk: their extents, and the
// newest blocks, bounded in bytes. Whoever reads close behind the writer (the sequencer, a shard
// that reads its journal back) is served from here.
//
// Only what is durable gets in: a block becomes readable by `publish`. Thread-safe.
#pragma once

#include "connectors/embedded/block.h"
#include "engine/base/id.h"
#include "engine/base/mutex.h"
#include "engine/ports/records.h"

#include <deque>
#include <map>
#include <vector>

namespace trueup::connectors {

/// The port's extent, and the newest record's append time: 0 when there was none.
struct TimedExtent : ports::Extent {
    BrokerTime last_append{};
};
using Extents = std::map<ports::Partition, TimedExtent>;

class Tail {
  public:
    explicit Tail(std::size_t cache_bytes) : capacity_(cache_bytes) {}

    /// Takes what the disk says, after an open; drops the blocks.
    void reset(const Extents& extents) TRUEUP_EXCLUDES(mutex_);

    /// All zero for a partition that nobody wrote to.
    TimedExtent extent(ports::Partition partition) const TRUEUP_EXCLUDES(mutex_);

    /// The block follows the partition's last one.
    void publish(ports::Partition partition, BlockRef block) TRUEUP_EXCLUDES(mutex_);

    void set_first(ports::Partition partition, Offset first_offset) TRUEUP_EXCLUDES(mutex_);

    struct View {
        ports::Extent extent;
        std::vector<BlockRef> blocks;  ///< from the one that holds `offset` on; empty: ask the disk
    };
    /// Blocks of about `max_bytes`.
    View view(ports::Partition partition, Offset offset, std::size_t max_bytes) const
        TRUEUP_EXCLUDES(mutex_);

  private:
    struct State {
        TimedExtent extent;
        std::deque<BlockRef> blocks;  ///< adjacent; the last one ends the partition
    };

    void evict() TRUEUP_REQUIRES(mutex_);

    const std::size_t capacity_;
    mutable Mutex mutex_;
    std::map<ports::Partition, State> states_ TRUEUP_GUARDED_BY(mutex_);
    /// Whose front block is the oldest of all; a map's nodes stay put.
    std::deque<State*> order_ TRUEUP_GUARDED_BY(mutex_);
    std::size_t bytes_ TRUEUP_GUARDED_BY(mutex_) = 0;
};

}  // namespace trueup::connectors
