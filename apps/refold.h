// A shard's journal, folded once more from its first record over rows in a folder of its own. Reads
// nothing but what it is given.
//
// Memory: subjects and store have a fixed room, above which rows lie on the disk. Not thread-safe.
#pragma once

#include "engine/base/result.h"
#include "engine/core/fold.h"
#include "engine/ports/store.h"
#include "engine/runtime/projection.h"

#include <memory>
#include <set>
#include <string>
#include <vector>

namespace trueup::apps {

class Refold {
  public:
    /// `folder`: where nothing is; it is this one's until the end. The error is one sentence.
    static Result<std::unique_ptr<Refold>> begin(const std::string& folder, PartitionNumber shard);

    /// Folds the next record. `enabled`: rules that count as enabled by the settings in it, unless
    /// a person disabled them. kStop: this build cannot go by what the record says, or its rows
    /// cannot be kept.
    Status fold(const JournalView& record, const std::set<std::string>& enabled = {});
    /// What the last record led to; until the next one.
    const core::FoldReport& report() const { return report_; }
    const core::State& state() const { return state_; }

    /// Gives back the memory of what is not in use. Call it now and then between records.
    Status make_room();

  private:
    Refold(std::unique_ptr<ports::Store> store, PartitionNumber shard);
    void enable(const Settings& settings, const std::set<std::string>& rules);
    Status rows_kept();

    const std::unique_ptr<ports::Store> store_;
    runtime::Projection projection_;
    core::State state_;
    core::FoldReport report_;
};

}  // namespace trueup::apps
