// Folds as a follower does: a shard without sequencer and relay, its memory shared out as `trueup`
// shares it out.
#pragma once

#include "benchmarks/recorded.h"
#include "engine/core/fold.h"
#include "engine/ports/store.h"
#include "engine/runtime/memory.h"
#include "engine/runtime/projection.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace trueup::bench {

class Follower {
  public:
    /// Over a RocksDB in `folder`, from the rows that are in it. Empty: without a store.
    Follower(std::size_t memory, const std::string& folder);

    /// How long one record took, in seconds.
    struct Took {
        double fold = 0;    ///< core::fold alone
        double cpu = 0;     ///< the same in processor time
        double record = 0;  ///< with decoding, cold rows and eviction, without writing behind
    };
    Took fold(const Recorded& record);
    /// All of them, until the rows are durable. Seconds.
    double fold(const std::vector<Recorded>& records);
    void save();

    const core::State& state() const { return *state_; }
    std::uint64_t findings() const { return findings_; }
    std::uint64_t rows_written() const { return projection_ ? projection_->rows_written() : 0; }

  private:
    void write_behind();

    runtime::MemoryShares memory_;
    core::NoRows no_rows_;
    std::unique_ptr<ports::Store> store_;
    std::optional<runtime::Projection> projection_;
    std::optional<core::State> state_;
    std::vector<core::Parked> parked_;
    JournalView view_;
    core::FoldReport report_;
    std::uint64_t findings_ = 0;
};

}  // namespace trueup::bench
