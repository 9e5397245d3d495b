// The statements that make a table fit to be watched and written, for an administrator of the
// server: most of what judge_table asks for one after another, at once. Pure.
#pragma once

#include "connectors/postgres/settings.h"
#include "connectors/postgres/table_check.h"

#include <string>
#include <vector>

namespace trueup::connectors::postgres {

/// As whom it is read and written, and what is set.
struct Access {
    std::string role;
    bool replicates = false;           ///< it may already
    std::vector<std::string> columns;  ///< that rules set
};

/// In the order in which they have to be run; some end with a comment, and those that change the
/// server for all of its users are comments. Empty: nothing is missing.
std::vector<std::string> preparation(const TableCheck& table, const Settings& settings,
                                     const Access& access);

}  // namespace trueup::connectors::postgres
