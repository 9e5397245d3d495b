// The ids that ended: an executor never acts on them again, whoever ended them (S38).
//
// Read back from the `outcomes` topic before the first act and followed from then on. Remembers
// what is young enough to belong to a command that has not expired. Not thread-safe.
#pragma once

#include "engine/base/time.h"
#include "engine/model/ids.h"

#include <cstddef>
#include <deque>
#include <map>
#include <utility>

namespace trueup::executors {

class EndedCommands {
  public:
    /// An outcome of this command was appended at `at`.
    void remember(const CommandId& id, BrokerTime at);
    bool knows(const CommandId& id) const { return ids_.count(id) != 0; }
    /// Forgets what ended before `horizon`.
    void forget_before(BrokerTime horizon);
    std::size_t size() const { return ids_.size(); }

  private:
    std::map<CommandId, BrokerTime> ids_;  ///< the youngest time per id
    std::deque<std::pair<BrokerTime, CommandId>> ages_;
};

}  // namespace trueup::executors
