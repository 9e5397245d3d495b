// Folds recorded journals again over a real projection in memory, with write-behind, eviction and
// restarts wherever a test wants them.
#pragma once

#include "engine/runtime/projection.h"
#include "projections/memory_store.h"
#include "stories/recorded.h"

#include <memory>
#include <string>
#include <vector>

namespace trueup::stories {

/// What one record led to, as values that outlive it.
struct Emissions {
    std::vector<FindingEdge> findings;
    std::vector<Command> commands;
    std::vector<core::Gap> gaps;
    std::vector<SourceId> wants_epoch;
    bool more_work = false;
    bool operator==(const Emissions&) const = default;
};

class Replay {
  public:
    /// Over a store of its own in memory.
    Replay();
    /// `store` must outlive it.
    explicit Replay(ports::Store& store);

    Emissions fold(const Recorded& record);
    /// Folds records[from, to).
    std::vector<Emissions> fold(const std::vector<Recorded>& records, std::size_t from,
                                std::size_t to);

    void write_behind();
    void evict(std::size_t budget) { state_->subjects.evict(budget); }
    /// Forgets what was not written and loads the rows again: the next record to fold is the one
    /// after meta().applied.
    void restart(std::size_t budget);

    /// Everything written, then the meta row.
    core::Meta settled_meta();
    core::State& state() { return *state_; }
    const core::Meta& meta() const { return state_->meta; }

  private:
    projections::MemoryStore own_store_;
    ports::Store* store_;
    std::unique_ptr<runtime::Projection> projection_;
    std::unique_ptr<core::State> state_;
    std::vector<core::Parked> parked_;
};

}  // namespace trueup::stories
