// Is a table fit to be watched? Reads the answer to ports::Inspect and judges it against the
// settings. The connector asks at each connect and once a minute; `config check` asks once.
#pragma once

#include "connectors/postgres/settings.h"
#include "engine/ports/source_health.h"

#include <map>
#include <string>
#include <vector>

namespace trueup::connectors::postgres {

/// The answer to ports::Inspect. An empty `identity` says that there is no such table.
struct TableCheck {
    std::string system_id;
    std::string timeline;
    std::string identity;  ///< d n f i, of partitions the weakest; u: not in the WAL
    std::vector<std::string> pk_columns;
    std::string coverage;  ///< t, f, or what is amiss: none, rows, kinds, children, parts
    std::string wal_level;
    std::vector<std::string> updatable;   ///< columns that the role may update
    std::vector<std::string> insertable;  ///< and insert
    std::vector<std::string> required;    ///< a row that is inserted has to give them
    std::vector<std::string> sequences;   ///< that fill columns, and may not be used; quoted
    std::string identity_of;              ///< the partition that has it, quoted; empty: the table
    bool partitioned = false;
    std::map<std::string, std::string> types;  ///< by column, as SQL names them; empty: not known
    std::vector<std::string> generated;        ///< columns that replication does not send
    std::string keep_size;                     ///< max_slot_wal_keep_size; empty: not known
    ports::SlotState slot;
    std::string
        published;  ///< another text once the table, the publication or its part was altered

    /// Two servers with one history have the same text.
    std::string server() const { return system_id + "/" + timeline; }
};

Result<TableCheck> read_table_check(const ports::SqlRow& row);

/// Can what a query says be read as what the policy says that it is? By the row that begins its
/// answer (ports::CopyTable).
Status judge_moment(const ports::SqlRow& moment, const Settings& settings);

/// Ok, or an error of kStop that says in one sentence what is wrong and which statement mends it.
Status judge_table(const TableCheck& table, const Settings& settings);

/// May deletes and updates be followed with this replica identity? The old row must be sent unless
/// the name that it claimed follows from its primary key.
bool identity_suffices(char identity, const std::vector<std::string>& pk_columns,
                       const Settings& settings);
/// The sentence for when it does not. `place`: the partition, quoted, whose it is.
std::string identity_trouble(const Settings& settings, const std::string& place = {});

/// What the server's settings leave open though the table is fit; empty: nothing.
std::string slot_remark(const TableCheck& table, const Settings& settings);

}  // namespace trueup::connectors::postgres
