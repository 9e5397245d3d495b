// How a shard (shard.h) is run, and whom it tells what. A plain value.
#pragma once

#include "engine/base/id.h"
#include "engine/base/time.h"
#include "engine/codec/signature.h"
#include "engine/model/finding_edge.h"
#include "engine/model/headers.h"
#include "engine/model/ids.h"
#include "engine/model/settings.h"
#include "engine/model/subject.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <future>

namespace trueup::runtime {

struct ShardSettings {
    PartitionNumber shard;
    std::int32_t partitions = 1;
    Settings policy;                          ///< put in force when it differs from the journal's
    std::size_t cache_bytes = 256ULL << 20U;  ///< for subjects in memory
    /// Dirty bytes that trigger a write where others need their room.
    std::size_t write_behind_bytes = 32ULL << 20U;
    Millis write_behind_every{2'000};
    /// Of a journal record, about. What so many items touch stays in the processor's cache while
    /// they are folded, judged and collected; of larger ones each step waits for memory again.
    std::size_t record_bytes = 300ULL << 10U;
    std::size_t in_flight = 6;  ///< journal appends at once; at most half of Lineage::kKept
    bool lead = true;           ///< false: fold only, emit nothing
    FindingHeaders finding_headers = FindingHeaders::kId;
    Millis timeout{200};  ///< how long another engine may let something wait
    /// Where rows are written and backlogs encoded: beside the shard's thread, or (deferred) by it.
    std::launch jobs = std::launch::async;
    /// For the Genesis of an empty journal; none: an empty journal is refused.
    JournalId new_journal_id;
    /// Sees each edge once it was folded, and at the start the last one of every open finding.
    /// Called by the shard's thread; without the subject where it is gone, or this is no news.
    std::function<void(const FindingEdge&, const Subject*)> on_finding;
    /// Called once by the shard's thread, before it writes its settings into the journal: with
    /// those that were in force until then, unless there were none.
    std::function<void(const Settings&)> on_settings;
    codec::KeyRing request_keys;  ///< whose requests are believed
    codec::KeyRing command_keys;  ///< the first one signs the commands
};

}  // namespace trueup::runtime
