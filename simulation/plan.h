// What may happen in a run of a simulation, and how much of it. Plain values.
#pragma once

#include "engine/base/time.h"
#include "engine/model/rule_settings.h"
#include "simulation/law.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace trueup::simulation {

/// What may happen, and how much of it.
struct Plan {
    std::string name;
    std::string about;  ///< one line
    std::uint64_t subjects = 20;
    Millis unrest{300'000};  ///< acts happen until then; after that all must be put right
    /// As long as it may take: two epochs, the longest grace, and what follows a final failure.
    Millis rest{480'000};
    Millis workload_every{6'000};  ///< on average; 0: never
    Millis faults_every{9'000};
    Millis settled_for{5'000};  ///< that nothing is open, before the world is looked at
    std::vector<std::string_view> with =
        {};  ///< acts that occur in this plan only; more often if twice
    std::vector<std::string_view> without = {};  ///< acts that do not occur
    bool races_forbidden = false;
    /// The rules beyond G1 to G3 too, with windows and one that asks; owners and operators act.
    bool every_rule = false;
    Millis operators_every{0};
    Budget budget{3, 20, Millis{60'000}};  ///< of each rule
    std::int32_t shards = 1;
    /// A connector's API server may be the one that falls behind: what a command relies on is as
    /// old as that then.
    bool second_server = false;
    /// It rests on what is counted over all subjects (G25): the product takes it with one shard
    /// only.
    bool counts = false;
    /// A source asks in the wrong place first, and is set right later.
    bool wrong_first = false;
    /// Rules are set to observe or off, and back; engines tell executors of it.
    bool modes = false;
    /// The table has a column by which its owner says that a row is not to be touched.
    bool row_holds = false;
    /// Instances have services, whose source may leave the configuration and come back.
    bool services = false;
    /// Pods lie in two clusters, each with a source of its own.
    bool clusters = false;
    /// Rows may want a pod, which is created from a template.
    bool creates = false;
    /// How long topics but the journal are kept; 0: for ever.
    Millis forgets{0};
    /// Instead of the shipped policy; outlives the run. nullptr: that one.
    const OtherPolicies* policies = nullptr;
};

/// Those that must be good whatever the seed.
const std::vector<Plan>& plans();
/// `rules`, or several at once as `rules+rewind`. nullopt: there is none of that name, or the
/// product refuses what they are together.
std::optional<Plan> find_plan(std::string_view name);
/// Every two of them that go together.
std::vector<Plan> pairs_of_plans();

}  // namespace trueup::simulation
