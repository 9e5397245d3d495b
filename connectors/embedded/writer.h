// The embedded log's machinery behind the port: the queue, the thread that commits, and the waits.
// Thread-safe.
#pragma once

#include "connectors/embedded/append_clock.h"
#include "connectors/embedded/block.h"
#include "connectors/embedded/disk.h"
#include "connectors/embedded/embedded_log.h"
#include "connectors/embedded/tail.h"
#include "engine/base/mutex.h"
#include "engine/ports/append_answer.h"
#include "engine/ports/wakeup.h"

#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace trueup::connectors {

/// A unit on its way to the disk. A refused one waits in line too, so that answers keep the order.
struct Unit {
    ports::Partition partition;
    std::string packed;
    std::optional<Error> refused;
    std::shared_ptr<ports::AppendAnswer> answer;
    BlockRef block;  ///< once sealed
};

class EmbeddedLog::Writer {
  public:
    Writer(std::unique_ptr<Disk> disk, Settings settings);
    ~Writer();
    Writer(const Writer&) = delete;
    Writer& operator=(const Writer&) = delete;

    /// Reads the extents; called once, before anything else.
    Status load();

    void enqueue(Unit unit) TRUEUP_EXCLUDES(queue_mutex_);

    /// Settles what a failed write left open; at once when there is nothing to settle.
    Status settle() TRUEUP_EXCLUDES(settle_mutex_);

    /// Extent and newest blocks; `settle` came before.
    const Tail& tail() const { return tail_; }
    Disk& disk() { return *disk_; }
    const std::string& path() const { return settings_.path; }

    Status truncate(ports::Partition partition, Offset offset) TRUEUP_EXCLUDES(settle_mutex_);

    /// What was read may not be what the disk has: the next one who asks settles it.
    bool doubtful() const { return doubtful_.load(std::memory_order_acquire); }

    /// Signalled when appends became readable and were answered.
    ports::Wakeup& changes() { return changes_; }

  private:
    void run();
    bool take_group(std::vector<Unit>& group) TRUEUP_EXCLUDES(queue_mutex_);
    void commit(std::vector<Unit>& group);
    void seal_group(std::vector<Unit>& group);
    Status write_group(const std::vector<Unit>& group);
    void publish(const std::vector<Unit>& group);

    const Settings settings_;
    const std::unique_ptr<Disk> disk_;
    Tail tail_;
    AppendClock clock_;          ///< the writer thread's, or the settling one's
    std::uint64_t commits_ = 0;  ///< the writer thread's

    Mutex queue_mutex_;
    CondVar queued_;
    CondVar room_;
    std::deque<Unit> queue_ TRUEUP_GUARDED_BY(queue_mutex_);
    std::size_t queued_bytes_ TRUEUP_GUARDED_BY(queue_mutex_) = 0;
    bool stopping_ TRUEUP_GUARDED_BY(queue_mutex_) = false;

    Mutex settle_mutex_;  ///< one settles; also keeps truncations apart
    std::atomic<bool> doubtful_ = false;

    ports::Wakeup changes_;

    std::thread thread_;
};

}  // namespace trueup::connectors
