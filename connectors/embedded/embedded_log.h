// The log of a single process, without a broker (design §7): a RocksDB with its write-ahead log on.
//
// Group commit: one writer thread takes every append that queued while the last fsync ran, writes
// them as one batch, and answers them in order. An append is readable once it is durable, not
// before. Offsets are dense from 0; append times come from one clock for all partitions
// (append_clock.h).
//
// After a failed write the log closes and reopens its database before it answers: a unit that was
// reported as failed is then either readable or never will be (L5), and its offsets are not given
// away twice. While the disk does not recover, appends and reads return kRetry.
//
// `append` blocks while a quarter of the memory is queued. Thread-safe.
#pragma once

#include "engine/base/result.h"
#include "engine/ports/clock.h"
#include "engine/ports/log.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace trueup::connectors {

class EmbeddedLog final : public ports::Log {
  public:
    static constexpr std::size_t kMaxRecordBytes = std::size_t{8} << 20U;  ///< larger: kSkip
    static constexpr std::size_t kMaxUnitBytes = std::size_t{64} << 20U;   ///< larger: kSkip

    /// For tests: what the n-th commit (from 1) does instead of succeeding; 0 never.
    struct Faults {
        std::uint64_t answer_lost = 0;  ///< stored, but reported as failed
        std::uint64_t write_lost = 0;   ///< not stored, reported as failed
    };
    struct Settings {
        std::string path;  ///< a folder of its own; made when it is not there
        bool fsync = true;
        ports::Clock* clock = &ports::system_clock();
        std::size_t memory_bytes = std::size_t{128} << 20U;  ///< write buffers, cache and queue
        Faults faults = {};
    };

    /// kStop, with a sentence for the operator, when another process holds the folder or the log in
    /// it is damaged or of another format.
    static Result<std::unique_ptr<EmbeddedLog>> open(Settings settings);
    /// Writes what is still queued.
    ~EmbeddedLog() override;

    std::unique_ptr<ports::PendingAppend> append(ports::Partition partition,
                                                 const ports::Entries& entries) override;
    Result<ports::Fetched> read(ports::Partition partition, Offset offset,
                                std::size_t max_bytes) override;
    bool may_have(ports::Partition partition, Offset offset) override;
    std::uint64_t changes_seen() const override;
    void wait(std::uint64_t seen, Millis max_wait) override;
    void wake() override;
    std::unique_ptr<ports::Wakeup::Listener> listen(std::function<void()> heard) override;
    void begin_stop() override;
    Status truncate(ports::Partition partition, Offset offset) override;
    Result<ports::Extent> describe(ports::Partition partition) override;
    /// Of the files in its folder.
    std::optional<std::uint64_t> stored_bytes() const override;

    /// The headers of one record; kSkip when there is no such record.
    Result<Headers> headers(ports::Partition partition, Offset offset);

  private:
    class Writer;
    explicit EmbeddedLog(std::unique_ptr<Writer> writer);
    std::unique_ptr<Writer> writer_;
};

}  // namespace trueup::connectors
