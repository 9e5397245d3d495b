// What is asked at the last moment before a write, when everything else about it has been checked.
//
// One object answers both questions, so that whoever reads `Execution::advance` sees all that may
// still keep a write from going out.
#pragma once

#include "engine/base/time.h"
#include "engine/model/command.h"

#include <cstdint>
#include <optional>
#include <string>

namespace trueup::executors {

/// May this write go out now?
enum class Permit : std::uint8_t {
    kGo,
    kWait,     ///< not now; ask again
    kExpired,  ///< nobody may write it any more
    kEnded,    ///< another executor has ended the command
};

/// Called on the thread of the executions, with commands that came from `partition` of `commands`.
class WriteGate {
  public:
    virtual ~WriteGate() = default;
    /// Finding it out may take a while: `now` is what the time is then, by which the caller judges
    /// how old its own checks are.
    virtual Permit permit(const Command& command, PartitionNumber partition, SteadyTime& now) = 0;
    /// Why an operator does not want this done; nullopt: nobody objects. Valid right after kGo.
    virtual std::optional<std::string> objection(const Command& command,
                                                 PartitionNumber partition) = 0;
};

}  // namespace trueup::executors
