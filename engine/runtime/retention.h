// How long the log of a shard is kept. What is older is forgotten, as far as nobody needs it:
//
//   N1  A record that a reader has not passed stays, however old: the sequencer by its position in
//       the journal. Executors need nothing that is older than a command lives, a day at most.
//   N2  Of the journal everything stays from the oldest kept checkpoint on, and everything while
//       there are fewer than two: a start without usable rows goes on from one of them.
//   N3  Only the engine that is in turn on the shard forgets.
//   N4  A clock that leaps ahead makes nothing old at once: an age ends at the earliest of the
//       log's clock, of this machine's, and of what passed here since the start; and of what is
//       there no more than a share goes in one call.
//
// Not thread-safe: one thread owns it.
#pragma once

#include "engine/core/meta.h"
#include "engine/ports/clock.h"
#include "engine/ports/log.h"
#include "engine/runtime/checkpoint.h"
#include "engine/runtime/retention_settings.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace trueup::runtime {

class Retention {
  public:
    /// The share of a partition, in offsets, that goes in one call.
    static constexpr std::int64_t kShare = 8;
    /// So many checkpoints must be there, the oldest is the limit.
    static constexpr std::size_t kCheckpoints = 2;

    /// `log` and `clock` outlive it.
    Retention(RetentionSettings settings, ports::Log& log, ports::Clock& clock);

    /// Something was forgotten.
    struct Cut {
        ports::Partition partition;
        Offset first_offset;  ///< the oldest that is left
    };
    struct Tended {
        std::vector<Cut> cuts;
        Offset journal_begin = kNoOffset;  ///< the oldest offset of the journal; -1: not looked at
        bool too_large = false;            ///< the log is, and the journal may make no room
        Millis ahead{0};                   ///< by which the log's clock is not believed
    };
    /// Forgets what may go, up to a share of each partition: to be called again in a while. `meta`:
    /// of the shard, in turn, as folded; `checkpoints`: those that are there, the highest offset
    /// first; between two partitions `stop` ends it. What was forgotten before an error is
    /// forgotten.
    Result<Tended> tend(const core::Meta& meta, const std::vector<Checkpoint>& checkpoints,
                        const std::function<bool()>& stop);

  private:
    BrokerTime believed(BrokerTime broker_now) const;
    Status forget(ports::Partition partition, const ports::Extent& extent, Offset before,
                  Tended& tended);
    Status tend_topic(Topic topic, const core::Meta& meta, BrokerTime now, Tended& tended);
    Status tend_journal(const core::Meta& meta, const std::vector<Checkpoint>& checkpoints,
                        BrokerTime now, Tended& tended);

    const RetentionSettings settings_;
    ports::Log& log_;
    ports::Clock& clock_;
    const SteadyTime began_;
    const std::int64_t began_wall_;
};

}  // namespace trueup::runtime
