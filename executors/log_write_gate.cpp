#include "executors/log_write_gate.h"

#include "engine/base/guard.h"

#include <algorithm>

namespace trueup::executors {

LogWriteGate::LogWriteGate(Reads reads, const std::function<SteadyTime()>& steady_now,
                           const std::function<bool(const Command&)>& before_write)
    : reads_(reads), steady_now_(steady_now), before_write_(before_write) {}

Permit LogWriteGate::permit(const Command& command, PartitionNumber partition, SteadyTime& now) {
    if (closed_) return Permit::kWait;
    // A pause that is in the log by now stops the write, although it came after the checks.
    if (!reads_.brakes.reach_end(partition)) return Permit::kWait;
    // Reading may have taken a while. What has expired meanwhile must not be written.
    if (steady_now_) now = std::max(now, steady_now_());
    if (!reads_.clock.fresh(now) || !reads_.brakes.current()) return Permit::kWait;
    // The world may have gone back to what it was before the other's write.
    if (TRUEUP_GUARD("ledger") && reads_.ended.knows(command.id)) return Permit::kEnded;
    if (*reads_.clock.at(now) > command.not_after) return Permit::kExpired;
    if (before_write_ && !before_write_(command)) return Permit::kWait;
    return Permit::kGo;
}

std::optional<std::string> LogWriteGate::objection(const Command& command,
                                                   PartitionNumber partition) {
    return reads_.brakes.against(command, partition);
}

}  // namespace trueup::executors
