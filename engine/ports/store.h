// The store of the projection: ordered keys to bytes, written only in whole batches. RocksDB in
// production, a map in tests; both pass one suite (tests/ports/store_contract.h).
//
// Promises:
//   T1  A batch is applied whole or not at all, also when the process dies inside `apply`.
//   T2  After a crash the store holds the batches up to some point, in order, without holes. Which
//       point is for the rows to say (the meta row names its journal offset).
//   T3  Reads see every batch that was applied before.
//   T4  What has a name among the checkpoints is a whole image of such a point, at or after the
//       last batch that was applied before the call, and durable; a crash in the making leaves no
//       name.
//
// Thread-safe for reads; one thread applies, and one, that or another, makes checkpoints.
#pragma once

#include "engine/base/result.h"
#include "engine/ports/store_batch.h"

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace trueup::ports {

class Store {
  public:
    virtual ~Store() = default;

    /// nullopt: no such key.
    virtual Result<std::optional<std::string>> get(std::string_view key) = 0;
    /// One answer per key, in order. Fastest when the keys ascend.
    virtual Result<std::vector<std::optional<std::string>>> get_many(
        const std::vector<std::string_view>& keys) = 0;
    /// Is shown a pair, which is valid during the call; must not use the store. False: enough.
    using Visit = std::function<bool(std::string_view key, std::string_view value)>;
    /// Shows up to `limit` pairs whose key starts with `prefix` and is > `after` (empty: from the
    /// first), ascending.
    virtual Status each(std::string_view prefix, std::string_view after, std::size_t limit,
                        const Visit& visit) = 0;
    /// The same as copies.
    Result<std::vector<std::pair<std::string, std::string>>> scan(std::string_view prefix,
                                                                  std::string_view after,
                                                                  std::size_t limit) {
        std::vector<std::pair<std::string, std::string>> pairs;
        const Status seen =
            each(prefix, after, limit, [&](std::string_view key, std::string_view value) {
                pairs.emplace_back(key, value);
                return true;
            });
        if (!seen) return seen.error();
        return pairs;
    }
    virtual Status apply(const StoreBatch& batch) = 0;
    /// Makes what was applied durable. A crash loses at most what came after the last flush; the
    /// journal has it.
    virtual Status flush() = 0;

    /// Names an image after a look at what is in it. An error throws the image away.
    using NameImage = std::function<Result<std::string>(Store& image)>;
    /// Makes a second image beside this store, as `folder`/name, and returns the name. Meanwhile
    /// batches may be applied. An image of that name that is there already stays as it is. kStop: a
    /// store of this kind has no folders.
    virtual Result<std::string> checkpoint(const std::string& folder, const NameImage& name) = 0;
};

}  // namespace trueup::ports
