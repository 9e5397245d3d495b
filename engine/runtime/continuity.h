// Does a journal go on from where stored rows are, and is it the same one while it is folded?
#pragma once

#include "engine/base/result.h"
#include "engine/core/meta.h"
#include "engine/model/journal.h"
#include "engine/ports/log.h"

#include <cstddef>
#include <deque>

namespace trueup::runtime {

/// Rows are only ever taken further by the journal that they were made from, and nothing between
/// them and its first record may be missing (C11). `rows` without an applied offset: there are none
/// yet, and the journal must be there from its start.
///
/// kStop: it does not go on from there.
Status check_continuity(ports::Log& log, PartitionNumber shard, const core::Meta& rows);

/// Notices, while a journal is folded, that it lost its tail and grew another one behind our back:
/// brokers that took back what they had acknowledged say nothing of it to who reads on (C11,
/// docs/adr/0027).
///
/// Each record names the one that its writer had folded last. One that names our last one is its
/// successor; so is one that names one of those shortly before, of a writer with several appends
/// under way, where hardly any time passed. Any other one is no proof: its writer may be who is
/// mistaken, or late. So our own last record is read again then, and where it is what it was, so is
/// everything before it.
///
/// Not thread-safe: the shard's thread owns it.
class Lineage {
  public:
    /// So many records back a writer may be before it costs a look: those under way, and as many
    /// that have an answer and are not folded yet ...
    static constexpr std::size_t kKept = 16;
    /// ... and no longer after the record before, by the brokers' clocks: no partition has lost its
    /// leader and found another one in less.
    static constexpr Millis kElection{1'000};

    Lineage(ports::Log& log, PartitionNumber shard) : log_(log), shard_(shard) {}

    /// Goes on behind rows that `check_continuity` has looked at.
    void resume(const core::Meta& rows);
    /// To be asked before anything is read behind the last record that was folded. kStop: that
    /// record is another one now. kRetry: whether it is cannot be told yet.
    Status settle();
    /// May this record be folded, as the next one? As `settle`.
    Status admit(const JournalView& record);
    void folded(const JournalView& record);

  private:
    ports::Log& log_;
    PartitionNumber shard_;
    std::deque<RecordMark> last_;      ///< that were folded, the oldest first
    BrokerTime appended_{};            ///< when the last one was
    bool doubt_ = false;               ///< the last one must be read again
    Offset looked_again_ = kNoOffset;  ///< the offset at which it was what it had been
};

}  // namespace trueup::runtime
