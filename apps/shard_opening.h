// A shard over its rows, whatever became of them: those that are in the state folder, else the
// newest checkpoint that fits the journal, else the journal from its start. Damaged rows are set
// aside as `projection.corrupt-<n>`; never a crash loop.
#pragma once

#include "engine/ports/clock.h"
#include "engine/ports/log.h"
#include "engine/ports/store.h"
#include "engine/runtime/checkpoints.h"
#include "engine/runtime/shard.h"

#include <functional>
#include <memory>
#include <string>

namespace trueup::apps {

struct OpenedShard {
    std::unique_ptr<ports::Store> store;
    std::unique_ptr<runtime::Shard> shard;
};

struct RowsPlace {
    std::string path;  ///< of the projection
    std::size_t memory_bytes = 0;
    runtime::Checkpoints checkpoints;
};

/// `say` is given a sentence for whatever is set aside, passed over or made anew. The error is one
/// sentence for the operator.
Result<OpenedShard> open_shard(const RowsPlace& place, const runtime::ShardSettings& settings,
                               ports::Log& log, ports::Clock& clock,
                               const std::function<void(const std::string&)>& say);

}  // namespace trueup::apps
