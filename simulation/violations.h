// What oracles found wrong in a run. Not thread-safe.
#pragma once

#include "simulation/scheduler.h"

#include <string>
#include <vector>

namespace trueup::simulation {

struct Violation {
    std::string oracle;  ///< `harm`, `race`, …
    std::string what;    ///< one sentence
};

class Violations {
  public:
    explicit Violations(Scheduler& scheduler) : scheduler_(scheduler) {}

    /// It is noted with the time.
    void violate(const std::string& oracle, std::string what);
    /// In the order in which they were noticed; a run with none was good.
    const std::vector<Violation>& all() const { return all_; }

  private:
    Scheduler& scheduler_;
    std::vector<Violation> all_;
};

}  // namespace trueup::simulation
