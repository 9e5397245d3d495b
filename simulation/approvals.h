// Whether people agreed to what is done: deadlines that owners wrote into rows, and what was asked
// over the topic of requests. Read off the world and the topic alone, as everything that oracles
// know.
#pragma once

#include "engine/base/time.h"
#include "engine/model/command.h"
#include "engine/model/request.h"
#include "simulation/history.h"
#include "simulation/scheduler.h"

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace trueup::simulation {

/// `2023-11-14 22:13:20+00`, as the acts write it into rows; milliseconds are cut off.
std::string to_timestamp(std::int64_t wall_millis);
/// The other way round; nullopt: it was written otherwise.
std::optional<std::int64_t> from_timestamp(const std::string& text);

/// Not thread-safe.
class Approvals {
  public:
    explicit Approvals(Scheduler& scheduler) : scheduler_(scheduler) {}

    /// A request that somebody signed is in its topic, for the first time.
    void asked(const Request& request);
    /// The database's clock shows so much more than the simulation's from now on.
    void database_clock(Millis ahead);
    /// What it shows.
    std::int64_t database_millis() const { return scheduler_.wall_millis() + ahead().count(); }

    /// Has a deadline of this row passed by the database's clock, now or not long ago, or did
    /// somebody who may ask for the end of its instance?
    bool to_end(const History::RowView& row) const;
    /// Has a deadline passed by what the database's clock shows now?
    bool overdue(const History::RowView& row) const;
    /// Was this approved, and is it the first command on its object since?
    bool to_order(const Command& command, SteadyTime issued);
    /// Did somebody approve it after that, or all that comes again and again?
    bool again_since(const std::string& subject, SteadyTime time) const;
    /// Did somebody say that nothing is to be done about it?
    bool dismissed(const std::string& subject) const { return dismissed_.count(subject) != 0; }

  private:
    Millis ahead() const { return clocks_.back().second; }

    Scheduler& scheduler_;
    std::vector<std::pair<SteadyTime, Millis>> clocks_{{SteadyTime{}, Millis{0}}};
    using Given = std::map<std::string, SteadyTime>;  ///< last; by subject; empty: all of them
    static bool since(const Given& given, const std::string& subject, SteadyTime time);

    Given approved_;
    Given approved_again_;                               ///< those that name no other reason
    std::map<std::string, std::set<std::string>> ends_;  ///< who asked, by subject; empty: who may
    std::map<std::string, SteadyTime> orders_;           ///< last; by rule and object
    std::set<std::string> dismissed_;
};

}  // namespace trueup::simulation
