// Where the acts of a run happen: its world, its processes, and what people have done so far. One
// run has one; not thread-safe.
#pragma once

#include "engine/codec/signature.h"
#include "engine/model/request.h"
#include "engine/model/settings.h"
#include "sandbox/world.h"
#include "simulation/broker_client.h"
#include "simulation/fleet.h"
#include "simulation/history.h"
#include "simulation/network.h"
#include "simulation/oracles.h"
#include "simulation/scheduler.h"
#include "simulation/witness.h"

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace trueup::simulation {

/// A pause or a hold.
struct Brake {
    RequestScope scope;
    std::uint64_t asked = 0;  ///< for it, or for its end
};

/// Where a request lies in the log.
struct Place {
    PartitionNumber shard;
    Offset offset = kNoOffset;
};

/// Everything that an act may lay hands on.
struct Stage {
    Scheduler& scheduler;
    sandbox::World& world;
    History& history;
    Broker& broker;
    Network& network;
    Fleet& fleet;
    Oracles& oracles;
    Broker::Client& operators;  ///< the log, for what people ask
    const codec::KeyRing& keys;
    std::uint64_t names = 0;                                       ///< given so far
    std::uint64_t requests = 0;                                    ///< likewise
    std::map<std::string, Brake> brakes = {};                      ///< by what they bind
    std::vector<std::string> said = {};                            ///< requests, as they were sent
    std::vector<std::shared_ptr<sandbox::Transaction>> open = {};  ///< not committed yet
    /// For each of the next commands: somebody changes what it is about, just then.
    std::deque<std::uint64_t> toctous = {};
    /// The same for each of the next ends of an instance.
    std::deque<std::uint64_t> last_words = {};
    /// The same for each of the next pods that are created.
    std::deque<std::uint64_t> undoings = {};
    bool creates = false;                                 ///< rows may want pods
    std::map<RequestId, std::vector<Place>> placed = {};  ///< requests, once they are in the log
    /// For which ends of instances somebody waits for an answer, and since when.
    std::vector<std::pair<Request, Moment>> ends_asked = {};
    Millis host_ahead{0};  ///< what the clock shows more by which requests are stamped
    sandbox::World* services = nullptr;             ///< where instances are served from
    std::map<std::string, SteadyTime> served = {};  ///< since when; by the name of the pod
    bool reconfigured = false;                      ///< engines had other settings for a while
    std::vector<Settings> texts = {};  ///< other policies; none: the shipped one is in force
    std::size_t text = 0;              ///< the one that engines are to have
    bool dropped = false;              ///< the source of services is not in the configuration
    bool formerly = false;             ///< engines are to have the one of before the key changed
    bool former = false;               ///< they, or others, have it
    bool over = false;                 ///< nobody does anything any more, not even what had begun
};

}  // namespace trueup::simulation
