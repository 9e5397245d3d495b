// How far the slot may be confirmed: the positions up to which everything was handed over for
// publication, and the last one of which our log said that it is durable. Not thread-safe.
#pragma once

#include "connectors/postgres/lsn.h"
#include "engine/base/time.h"
#include "engine/model/fact.h"

#include <deque>
#include <optional>

namespace trueup::connectors::postgres {

class SlotAcks {
  public:
    void restart() { *this = SlotAcks(); }

    /// Fact::kConfirm with this number was published.
    void published(Lsn end) { outstanding_.push_back(end); }

    /// Between transactions the server said that it sent everything up to `end`. Confirmed at once
    /// when nothing is outstanding, else by a kConfirm of its own, at most one a second: otherwise
    /// a quiet table would keep the WAL of a busy server.
    std::optional<Fact> quiet_until(Lsn end, SteadyTime now);

    /// kConfirm with this number became durable. Numbers of an earlier incarnation are ignored.
    void delivered(Lsn end);

    Lsn durable() const { return durable_; }
    /// `durable` moved since the last call.
    bool take_moved();

  private:
    std::deque<Lsn> outstanding_;
    Lsn durable_ = 0;
    bool moved_ = false;
    std::optional<SteadyTime> last_quiet_;
};

}  // namespace trueup::connectors::postgres
