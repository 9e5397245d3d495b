// The ends of instances that people asked for and were promised, and what came of each. Not
// thread-safe.
#pragma once

#include "engine/model/request.h"
#include "simulation/approvals.h"
#include "simulation/history.h"
#include "simulation/witness.h"

#include <set>
#include <string>
#include <utility>
#include <vector>

namespace trueup::simulation {

class Promises {
  public:
    /// Both outlive it.
    Promises(const History& history, const Approvals& approvals)
        : history_(history), approvals_(approvals) {}

    /// Somebody asked for the end of an instance, and was told that it will be ended.
    void promised(const Request& request, Moment asked) { promised_.emplace_back(request, asked); }
    /// People were told what came of it.
    void told(const std::string& subject) { told_.insert(subject); }

    /// The subjects of those that are not kept yet, in the order in which they were made.
    std::vector<std::string> open() const;

  private:
    bool kept(const Request& request, Moment asked) const;

    const History& history_;
    const Approvals& approvals_;
    std::vector<std::pair<Request, Moment>> promised_;
    std::set<std::string> told_;  ///< subjects
};

}  // namespace trueup::simulation
