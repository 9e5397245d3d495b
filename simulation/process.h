// A process of a simulation: something that can die, sleep, be cut off, and begin anew.
#pragma once

#include "engine/model/topic.h"
#include "simulation/broker_client.h"
#include "simulation/crash_point.h"
#include "simulation/environment.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace trueup::simulation {

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
enum class Kind : std::uint8_t { kPods, kRows, kServices, kMorePods };
std::unique_ptr<Process> make_source(std::string name, Kind kind, Environment& around);
/// Deletes services, and nothing else, as somebody might who reads the topics.
std::unique_ptr<Process> make_service_executor(std::string name, Environment& around);
std::unique_ptr<Process> make_executor(std::string name, Environment& around);

}  // namespace trueup::simulation
