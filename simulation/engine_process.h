// An engine of a simulation: one shard, on a disk of its own. For the fleet.
//
// Not thread-safe.
#pragma once

#include "engine/runtime/retention.h"
#include "engine/runtime/shard_loop.h"
#include "engine/runtime/source_hints.h"
#include "simulation/disk.h"
#include "simulation/process.h"

#include <memory>
#include <optional>
#include <string>

namespace trueup::simulation {

/// Until somebody starts an engine that gave up.
inline constexpr Millis kBeginAgain{10'000};

class EngineProcess final : public Process {
  public:
    EngineProcess(std::string name, PartitionNumber shard, Environment& around)
        : Process(std::move(name), around), index_(shard), policy_(around.settings.policy) {}

    PartitionNumber index() const { return index_; }
    /// What it has at its next start.
    void configure(const Settings& policy) { policy_ = policy; }
    const Settings& policy() const { return policy_; }
    Disk& disk() { return disk_; }
    /// nullptr: none is open.
    const runtime::Shard* shard() const { return shard_.get(); }

    /// What its disk holds then. There must be a shard.
    const Disk::Rows& stop_in_order();

  private:
    void start() override;
    void end() override;
    Millis step() override;

    bool open();
    void add_loop();
    void note(const std::string& why);
    bool tell_stopped(const Settings& before, const Settings& now);
    void forget();

    const PartitionNumber index_;  ///< of its shard
    Settings policy_;
    bool told_ = false;  ///< what it has to tell executors at its start
    SteadyTime tell_again_{};
    Disk disk_;
    std::unique_ptr<DiskStore> store_;
    std::unique_ptr<runtime::Shard> shard_;
    std::unique_ptr<runtime::SourceHintSender> hints_;
    std::unique_ptr<runtime::ShardLoop> loop_;
    std::optional<runtime::Retention> retention_;
    SteadyTime forget_again_{};
};

}  // namespace trueup::simulation
