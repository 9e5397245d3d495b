// How long messages take in a simulation. A plain value, which all of its links share.
#pragma once

#include "engine/base/time.h"
#include "simulation/random.h"
#include "simulation/scheduler.h"

namespace trueup::simulation {

struct Network {
    Scheduler& scheduler;
    Random random;
    Millis longest{10};  ///< that a message takes
    Millis page{0};      ///< that each page of a list takes longer, and each part of a copied table
};

}  // namespace trueup::simulation
