// The open findings of a policy in memory, for those who ask over HTTP: the last edge of each.
//
// It keeps kMost of them; what comes beyond is counted and not shown, so that an incident with a
// million findings is no reason to run out of memory. Thread-safe.
#pragma once

#include "engine/base/id.h"
#include "engine/base/mutex.h"
#include "engine/model/finding_edge.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace trueup::projections {

/// An empty member narrows nothing.
struct FindingsFilter {
    std::string id = {};  ///< its first digits, in hex
    std::string rule = {};
    std::string reason = {};
    std::string subject = {};
    std::size_t limit = 1'000;
};

class FindingsView {
  public:
    static constexpr std::size_t kMost = 20'000;

    /// Takes over where a finding is now; a resolved one goes.
    void take(const FindingEdge& edge) TRUEUP_EXCLUDES(mutex_);

    struct Page {
        std::vector<FindingEdge> findings;  ///< by subject, then rule
        /// By shard: the journal offset of the newest edge that was taken; none: of no shard.
        std::vector<Offset> seen;
        std::uint64_t more = 0;    ///< that match but are beyond the limit
        std::uint64_t hidden = 0;  ///< that are not kept
    };
    Page list(const FindingsFilter& filter) const TRUEUP_EXCLUDES(mutex_);
    /// nullopt: it is not open, or not kept.
    std::optional<FindingEdge> find(const FindingId& id) const TRUEUP_EXCLUDES(mutex_);

  private:
    mutable Mutex mutex_;
    std::map<FindingId, FindingEdge> open_ TRUEUP_GUARDED_BY(mutex_);
    std::uint64_t hidden_ TRUEUP_GUARDED_BY(mutex_) = 0;
    std::vector<Offset> seen_ TRUEUP_GUARDED_BY(mutex_);
};

}  // namespace trueup::projections
