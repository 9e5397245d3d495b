// A process of a simulation: something that can die, sleep, be cut off, and begin anew.
#pragma once

#include "engine/codec/signature.h"
#include "engine/model/settings.h"
#include "sandbox/world.h"
#include "simulation/broker.h"
#include "simulation/links.h"
#include "simulation/oracles.h"
#include "simulation/random.h"
#include "simulation/scheduler.h"

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
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
    Millis forgets{0};             ///< how long topics but the journal are kept; 0: for ever
};

/// Where connectors and executors ask, rightly or not.
struct Asked {
    sandbox::World* rows = nullptr;
    sandbox::World* services = nullptr;  ///< an API server of other objects
    std::string selector{"app=ryugraph-wrapper"};
};

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

class Process {
  public:
    Process(std::string name, Environment& around) : around_(around), name_(std::move(name)) {}
    virtual ~Process() = default;
    Process(const Process&) = delete;
    Process& operator=(const Process&) = delete;

    const std::string& name() const { return name_; }
    /// It is given the processor in a moment.
    void wake();
    /// Dies at its n-th call on the outside from now on, and begins anew `down` later.
    void crash_at(std::uint64_t n, Millis down);
    /// Dies now.
    void kill();
    /// Gets no processor for so long, as a process that was stopped, or a machine that was.
    void sleep(Millis time);
    /// Does not reach the broker for so long.
    void cut_off(Millis time);
    /// Sees records of others later than it did, on each topic another time.
    void lag(Millis longest);
    /// Ends whatever hinders it.
    void heal();
    /// What it has to say of how it is, in a few words.
    virtual std::string state() const { return {}; }

  protected:
    virtual void start() = 0;
    virtual void end() = 0;
    /// One step; how long it can wait for the next one.
    virtual Millis step() = 0;

    void connect(const std::vector<Topic>& news);

    Environment& around_;
    CrashPoint life_;
    std::unique_ptr<Broker::Client> log_;

  private:
    void wake_at(SteadyTime when);
    void run();
    void die();

    const std::string name_;
    bool running_ = false;
    SteadyTime next_ = SteadyTime::max();
    SteadyTime asleep_until_{};
    Millis down_{0};
    Millis longest_lag_{0};
    std::uint64_t cuts_ = 0;
};

/// The connector of pods, of rows or of services, with its task.
enum class Kind : std::uint8_t { kPods, kRows, kServices };
std::unique_ptr<Process> make_source(std::string name, Kind kind, Environment& around);
/// Deletes services, and nothing else, as somebody might who reads the topics.
std::unique_ptr<Process> make_service_executor(std::string name, Environment& around);
std::unique_ptr<Process> make_executor(std::string name, Environment& around);

}  // namespace trueup::simulation
