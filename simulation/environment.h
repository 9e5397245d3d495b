// What the processes of a simulation have around them: the broker, the world, who sees them, and
// how they are configured. One for a run; not thread-safe.
#pragma once

#include "engine/codec/signature.h"
#include "engine/model/settings.h"
#include "sandbox/world.h"
#include "simulation/broker.h"
#include "simulation/network.h"
#include "simulation/oracles.h"
#include "simulation/random.h"
#include "simulation/scheduler.h"

#include <cstdint>
#include <string>
#include <vector>

namespace trueup::simulation {

struct FleetSettings {
    Settings policy;
    Millis pace_idle{20'000};
    Millis pace_waiting{5'000};
    Millis relist_every{80'000};
    Millis heal_every{10'000};  ///< a source that only an epoch can heal is asked this often
    std::vector<std::string> columns = {};  ///< that the connector of rows publishes beside its own
    std::int32_t shards = 1;
    bool second_server = false;  ///< a connector may be served by the API server that falls behind
    bool tells_modes = false;    ///< engines tell executors at their start which rules do not act
    std::string veto_column = {};  ///< of the table; empty: there is none
    bool services = false;         ///< there is a source of them
    bool clusters = false;         ///< pods lie in two clusters, of a source each
    Millis forgets{0};             ///< how long topics but the journal are kept; 0: for ever
};

/// Where connectors and executors ask, rightly or not.
struct Asked {
    sandbox::World* rows = nullptr;
    sandbox::World* services = nullptr;  ///< an API server of other objects
    std::string selector{"app=ryugraph-wrapper"};
    /// They start with the configuration of before the key changed.
    bool former_pods = false;
    bool former_rows = false;
    bool former_executors = false;
};

/// By what connectors read, of the configuration in force and of the one before (SourceSettings).
constexpr std::uint64_t kMapping = 1;
constexpr std::uint64_t kFormerMapping = 2;
constexpr const char* kFormerColumn = "url_slug";  ///< what the key of rows was
constexpr const char* kFormerLabel = "former";     ///< that of pods, which none has

/// What all processes share.
struct Environment {
    Scheduler& scheduler;
    Broker& broker;
    Network& network;
    sandbox::World& world;
    Oracles& oracles;
    Random random;
    codec::KeyRing keys;
    FleetSettings settings;
    Asked asked = {};
    bool serves = true;          ///< the source of services is in somebody's configuration
    std::uint64_t relists = 0;   ///< how often all sources were to list everything again
    std::uint64_t refusals = 0;  ///< of shards that stopped emitting, but for a full disk
    std::string refused = {};    ///< why the last one did
};

}  // namespace trueup::simulation
