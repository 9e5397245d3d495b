// The ends of instances: which ones commands of ours ordered, began and said in their rows, and
// what became of their pods since. Not thread-safe.
#pragma once

#include "engine/base/time.h"
#include "simulation/allowances.h"
#include "simulation/history.h"
#include "simulation/reinsertions.h"
#include "simulation/scheduler.h"
#include "simulation/witness.h"

#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

namespace trueup::simulation {

class Endings {
  public:
    /// All of them outlive it.
    Endings(Scheduler& scheduler, const History& history, const Reinsertions& reinsertions,
            const Allowances& allowed)
        : scheduler_(scheduler),
          history_(history),
          reinsertions_(reinsertions),
          allowed_(allowed) {}

    /// A pod of that name ended, or is about to.
    void pod_ended(const std::string& name) { ended_.insert(name); }
    bool has_ended(const std::string& name) const { return ended_.count(name) != 0; }
    /// It was ordered then that this pod goes, and the instance of its name ends.
    void ordered(const std::string& name, const std::string& uid, SteadyTime at) {
        ordered_.insert(name);
        ordered_at_[uid] = {name, at, false};
    }
    bool was_ordered(const std::string& name) const { return ordered_.count(name) != 0; }
    /// Its executor would not.
    void refused(const std::string& uid);
    /// When that was last ordered of this pod. Of what was refused it is nothing, unless the pod
    /// went all the same while the command could have taken it: the end goes on then.
    std::optional<SteadyTime> ordered_at(const std::string& uid) const;
    /// Its pod was deleted because of its row.
    void began(const std::string& name, const std::string& pk, const std::string& uid);
    /// Its row says so.
    void closed(const std::string& name, const std::string& pk);
    /// Can engines know what serves an instance?
    void services_known(bool yes) { services_known_ = yes; }

    /// Did we begin to end the instance of this row, and did nobody do anything else about it
    /// since: it is this very row, still live, and no other pod came under its name?
    bool ends_still(const std::string& name, const std::string& pk, Moment until) const;
    /// Did we end the instance of this row?
    bool closed_by_us(const std::string& name, const std::string& pk) const;
    /// Is another pod than the one that we ended there, and was it to be seen when its executor
    /// looked, or, if it did not, for long?
    bool lives_again(const std::string& name, Moment looked) const;

    struct Ending {
        std::string pk;   ///< of its row
        std::string uid;  ///< of its pod
        Moment begun = 0;
        SteadyTime at{};
        bool all_known = false;  ///< when we said so in its row we could know what served it
    };
    /// The last one that we began, by the name of its pod.
    const std::map<std::string, Ending>& begun() const { return begun_; }

  private:
    struct Order {
        std::string name;
        SteadyTime at{};
        bool refused = false;
    };
    Scheduler& scheduler_;
    const History& history_;
    const Reinsertions& reinsertions_;
    const Allowances& allowed_;
    std::map<std::string, Ending> begun_;
    std::set<std::string> ended_;                           ///< names of pods
    std::set<std::string> ordered_;                         ///< likewise
    std::map<std::string, Order> ordered_at_;               ///< by uids
    std::set<std::pair<std::string, std::string>> closed_;  ///< by us: pods and their rows
    bool services_known_ = true;
};

}  // namespace trueup::simulation
