// What policies' texts mean in the simulator's world, by the naive reader over the world's own
// history: everything is known of it, nothing is late, nobody erred.
//
// What it leaves to other oracles: windows, budgets, brakes, endings behind their first step. It
// believes an object as old as its first version, and clocks.
#pragma once

#include "simulation/law.h"
#include "tests/naive/naive_policy.h"

#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace trueup::simulation {

namespace naive = testing::naive;

class TextLaw : public Law {
  public:
    void in_force(const Settings& settings, SteadyTime since) override;
    std::string against_order(const Command& command, const History& history, SteadyTime issued,
                              Millis age) override;
    std::string against_write(const Command& command, const History& history, SteadyTime issued,
                              Millis age, const Looks& looks) const override;
    bool asks(const Command& command, const History& history, SteadyTime issued,
              Millis age) const override;
    std::string to_do(const History& history, SteadyTime now) const override;
    std::vector<std::string> wrong(const std::vector<OpenFinding>& open, const History& history,
                                   SteadyTime now) const override;
    /// How often somebody put other settings in force.
    std::size_t changes() const { return forces_.size(); }

  private:
    /// Settings, from a moment on.
    struct Force {
        Settings settings;
        SteadyTime since{};
    };
    struct Found;

    /// Those that were in force within the millisecond.
    std::vector<const Force*> forces(SteadyTime at) const;
    std::string against(const Command& command, const History& history, SteadyTime issued,
                        Millis age, const Looks* looks) const;
    /// Of its rule, by which this was to be ordered at some time of the last `age`.
    std::vector<const policy::Case*> cases(const Force& force, const Command& command,
                                           const History& history, SteadyTime issued,
                                           Millis age) const;
    bool younger_than_its_grace(const Found& found, const Command& command, const History& history,
                                SteadyTime issued, Millis age) const;

    bool goes_on(const policy::Policy& policy, const policy::Rule& rule,
                 const Command& command) const;
    /// What a list ended is written by no rule as long as it stays so.
    bool left_alone(const naive::Judged& judged, const std::string& subject) const;

    std::vector<Force> forces_;
    std::set<std::pair<std::string, std::string>> begun_;  ///< deletions: rules and subjects
};

}  // namespace trueup::simulation
