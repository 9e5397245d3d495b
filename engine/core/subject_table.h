// The subjects of one shard: a write-back cache over the projection's rows.
//
// The fold reads and writes subjects here and never sees a store. Cold rows come through `Rows`,
// which the runtime implements over the projection; what the fold gets back depends on the journal
// alone, never on what happens to be cached or saved (invariant R1), so replays agree.
//
// Not thread-safe. Pointers stay valid until `evict`, `take_dirty` or the destructor: entries lie
// in chunks that never move, so that the way from a key to its subject is short (measured: most of
// a fold's time is waiting for memory).
#pragma once

#include "engine/base/id.h"
#include "engine/model/subject.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace trueup::core {

/// Where cold rows come from. Answers must be those of the last rows that were taken by
/// `take_dirty`. An implementation that cannot read its rows must not return: it stops the shard.
class Rows {
  public:
    virtual ~Rows() = default;
    /// The row's bytes, or nullopt when there is none.
    virtual std::optional<std::string> load(std::string_view key) = 0;
    /// Is shown the row of each key, or that there is none; valid during the call.
    using VisitRow =
        std::function<void(std::string_view key, std::optional<std::string_view> bytes)>;
    /// The same for many keys, ascending and each once.
    virtual void load_many(const std::vector<std::string_view>& keys, const VisitRow& visit) {
        for (const std::string_view key : keys) {
            const std::optional<std::string> row = load(key);
            visit(key, row ? std::optional<std::string_view>(*row) : std::nullopt);
        }
    }
    /// Is shown a row, which is valid during the call.
    using Visit = std::function<void(std::string_view key, std::string_view bytes)>;
    /// Shows up to `limit` rows whose keys are above `after`, ascending.
    virtual void each_after(std::string_view after, std::size_t limit, const Visit& visit) = 0;
};

/// Rows of a shard that has none outside its cache.
class NoRows final : public Rows {
  public:
    std::optional<std::string> load(std::string_view) override { return std::nullopt; }
    void each_after(std::string_view, std::size_t, const Visit&) override {}
};

class SubjectTable {
  public:
    struct Entry {
        Subject subject;
        Hash128 row_hash;          ///< of the row as last taken; none: no row yet
        std::uint64_t hash = 0;    ///< of the key
        bool dirty = false;        ///< differs from its row
        bool erased = false;       ///< gone (dirty: its row is still to be removed), or never there
        std::uint32_t marked = 0;  ///< its place among those to be judged at the end of this
                                   ///< record, from 1; 0: it is none of them
        bool woken = false;        ///< one of its waits was taken out of the table of waits
        bool used = false;         ///< holds a subject; false: a free place
        bool touched = false;      ///< used since the last eviction round
        std::uint32_t index = 0;   ///< its place in the table
        std::uint32_t bytes = 0;   ///< about what it takes in memory
    };
    /// Is given a row to be written, or to be removed: without bytes. Views of the call only.
    using TakeRow = std::function<void(std::string_view key, std::optional<std::string_view> row)>;

    /// `rows` must outlive the table.
    explicit SubjectTable(Rows& rows) : rows_(&rows) {}

    /// The subject, or nullptr when there is none.
    Entry* find(std::string_view key);
    /// The subject, made empty and dirty when there is none.
    Entry& at(std::string_view key);
    /// Remembers that the row must be written again.
    void mark_dirty(Entry& entry);
    /// Finds out anew what the subject takes in memory, once it has changed for now.
    void weigh(Entry& entry);
    void erase(Entry& entry);

