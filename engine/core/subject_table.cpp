#include "engine/core/subject_table.h"

#include "engine/base/check.h"
#include "engine/core/row.h"

#include <algorithm>
#include <array>
#include <limits>

namespace trueup::core {

namespace {

std::uint32_t tag_of(std::uint64_t hash) { return static_cast<std::uint32_t>(hash >> 32U); }

std::uint32_t bytes_of(const Subject& subject) {
    constexpr std::size_t kBlock = 16;      // what malloc adds and rounds up
    constexpr std::size_t kCommand = 1000;  // its texts are rarely short
    std::size_t bytes = sizeof(SubjectTable::Entry) + 4 * sizeof(std::uint64_t);  // and its slots
    bytes += subject.key.capacity() + kBlock;
    bytes += subject.facets.capacity() * sizeof(Facet) + kBlock;
    for (const Facet& facet : subject.facets) {
        bytes += facet.object_id.capacity() + facet.object.capacity() + 2 * kBlock;
    }
    if (subject.findings.capacity() != 0) {
        bytes += subject.findings.capacity() * sizeof(Finding) + kBlock;
    }
    for (const Finding& finding : subject.findings) {
        bytes += finding.object_id.capacity() + kBlock;
        if (finding.command) bytes += kCommand;
    }
    if (subject.ledger) {
        bytes += sizeof(Ledger) + kBlock;
        bytes += subject.ledger->entries.capacity() * (sizeof(Ledger::Entry) + 3 * kBlock);
    }
    if (subject.aftermath) {
        constexpr std::size_t kId = 40;  // with its block
        const Aftermath& after = *subject.aftermath;
        bytes += sizeof(Aftermath) + kBlock;
        bytes += after.refusals.capacity() * (sizeof(Refusal) + 3 * kId);
        bytes += after.mended.capacity() * (sizeof(Mended) + kId);
        for (const Mended& mended : after.mended) {
            bytes += mended.beside.capacity() * (sizeof(std::string) + kId);
        }
    }
    if (subject.waits.capacity() != 0) bytes += subject.waits.capacity() * sizeof(Wait) + kBlock;
    return static_cast<std::uint32_t>(bytes);
}

}  // namespace

SubjectTable::Entry* SubjectTable::lookup(std::string_view key, std::uint64_t hash) const {
    if (slots_.empty()) return nullptr;
    const std::size_t mask = slots_.size() - 1;
    for (std::size_t i = hash & mask; slots_[i].index != kFree; i = (i + 1) & mask) {
        if (slots_[i].tag != tag_of(hash)) continue;
        Entry& entry = entry_at(slots_[i].index);
        if (entry.subject.key == key) return &entry;
    }
    return nullptr;
}

bool SubjectTable::seems_cached(std::string_view key) const {
    if (slots_.empty()) return false;
    const std::uint64_t hash = hash64(key);
    const std::size_t mask = slots_.size() - 1;
    for (std::size_t i = hash & mask; slots_[i].index != kFree; i = (i + 1) & mask) {
        if (slots_[i].tag == tag_of(hash)) return true;
    }
    return false;
}

/// In rounds over all keys, each of which asks for what the next one reads: the waits overlap.
void SubjectTable::prefetch(std::span<const std::string_view> keys,
                            std::span<Entry*, kMostAhead> seems) const {
    TRUEUP_CHECK(keys.size() <= kMostAhead);
    std::fill(seems.begin(), seems.end(), nullptr);
    if (slots_.empty()) return;
    const std::size_t mask = slots_.size() - 1;
    std::array<std::uint64_t, kMostAhead> hashes{};
    for (std::size_t k = 0; k < keys.size(); ++k) {
        hashes[k] = hash64(keys[k]);
        __builtin_prefetch(&slots_[hashes[k] & mask]);
    }
    for (std::size_t k = 0; k < keys.size(); ++k) {
        std::size_t i = hashes[k] & mask;
        while (slots_[i].index != kFree && slots_[i].tag != tag_of(hashes[k])) i = (i + 1) & mask;
        if (slots_[i].index == kFree) continue;
        seems[k] = &entry_at(slots_[i].index);
        prefetch(*seems[k]);
    }
    for (const Entry* entry : seems) {
        if (entry != nullptr) prefetch_facets(*entry);
    }
    for (const Entry* entry : seems) {
        if (entry != nullptr) prefetch_objects(*entry);
    }
}

void SubjectTable::prefetch(const Entry& entry) {
    for (std::size_t line = 0; line < sizeof(Entry); line += 64) {
        __builtin_prefetch(reinterpret_cast<const char*>(&entry) + line);
    }
}

void SubjectTable::prefetch_facets(const Entry& entry) {
    __builtin_prefetch(entry.subject.key.data());
    const auto* facets = reinterpret_cast<const char*>(entry.subject.facets.data());
    const std::size_t bytes = entry.subject.facets.size() * sizeof(Facet);
    for (std::size_t line = 0; line < bytes; line += 64) __builtin_prefetch(facets + line);
    if (entry.subject.findings.empty()) return;
    const auto* findings = reinterpret_cast<const char*>(entry.subject.findings.data());
    for (std::size_t line = 0; line < sizeof(Finding); line += 64) {
        __builtin_prefetch(findings + line);
    }
    __builtin_prefetch(entry.subject.waits.data());
}

void SubjectTable::prefetch_objects(const Entry& entry) {
    for (const Facet& facet : entry.subject.facets) {
        __builtin_prefetch(facet.object_id.data());
        __builtin_prefetch(facet.object.data());
        __builtin_prefetch(facet.object.data() + 64);
    }
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
    for (std::uint32_t i = 0; i < made_; ++i) {
        if (entry_at(i).used) place(entry_at(i).hash, i);
    }
}

SubjectTable::Entry& SubjectTable::insert(Subject subject, std::uint64_t hash) {
    grow();
    std::uint32_t index = made_;
    if (free_.empty()) {
        if (made_ % kChunk == 0) chunks_.push_back(std::make_unique<Entry[]>(kChunk));
        ++made_;
    } else {
        index = free_.back();
        free_.pop_back();
    }
    Entry& entry = entry_at(index);
    entry.subject = std::move(subject);
    entry.hash = hash;
    entry.index = index;
    entry.used = true;
    entry.bytes = bytes_of(entry.subject);
    bytes_ += entry.bytes;
    ++used_;
    place(hash, index);
    return entry;
}

SubjectTable::Entry& SubjectTable::insert_row(std::string_view key, std::uint64_t hash,
                                              std::string_view bytes) {
    std::optional<Subject> subject = decode_subject(key, bytes);
    TRUEUP_CHECK(subject.has_value());  // R1: rows are what take_dirty gave out
    Entry& entry = insert(*std::move(subject), hash);
    entry.row_hash = row_hash(key, bytes);
    return entry;
}

SubjectTable::Entry* SubjectTable::find(std::string_view key, Entry* seems) {
    if (seems == nullptr || !seems->used || seems->subject.key != key) return find(key);
    seems->touched = true;
    return seems->erased ? nullptr : seems;
}

SubjectTable::Entry* SubjectTable::find(std::string_view key) {
    const std::uint64_t hash = hash64(key);
    Entry* entry = lookup(key, hash);
    if (entry == nullptr) {
        if (whole_) return nullptr;
        const std::optional<std::string> bytes = rows_->load(key);
        if (!bytes) return nullptr;
        entry = &insert_row(key, hash, *bytes);
    }
    entry->touched = true;
    return entry->erased ? nullptr : entry;
}

SubjectTable::Entry& SubjectTable::at(std::string_view key) {
    if (Entry* found = find(key)) return *found;
    const std::uint64_t hash = hash64(key);
    Entry* entry = lookup(key, hash);
    if (entry == nullptr) {
        Subject subject;
        subject.key = key;
        entry = &insert(std::move(subject), hash);
    }
    if (entry->row_hash.none() && !entry->dirty) add_unsaved(*entry);
    entry->erased = false;  // its row is still there and will be overwritten
    entry->touched = true;
    mark_dirty(*entry);
    return *entry;
}

void SubjectTable::mark_dirty(Entry& entry) {
    if (entry.dirty) return;
    entry.dirty = true;
    dirty_bytes_ += entry.bytes;
    dirty_.push_back(entry.index);
}

void SubjectTable::weigh(Entry& entry) {
    const std::uint32_t bytes = bytes_of(entry.subject);
    bytes_ += bytes;
    bytes_ -= entry.bytes;
    if (entry.dirty) {
        dirty_bytes_ += bytes;
        dirty_bytes_ -= entry.bytes;
    }
    entry.bytes = bytes;
}

void SubjectTable::erase(Entry& entry) {
    std::string key = std::move(entry.subject.key);
    entry.subject = Subject{};
    entry.subject.key = std::move(key);
    entry.erased = true;
    mark_dirty(entry);
    weigh(entry);
}

void SubjectTable::preload(std::string_view key, std::optional<std::string_view> bytes) {
    const std::uint64_t hash = hash64(key);
    if (lookup(key, hash) != nullptr) return;
    if (bytes) {
        insert_row(key, hash, *bytes).touched = true;
        return;
    }
    Subject nobody;
    nobody.key = key;
    Entry& entry = insert(std::move(nobody), hash);
    entry.erased = true;
    entry.touched = true;
}

void SubjectTable::read_ahead(const std::vector<std::string>& keys) {
    if (whole_) return;
    std::vector<std::string_view> cold;
    for (const std::string& key : keys) {
        if (!seems_cached(key)) cold.push_back(key);
    }
    if (cold.empty()) return;
    std::sort(cold.begin(), cold.end());
    cold.erase(std::unique(cold.begin(), cold.end()), cold.end());
    rows_->load_many(cold, [this](std::string_view key, std::optional<std::string_view> row) {
        preload(key, row);
    });
}

bool SubjectTable::cached(std::string_view key) const {
    const Entry* entry = lookup(key, hash64(key));
    return entry != nullptr && (!entry->erased || entry->dirty);
}

void SubjectTable::each(const std::function<void(const Subject&)>& visit) const {
    each_cached(visit);
    if (whole_) return;
    const auto all = std::numeric_limits<std::size_t>::max();
    rows_->each_after({}, all, [&](std::string_view key, std::string_view bytes) {
        if (lookup(key, hash64(key)) != nullptr) return;  // as cached, also where it is erased
        const std::optional<Subject> subject = decode_subject(key, bytes);
        TRUEUP_CHECK(subject.has_value());  // R1
        visit(*subject);
    });
}

/// Frees the entry's place and closes the gap in the slots that linear probing would fall into.
void SubjectTable::remove(Entry& entry) {
    const std::size_t mask = slots_.size() - 1;
    std::size_t hole = entry.hash & mask;
    while (slots_[hole].index != entry.index) hole = (hole + 1) & mask;
    for (std::size_t i = (hole + 1) & mask; slots_[i].index != kFree; i = (i + 1) & mask) {
        const std::size_t home = entry_at(slots_[i].index).hash & mask;
        if (((i - home) & mask) >= ((i - hole) & mask)) {
            slots_[hole] = slots_[i];
            hole = i;
        }
    }
    slots_[hole] = Slot{};
    bytes_ -= entry.bytes;
    --used_;
    free_.push_back(entry.index);
    entry = Entry{};
}

void SubjectTable::evict(std::size_t budget) {
    // A clock: one round spares what was touched since the last one, a second round does not.
    for (std::size_t steps = std::size_t{2} * made_; bytes_ > budget && steps > 0; --steps) {
        hand_ = (hand_ + 1) % made_;
        Entry& entry = entry_at(hand_);
        if (!entry.used || entry.dirty) continue;
        if (entry.touched) {
            entry.touched = false;
            continue;
        }
        whole_ = whole_ && entry.erased;
        remove(entry);
    }
}

}  // namespace trueup::core
