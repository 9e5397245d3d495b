#include "engine/runtime/retention.h"

#include <algorithm>
#include <chrono>

namespace trueup::runtime {

namespace {

constexpr Millis kYoung = std::chrono::hours(24);  // where topics say nothing

}  // namespace

Result<Retention::Tended> Retention::tend(const core::Meta& meta,
                                          const std::vector<Checkpoint>& checkpoints) {
    Tended tended;
    if (meta.applied < 0) return tended;
    if (Status topics = tend_topics(meta, tended); !topics) return topics.error();
    if (Status journal = tend_journal(meta, checkpoints, tended); !journal) return journal.error();
    return tended;
}

Status Retention::forget(ports::Partition partition, std::int64_t before, Tended& tended) {
    const Result<ports::Extent> extent = log_.describe(partition);
    if (!extent) return extent.error();
    const std::int64_t first = std::min(before, extent->next_offset);
    if (first <= extent->first_offset) return Done{};
    if (Status truncated = log_.truncate(partition, first); !truncated) return truncated;
    tended.cuts.push_back({partition, first});
    return Done{};
}

Status Retention::tend_topics(const core::Meta& meta, Tended& tended) {
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
        if (Status cut = forget(partition, keep, tended); !cut) return cut;
    }
    return Done{};
}

Status Retention::tend_journal(const core::Meta& meta, const std::vector<Checkpoint>& checkpoints,
                               Tended& tended) {
    const std::optional<std::uint64_t> bytes =
        settings_.log_bytes ? log_.stored_bytes() : std::nullopt;
    const bool large = bytes && *bytes > *settings_.log_bytes;
    if (!settings_.journal && !large) return Done{};
    std::vector<std::int64_t> ours;
    for (const Checkpoint& checkpoint : checkpoints) {
        const bool usable =
            checkpoint.journal_id == meta.journal_id && checkpoint.offset <= meta.applied;
        if (usable) ours.push_back(checkpoint.offset);
    }
    tended.too_large = large;
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
    if (large) {
        const Result<ports::Extent> extent = log_.describe(journal);
        if (!extent) return extent.error();
        const Millis young = settings_.topics.value_or(kYoung);
        const Result<std::int64_t> limit = log_.offset_at(journal, meta.broker_now - young);
        if (!limit) return limit.error();
        const std::int64_t share = (extent->next_offset - extent->first_offset) / kShare + 1;
        const std::int64_t room = std::min({extent->first_offset + share, *limit, oldest});
        tended.too_large = room <= extent->first_offset;
        before = std::max(before, room);
    }
    // The record that a checkpoint was made at stays: a start holds its rows against it.
    return forget(journal, std::min(before, oldest), tended);
}

}  // namespace trueup::runtime
