// The log of a simulation: one broker, and a port of its own for each process.
//
// What may go wrong is what engine/ports/log.h allows, and is drawn from the seed: an append takes
// its time, fails though it was stored (now, or long after), is lost, or is stored twice; a reader
// sees what others wrote a while later, on each topic another while; reads fail; nobody answers.
// What cannot go wrong: the order within a partition, and what was acknowledged stays, unless
// `cut_tail` says otherwise.
//
// What was truncated is read no more, and stays in `records` for oracles.
//
// What it gets wrong: no sizes.
#pragma once

#include "engine/ports/log.h"
#include "simulation/by_partition.h"
#include "simulation/crash_point.h"
#include "simulation/scheduler.h"

#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace trueup::simulation {

/// How often, in thousandths of all calls, and how long.
struct BrokerTroubles {
    unsigned lost = 0;     ///< fails, and is not there
    unsigned unknown = 0;  ///< fails, and is there
    unsigned late = 0;     ///< fails, and is there some time later
    unsigned doubled = 0;  ///< is there twice
    unsigned failed_reads = 0;
    Millis longest_append{20};
    Millis longest_lag{20};  ///< until others see a record
    bool down = false;
};

class Broker {
  public:
    class Client;
    struct Record {
        Offset offset;
        BrokerTime append_time{};
        SteadyTime stored_at{};
        std::string key;
        std::string value;
    };
    using Records = std::deque<std::shared_ptr<const Record>>;

    Broker(Scheduler& scheduler, std::uint64_t seed) : scheduler_(scheduler), random_(seed) {}

    /// A port for one process, which `wake` tells of answers and of news on these topics. Lives as
    /// long as the process.
    std::unique_ptr<Client> client(CrashPoint& life, std::vector<Topic> news,
                                   std::function<void()> wake);

    /// Sees each record as it is stored.
    void observe(std::function<void(ports::Partition, const Record&)> observer) {
        observer_ = std::move(observer);
    }
    /// Sees what is forgotten: everything before an offset.
    void observe_truncation(std::function<void(ports::Partition, Offset)> observer) {
        truncation_ = std::move(observer);
    }
    /// When a record with this append time was stored first.
    SteadyTime stored_at(ports::Partition partition, BrokerTime append_time);

    BrokerTroubles& troubles() { return troubles_; }
    /// Append times are ahead of the simulation's wall clock by this much more from now on.
    void jump_clock(Millis by) { ahead_ += by; }
    BrokerTime now() const;
    /// The last `count` records are gone, and the next ones take their offsets. Who had read
    /// further is told when it reads on, as by Kafka's leader epochs.
    void cut_tail(ports::Partition partition, std::size_t count);

    /// Everything that was stored there.
    const Records& records(ports::Partition partition) { return partitions_[partition].records; }

  private:
    enum class Fate : std::uint8_t { kStored, kLost, kUnknown, kLate, kDoubled };
    struct Append;
    class Pending;
    struct PartitionState {
        Records records;
        Offset first_offset;
        Offset next_offset;
        BrokerTime last_append{};
    };

    Fate draw_fate(bool cut_off);
    void store(Append& append);

    Scheduler& scheduler_;
    Random random_;
    BrokerTroubles troubles_;
    Millis ahead_{0};
    ByPartition<PartitionState> partitions_;
    std::vector<Client*> clients_;
    std::function<void(ports::Partition, const Record&)> observer_;
    std::function<void(ports::Partition, Offset)> truncation_;
};

}  // namespace trueup::simulation
