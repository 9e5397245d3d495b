// The live half of a table: decoded replication messages in, facts out.
//
// Protocol version 1 sends a transaction only after its commit, in commit order and with the commit
// LSN in its Begin, so that changes are published as they come and nothing is buffered. A change
// has version {commit LSN, ordinal among this table's changes in the transaction, from 1}; a
// transaction that is sent again yields the same facts.
//
// Invariants:
//   I1  A value that was not sent is never published as null.
//   I2  A change that cannot be published in full (unknown name, missing column) is never dropped
//       in silence: `hole()` then names a position that a later epoch must cover.
//   I3  Partitions write old rows as their own replica identity says, under the root's name and its
//       FULL: a null that may be one of a key tuple is no value.
#pragma once

#include "connectors/postgres/lsn.h"
#include "connectors/postgres/pgoutput.h"
#include "connectors/postgres/rows.h"
#include "connectors/postgres/settings.h"
#include "engine/model/fact.h"

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace trueup::connectors::postgres {

/// What a message meant beside the facts that it yielded.
struct StreamNote {
    Lsn commit_end = 0;             ///< a transaction ended here; 0: none did
    bool truncated = false;         ///< our table was emptied
    bool relation_changed = false;  ///< our table is described otherwise than before
    bool doubtful = false;          ///< a hole: what the server sent is less than it said
};

/// Keeps a reference to the settings. Not thread-safe.
class Stream {
  public:
    explicit Stream(const Settings& settings) : settings_(&settings) {}

    /// A new connection begins: half a transaction is forgotten, and the server describes each
    /// table again before its first change. A hole stays.
    void reconnect(std::vector<std::string> pk_columns, bool partitioned = false);
    /// The table's description at the server was read again; the next changes go by it.
    void replace_pk(std::vector<std::string> pk_columns, bool partitioned = false);

    /// An error says that the stream cannot be followed any further: reconnect.
    Result<StreamNote> take(const Payload& payload, std::vector<Fact>& out);

    bool in_transaction() const { return in_transaction_; }

    /// Commit LSN of the last change that could not be published; 0: none. An epoch whose as_of is
    /// beyond it mends the hole.
    Lsn hole() const { return hole_; }

    /// A complete epoch was read: mends a hole that it covers and drops the trouble of a
    /// description that may be outdated. Were it not, the next change would make a hole again.
    /// Of the commits before it the epoch has the last word: no row is there by one of them that
    /// the epoch does not list. False: not covered.
    bool covered_by(Lsn as_of);

    /// Why rows of the table cannot be followed now; empty when they can.
    const std::string& trouble() const { return trouble_; }

  private:
    struct Known {
        RelationMessage shape;  ///< its views are void; names are kept below
        std::string schema;
        std::string name;
        std::vector<std::string> columns;
    };

    Result<StreamNote> begin(const BeginMessage& message);
    Result<StreamNote> commit(const CommitMessage& message, std::vector<Fact>& out);
    Result<StreamNote> read(const Payload& payload, std::vector<Fact>& out);
    Result<StreamNote> describe(const RelationMessage& message);
    void describe_leaf(const RelationMessage& message);
    Result<StreamNote> insert(const InsertMessage& message, std::vector<Fact>& out);
    Result<StreamNote> update(const UpdateMessage& message, std::vector<Fact>& out);
    Result<StreamNote> erase(const DeleteMessage& message, std::vector<Fact>& out);
    Result<StreamNote> truncate(const TruncateMessage& message, std::vector<Fact>& out);

    static bool same_shape(const Known& a, const Known& b);
    void fit();
    bool is_ours(std::uint32_t relation) const { return ours_ && relation == ours_->shape.id; }
    /// Ours; an error when this connection never described such a table.
    Result<bool> concerns_us(std::uint32_t relation) const;
    /// Counts a change to our table; false when it cannot be read and became a hole.
    Result<bool> admit(std::initializer_list<const Tuple*> tuples);
    void skip() { hole_ = std::max(hole_, commit_lsn_); }
    Tuple known_cells(const OldTuple& old, const Tuple& row) const;
    bool whole(const OldTuple& old, const Tuple& row) const;
    Fact fact(Fact::Kind kind) const;
    void upsert(const Tuple& row, std::vector<Fact>& out);
    bool remove(const Tuple& old, std::vector<Fact>& out);

    const Settings* settings_;
    std::vector<std::string> pk_columns_;
    bool partitioned_ = false;
    bool ours_came_last_ = false;          ///< the last message described our table
    std::set<std::uint32_t> weak_leaves_;  ///< partitions that do not show which name a row had
    std::set<std::uint32_t> described_;    ///< tables that this connection described
    std::optional<Known> ours_;            ///< as last described, maybe by an earlier connection
    std::optional<RowMap> map_;
    std::string trouble_;
    bool in_transaction_ = false;
    Lsn commit_lsn_ = 0;
    std::uint64_t ordinal_ = 0;
    SourceTime commit_time_{};
    Lsn hole_ = 0;
    Lsn copied_ = 0;  ///< as_of of the last complete epoch
};

}  // namespace trueup::connectors::postgres
