// Rows that came in place of others under the same primary key, and since when anybody can know it.
// Not thread-safe.
#pragma once

#include "engine/base/time.h"
#include "simulation/scheduler.h"

#include <map>
#include <optional>
#include <string>

namespace trueup::simulation {

class Reinsertions {
  public:
    explicit Reinsertions(Scheduler& scheduler) : scheduler_(scheduler) {}

    /// The row of that primary key is another one from now on.
    void reinserted(const std::string& pk) { rows_[pk] = {scheduler_.steady_now()}; }
    bool any() const { return !rows_.empty(); }
    /// A connector said that the row of that primary key is gone, or begins to list all rows.
    void told_gone(const std::string& pk);
    void list_begins();

    /// A row that came in place of another one, in one commit.
    struct Reinserted {
        SteadyTime at{};
        std::optional<SteadyTime> told = {};  ///< since when it can be known to be another one
        bool listed = false;                  ///< before: what is told then is older than the list
    };
    /// The last one of that primary key; nullptr: there was none.
    const Reinserted* find(const std::string& pk) const;

  private:
    Scheduler& scheduler_;
    std::map<std::string, Reinserted> rows_;  ///< by primary key
};

}  // namespace trueup::simulation
