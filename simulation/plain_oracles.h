// Oracles that remember nothing: what they judge is handed to them, and held against the world's
// history and the clock.
//
//   O6 lost       at rest the projection shows exactly what is in the world, and each record of
//                 the topics was folded once
//   O7 replay     the journal, folded again, gives the engines' rows, byte for byte
//   O9 silence    at rest nobody orders anything
//   O11 refused   no engine gives up, but for a full disk
//   O18 pass      passes come to an end while every source answers
//   O20 kept      nothing is forgotten before its time, by nobody's clock but ours
//   O24 configured  at rest the settings in force are those that engines were given last, and at
//                   any time no rule acts that is off in all of these (Oracles)
//
// Not thread-safe.
#pragma once

#include "engine/base/id.h"
#include "engine/base/time.h"
#include "engine/model/command.h"
#include "simulation/disk.h"
#include "simulation/history.h"
#include "simulation/scheduler.h"
#include "simulation/violations.h"

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace trueup::simulation {

class PlainOracles {
  public:
    /// All of them outlive it.
    PlainOracles(Scheduler& scheduler, const History& history, Violations& violations)
        : scheduler_(scheduler), history_(history), violations_(violations) {}

    /// O6: how many records the fold of a journal took, how far it is in its topics, and how many
    /// records have been there for long.
    void judge_folded(PartitionNumber shard, std::uint64_t folded, std::uint64_t reached,
                      std::uint64_t settled);
    /// O6: the ids of the objects that the projection has as present.
    void judge_projection(const std::set<std::string>& believed);
    /// O7: what an engine's disk holds, and what its journal makes up to the same record.
    void judge_replay(const std::string& engine, const Disk::Rows& held, const Disk::Rows& made);
    /// O9: the commands that were given since nothing is wrong any more.
    void judge_silence(const std::vector<Command>& since);
    /// O11: how many engines gave up, and why the last one did.
    void judge_refused(std::uint64_t refusals, const std::string& why);
    /// O18: at rest; the passes that began before and are not over, one for each shard.
    void judge_passes(const std::vector<std::string>& open);
    /// O24: at rest; the engines whose journal has other settings in force than they were given.
    void judge_configured(const std::vector<std::string>& others);
    /// O20: of a topic everything up to what was stored then is forgotten, and `after` should lie
    /// between.
    void judge_forgotten(std::string_view topic, SteadyTime stored, Millis after);

  private:
    Scheduler& scheduler_;
    const History& history_;
    Violations& violations_;
};

}  // namespace trueup::simulation