    /// Puts a row in that the caller loaded ahead. nullopt: it looked, and there is none; that is
    /// remembered too. Ignored when the subject is cached already.
    void preload(std::string_view key, std::optional<std::string_view> bytes);
    /// Loads those of these that are not cached, all at once: much cheaper than one by one.
    void read_ahead(const std::vector<std::string>& keys);
    /// The caller saw to it that each row has its subject here: from now on who is not here is
    /// nobody, and no row is asked for, until the first one is dropped.
    void now_whole() { whole_ = true; }
    bool whole() const { return whole_; }
    bool cached(std::string_view key) const;
    /// The same by hash alone and without waiting for memory: almost never wrongly true.
    bool seems_cached(std::string_view key) const;
    static constexpr std::size_t kMostAhead = 32;
    /// Has the processor fetch what `find` of these keys, kMostAhead at most, is going to touch.
    /// `seems`: what each of them seems to be, by its hash; nullptr: nothing.
    void prefetch(std::span<const std::string_view> keys,
                  std::span<Entry*, kMostAhead> seems) const;
    /// For who goes through entries, of which `at` names each by its place, and is at the `i`th of
    /// `count`: the same for those a little behind it, and then for their facets.
    template <typename At>
    static void prefetch_behind(std::size_t i, std::size_t count, At&& at) {
        constexpr std::size_t kFar = 16;
        constexpr std::size_t kNear = 8;
        if (i + kFar < count) prefetch(at(i + kFar));
        if (i + kNear < count) prefetch_facets(at(i + kNear));
    }
    /// As `find`; cheaper where `seems` is the one. It is nullptr or an entry of this table.
    Entry* find(std::string_view key, Entry* seems);

    /// Up to `limit` subjects whose keys are above `after`, ascending, over rows and cache
    /// together.
    std::vector<Entry*> after(std::string_view after, std::size_t limit);

    /// Hands out every dirty row, ascending by key, updates `digest` by it, and considers them
    /// written: the caller must store them before the table reads again.
    void take_dirty(Hash128& digest, const TakeRow& take);

    /// Drops clean subjects until the table takes about `budget` bytes at most.
    void evict(std::size_t budget);
    std::size_t bytes() const { return bytes_; }
    std::size_t dirty_bytes() const { return dirty_bytes_; }
    std::size_t size() const { return used_; }

    /// Visits every cached subject that is not erased, in no particular order.
    template <typename Visitor>
    void each_cached(Visitor&& visit) const {
        for (std::uint32_t i = 0; i < made_; ++i) {
            const Entry& entry = entry_at(i);
            if (entry.used && !entry.erased) visit(entry.subject);
        }
    }

    /// Visits every subject, in no particular order: those that are not cached are read from their
    /// rows, each time. For who looks at all of them at leisure.
    void each(const std::function<void(const Subject&)>& visit) const;

  private:
    static constexpr std::uint32_t kFree = 0xffffffff;
    static constexpr std::uint32_t kChunk = 256;  ///< entries
    /// Entries in the order of their keys, few enough to be sorted within one record.
    using Run = std::vector<Entry*>;
    static constexpr std::size_t kRun = 4096;
    class Merge;
    struct Slot {
        std::uint32_t tag = 0;
        std::uint32_t index = kFree;
    };

    Entry* lookup(std::string_view key, std::uint64_t hash) const;
    Entry& entry_at(std::uint32_t index) const { return chunks_[index / kChunk][index % kChunk]; }
    Entry& insert(Subject subject, std::uint64_t hash);
    Entry& insert_row(std::string_view key, std::uint64_t hash, std::string_view bytes);
    void add_page(std::string_view after, std::size_t limit, Run& rows);
    void remove(Entry& entry);
    void add_unsaved(Entry& entry);
    void sort_unsaved();
    Merge unsaved_after(std::string_view after);
    void sort_dirty();
    static void prefetch(const Entry& entry);
    static void prefetch_facets(const Entry& entry);
    static void prefetch_objects(const Entry& entry);
    void grow();
    void place(std::uint64_t hash, std::uint32_t index);

    Rows* rows_;
    std::vector<Slot> slots_;
    std::vector<std::unique_ptr<Entry[]>> chunks_;
    std::uint32_t made_ = 0;  ///< entries in the chunks, free ones included
    std::vector<std::uint32_t> free_;
    std::vector<std::uint32_t> dirty_;  ///< indexes of dirty entries
    std::vector<Run> unsaved_;          ///< dirty ones without a row
    std::size_t sorted_ = 0;            ///< of the last run; the others are in order
    std::size_t used_ = 0;
    bool whole_ = false;  ///< no row is without its subject here
    std::size_t bytes_ = 0;
    std::size_t dirty_bytes_ = 0;
    std::uint32_t hand_ = 0;  ///< where the next eviction round goes on
};

}  // namespace trueup::core
