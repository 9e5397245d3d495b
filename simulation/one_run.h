// All that one run (run.h) consists of, in the order in which it can go again. Internal to run.h's
// sources.
#pragma once

#include "simulation/broker_client.h"
#include "simulation/environment.h"
#include "simulation/fleet.h"
#include "simulation/run.h"
#include "simulation/stage.h"

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace trueup::simulation {

/// `plan`, `schedule` and `trace` outlive it. Of one thread: time is virtual.
class Run {
  public:
    Run(std::uint64_t seed, const Plan& plan, const Schedule& schedule, Trace* trace);

    Report carry_out();

  private:
    static constexpr Millis kLook{1'000};
    static constexpr Millis kVouchEvery{60'000};

    /// The first thing that a source is asked is the wrong one, for some time.
    void ask_wrongly(Random random);
    void ask_rightly();
    /// Somebody looks at what the rules would do after a while, and again until they act.
    void enable_later(Random random);
    void enable_again();
    /// Policies that find most of what there is are believed by nobody until somebody looked.
    void vouch_again();
    /// Somebody vouches for it once its list is one of the right place. Of one that lost too much
    /// there comes another list.
    void vouch_later(const std::string& source, Incarnation before);

    // Each is told to the oracles, in the order in which the broker has them.
    void see_command(ports::Partition at, const Broker::Record& record);
    void see_settings(ports::Partition at, const Broker::Record& record);
    void see_change(ports::Partition at, const Broker::Record& record);
    void see_outcome(const Broker::Record& record);
    void see_finding(const Broker::Record& record);
    void see_request(ports::Partition at, const Broker::Record& record);
    void happened(const std::vector<sandbox::Record>& act);

    /// Lets time pass until everything rests; false: it does not within that time.
    bool settle(Millis at_most);
    bool settled();
    /// Everything that can be said once nothing happens any more.
    void judge_rest();
    /// What was given since then, a shard after the other.
    std::vector<Command> commands(SteadyTime since = {});
    /// The findings that are open, in words.
    std::string open();
    /// O6, O7: each journal is folded once more.
    void judge_replays();

    template <typename Visit>
    void each_record(Topic topic, Visit visit) {
        for (std::int32_t shard = 0; shard < plan_.shards; ++shard) {
            const ports::Partition partition{topic, PartitionNumber(shard)};
            for (const auto& record : broker_.records(partition)) visit(*record);
        }
    }

    const Plan& plan_;
    Trace* const trace_;  ///< nullptr: nobody wants to know
    Scheduler scheduler_;
    Broker broker_;
    Network network_;
    History history_;
    Oracles oracles_;
    sandbox::World world_;
    std::unique_ptr<sandbox::World> services_;   ///< what serves instances; nullptr: nothing does
    std::unique_ptr<sandbox::World> elsewhere_;  ///< where a source asks wrongly
    CrashPoint life_of_operators_;
    Broker::Client operators_;
    Environment around_;
    Fleet fleet_;
    Stage stage_;
    std::optional<std::string> asks_wrongly_;  ///< the source that does so now
    std::map<Topic, Incarnation> listed_;      ///< the last one that listed everything
    Hash128 hash_;
    std::set<RequestId> seen_;                       ///< requests
    std::map<PartitionNumber, Offset> settings_at_;  ///< those in force, by shard
    /// What rules mean that some policy had; none: they are none any more.
    std::map<std::string, Hash128> means_;
    std::map<CommandId, BrokerTime> done_;  ///< commands, by when their journal knew it
    std::map<CommandId, BrokerTime> over_;  ///< likewise, also those that were found done
};

}  // namespace trueup::simulation
