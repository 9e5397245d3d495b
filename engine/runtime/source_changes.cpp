// What a connector's machine states becomes changes, in the partitions that they belong to: what
// they are told as, and by which numbers.
#include "engine/base/id.h"
#include "engine/codec/change_codec.h"
#include "engine/codec/limits.h"
#include "engine/model/object.h"
#include "engine/model/object_builder.h"
#include "engine/runtime/source_task.h"

#include <algorithm>
#include <utility>

namespace trueup::runtime {

namespace {

constexpr std::size_t kMostEntries = 2'000;  // of one append

/// What is published instead of an object that is too large: enough to see it, nothing to act on.
std::string oversized(std::string_view object) {
    ObjectBuilder fields;
    fields.add("oversized", "true");
    fields.add("xxh3", to_hex(hash128(object)));
    return fields.take();
}

Hash128 place_of(const ChangeView& change) {
    return combine(hash128(change.object_id), hash128(change.subject_key));
}

}  // namespace

void SourceTask::publish(const Fact& fact) {
    ChangeView change;
    change.event_id = fact.event_id;
    change.object_id = fact.object_id;
    change.subject_key = fact.subject_key;
    change.version = fact.version;
    change.source_time = fact.source_time;
    switch (fact.kind) {
        case Fact::Kind::kUpsert:
            change.kind = ChangeKind::kUpsert;
            change.object = fact.object;
            return upsert(change, fact.in_epoch);
        case Fact::Kind::kRemove:
            change.kind = ChangeKind::kRemove;
            bury(change);
            return upsert(change, false);
        case Fact::Kind::kSnapshotBegin:
            return begin_epoch(change, fact.rewound);
        case Fact::Kind::kSnapshotEnd:
            return end_epoch(change);
        case Fact::Kind::kMarker:
            return mark(change);
        case Fact::Kind::kProgress:
            change.kind = ChangeKind::kProgress;
            change.complete_as_of = fact.complete_as_of;
            change.source_clock = fact.source_clock;
            return add_everywhere(change);
        case Fact::Kind::kAlive:
            change.kind = ChangeKind::kAlive;
            return add_everywhere(change);
        case Fact::Kind::kConfirm:
            return confirm(fact.confirm);
    }
}

void SourceTask::begin_epoch(ChangeView change, bool rewound) {
    change.kind = ChangeKind::kSnapshotBegin;
    change.epoch = ++epoch_;
    change.rewound = rewound;
    change.mapping = settings_.mapping;
    std::fill(counts_.begin(), counts_.end(), 0);
    listed_ = 0;
    add_everywhere(change);
}

void SourceTask::end_epoch(ChangeView change) {
    change.kind = ChangeKind::kSnapshotEnd;
    change.epoch = epoch_;
    change.total = listed_;
    for (std::size_t i = 0; i < batch_.size(); ++i) {
        change.count = counts_[i];
        add(PartitionNumber(static_cast<std::int32_t>(i)), change);
    }
    // What it did not list is swept away, unless it is newer; all of it is told anew then.
    std::erase_if(told_, [&](const auto& one) { return one.second.epoch != epoch_; });
}

/// An item goes to its subject's partition; a reference (`!`) goes to all of them.
void SourceTask::upsert(ChangeView change, bool in_epoch) {
    std::string replaced;
    if (change.object.size() + 1024 > codec::kMaxItemBytes) {
        replaced = oversized(change.object);
        change.object = replaced;
    }
    if (in_epoch) {
        change.epoch = epoch_;
        ++listed_;
    }
    if (change.kind == ChangeKind::kUpsert) shorten(change, in_epoch);
    const bool reference = !change.subject_key.empty() && change.subject_key.front() == '!';
    const PartitionNumber home = partition_of(change.subject_key, settings_.partitions);
    for (std::int32_t p = 0; p < settings_.partitions; ++p) {
        if (!reference && PartitionNumber(p) != home) continue;
        if (in_epoch) ++counts_[static_cast<std::size_t>(p)];
        add(PartitionNumber(p), change);
    }
}

/// What an epoch lists as it was told is the same: two ids and two versions instead of all of it.
/// Keeps what readers make of the stream: an older word changes nothing, nor does one of the same
/// version.
void SourceTask::shorten(ChangeView& change, bool in_epoch) {
    const Hash128 content =
        ObjectView(change.object).has_unchanged() ? Hash128{} : hash128(change.object);
    make_room();
    const auto [place, fresh] = told_.try_emplace(place_of(change), Told{change.version, content});
    Told& told = place->second;
    if (in_epoch) told.epoch = epoch_;
    if (fresh) return;
    const bool as_told = told.content == content && content != Hash128{};
    if (in_epoch && as_told && !told.missed && change.version >= told.version) {
        change.kind = ChangeKind::kSame;
        change.object = {};
        change.base = told.version;
    }
    if (change.version < told.version) return;
    if (as_told || change.version > told.version) told.missed = false;
    if (change.version == told.version) return;
    told.version = change.version;
    told.content = content;
}

/// What is forgotten is told in full again. An older word that is taken for the last one by then is
/// at worst a hole, and that has everything told.
void SourceTask::make_room() {
    if (told_.size() >= settings_.most_told) told_.clear();
}

/// A list that is under way may still show it as it was.
void SourceTask::bury(const ChangeView& change) {
    make_room();
    Told& told = told_[place_of(change)];
    told.version = std::max(told.version, change.version);
    told.content = {};
}

void SourceTask::add(PartitionNumber partition, ChangeView change) {
    const auto index = static_cast<std::size_t>(partition.value());
    change.source = settings_.source;
    change.incarnation = incarnation_;
    change.seq = ++seq_[index];
    const std::string_view key =
        change.subject_key.empty() ? std::string_view(settings_.source) : change.subject_key;
    batch_[index].push_back({std::string(key), codec::encode_change(change)});
    if (batch_[index].size() >= kMostEntries) flush();
}

void SourceTask::add_everywhere(ChangeView change) {
    for (std::int32_t p = 0; p < settings_.partitions; ++p) {
        add(PartitionNumber(p), change);
    }
}

}  // namespace trueup::runtime
