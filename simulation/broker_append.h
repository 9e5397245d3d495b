// One append on its way to the broker of a simulation (broker.h). Internal to the broker.
#pragma once

#include "simulation/broker.h"

#include <optional>
#include <vector>

namespace trueup::simulation {

/// Its partition's next ones are stored and answered after it.
struct Broker::Append {
    ports::Partition partition;
    ports::Entries entries;
    Fate fate = Fate::kStored;
    bool stored = false;
    std::optional<Result<ports::Appended>> answer;
    ports::Appended place;
};

}  // namespace trueup::simulation
