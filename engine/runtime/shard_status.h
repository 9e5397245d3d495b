// How a shard (shard.h) is, for others to see. A plain value: a copy of what the shard last said.
#pragma once

#include "engine/core/meta.h"
#include "engine/core/plan.h"

#include <cstdint>
#include <memory>
#include <string>

namespace trueup::runtime {

/// What others may see of a shard.
struct ShardStatus {
    core::Meta meta;
    std::shared_ptr<const core::Plan> plan;  ///< of the policy in force; nullptr: none is
    std::string refused;                     ///< why the shard does not emit; empty: it does
    bool caught_up = false;
    bool active = false;  ///< sequences and publishes, as far as it knows alone on the shard
    std::uint64_t published = 0;
    std::uint64_t rewinds = 0;
    std::uint64_t cached_bytes = 0;
    std::uint64_t cached_subjects = 0;
    bool proof_awaited = false;  ///< connectors should prove progress often
};

}  // namespace trueup::runtime
