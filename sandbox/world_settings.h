// How a world of the sandbox is made: its namespace, its one table, and the times and sizes that
// its servers go by. Plain values.
#pragma once

#include "engine/base/time.h"
#include "engine/ports/sql.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace trueup::sandbox {

/// Columns by name; nullopt is SQL null. A row handed to `insert_row` may leave columns out.
using Row = std::map<std::string, std::optional<std::string>>;
/// What a row has in a column; nullptr: there is no such column.
using ColumnOf = std::function<const std::optional<std::string>*(const std::string& column)>;

struct Column {
    std::string name;
    std::uint32_t type_oid = 25;  ///< text
};

/// The columns of public.instances.
std::vector<Column> instance_columns();

struct WorldSettings {
    std::string name_space = "graph";
    std::string other_name_space = {};  ///< pods lie there as well; a name is in one of them only
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
