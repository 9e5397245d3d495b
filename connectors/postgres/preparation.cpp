#include "connectors/postgres/preparation.h"

#include "connectors/postgres/correlation.h"

#include <algorithm>

namespace trueup::connectors::postgres {

std::vector<std::string> preparation(const TableCheck& table, const Settings& settings,
                                     const Access& access) {
    std::vector<std::string> all;
    const std::string name = quoted_table(settings.table);
    // What all of the server's users feel is for somebody to decide who knows them.
    if (table.wal_level != "logical") {
        all.emplace_back(
            "-- ALTER SYSTEM SET wal_level = logical;    -- needed; takes effect when the server "
            "is "
            "restarted");
    }
    if (table.keep_size == "-1") {
        all.emplace_back(
            "-- ALTER SYSTEM SET max_slot_wal_keep_size = '20GB';    -- advised: else WAL fills "
            "the "
            "disk while Trueup is down; then SELECT pg_reload_conf();");
    }
    const bool known = !table.identity.empty();
    if (known && !identity_suffices(table.identity.front(), table.pk_columns, settings)) {
        all.push_back("ALTER TABLE " + (table.identity_of.empty() ? name : table.identity_of) +
                      " REPLICA IDENTITY FULL;    -- UPDATE and DELETE log the whole old row" +
                      (table.partitioned ? "; the same of each partition" : ""));
    }
    const std::string publication = quote_identifier(settings.publication);
    if (table.coverage == "none") {
        all.push_back("CREATE PUBLICATION " + publication + " FOR TABLE " + name +
                      (table.partitioned ? " WITH (publish_via_partition_root = true);" : ";"));
    } else if (table.coverage == "f") {
        all.push_back("ALTER PUBLICATION " + publication + " ADD TABLE " + name + ";");
    } else if (table.coverage == "parts") {
        all.push_back("ALTER PUBLICATION " + publication +
                      " SET (publish_via_partition_root = true);");
    }
    const std::string role = quote_identifier(access.role);
    if (!access.replicates) all.push_back("ALTER ROLE " + role + " REPLICATION;");
    std::string missing;
    for (const std::string& column : access.columns) {
        const auto& all_updatable = table.updatable;
        if (std::find(all_updatable.begin(), all_updatable.end(), column) != all_updatable.end())
            continue;
        missing += (missing.empty() ? "" : ", ") + quote_identifier(column);
    }
    if (!missing.empty()) {
        all.push_back("GRANT UPDATE (" + missing + ") ON " + name + " TO " + role + ";");
    }
    return all;
}

}  // namespace trueup::connectors::postgres
