// The executor's clock: broker time as the log itself gives it, never the wall clock (details 9).
//
// A heartbeat is a record of key `!heartbeat` without a value, appended to `outcomes`; every reader
// of that topic passes over it. Broker time is the append time of the last one plus the steady
// clock since it was *sent*: never less than the broker's, so that nothing is done after its
// expiry.
//
// Not thread-safe.
#pragma once

#include "engine/base/time.h"
#include "engine/ports/log.h"

#include <memory>
#include <optional>
#include <string_view>

namespace trueup::executors {

inline constexpr std::string_view kHeartbeatKey = "!heartbeat";

class BrokerClock {
  public:
    /// Beats every `every` while wanted; a beat counts as fresh for `fresh` after it was sent, and
    /// one that is answered only then says nothing.
    BrokerClock(ports::Log& log, ports::Partition partition, Millis every, Millis fresh);

    /// Takes the answer of a beat and sends the next one when it is due. True when one was
    /// answered.
    bool step(SteadyTime now, bool wanted);

    /// Only then may anything be acted on.
    bool fresh(SteadyTime now) const { return last_ && now - last_->sent < fresh_; }
    /// nullopt before the first beat.
    std::optional<BrokerTime> at(SteadyTime now) const;
    bool waiting() const { return pending_ != nullptr; }
    /// When `step` has something to do, but for an answer that comes: the next beat while wanted,
    /// or the end of freshness.
    SteadyTime due(SteadyTime now, bool wanted) const;

  private:
    struct Beat {
        SteadyTime sent{};
        BrokerTime append_time{};
    };
    ports::Log& log_;
    ports::Partition partition_;
    Millis every_;
    Millis fresh_;
    std::optional<Beat> last_;
    std::unique_ptr<ports::PendingAppend> pending_;
    SteadyTime sent_{};
    std::optional<SteadyTime> retry_at_;  ///< after a beat that failed
};

}  // namespace trueup::executors
