// The one table of a world, its write-ahead log and its replication slots.
//
// A commit is visible, in the log and durable at one instant; LSNs advance by the rough size of
// what was written. The log is kept as far back as any slot may still need it.
//
// Not thread-safe; World's mutex guards it.
#pragma once

#include "sandbox/records.h"

#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>

namespace trueup::sandbox {

struct StoredRow {
    Values values;
    std::uint32_t xmin = 0;
};

/// A change that is yet to be committed.
struct PendingChange {
    char kind = 'I';
    std::string pk;  ///< of I, U, D: the row it is about
    Row columns;     ///< of I and U: what to set
};

class TableServer {
  public:
    TableServer(const WorldSettings& settings, std::vector<Record>& records);

    const std::map<std::string, StoredRow>& rows() const { return rows_; }
    const std::deque<Commit>& log() const { return log_; }
    ports::Lsn lsn() const { return lsn_; }
    std::map<std::string, Slot>& slots() { return slots_; }
    /// The position of a column; nullopt: no such column.
    std::optional<std::size_t> column(const std::string& name) const;
    std::size_t pk_column() const { return pk_column_; }
    Row named(const ports::SqlRow& values) const;

    /// The next value of the key's sequence; like one, it does not roll back.
    std::string next_pk() { return std::to_string(next_pk_++); }

    /// Applies the changes as one transaction; changes of rows that are not there are left out.
    /// Returns how many rows it touched; 0 commits nothing.
    std::size_t commit(const std::vector<PendingChange>& changes, std::int64_t wall_ms);

    /// Something else was written: the log grows, the table does not change.
    void write_elsewhere(std::size_t bytes);

    /// Takes the table out of its publication, or puts it back.
    void publish(bool yes);
    bool published() const { return published_; }
    /// Another text after each time (ports::Inspect). A real server's is another one after a
    /// TRUNCATE, too.
    std::string publication() const { return std::to_string(alterations_); }
    /// Was it committed while the table was published? Otherwise no stream shows it, ever.
    bool is_published(const Commit& commit) const {
        return !unpublished_.contains(commit.commit_lsn);
    }

    Slot& make_slot(const std::string& name);
    void drop_slot(const std::string& name);
    void confirm(Slot& slot, ports::Lsn flushed);
    void lose(Slot& slot);
    /// The server crashed: each slot is where it was last saved.
    void rewind_slots();
    /// The last commits (kMostLost at most) never were: rows, positions and transaction ids are as
    /// before them. There must be no slot.
    void rewind(std::size_t commits);

    void apply(const Commit& commit);
    void apply(const WalMark& mark);
    void apply(const Slot& slot);
    void apply(const SlotDropped& dropped);

  private:
    static constexpr std::size_t kMostLost = 64;
    /// What a commit found.
    struct Undo {
        std::map<std::string, std::optional<StoredRow>> rows;  ///< those that it touched
        ports::Lsn lsn = 0;
        std::uint32_t xid = 0;
    };
    Undo undo_of(const Commit& commit) const;
    std::optional<RowChange> resolve(const PendingChange& change,
                                     std::map<std::string, Values>& view) const;
    const std::string& pk_of(const ports::SqlRow& values) const { return *values[pk_column_]; }
    void trim();

    const WorldSettings& settings_;
    std::vector<Record>& records_;
    std::size_t pk_column_;
    std::map<std::string, StoredRow> rows_;
    std::deque<Commit> log_;
    std::deque<Undo> undo_;  ///< of the newest commits
    std::map<std::string, Slot> slots_;
    bool published_ = true;
    std::uint64_t alterations_ = 0;
    std::set<ports::Lsn> unpublished_;  ///< positions of commits
    ports::Lsn lsn_ = 0x1500000;
    std::uint32_t next_xid_ = 730;
    std::uint64_t next_pk_ = 1;
};

}  // namespace trueup::sandbox
