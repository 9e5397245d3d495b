// What a plan sets of the processes and of the world of a run. For a run (run.h).
#pragma once

#include "engine/codec/signature.h"
#include "engine/model/settings.h"
#include "sandbox/world_settings.h"
#include "simulation/environment.h"
#include "simulation/plan.h"

#include <cstdint>
#include <vector>

namespace trueup::simulation {

/// In one seed of eight nobody has enabled anything when it begins.
bool begins_enabled(std::uint64_t seed);

/// The rules as the example configuration has them, with budgets that are felt.
Settings policy(const Plan& plan, bool enabled = true);

/// Those of a run under other policies, as they were given but for budgets, in their order.
std::vector<Settings> other_policies(const Plan& plan, bool enabled);

sandbox::WorldSettings world_settings(const Plan& plan);

/// What all processes share.
const codec::KeyRing& keys();

FleetSettings fleet_settings(const Plan& plan, bool enabled);

}  // namespace trueup::simulation
