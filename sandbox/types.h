// The values of the sandbox: pods, rows, effects and the settings of a world.
#pragma once

#include "engine/base/time.h"
#include "engine/ports/database.h"
#include "engine/ports/selector.h"

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace trueup::sandbox {

using ports::Labels;

/// One version of a pod, as stored at `resource_version`.
struct Pod {
    std::string name_space;
    std::string name;
    std::string uid;
    Labels labels;
    Labels annotations;
    std::vector<std::string> finalizers;
    std::string phase;
    std::string node;                         ///< empty: not scheduled
    std::int64_t created_ms = 0;              ///< wall clock, ms since 1970
    std::optional<std::int64_t> deletion_ms;  ///< set: terminating; when the grace is over
    std::int64_t grace_seconds = 0;           ///< of a terminating pod; 0: the kubelet is done
    std::int64_t own_grace_seconds = 30;      ///< its terminationGracePeriodSeconds
    std::uint64_t resource_version = 0;
};

/// Columns by name; nullopt is SQL null. A row handed to `insert_row` may leave columns out.
using Row = std::map<std::string, std::optional<std::string>>;
/// What a row has in a column; nullptr: there is no such column.
using ColumnOf = std::function<const std::optional<std::string>*(const std::string& column)>;

struct Column {
    std::string name;
    std::uint32_t type_oid = 25;  ///< text
};

/// A write that came through a port and reached the server, accepted or refused.
struct Effect {
    enum class Kind : std::uint8_t { kDelete, kUpdate };
    Kind kind = Kind::kDelete;
    bool accepted = false;
    std::string why;  ///< of a refusal: "404", "409 uid", "409 resourceVersion", "xmin" …
    std::int64_t wall_ms = 0;
    // A DELETE: its name, its preconditions and its grace.
    std::string name;
    std::string uid;
    std::string resource_version;
    std::optional<std::uint32_t> grace_seconds;
    // An UPDATE: its key, its preconditions and what it set.
    std::string pk;
    std::string xmin;
    std::vector<ports::ColumnValue> guards;
    std::vector<ports::ColumnValue> sets;
};

struct RowTruth {
    std::string pk;
    Row columns;
    std::string xmin;
};

/// What is so, whatever any client believes.
struct Truth {
    std::uint64_t resource_version = 0;
    ports::Lsn lsn = 0;
    std::vector<Pod> pods;       ///< by namespace and name
    std::vector<RowTruth> rows;  ///< by primary key text
};

/// The columns of public.instances.
std::vector<Column> instance_columns();

struct WorldSettings {
    std::string name_space = "graph";
    Millis bookmark_interval{60'000};
    std::size_t watch_window = 10'000;  ///< events kept; an older RV gets 410
    std::size_t chunk_bytes = 16'384;   ///< bodies are cut into pieces of this size
    Millis termination_time{2'000};     ///< what a kubelet takes, at most the pod's grace

    ports::Table table{"public", "instances"};
    std::vector<Column> columns = instance_columns();
    std::string pk_column = "id";
    std::string publication = "trueup";
    char replica_identity = 'f';      ///< f: full, d: the primary key
    std::size_t toast_bytes = 2'000;  ///< longer values that did not change are sent as 'u'
    std::size_t copy_batch = 500;     ///< rows per event of a copy
    Millis wal_sender_timeout{60'000};

    /// Evaluates a key expression over a row, the way the database would; nullopt is null. Without
    /// it only a plain column name is understood, and the name in a column
    /// (engine/world/row_text.h).
    std::function<std::optional<std::string>(const std::string& expression,
                                             const ColumnOf& column_of)>
        evaluate_key;

    /// May `poll` block for `max_wait`? A single thread that owns clock and ports says no.
    bool block_in_poll = true;
};

}  // namespace trueup::sandbox
