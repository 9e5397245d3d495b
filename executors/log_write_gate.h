// The write gate of a dispatcher: what the log says of a command right before its write, which is
// whether it has ended, has expired, or an operator's pause or hold is against it.
//
// Where the log cannot be read to its end the gate stays shut: a pause may be in the part that was
// not read. Not thread-safe.
#pragma once

#include "executors/brakes.h"
#include "executors/broker_clock.h"
#include "executors/ended_commands.h"
#include "executors/write_gate.h"

#include <functional>
#include <optional>
#include <string>

namespace trueup::executors {

class LogWriteGate final : public WriteGate {
  public:
    /// What the log is asked through; all of it outlives the gate.
    struct Reads {
        Brakes& brakes;
        const BrokerClock& clock;
        const EndedCommands& ended;
    };
    /// `steady_now` and `before_write`: as in DispatcherSettings.
    LogWriteGate(Reads reads, const std::function<SteadyTime()>& steady_now,
                 const std::function<bool(const Command&)>& before_write);

    /// From here on no write goes out.
    void close() { closed_ = true; }
    bool closed() const { return closed_; }

    Permit permit(const Command& command, PartitionNumber partition, SteadyTime& now) override;
    std::optional<std::string> objection(const Command& command,
                                         PartitionNumber partition) override;

  private:
    Reads reads_;
    const std::function<SteadyTime()>& steady_now_;
    const std::function<bool(const Command&)>& before_write_;
    bool closed_ = false;
};

}  // namespace trueup::executors
