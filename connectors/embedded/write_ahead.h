// Is RocksDB's write-ahead log whole? RocksDB holds each record against its checksum, but takes a
// record for the end of the log, and says nothing, whose damaged header gives a length beyond the
// file's end or a type that only recycled logs have. Whatever stands behind it would be lost.
//
// Source of the format: RocksDB's wiki, "Write Ahead Log File Format" (blocks of 32 KiB, records
// with a header of 7 bytes that do not cross them). Logs are not recycled here.
#pragma once

#include "engine/base/result.h"

#include <string>

namespace trueup::connectors {

enum class Sums : bool {
    kAtTheEnd,  ///< reads headers only, where nothing is wrong
    kAll        ///< finds the place of what RocksDB has refused already
};

/// Looks at each log in the folder of a RocksDB that is not open; there may be none. What a crash
/// cut off in the middle of the last record is no damage, nor are zeros where the next one would
/// begin.
///
/// kStop: damaged; says in which file and at which byte.
Status check_write_ahead(const std::string& folder, Sums sums);

}  // namespace trueup::connectors
