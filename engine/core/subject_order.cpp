// Subjects in the order of their keys: pages over rows and cache together, and dirty rows as they
// are handed out.
#include "engine/core/row.h"
#include "engine/core/subject_table.h"

#include <algorithm>

namespace trueup::core {

namespace {

bool by_key(const SubjectTable::Entry* a, const SubjectTable::Entry* b) {
    return a->subject.key < b->subject.key;
}

}  // namespace

/// Steps through several runs as if they were one.
class SubjectTable::Merge {
  public:
    void add(const Run& run, std::string_view after) {
        const auto from = std::upper_bound(
            run.begin(), run.end(), after,
            [](std::string_view key, const Entry* entry) { return key < entry->subject.key; });
        if (from == run.end()) return;
        parts_.push_back({from, run.end()});
        std::push_heap(parts_.begin(), parts_.end(), later);
    }
    bool done() const { return parts_.empty(); }
    Entry* entry() const { return *parts_.front().next; }
    void step() {
        std::pop_heap(parts_.begin(), parts_.end(), later);
        if (++parts_.back().next == parts_.back().end) return parts_.pop_back();
        std::push_heap(parts_.begin(), parts_.end(), later);
    }

  private:
    struct Part {
        Run::const_iterator next;
        Run::const_iterator end;
    };
    static bool later(const Part& a, const Part& b) { return by_key(*b.next, *a.next); }
    std::vector<Part> parts_;
};

/// Each record sorts what it brings: one that sorted everything would hold up the shard.
void SubjectTable::add_unsaved(Entry& entry) {
    if (unsaved_.empty() || unsaved_.back().size() == kRun) unsaved_.emplace_back();
    Run& run = unsaved_.back();
    run.push_back(&entry);
    if (run.size() == kRun) std::sort(run.begin(), run.end(), by_key);
}

SubjectTable::Merge SubjectTable::unsaved_after(std::string_view after) {
    if (!unsaved_.empty()) std::sort(unsaved_.back().begin(), unsaved_.back().end(), by_key);
    Merge merge;
    for (const Run& run : unsaved_) merge.add(run, after);
    return merge;
}

std::vector<SubjectTable::Entry*> SubjectTable::after(std::string_view after, std::size_t limit) {
    Merge unsaved = unsaved_after(after);
    std::vector<Entry*> live;
    std::vector<Entry*> rows;
    std::string cursor(after);
    while (live.size() < limit) {
        // Rows and unsaved ones are merged up to the last row of this page: beyond it there may be
        // rows that were not read yet.
        rows.clear();
        rows_->each_after(cursor, limit, [&](std::string_view key, std::string_view bytes) {
            const std::uint64_t hash = hash64(key);
            Entry* known = lookup(key, hash);
            rows.push_back(known != nullptr ? known : &insert_row(key, hash, bytes));
        });
        const bool rows_end = rows.size() < limit;
        if (!rows_end) cursor = rows.back()->subject.key;
        auto row = rows.begin();
        while (row != rows.end() || (rows_end && !unsaved.done())) {
            const bool from_rows =
                row != rows.end() && (unsaved.done() || by_key(*row, unsaved.entry()));
            Entry* entry = from_rows ? *row++ : unsaved.entry();
            if (!from_rows) unsaved.step();
            // An erased subject counts as gone whether or not its row was removed yet (R1).
            if (entry->erased) continue;
            entry->touched = true;
            live.push_back(entry);
            if (live.size() == limit) return live;
        }
        if (rows_end) return live;
    }
    return live;
}

/// Puts the dirty entries in the order of their keys. Keys mostly begin alike: what follows the
/// part that all share is compared as a number first.
void SubjectTable::sort_dirty() {
    if (dirty_.empty()) return;
    constexpr std::size_t kAhead = 16;
    struct Place {
        std::uint64_t number;
        std::string_view key;
        std::uint32_t index;
    };
    std::vector<Place> order;
    order.reserve(dirty_.size());
    for (std::size_t i = 0; i < dirty_.size(); ++i) {
        if (i + kAhead < dirty_.size()) {
            __builtin_prefetch(&entry_at(dirty_[i + kAhead]).subject.key);
        }
        order.push_back({0, entry_at(dirty_[i]).subject.key, dirty_[i]});
        __builtin_prefetch(order.back().key.data());
    }
    std::string_view shared = order.front().key;
    for (const Place& place : order) {
        const auto [own, other] =
            std::mismatch(shared.begin(), shared.end(), place.key.begin(), place.key.end());
        shared = shared.substr(0, static_cast<std::size_t>(own - shared.begin()));
    }
    const auto number_of = [&](std::string_view key) {
        std::uint64_t number = 0;
        for (std::size_t i = 0; i < sizeof number; ++i) {
            const std::size_t at = shared.size() + i;
            const unsigned char byte = at < key.size() ? static_cast<unsigned char>(key[at]) : 0U;
            number = number << 8U | byte;
        }
        return number;
    };
    for (Place& place : order) place.number = number_of(place.key);
    std::sort(order.begin(), order.end(), [](const Place& a, const Place& b) {
        return a.number != b.number ? a.number < b.number : a.key < b.key;
    });
    for (std::size_t i = 0; i < order.size(); ++i) dirty_[i] = order[i].index;
}

void SubjectTable::take_dirty(Hash128& digest, const TakeRow& take) {
    sort_dirty();
    std::string row;
    for (std::size_t i = 0; i < dirty_.size(); ++i) {
        prefetch_dirty(i);
        Entry& entry = entry_at(dirty_[i]);
        const bool had_row = !entry.row_hash.none();
        if (had_row) digest -= entry.row_hash;
        if (entry.erased) {
            if (had_row) take(entry.subject.key, std::nullopt);
            remove(entry);
            continue;
        }
        row.clear();
        encode_subject(entry.subject, row);
        entry.row_hash = row_hash(entry.subject.key, row);
        digest += entry.row_hash;
        entry.dirty = false;
        take(entry.subject.key, row);
    }
    dirty_.clear();
    dirty_bytes_ = 0;
    unsaved_.clear();
}

/// What the rows a little behind `i` are made of is asked for early, layer by layer.
void SubjectTable::prefetch_dirty(std::size_t i) const {
    constexpr std::size_t kFar = 12;
    constexpr std::size_t kNear = 6;
    if (i + kFar < dirty_.size()) {
        const Entry& far = entry_at(dirty_[i + kFar]);
        const auto* facets = reinterpret_cast<const char*>(far.subject.facets.data());
        const std::size_t bytes = far.subject.facets.size() * sizeof(Facet);
        for (std::size_t line = 0; line < bytes; line += 64) __builtin_prefetch(facets + line);
    }
    if (i + kNear < dirty_.size()) {
        for (const Facet& facet : entry_at(dirty_[i + kNear]).subject.facets) {
            __builtin_prefetch(facet.object_id.data());
            __builtin_prefetch(facet.object.data());
            __builtin_prefetch(facet.object.data() + 64);
        }
    }
}

}  // namespace trueup::core
