// How a dispatcher (dispatcher.h) carries commands out, and whom it tells of it. A plain value;
// what its functions refer to outlives the dispatcher.
#pragma once

#include "engine/base/id.h"
#include "engine/base/time.h"
#include "engine/codec/signature.h"
#include "engine/model/command.h"
#include "executors/parked_command.h"
#include "executors/partition_assignment.h"

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace trueup::executors {

struct DispatcherSettings {
    std::string executor = "executor";  ///< the name that outcomes carry
    std::vector<PartitionNumber> partitions = {PartitionNumber(0)};  ///< not empty
    std::vector<Action::Kind> kinds;  ///< what it carries out; none: everything
    std::shared_ptr<const PartitionAssignment> assignment;  ///< whose commands; none: everybody's
    std::size_t max_running = 32;
    std::size_t max_pending = 10'000;
    /// No command may live longer from its issue on: ended commands are remembered for as long.
    Millis longest_expiry{3'600'000};
    Millis max_broker_skew{10'000};
    Millis heartbeat_every{2'000};
    Millis heartbeat_fresh{5'000};
    Millis append_again{200};
    Millis call_timeout{15'000};
    codec::KeyRing command_keys;  ///< whose commands are carried out; without any: nobody's
    codec::KeyRing request_keys;  ///< whose pauses and holds are followed
    /// What the time is right before a write: a step may have stood still since it began, or waited
    /// for the log. Empty: as at its begin.
    std::function<SteadyTime()> steady_now;
    /// Asked between decision and write; while it says false the write is blocked. Empty: never.
    std::function<bool(const Command&)> before_write;
    std::function<void(const ParkedCommand&)> on_parked;
    /// An outcome is in the log.
    std::function<void(const Command&, const Outcome&)> on_outcome;
};

}  // namespace trueup::executors
