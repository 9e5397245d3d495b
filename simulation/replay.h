// A journal, folded once more when everything is over: what an engine's disk must hold, whether
// each record of the topics was taken once, and what the journal knew when.
#pragma once

#include "engine/base/id.h"
#include "engine/base/time.h"
#include "simulation/broker.h"
#include "simulation/fleet.h"
#include "simulation/oracles.h"

#include <map>
#include <set>
#include <string>
#include <vector>

namespace trueup::simulation {

struct Replayed {
    std::set<std::string> believed;  ///< the ids of the objects that are there, by this journal
    std::map<CommandId, BrokerTime> done;  ///< commands, by when the journal knew it
    std::map<CommandId, BrokerTime> over;  ///< likewise, also those that were found done
};

/// Folds a shard's journal, and holds the images of its engines against what that makes, each where
/// its engine stopped.
Replayed replay(PartitionNumber shard, Broker& broker, const std::vector<Fleet::Image>& images,
                Oracles& oracles, SteadyTime now);

}  // namespace trueup::simulation
