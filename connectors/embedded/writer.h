// The embedded log's machinery behind the port: the queue, the thread that commits, and the waits.
// Thread-safe.
#pragma once

#include "connectors/embedded/append_clock.h"
#include "connectors/embedded/block.h"
#include "connectors/embedded/disk.h"
#include "connectors/embedded/embedded_log.h"
#include "connectors/embedded/tail.h"
#include "engine/ports/append_answer.h"

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
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

    void enqueue(Unit unit);

    /// Settles what a failed write left open; at once when there is nothing to settle.
    Status settle();

    /// Extent and newest blocks; `settle` came before.
    const Tail& tail() const { return tail_; }
    Disk& disk() { return *disk_; }
    const std::string& path() const { return settings_.path; }

    Status truncate(ports::Partition partition, std::int64_t offset);

    std::uint64_t changes() const { return changes_.load(std::memory_order_acquire); }
    void wait(std::uint64_t seen, Millis max_wait);
    void wake();

  private:
    void run();
    bool take_group(std::vector<Unit>& group);
    void commit(std::vector<Unit>& group);
    void seal_group(std::vector<Unit>& group);
    Status write_group(const std::vector<Unit>& group);
    void publish(const std::vector<Unit>& group);
    void signal_change();

    const Settings settings_;
    const std::unique_ptr<Disk> disk_;
    Tail tail_;
    AppendClock clock_;          ///< the writer thread's, or the settling one's
    std::uint64_t commits_ = 0;  ///< the writer thread's

    std::mutex queue_mutex_;
    std::condition_variable queued_;
    std::condition_variable room_;
    std::deque<Unit> queue_;
    std::size_t queued_bytes_ = 0;
    bool stopping_ = false;

    std::mutex settle_mutex_;  ///< one settles; also keeps truncations apart
    std::atomic<bool> doubtful_ = false;

    std::mutex wait_mutex_;
    std::condition_variable waits_;
    std::atomic<std::uint64_t> changes_ = 0;
    std::uint64_t wakes_ = 0;

    std::thread thread_;
};

}  // namespace trueup::connectors
