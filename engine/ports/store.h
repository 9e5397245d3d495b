// The store of the projection: ordered keys to bytes, written only in whole batches. RocksDB in
// production, a map in tests; both pass one suite (tests/ports/store_contract.h).
//
// Promises:
//   T1  A batch is applied whole or not at all, also when the process dies inside `apply`.
//   T2  After a crash the store holds the batches up to some point, in order, without holes. Which
//       point is for the rows to say (the meta row names its journal offset).
//   T3  Reads see every batch that was applied before.
//
// Thread-safe for reads; one thread applies.
#pragma once

#include "engine/base/result.h"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace trueup::ports {

struct StoreBatch {
    std::vector<std::pair<std::string, std::string>> puts;
    std::vector<std::string> erases;
    bool empty() const { return puts.empty() && erases.empty(); }
};

class Store {
  public:
    virtual ~Store() = default;

    /// nullopt: no such key.
    virtual Result<std::optional<std::string>> get(std::string_view key) = 0;
    /// One answer per key, in order. Fastest when the keys ascend.
    virtual Result<std::vector<std::optional<std::string>>> get_many(
        const std::vector<std::string_view>& keys) = 0;
    /// Up to `limit` pairs whose key starts with `prefix` and is > `after` (empty: from the first).
    virtual Result<std::vector<std::pair<std::string, std::string>>> scan(std::string_view prefix,
                                                                          std::string_view after,
                                                                          std::size_t limit) = 0;
    virtual Status apply(const StoreBatch& batch) = 0;
    /// Makes what was applied durable. A crash loses at most what came after the last flush; the
    /// journal has it.
    virtual Status flush() = 0;
};

}  // namespace trueup::ports
