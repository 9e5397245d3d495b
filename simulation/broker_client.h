// One process's port to the broker of a simulation (broker.h): what it sees of the log, how late,
// and what becomes of its appends. It dies with the process; what it had sent does not.
#pragma once

#include "simulation/broker.h"
#include "simulation/by_partition.h"
#include "simulation/crash_point.h"

#include <array>
#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <vector>

namespace trueup::simulation {

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
                                                 const ports::Entries& entries) override;
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
