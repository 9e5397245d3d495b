// Checkpoints: images of a shard's rows at some journal offsets, so that a start without usable
// rows need not fold the journal from its beginning, which retention may have taken.
//
// Each is a folder `<journal id>-<offset>-<digest>`. Before an image gets its name its rows are
// held against the digest: one that nobody could use must not push out one that somebody could.
// What has no such name is left alone, and so are those of other journals.
//
// Engines on the same shard may share the folder: the file `lock` in it is held by the one that
// makes or removes something, and by nobody once its process is gone. What is ahead of the own rows
// may be another engine's.
//
// Not thread-safe; `make` may run beside the shard that applies to the store.
#pragma once

#include "engine/base/id.h"
#include "engine/base/result.h"
#include "engine/core/meta.h"
#include "engine/ports/store.h"
#include "engine/runtime/checkpoint.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace trueup::runtime {

class Checkpoints {
  public:
    /// `keep` of each journal stay, 1 at least.
    Checkpoints(std::string folder, PartitionNumber shard, std::size_t keep)
        : folder_(std::move(folder)), shard_(shard), keep_(keep) {}

    /// Those that are there, the highest offset first.
    std::vector<Checkpoint> list() const;
    /// The highest of this journal that is not ahead of the offset `reached`.
    std::optional<Checkpoint> newest(const JournalId& journal_id, Offset reached) const;
    std::string path_of(const Checkpoint& checkpoint) const;
    /// When it was made, in milliseconds since 1970 by the machine's clock; 0: it is not there.
    std::int64_t made_at(const Checkpoint& checkpoint) const;

    /// Makes one of what the store holds, unless that is nothing or there already, or another
    /// engine is making one: nullopt. Older ones go when there are too many. Those ahead of it stay
    /// until rows that passed them make one, for they may be another engine's. `stop` ends it early
    /// (kRetry).
    Result<std::optional<Checkpoint>> make(ports::Store& store, const std::function<bool()>& stop);

  private:
    void prune(const Checkpoint& newest) const;

    std::string folder_;
    PartitionNumber shard_;
    std::size_t keep_;
};

}  // namespace trueup::runtime
