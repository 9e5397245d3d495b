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
#include "simulation/crash_point.h"
#include "simulation/scheduler.h"

#include <array>
#include <cstddef>
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

/// One of them for each partition of each topic, made when it is asked for.
template <typename Value>
class ByPartition {
  public:
    Value& operator[](ports::Partition partition) {
        const std::size_t place = static_cast<std::size_t>(partition.index.value()) * kTopics +
                                  static_cast<std::size_t>(partition.topic);
        if (place < values_.size() && values_[place]) return *values_[place];
        return make(place);
    }

  private:
    [[gnu::noinline]] Value& make(std::size_t place) {
        if (values_.size() <= place) values_.resize(place + 1);
        values_[place] = std::make_unique<Value>();
        return *values_[place];
    }

    std::vector<std::unique_ptr<Value>> values_;
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

/// Not thread-safe, as all of a simulation.
class Broker::Client final : public ports::Log {
  public:
    Client(Broker& broker, CrashPoint& life, std::vector<Topic> news, std::function<void()> wake);
    ~Client() override;
    Client(const Client&) = delete;
    Client& operator=(const Client&) = delete;

    /// While true nothing comes through, in either direction.
    void cut_off(bool yes) { cut_off_ = yes; }
    /// Another lag for each topic, up to this.
    void draw_lags(Millis longest);

    std::unique_ptr<ports::PendingAppend> append(ports::Partition partition,
                                                 const std::vector<ports::Entry>& entries) override;
    Result<ports::Fetched> read(ports::Partition partition, Offset offset,
                                std::size_t max_bytes) override;
    std::uint64_t changes_seen() const override { return news_; }
    void wait(std::uint64_t seen, Millis max_wait) override;
    void wake() override {}
    Status truncate(ports::Partition partition, Offset offset) override;
    Result<ports::Extent> describe(ports::Partition partition) override;

  private:
    friend class Broker;
    struct View {
        Offset seen;                     ///< the end of what was shown
        Offset acked;                    ///< the end of what was acknowledged to this process
        Offset cut_at = kBeyondOffsets;  ///< what it saw is gone
        SteadyTime last_store{};
        SteadyTime last_answer{};
        std::deque<std::shared_ptr<Append>> appends;  ///< without an answer
    };
    Status answers();
    Offset visible_end(const Records& records, Topic topic, View& view) const;
    void finish(Append& append);
    void finish_up_to(const Append& append);
    /// It arrives long after it has failed, or once more.
    void store_later(const std::shared_ptr<Append>& append, const View& view);

    Broker& broker_;
    CrashPoint& life_;
    const std::vector<Topic> topics_;  ///< that it wants to hear of
    std::function<void()> wake_;
    std::uint64_t news_ = 0;
    bool cut_off_ = false;
    std::array<Millis, kTopics> lags_{};  ///< by topic
    ByPartition<View> views_;
    std::shared_ptr<bool> here_ = std::make_shared<bool>(true);  ///< for events that outlive it
};

}  // namespace trueup::simulation
