// The embedded log's RocksDB: one key per append unit, so that a unit is there or is not, and the
// hot path costs one key per batch and not one per record.
//
//   'b' topic u8 · partition u32 · first offset u64 (big-endian, so that keys order as offsets do)
//       → a block (block.h)
//   'f' topic u8 · partition u32 → {i64 first offset, i64 append time of the newest record} of a
//       truncated partition
//   'v' → the format of all this, "1"
//
// Values of 4 KiB and more live in blob files: they are written twice (write-ahead log, blob) and
// compaction leaves them alone; `truncate` rewrites what is left of blob files that are mostly
// garbage.
//
// Thread-safe; `write` from one thread at a time.
#pragma once

#include "connectors/embedded/block.h"
#include "connectors/embedded/tail.h"
#include "engine/base/id.h"
#include "engine/base/result.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace trueup::connectors {

class Disk {
  public:
    /// kStop: in use by another process, damaged, or of another format.
    static Result<std::unique_ptr<Disk>> open(std::string path, std::size_t memory_bytes,
                                              bool fsync);
    /// For reading alone: what it holds at this moment, also while another process has it open and
    /// writes. Takes no lock and changes no file; `write`, `truncate` and `free` fail. kStop: it is
    /// not there, damaged, or of another format. kRetry: it changed while it was being opened.
    static Result<std::unique_ptr<Disk>> open_to_read(std::string path, std::size_t memory_bytes);
    ~Disk();
    Disk(const Disk&) = delete;
    Disk& operator=(const Disk&) = delete;

    /// Closes and opens again. What a failed write left behind is decided then: what `extents`
    /// says afterwards is durable and stays.
    Status reopen();

    /// Every partition that was ever written to.
    Result<Extents> extents();

    /// All of them or none, durable when this returns.
    Status write(const std::vector<std::pair<ports::Partition, BlockRef>>& blocks);

    /// Blocks of about `max_bytes`, from the one that holds `offset` on, none at or above `end`.
    /// kStop when the first one is not there or one is damaged.
    Result<std::vector<BlockRef>> read(ports::Partition partition, Offset offset, Offset end,
                                       std::size_t max_bytes);

    /// Remembers the extent's first offset and forgets the blocks wholly below it.
    Status truncate(ports::Partition partition, const TimedExtent& extent);
    /// Gives back the room of what was forgotten of this partition: a compaction, which may take
    /// minutes, and ends early when somebody wants to reopen, or calls `hurry`. Beside writes.
    Status free(ports::Partition partition);
    /// From now on, until a reopen: one that begins just behind a stop would run to its end.
    void hurry();

  private:
    struct Rocks;
    explicit Disk(std::unique_ptr<Rocks> rocks);
    std::unique_ptr<Rocks> rocks_;
};

}  // namespace trueup::connectors
