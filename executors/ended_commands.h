// The ids that ended: an executor never acts on them again, whoever ended them (S38).
//
// Read back from the `outcomes` topic before the first act and followed from then on. Remembers
// what is young enough to belong to a command that has not expired. Not thread-safe.
#pragma once

#include "engine/base/id.h"
#include "engine/base/time.h"

#include <cstddef>
#include <deque>
#include <map>
#include <utility>

namespace trueup::executors {

class EndedCommands {
  public:
    /// An outcome of this command was appended at `at`.
    void remember(const Hash128& id, BrokerTime at);
    bool knows(const Hash128& id) const { return ids_.count(id) != 0; }
    /// Forgets what ended before `horizon`.
    void forget_before(BrokerTime horizon);
    std::size_t size() const { return ids_.size(); }

  private:
    std::map<Hash128, BrokerTime> ids_;  ///< the youngest time per id
    std::deque<std::pair<BrokerTime, Hash128>> ages_;
};

}  // namespace trueup::executors
