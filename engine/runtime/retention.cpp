#include "engine/runtime/retention.h"

#include <algorithm>

namespace trueup::runtime {

Result<std::vector<Retention::Cut>> Retention::tend(const core::Meta& meta,
                                                    const std::vector<Checkpoint>& checkpoints) {
    std::vector<Cut> cuts;
    if (meta.applied < 0) return cuts;
    if (Status topics = tend_topics(meta, cuts); !topics) return topics.error();
    if (Status journal = tend_journal(meta, checkpoints, cuts); !journal) return journal.error();
    return cuts;
}

Status Retention::forget(ports::Partition partition, std::int64_t before, std::vector<Cut>& cuts) {
    const Result<ports::Extent> extent = log_.describe(partition);
    if (!extent) return extent.error();
    const std::int64_t first = std::min(before, extent->next_offset);
    if (first <= extent->first_offset) return Done{};
    if (Status truncated = log_.truncate(partition, first); !truncated) return truncated;
    cuts.push_back({partition, first});
    return Done{};
}

Status Retention::tend_topics(const core::Meta& meta, std::vector<Cut>& cuts) {
    if (!settings_.topics) return Done{};
    for (std::size_t i = 1; i < kTopics; ++i) {
        const auto topic = static_cast<Topic>(i);
        if (topic == Topic::kJournal) continue;
        const ports::Partition partition{topic, meta.shard};
        const Result<std::int64_t> before =
            log_.offset_at(partition, meta.broker_now - *settings_.topics);
        if (!before) return before.error();
        const bool input =
            std::find(kInputTopics.begin(), kInputTopics.end(), topic) != kInputTopics.end();
        std::int64_t keep = *before;
        if (input) keep = std::min(keep, meta.last[i] + 1);
        if (Status cut = forget(partition, keep, cuts); !cut) return cut;
    }
    return Done{};
}

Status Retention::tend_journal(const core::Meta& meta, const std::vector<Checkpoint>& checkpoints,
                               std::vector<Cut>& cuts) {
    std::vector<std::int64_t> ours;
    for (const Checkpoint& checkpoint : checkpoints) {
        const bool usable =
            checkpoint.journal_id == meta.journal_id && checkpoint.offset <= meta.applied;
        if (usable) ours.push_back(checkpoint.offset);
    }
    if (ours.size() < kCheckpoints) return Done{};
    const std::int64_t oldest = *std::min_element(ours.begin(), ours.end());
    const ports::Partition journal{Topic::kJournal, meta.shard};
    std::int64_t before = 0;
    if (settings_.journal) {
        const Result<std::int64_t> aged =
            log_.offset_at(journal, meta.broker_now - *settings_.journal);
        if (!aged) return aged.error();
        before = *aged;
    }
    const std::optional<std::uint64_t> bytes = log_.stored_bytes();
    if (settings_.log_bytes && bytes && *bytes > *settings_.log_bytes) {
        const Result<ports::Extent> extent = log_.describe(journal);
        if (!extent) return extent.error();
        const std::int64_t share = (extent->next_offset - extent->first_offset) / kShare;
        before = std::max(before, extent->first_offset + share);
    }
    // The record that a checkpoint was made at stays: a start holds its rows against it.
    return forget(journal, std::min(before, oldest), cuts);
}

}  // namespace trueup::runtime
