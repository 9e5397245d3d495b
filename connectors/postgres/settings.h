// What a PostgreSQL source is told by the configuration.
#pragma once

#include "connectors/postgres/correlation.h"
#include "engine/base/time.h"
#include "engine/model/role.h"
#include "engine/ports/fields.h"
#include "engine/ports/sql.h"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace trueup::connectors::postgres {

/// Waits between failed attempts double from `first` to `most`, less a random part of up to half.
struct Backoff {
    Millis first{500};
    Millis most{30000};
};

struct Settings {
    ports::Table table;
    std::string slot;
    std::string publication;
    std::vector<std::string> columns;  ///< published ones; at least one
    Correlation correlate;
    std::string subject_prefix = "graph-instances/";  ///< `<policy>/`; `!<source>/`: references
    std::string source_name;
    /// A column whose value, when it is not null, empty, f, false, off, no, n or 0, is a veto: the
    /// object then carries the field `hold` = "true". Empty: there is none.
    std::string veto_column = {};
    /// As what the policy reads columns; of others nothing is asked.
    std::map<std::string, policy::Field> types = {};
    ports::FieldPolicy fields = {};             ///< how each of the columns is published
    std::vector<std::string> primary_key = {};  ///< of a query: what tells its rows apart
    bool emit_message = false;                  ///< prove progress with a WAL message of our own
    Backoff backoff = {};
    std::uint64_t jitter_seed = 0;
};

/// "public.instances", the first part of every object id; of a query "query.<source>".
std::string table_text(const ports::Table& table);
/// The same with quoted parts, for SQL that an operator is asked to run.
std::string quoted_table(const ports::Table& table);

}  // namespace trueup::connectors::postgres
