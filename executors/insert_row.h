// Inserts a row of a key that no row has. Two executors may have the command, and its owner may
// insert the row itself at the same moment: a unique index on the key's column keeps them apart,
// which `config check` asks for.
//
// The other sides of the read set are read live, then all rows that have the key, or may mean it.
// The INSERT looks for them once more in the statement itself.
//
//   one row has all values already       already_done
//   any other row, or several            refused
//   0 rows inserted                      the whole round again
//   connection lost after the INSERT     read back
#pragma once

#include "executors/write_target.h"

#include <memory>

namespace trueup::executors {

/// The command's action is kInsertRow, and its target's source is one of `access.sources.rows`.
std::unique_ptr<WriteTarget> insert_row(const TargetAccess& access);

}  // namespace trueup::executors
