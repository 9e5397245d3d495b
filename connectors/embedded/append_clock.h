// The clock that stamps appends: one for the whole log, so that a unit appended after another one,
// in whatever partition, never carries an earlier time. Freshness compares times of different
// partitions with no allowance for skew (design §4.5, `max_broker_skew` 0), and this is what
// permits it.
//
//   C1  Times never descend, over all partitions and over restarts (`not_before`).
//   C2  Units of one partition ascend strictly, until the partition is kMaxLead ahead of the clock
//       (more than a unit a millisecond, for long); from there on neighbours may share a time.
//       Without that end a busy partition would make graces run faster than real time.
//   C3  The clock goes on when the wall clock is set back: it ticks by the steady clock from the
//       latest time seen.
//
// Not thread-safe: the log's writer owns it.
#pragma once

#include "engine/base/time.h"
#include "engine/ports/clock.h"

namespace trueup::connectors {

class AppendClock {
  public:
    static constexpr Millis kMaxLead{1000};

    explicit AppendClock(ports::Clock& clock);

    /// `t` was given to a record before (found on disk at start).
    void not_before(BrokerTime t);

    /// The time of a partition's next unit; `previous` is that of its last one.
    BrokerTime next(BrokerTime previous);

  private:
    BrokerTime now();

    ports::Clock& clock_;
    BrokerTime anchor_;           ///< the latest wall time seen ...
    SteadyTime anchored_;         ///< ... and when that was
    BrokerTime last_{Millis(0)};  ///< the latest time given
};

}  // namespace trueup::connectors
