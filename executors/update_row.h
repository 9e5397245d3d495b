// Sets columns of one row, compare-and-set (design §4.12, details 16; S24, S38).
//
// The other sides of the read set are read live, then the row by its primary key. The UPDATE
// carries the xmin just read and a guard for every column that the read set names, with the value
// that the command relies on, and for the correlation columns, so that any change in between
// affects no row.
//
//   the row has all values already    already_done
//   no such row, a hold, a predicate  refused
//   0 rows affected                   the whole round again
//   connection lost after the UPDATE  read back
#pragma once

#include "executors/write_target.h"

#include <memory>

namespace trueup::executors {

/// The command's action is kUpdateRow, and its target's source is one of `access.sources.rows`.
std::unique_ptr<WriteTarget> update_row(const TargetAccess& access);

}  // namespace trueup::executors
