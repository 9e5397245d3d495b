// What a source has proven, held against the world: whoever says that it has told everything up to
// a moment must have told what was so then, or what came after it.
#pragma once

#include "engine/core/fold.h"
#include "simulation/history.h"

#include <cstdint>
#include <string>

namespace trueup::simulation {

/// One proof, as a shard took it.
struct Proof {
    SourceId source = kNoSource;
    PartitionNumber shard;
    std::int32_t shards = 1;
    SteadyTime as_of{};  ///< everything before was told, it says
    SteadyTime taken{};
};

/// Why the shard's view, when it took the proof, is of no moment since; empty: it is.
std::string against_proof(const core::State& state, const Proof& proof, const History& history);

}  // namespace trueup::simulation
