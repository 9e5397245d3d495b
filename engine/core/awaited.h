// What the subject that is being judged waits for, by the verdicts so far.
//
// Part of Judging; the state outlives it. Not thread-safe; not for other users than Judging's
// parts.
#pragma once

#include "engine/core/fold.h"

#include <vector>

namespace trueup::core {

class Awaited {
  public:
    using Entry = SubjectTable::Entry;

    explicit Awaited(State& state) : state_(state) {}

    /// Another subject is judged.
    void clear() { waits_.clear(); }
    void wait_for(const Wait& wait);
    void renew_waits(Entry& entry);

  private:
    State& state_;  ///< its waits; its subjects are only marked as dirty
    std::vector<Wait> waits_;
};

}  // namespace trueup::core
