#include "engine/core/subject_table.h"

#include "engine/base/check.h"
#include "engine/core/row.h"

#include <algorithm>

namespace trueup::core {

namespace {

std::uint32_t tag_of(std::uint64_t hash) { return static_cast<std::uint32_t>(hash >> 32U); }

std::uint32_t bytes_of(const Subject& subject) {
    // What malloc rounds up is taken as 16 bytes a block.
    std::size_t bytes = sizeof(SubjectTable::Entry) + 3 * sizeof(void*) + subject.key.capacity();
    for (const Facet& facet : subject.facets) {
        bytes += sizeof(Facet) + facet.object_id.capacity() + facet.object.capacity() + 48;
    }
    for (const Finding& finding : subject.findings) {
        bytes += sizeof(Finding) + finding.object_id.capacity() + 32;
        if (finding.command) bytes += 600;
    }
    bytes += subject.waits.capacity() * (sizeof(Wait) + 100);
    return static_cast<std::uint32_t>(bytes);
}

}  // namespace

SubjectTable::Entry* SubjectTable::lookup(std::string_view key, std::uint64_t hash) const {
    if (slots_.empty()) return nullptr;
    const std::size_t mask = slots_.size() - 1;
    for (std::size_t i = hash & mask; slots_[i].index != kFree; i = (i + 1) & mask) {
        if (slots_[i].tag != tag_of(hash)) continue;
        Entry* entry = entries_[slots_[i].index].get();
        if (entry->subject.key == key) return entry;
    }
    return nullptr;
}

void SubjectTable::place(std::uint64_t hash, std::uint32_t index) {
    const std::size_t mask = slots_.size() - 1;
    std::size_t i = hash & mask;
    while (slots_[i].index != kFree) i = (i + 1) & mask;
    slots_[i] = {tag_of(hash), index};
}

void SubjectTable::grow() {
    if ((used_ + 1) * 2 <= slots_.size()) return;
    slots_.assign(std::max<std::size_t>(64, slots_.size() * 2), Slot{});
    for (std::uint32_t i = 0; i < entries_.size(); ++i) {
        if (entries_[i]) place(entries_[i]->hash, i);
    }
}

SubjectTable::Entry& SubjectTable::insert(std::unique_ptr<Entry> entry) {
    grow();
    std::uint32_t index = 0;
    if (free_.empty()) {
        index = static_cast<std::uint32_t>(entries_.size());
        entries_.emplace_back();
    } else {
        index = free_.back();
        free_.pop_back();
    }
    entry->index = index;
    entry->bytes = bytes_of(entry->subject);
    bytes_ += entry->bytes;
    ++used_;
    place(entry->hash, index);
    entries_[index] = std::move(entry);
    return *entries_[index];
}

SubjectTable::Entry& SubjectTable::insert_row(std::string_view key, std::uint64_t hash,
                                              std::string_view bytes) {
    std::optional<Subject> subject = decode_subject(key, bytes);
    TRUEUP_CHECK(subject.has_value());  // R1: rows are what take_dirty gave out
    auto entry = std::make_unique<Entry>();
    entry->subject = *std::move(subject);
    entry->row_hash = row_hash(key, bytes);
    entry->hash = hash;
    return insert(std::move(entry));
}

SubjectTable::Entry* SubjectTable::find(std::string_view key) {
    const std::uint64_t hash = hash64(key);
    Entry* entry = lookup(key, hash);
    if (entry == nullptr) {
        const std::optional<std::string> bytes = rows_->load(key);
        if (!bytes) return nullptr;
        entry = &insert_row(key, hash, *bytes);
    }
    entry->touched = true;
    return entry->erased ? nullptr : entry;
}

SubjectTable::Entry& SubjectTable::at(std::string_view key) {
    if (Entry* found = find(key)) return *found;
    Entry* entry = lookup(key, hash64(key));
    if (entry == nullptr) {
        auto made = std::make_unique<Entry>();
        made->subject.key = key;
        made->hash = hash64(key);
        entry = &insert(std::move(made));
        unsaved_.emplace(key);
    }
    entry->erased = false;  // its row is still there and will be overwritten
    entry->touched = true;
    mark_dirty(*entry);
    return *entry;
}

void SubjectTable::mark_dirty(Entry& entry) {
    const std::uint32_t bytes = bytes_of(entry.subject);
    bytes_ += bytes;
    bytes_ -= entry.bytes;
    if (entry.dirty) {
        dirty_bytes_ += bytes;
        dirty_bytes_ -= entry.bytes;
    } else {
        entry.dirty = true;
        dirty_bytes_ += bytes;
        dirty_.push_back(entry.index);
    }
    entry.bytes = bytes;
}

void SubjectTable::erase(Entry& entry) {
    std::string key = std::move(entry.subject.key);
    entry.subject = Subject{};
    entry.subject.key = std::move(key);
    entry.erased = true;
    mark_dirty(entry);
}

void SubjectTable::preload(std::string_view key, std::optional<std::string_view> bytes) {
    const std::uint64_t hash = hash64(key);
    if (lookup(key, hash) != nullptr || !bytes) return;
    insert_row(key, hash, *bytes).touched = true;
}

bool SubjectTable::cached(std::string_view key) const {
    return lookup(key, hash64(key)) != nullptr;
}

bool SubjectTable::erased(std::string_view key) const {
    const Entry* entry = lookup(key, hash64(key));
    return entry != nullptr && entry->erased;
}

std::vector<std::string> SubjectTable::keys_after(std::string_view after, std::size_t limit) {
    std::vector<std::string> live;
    std::string cursor(after);
    while (live.size() < limit) {
        // Rows and unsaved keys are merged up to the last row of this page: beyond it there may be
        // rows that were not read yet.
        const std::vector<std::string> rows = rows_->keys_after(cursor, limit);
        const bool rows_end = rows.size() < limit;
        auto row = rows.begin();
        auto unsaved = unsaved_.upper_bound(cursor);
        while (row != rows.end() || (rows_end && unsaved != unsaved_.end())) {
            const bool from_rows =
                row != rows.end() && (unsaved == unsaved_.end() || *row < *unsaved);
            cursor = from_rows ? *row++ : *unsaved++;
            // An erased subject counts as gone whether or not its row was removed yet (R1).
            if (!erased(cursor)) live.push_back(cursor);
            if (live.size() == limit) return live;
        }
        if (rows_end) return live;
    }
    return live;
}

std::vector<SubjectTable::Dirty> SubjectTable::take_dirty(Hash128& digest) {
    std::vector<Dirty> rows;
    rows.reserve(dirty_.size());
    for (const std::uint32_t index : dirty_) {
        Entry& entry = *entries_[index];
        const bool had_row = !entry.row_hash.none();
        if (had_row) digest -= entry.row_hash;
        unsaved_.erase(entry.subject.key);
        if (entry.erased) {
            if (had_row) rows.push_back({entry.subject.key, std::nullopt});
            remove(entry);
            entries_[index].reset();
            free_.push_back(index);
            continue;
        }
        std::string bytes;
        bytes.reserve(256);
        encode_subject(entry.subject, bytes);
        entry.row_hash = row_hash(entry.subject.key, bytes);
        digest += entry.row_hash;
        entry.dirty = false;
        rows.push_back({entry.subject.key, std::move(bytes)});
    }
    dirty_.clear();
    dirty_bytes_ = 0;
    std::sort(rows.begin(), rows.end(),
              [](const Dirty& a, const Dirty& b) { return a.key < b.key; });
    return rows;
}

/// Takes the entry out of the slots, closing the gap that linear probing would fall into.
void SubjectTable::remove(const Entry& entry) {
    const std::size_t mask = slots_.size() - 1;
    std::size_t hole = entry.hash & mask;
    while (slots_[hole].index != entry.index) hole = (hole + 1) & mask;
    for (std::size_t i = (hole + 1) & mask; slots_[i].index != kFree; i = (i + 1) & mask) {
        const std::size_t home = entries_[slots_[i].index]->hash & mask;
        if (((i - home) & mask) >= ((i - hole) & mask)) {
            slots_[hole] = slots_[i];
            hole = i;
        }
    }
    slots_[hole] = Slot{};
    bytes_ -= entry.bytes;
    --used_;
}

void SubjectTable::evict(std::size_t budget) {
    // A clock: one round spares what was touched since the last one, a second round does not.
    for (std::size_t steps = 2 * entries_.size(); bytes_ > budget && steps > 0; --steps) {
        hand_ = (hand_ + 1) % entries_.size();
        Entry* entry = entries_[hand_].get();
        if (entry == nullptr || entry->dirty) continue;
        if (entry->touched) {
            entry->touched = false;
            continue;
        }
        remove(*entry);
        entries_[hand_].reset();
        free_.push_back(static_cast<std::uint32_t>(hand_));
    }
}

}  // namespace trueup::core
