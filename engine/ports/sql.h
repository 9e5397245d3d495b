// What is said of a PostgreSQL database wherever one is spoken of: positions of its log, rows,
// tables, and what a column has. Plain values.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace trueup::ports {

using Lsn = std::uint64_t;
/// One row of text values; nullopt is SQL null.
using SqlRow = std::vector<std::optional<std::string>>;

/// A table by its parts, quoted by the transport.
struct Table {
    std::string schema = "public";
    std::string name;
    /// A SELECT that is read in its place, and only read; the parts are what it is called. Its rows
    /// have no `xmin`: it is "".
    std::string query = {};
};

/// One column with the value that it has or gets.
struct ColumnValue {
    std::string column;
    std::optional<std::string> value;
};

}  // namespace trueup::ports
