// How a source is, as its connector last saw it. Plain values.
#pragma once

#include <cstdint>
#include <string>

namespace trueup::ports {

/// What a database keeps for us.
struct SlotState {
    std::string wal_status;            ///< reserved, extended, unreserved or lost; empty: no word
    std::uint64_t retained_bytes = 0;  ///< of WAL, since the slot's restart position
};

/// How a source is, for /readyz and the log.
struct SourceHealth {
    bool answering = false;      ///< the last exchange succeeded
    std::string trouble;         ///< one sentence while it does not; empty otherwise
    std::uint64_t failures = 0;  ///< exchanges that failed since the start
    std::uint64_t epochs = 0;    ///< complete epochs read since the start
    std::string remark = {};     ///< what is well, and may end badly; said once in the log
    SlotState slot = {};         ///< of a source that has one, as of the last minute
};

}  // namespace trueup::ports
