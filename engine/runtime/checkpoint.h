// The name of one image of a shard's rows: of which journal, up to where, with which digest. A
// plain value; checkpoints.h makes and keeps the images.
#pragma once

#include "engine/base/hash.h"
#include "engine/base/id.h"
#include "engine/core/meta.h"
#include "engine/model/ids.h"

#include <optional>
#include <string>
#include <string_view>

namespace trueup::runtime {

struct Checkpoint {
    JournalId journal_id;
    Offset offset = kNoOffset;  ///< journal offset folded last
    Hash128 digest;
    bool operator==(const Checkpoint&) const = default;

    std::string name() const;
    /// nullopt: no checkpoint is called that.
    static std::optional<Checkpoint> of_name(std::string_view name);
    static Checkpoint of(const core::Meta& meta) {
        return {meta.journal_id, meta.applied, meta.digest};
    }
};

}  // namespace trueup::runtime
