// The log: topics of partitions of records, each with an offset and an append time that the log
// gives. The journal, the changes, the findings and the commands all go through this port. Two
// adapters pass one contract suite (tests/ports/log_contract.h).
//
// Promises:
//   L1  Records of one partition are read in one order, the same for every reader, for ever.
//   L2  Offsets ascend; they may skip. Append times never descend within a partition.
//   L3  An append that was acknowledged survives `kill -9` and, with fsync on, a power loss.
//   L4  An append that was acknowledged is there whole, its records in order.
//   L5  An append that failed may still be there, now or a moment later, whole or its first records
//       only (a time-out); whoever needs to know reads back.
//   L6  A read below the first offset (retention, truncation) is an error (kStop, naming the first
//       offset), never an empty answer.
//
// Thread-safe.
#pragma once

#include "engine/base/result.h"
#include "engine/base/time.h"
#include "engine/ports/pending_append.h"
#include "engine/ports/records.h"
#include "engine/ports/wakeup.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace trueup::ports {

class Log {
  public:
    virtual ~Log() = default;

    /// Starts to append `entries` (not empty), in order. May wait while too much is queued.
    virtual std::unique_ptr<PendingAppend> append(Partition partition, const Entries& entries) = 0;

    /// Records from `offset` on (the first one at or above it), about `max_bytes` of them and at
    /// least one if there is any. Empty, and no error, when that was the end: every append that was
    /// acknowledged to this process is seen, others within a moment.
    virtual Result<Fetched> read(Partition partition, Offset offset, std::size_t max_bytes) = 0;

    /// False: a read there would find nothing now, and what comes is told by `changes_seen`. Asks
    /// nobody. A log that does not know says true.
    virtual bool may_have(Partition partition, Offset offset) {
        (void)partition, (void)offset;
        return true;
    }

    /// A number that grows whenever an append became readable, one of this process was answered, or
    /// `wake` was called.
    virtual std::uint64_t changes_seen() const = 0;
    /// Waits until `changes_seen()` exceeds `seen` or `max_wait` is over.
    virtual void wait(std::uint64_t seen, Millis max_wait) = 0;
    /// Ends all waits for what was seen up to now.
    virtual void wake() = 0;
    /// For who waits elsewhere: `heard` is called whenever `changes_seen` has grown (wakeup.h).
    /// Nullptr: a log whose callers never wait.
    // NOLINTNEXTLINE(performance-unnecessary-value-param)
    virtual std::unique_ptr<Wakeup::Listener> listen(std::function<void()> /*heard*/) {
        return nullptr;
    }
    /// The process is about to end: from now on nothing is begun that takes long.
    virtual void begin_stop() {}

    /// Forgets every record below `offset`.
    virtual Status truncate(Partition partition, Offset offset) = 0;

    virtual Result<Extent> describe(Partition partition) = 0;

    /// The first offset whose record was appended at `time` or later; the end if there is none. By
    /// halves, for append times never descend (L2): some thirty reads in the largest partition.
    /// kRetry also where retention takes the place that is being looked at.
    virtual Result<Offset> offset_at(Partition partition, BrokerTime time);

    /// What sets this log apart from every other one, without a zero byte: signatures are for it
    /// alone. Empty: only the process that has it open can write to it.
    virtual std::string name() const { return {}; }

    /// What all of it takes on the disk here; nullopt: it lies elsewhere, or cannot be measured.
    virtual std::optional<std::uint64_t> stored_bytes() const { return std::nullopt; }

    /// Why the log does not answer at the moment, in one sentence; empty while it does.
    virtual std::string trouble() const { return {}; }
};

/// Appends and waits for the answer.
inline Result<Appended> append_now(Log& log, Partition partition, const Entries& entries) {
    return log.append(partition, entries)->take();
}

}  // namespace trueup::ports
