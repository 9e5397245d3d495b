// A place in a consumer group, for which partitions of a topic are ours and nothing else: what is
// read, and from where, nobody asks the group, and nothing is committed.
//
// A member that leaves gives its partitions back at once, one that is gone without a word after ten
// seconds. Until the group says something else, what was ours stays ours: while the brokers are
// away, and for a moment beside the one that it goes to.
//
// Thread-safe.
#pragma once

#include "connectors/kafka/client.h"
#include "engine/base/id.h"
#include "engine/base/mutex.h"
#include "engine/base/result.h"
#include "engine/model/topic.h"

#include <atomic>
#include <memory>
#include <set>
#include <string>
#include <thread>

namespace trueup::connectors::kafka {

/// Which partitions are ours after the group's word about them. What is taken back, another member
/// may have before we are told anything else.
std::set<PartitionNumber> ours_after(rd_kafka_resp_err_t word,
                                     const rd_kafka_topic_partition_list_t& partitions);

class Membership {
  public:
    /// Returns before the group has answered. The group is called `settings.prefix`.`group`.
    static Result<std::unique_ptr<Membership>> join(Settings settings, const std::string& group,
                                                    Topic topic);
    /// Leaves the group.
    ~Membership();
    Membership(const Membership&) = delete;
    Membership& operator=(const Membership&) = delete;

    bool has(PartitionNumber partition) const TRUEUP_EXCLUDES(mutex_);
    /// Why the group cannot be joined; empty while nothing is wrong.
    std::string trouble() const TRUEUP_EXCLUDES(mutex_);

  private:
    explicit Membership(Settings settings);
    void run();
    void rebalanced(rd_kafka_resp_err_t error, rd_kafka_topic_partition_list_t* partitions)
        TRUEUP_EXCLUDES(mutex_);
    void note(std::string trouble) TRUEUP_EXCLUDES(mutex_);

    const Settings settings_;
    Callbacks callbacks_;
    Client client_;
    std::string group_;
    mutable Mutex mutex_;
    std::set<PartitionNumber> ours_ TRUEUP_GUARDED_BY(mutex_);
    std::string trouble_ TRUEUP_GUARDED_BY(mutex_);
    std::atomic<bool> leaving_ = false;
    std::thread thread_;
};

}  // namespace trueup::connectors::kafka
