// What is asked of the cluster beside records: ends of partitions, truncation, topics.
//
// Every call waits for the cluster's answer, ten seconds at most. Thread-safe.
#pragma once

#include "connectors/kafka/client.h"
#include "engine/base/id.h"
#include "engine/ports/records.h"

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace trueup::connectors::kafka {

/// A topic as the cluster has it.
struct TopicState {
    bool exists = false;
    std::int32_t partitions = 0;
    std::int32_t replicas = 0;  ///< of its first partition
    std::map<std::string, std::string> settings;
};

/// A topic to make.
struct TopicPlan {
    Topic topic = Topic::kUnspecified;
    std::string name;
    std::int32_t partitions = 1;
    std::int32_t replicas = 1;
    std::map<std::string, std::string> settings;
};

class Admin {
  public:
    /// `settings` outlive it. kRetry: no broker answers.
    static Result<std::unique_ptr<Admin>> connect(const Settings& settings);

    Result<ports::Extent> extent(ports::Partition partition);
    /// The first offset whose record was appended at `time` or later; the end if there is none.
    Result<Offset> offset_at(ports::Partition partition, BrokerTime time);
    Status delete_before(ports::Partition partition, Offset offset);

    Result<TopicState> topic(const std::string& name);
    Status create(const TopicPlan& plan);
    /// How many brokers there are.
    Result<std::int32_t> brokers();
    /// The id that the cluster was given when it was made; it keeps it.
    const std::string& cluster() const { return cluster_; }

  private:
    explicit Admin(const Settings& settings);
    Result<Metadata> metadata(const std::string& name);
    Status learn_cluster();
    /// The first offset of that time or later, or that of an end (RD_KAFKA_OFFSET_BEGINNING, _END).
    /// It has an answer within ten seconds, if only an error.
    rd_kafka_resp_err_t look_up(ports::Partition partition, std::int64_t time,
                                std::int64_t& offset);

    const Settings& settings_;
    Callbacks callbacks_;
    Client client_;
    std::string cluster_;
};

}  // namespace trueup::connectors::kafka
