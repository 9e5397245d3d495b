// What a fleet (fleet.h) consists of. Internal to the fleet; of one thread, as all in virtual time.
#pragma once

#include "simulation/engine_process.h"
#include "simulation/fleet.h"

#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace trueup::simulation {

struct Fleet::Parts {
    Environment& around;
    std::vector<std::unique_ptr<EngineProcess>> engines;
    std::vector<std::unique_ptr<Process>> others;
    std::vector<std::unique_ptr<Process>> retired;  ///< events may still name them
    std::uint64_t seconds = 0;
    std::uint64_t configured = 0;  ///< how often
    BrokerTime rest_begins{};
    /// Complete ones by then, by shard and source.
    std::map<std::pair<PartitionNumber, std::string>, std::uint64_t> epochs{};

    /// The first engine of each shard that runs.
    std::vector<const runtime::Shard*> shards() const {
        std::vector<const runtime::Shard*> all;
        std::set<PartitionNumber> seen;
        for (const auto& engine : engines) {
            if (engine->shard() != nullptr && seen.insert(engine->index()).second) {
                all.push_back(engine->shard());
            }
        }
        return all;
    }
};

}  // namespace trueup::simulation
