// The records of a log (log.h): where they lie, what goes in, and what comes out. Plain values;
// what a Record points into belongs to its Fetched.
#pragma once

#include "engine/base/id.h"
#include "engine/base/time.h"
#include "engine/model/headers.h"
#include "engine/model/topic.h"

#include <cstddef>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
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

/// What one append writes, in order. Shared and never changed: who appends and who writes keep the
/// same records until they have an answer, and nobody copies them.
class Entries {
  public:
    Entries() = default;
    // NOLINTNEXTLINE(google-explicit-constructor)
    Entries(std::vector<Entry> entries)
        : entries_(std::make_shared<const std::vector<Entry>>(std::move(entries))) {}
    Entries(std::initializer_list<Entry> entries) : Entries(std::vector<Entry>(entries)) {}

    bool empty() const { return size() == 0; }
    std::size_t size() const { return entries_ ? entries_->size() : 0; }
    const Entry& operator[](std::size_t i) const { return (*entries_)[i]; }
    const Entry* begin() const { return entries_ ? entries_->data() : nullptr; }
    const Entry* end() const { return begin() + size(); }

  private:
    std::shared_ptr<const std::vector<Entry>> entries_;
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
