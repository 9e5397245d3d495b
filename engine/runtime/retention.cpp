#include "engine/runtime/retention.h"

#include <algorithm>
#include <chrono>

namespace trueup::runtime {

namespace {

constexpr Millis kYoung = std::chrono::hours(24);  // where topics say nothing

/// The oldest of the shard's own checkpoints; none: there are too few of them.
std::optional<Offset> oldest_of(const std::vector<Checkpoint>& checkpoints,
                                const core::Meta& meta) {
    std::vector<Offset> ours;
    for (const Checkpoint& checkpoint : checkpoints) {
        const bool usable =
            checkpoint.journal_id == meta.journal_id && checkpoint.offset <= meta.applied;
        if (usable) ours.push_back(checkpoint.offset);
    }
    if (ours.size() < Retention::kCheckpoints) return std::nullopt;
    return *std::min_element(ours.begin(), ours.end());
}

std::int64_t share_of(const ports::Extent& extent) {
    return distance(extent.first_offset, extent.next_offset) / Retention::kShare + 1;
}

}  // namespace

Retention::Retention(RetentionSettings settings, ports::Log& log, ports::Clock& clock)
    : settings_(settings),
      log_(log),
      clock_(clock),
      began_(clock.steady_now()),
      began_wall_(clock.wall_millis()) {}

/// Append times never descend, so a log that was appended to under a clock that was ahead says so
/// for ever; and while that clock is this machine's own, only what passed here since is known.
BrokerTime Retention::believed(BrokerTime broker_now) const {
    const Millis here = clock_.steady_now() - began_;
    const std::int64_t wall = std::min(clock_.wall_millis(), began_wall_ + here.count());
    return std::min(broker_now, from_millis<BrokerTime>(wall));
}

Result<Retention::Tended> Retention::tend(const core::Meta& meta,
                                          const std::vector<Checkpoint>& checkpoints,
                                          const std::function<bool()>& stop) {
    Tended tended;
    if (meta.applied < kFirstOffset) return tended;
    const BrokerTime now = believed(meta.broker_now);
    tended.ahead = meta.broker_now - now;
    for (std::size_t i = 1; i < kTopics && settings_.topics && !stop(); ++i) {
        const auto topic = static_cast<Topic>(i);
        if (topic == Topic::kJournal) continue;
        if (Status cut = tend_topic(topic, meta, now, tended); !cut) return cut.error();
    }
    if (stop()) return tended;
    if (Status cut = tend_journal(meta, checkpoints, now, tended); !cut) return cut.error();
    return tended;
}

Status Retention::forget(ports::Partition partition, const ports::Extent& extent, Offset before,
                         Tended& tended) {
    const Offset first =
        std::min({before, extent.next_offset, further(extent.first_offset, share_of(extent))});
    if (first <= extent.first_offset) return Done{};
    if (Status truncated = log_.truncate(partition, first); !truncated) return truncated;
    tended.cuts.push_back({partition, first});
    return Done{};
}

Status Retention::tend_topic(Topic topic, const core::Meta& meta, BrokerTime now, Tended& tended) {
    const ports::Partition partition{topic, meta.shard};
    const Result<ports::Extent> extent = log_.describe(partition);
    if (!extent) return extent.error();
    const Result<Offset> before = log_.offset_at(partition, now - *settings_.topics);
    if (!before) return before.error();
    const bool input =
        std::find(kInputTopics.begin(), kInputTopics.end(), topic) != kInputTopics.end();
    Offset keep = *before;
    if (input) keep = std::min(keep, next(meta.last[static_cast<std::size_t>(topic)]));
    return forget(partition, *extent, keep, tended);
}

Status Retention::tend_journal(const core::Meta& meta, const std::vector<Checkpoint>& checkpoints,
                               BrokerTime now, Tended& tended) {
    const ports::Partition journal{Topic::kJournal, meta.shard};
    const Result<ports::Extent> extent = log_.describe(journal);
    if (!extent) return extent.error();
    tended.journal_begin = extent->first_offset;
    const std::optional<std::uint64_t> bytes =
        settings_.log_bytes ? log_.stored_bytes() : std::nullopt;
    const bool large = bytes && *bytes > *settings_.log_bytes;
    tended.too_large = large;
    const std::optional<Offset> oldest = oldest_of(checkpoints, meta);
    if (!oldest || (!settings_.journal && !large)) return Done{};
    Offset before;
    if (settings_.journal) {
        const Result<Offset> aged = log_.offset_at(journal, now - *settings_.journal);
        if (!aged) return aged.error();
        before = *aged;
    }
    if (large) {
        const Millis young = settings_.topics.value_or(kYoung);
        const Result<Offset> limit = log_.offset_at(journal, now - young);
        if (!limit) return limit.error();
        const Offset room = std::min(*limit, *oldest);
        tended.too_large = room <= extent->first_offset;
        before = std::max(before, room);
    }
    // The record that a checkpoint was made at stays: a start holds its rows against it.
    if (Status cut = forget(journal, *extent, std::min(before, *oldest), tended); !cut) return cut;
    const bool shortened = !tended.cuts.empty() && tended.cuts.back().partition == journal;
    if (shortened) tended.journal_begin = tended.cuts.back().first_offset;
    return Done{};
}

}  // namespace trueup::runtime
