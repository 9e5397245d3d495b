// Subjects in the order of their keys: pages over rows and cache together, and dirty rows as they
// are handed out.
#include "engine/core/row.h"
#include "engine/core/subject_table.h"

#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <string>
#include <utility>

namespace trueup::core {

namespace {

bool by_key(const SubjectTable::Entry* a, const SubjectTable::Entry* b) {
    return a->subject.key < b->subject.key;
}

/// Something whose key outlives it.
template <typename What>
struct Keyed {
    std::string_view key;
    What what;
    std::uint64_t number = 0;
};

/// Keys mostly begin alike: what follows the part that all share is compared as a number first.
template <typename What>
void sort_by_key(std::vector<Keyed<What>>& all) {
    if (all.empty()) return;
    std::string_view shared = all.front().key;
    for (const Keyed<What>& each : all) {
        const auto [own, other] =
            std::mismatch(shared.begin(), shared.end(), each.key.begin(), each.key.end());
        shared = shared.substr(0, static_cast<std::size_t>(own - shared.begin()));
    }
    for (Keyed<What>& each : all) {
        for (std::size_t i = 0; i < sizeof each.number; ++i) {
            const std::size_t at = shared.size() + i;
            const bool there = at < each.key.size();
            each.number =
                each.number << 8U | (there ? static_cast<unsigned char>(each.key[at]) : 0U);
        }
    }
    std::sort(all.begin(), all.end(), [](const Keyed<What>& a, const Keyed<What>& b) {
        return a.number != b.number ? a.number < b.number : a.key < b.key;
    });
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
    if (unsaved_.empty() || unsaved_.back().size() == kRun) {
        sort_unsaved();
        unsaved_.emplace_back();
        sorted_ = 0;
    }
    unsaved_.back().push_back(&entry);
}

void SubjectTable::sort_unsaved() {
    if (unsaved_.empty() || sorted_ == unsaved_.back().size()) return;
    Run& run = unsaved_.back();
    const auto news = run.begin() + static_cast<std::ptrdiff_t>(sorted_);
    std::vector<Keyed<Entry*>> order;
    order.reserve(run.size() - sorted_);
    for (auto each = news; each != run.end(); ++each)
        order.push_back({(*each)->subject.key, *each});
    sort_by_key(order);
    std::transform(order.begin(), order.end(), news, [](const auto& each) { return each.what; });
    std::inplace_merge(run.begin(), news, run.end(), by_key);
    sorted_ = run.size();
}

SubjectTable::Merge SubjectTable::unsaved_after(std::string_view after) {
    sort_unsaved();
    Merge merge;
    for (const Run& run : unsaved_) merge.add(run, after);
    return merge;
}

/// Adds the entries of the rows of one page. A key is looked up some keys after it was seen: by
/// then its entry is on its way from memory.
void SubjectTable::add_page(std::string_view after, std::size_t limit, Run& rows) {
    std::vector<std::string> keys;
    keys.reserve(kMostAhead);
    std::vector<std::pair<std::size_t, std::string>> missed;
    const auto find_all = [&] {
        std::array<std::string_view, kMostAhead> views;
        std::array<Entry*, kMostAhead> seem{};
        std::copy(keys.begin(), keys.end(), views.begin());
        prefetch(std::span(views).first(keys.size()), seem);
        for (std::size_t i = 0; i < keys.size(); ++i) {
            const std::string& key = keys[i];
            const bool sure = seem[i] != nullptr && seem[i]->subject.key == key;
            Entry* entry = sure ? seem[i] : lookup(key, hash64(key));
            if (entry == nullptr) missed.emplace_back(rows.size(), key);
            rows.push_back(entry);
        }
        keys.clear();
    };
    rows_->each_after(after, limit, [&](std::string_view key, std::string_view bytes) {
        if (!seems_cached(key)) insert_row(key, hash64(key), bytes);
        keys.emplace_back(key);
        if (keys.size() == kMostAhead) find_all();
    });
    find_all();
    // What seemed to be one of these is another one: its row was passed over, and is read singly.
    for (const auto& [place, key] : missed) {
        const std::optional<std::string> row = rows_->load(key);
        if (row) rows[place] = &insert_row(key, hash64(key), *row);
    }
    if (!missed.empty()) std::erase(rows, nullptr);  // one that could not be read stops the shard
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
        add_page(cursor, limit, rows);
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

/// Puts the dirty entries in the order of their keys.
void SubjectTable::sort_dirty() {
    constexpr std::size_t kAhead = 16;
    std::vector<Keyed<std::uint32_t>> order;
    order.reserve(dirty_.size());
    for (std::size_t i = 0; i < dirty_.size(); ++i) {
        if (i + kAhead < dirty_.size()) {
            __builtin_prefetch(&entry_at(dirty_[i + kAhead]).subject.key);
        }
        order.push_back({entry_at(dirty_[i]).subject.key, dirty_[i]});
        __builtin_prefetch(order.back().key.data());
    }
    sort_by_key(order);
    for (std::size_t i = 0; i < order.size(); ++i) dirty_[i] = order[i].what;
}

void SubjectTable::take_dirty(Hash128& digest, const TakeRow& take) {
    constexpr std::size_t kNearest = 4;
    sort_dirty();
    const auto at = [this](std::size_t i) -> Entry& { return entry_at(dirty_[i]); };
    std::string row;
    for (std::size_t i = 0; i < dirty_.size(); ++i) {
        prefetch_behind(i, dirty_.size(), at);
        if (i + kNearest < dirty_.size()) prefetch_objects(at(i + kNearest));
        Entry& entry = at(i);
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
    sorted_ = 0;
}

}  // namespace trueup::core
