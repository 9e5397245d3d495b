// What the tests of logs write and how they read it back.
#pragma once

#include "engine/ports/log.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace trueup::ports {

inline constexpr Partition kJournal0{Topic::kJournal, PartitionNumber(0)};
inline constexpr Partition kJournal1{Topic::kJournal, PartitionNumber(1)};
inline constexpr Partition kPods0{Topic::kChangesPods, PartitionNumber(0)};
inline constexpr std::size_t kPlenty = std::size_t{64} << 20U;
inline constexpr Millis kForEver{60000};

/// `count` entries with the values `name.0`, `name.1` ...
inline std::vector<Entry> unit_of(const std::string& name, int count) {
    std::vector<Entry> entries;
    for (int i = 0; i < count; ++i) entries.push_back({name, name + "." + std::to_string(i)});
    return entries;
}

/// A record that outlives its storage.
struct Seen {
    Offset offset;
    BrokerTime time;
    std::string key;
    std::string value;
    bool operator==(const Seen&) const = default;
};

/// Everything from `from` to the end, in reads of `max_bytes`.
inline std::vector<Seen> read_all(Log& log, Partition partition, Offset from = kFirstOffset,
                                  std::size_t max_bytes = kPlenty) {
    std::vector<Seen> seen;
    while (true) {
        const Result<Fetched> fetched = log.read(partition, from, max_bytes);
        if (!fetched.ok()) {
            ADD_FAILURE() << fetched.error().what;
            return seen;
        }
        if (fetched->records.empty()) return seen;
        for (const Record& r : fetched->records) {
            seen.push_back({r.offset, r.append_time, std::string(r.key), std::string(r.value)});
        }
        from = fetched->next_offset;
    }
}

inline std::vector<std::string> values_of(const std::vector<Seen>& seen) {
    std::vector<std::string> values;
    for (const Seen& s : seen) values.push_back(s.value);
    return values;
}

}  // namespace trueup::ports
