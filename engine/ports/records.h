// The records of a log (log.h): where they lie, what goes in, and what comes out. Plain values;
// what a Record points into belongs to its Fetched.
#pragma once

#include "engine/base/id.h"
#include "engine/base/time.h"
#include "engine/model/headers.h"
#include "engine/model/topic.h"

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace trueup::ports {

struct Partition {
    Topic topic = Topic::kUnspecified;
    PartitionNumber index;
    auto operator<=>(const Partition&) const = default;
};

struct Entry {
    std::string key;
    std::string value;
    Headers headers = {};
};

struct Appended {
    Offset first_offset;
    Offset last_offset;
    BrokerTime append_time{};  ///< of the last record
};

struct Record {
    Offset offset;
    BrokerTime append_time{};
    std::string_view key;
    std::string_view value;
};

/// Records and the bytes that they point into.
struct Fetched {
    std::vector<Record> records;
    /// Keeps the views alive; not beyond the log.
    std::vector<std::shared_ptr<const void>> storage;
    Offset next_offset;  ///< where to read on
};

struct Extent {
    Offset first_offset;  ///< the oldest that can be read
    Offset next_offset;   ///< the one that the next record gets, at least
};

}  // namespace trueup::ports
